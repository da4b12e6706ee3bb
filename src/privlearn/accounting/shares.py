"""What a release costs beside others: one number for each pair."""

from __future__ import annotations

from collections.abc import Sequence

from privlearn.accounting.pairs import (
    BoundedRange,
    Gaussian,
    GaussianMixture,
    Laplace,
    Pair,
    PureLoss,
    SampledGaussian,
)

__all__ = ["comparable_costs", "no_costlier", "squared_mu"]


def comparable_costs(pairs: Sequence[tuple[Pair, int]]) -> tuple[list[float], int]:
    """What every pair, used so often, costs beside the others, and how that follows the noise.

    Returns
    -------
    costs : list of float
        In one unit for all: squares of mu where Gaussian noise takes part; else epsilons, which
        add up.
    power : {1, 2}
        Noise that is k times as large divides a cost by k to this power.

    Examples
    --------
    >>> comparable_costs([(Gaussian(0.5), 4), (Gaussian(2.0), 1)])
    ([1.0, 4.0], 2)
    """
    epsilons = [
        times * pair.epsilon
        for pair, times in pairs
        if not isinstance(pair, Gaussian | SampledGaussian | GaussianMixture)
    ]
    if len(epsilons) == len(pairs):
        return epsilons, 1
    return [times * squared_mu(pair) for pair, times in pairs], 2


def squared_mu(pair: Pair) -> float:
    """Square of the mu of the Gaussian pair that many independent copies come close to.

    For shares of a budget only: nothing is promised with it. It is the variance of the privacy
    loss, or the largest that it can have: epsilon^2 for a pure loss, a quarter of it where the loss
    stays in an interval of length epsilon.

    Examples
    --------
    >>> squared_mu(Gaussian(0.5))
    0.25
    """
    if isinstance(pair, Gaussian):
        return pair.mu**2
    if isinstance(pair, SampledGaussian):
        return (pair.rate * (2.0 if pair.replace else 1.0) / pair.noise_multiplier) ** 2
    if isinstance(pair, GaussianMixture):
        return sum(weight * mu for mu, weight in zip(pair.mus, pair.weights, strict=True)) ** 2
    return pair.epsilon**2 * (0.25 if isinstance(pair, BoundedRange) else 1.0)


def no_costlier(pair: Pair, than: Pair) -> bool:
    """Whether a pair is of the same kind as another and tells no more, by its numbers alone.

    Examples
    --------
    >>> no_costlier(Gaussian(0.4), Gaussian(0.5)), no_costlier(Gaussian(0.6), Gaussian(0.5))
    (True, False)
    """
    if type(pair) is not type(than):
        return False
    if isinstance(pair, Gaussian) and isinstance(than, Gaussian):
        return pair.mu <= than.mu
    if isinstance(pair, SampledGaussian) and isinstance(than, SampledGaussian):
        alike = (pair.rate, pair.replace) == (than.rate, than.replace)
        return alike and pair.noise_multiplier >= than.noise_multiplier
    if isinstance(pair, BoundedRange | Laplace | PureLoss):
        return pair.epsilon <= than.epsilon  # type: ignore[union-attr]
    return pair == than
