"""What a release costs beside others: one number for each pair, by the central limit."""

from __future__ import annotations

from privlearn.accounting.pairs import (
    BoundedRange,
    Gaussian,
    GaussianMixture,
    Pair,
    SampledGaussian,
)

__all__ = ["squared_mu"]


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
