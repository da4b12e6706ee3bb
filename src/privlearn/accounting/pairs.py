"""The mechanisms an accountant can compose, as plain frozen values.

Each class names a *dominating pair* (P, Q): two laws that are at least as easy to tell apart as the
outputs of the mechanism on any two neighbouring data sets. Nothing is computed here; the privacy
profile of each pair lives in `directed.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


def _demand(holds: bool, name: str, value: object, demand: str, remedy: str) -> None:
    """Raise a ValueError that says the value, the demand and the remedy."""
    if not holds:
        raise ValueError(f"{name}={value!r}, but {demand}; {remedy}")


def _number(name: str, value: object) -> float:
    """Read one finite real number."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ValueError(f"{name}={value!r}, but a real number is needed; pass a float") from None
    _demand(math.isfinite(number), name, value, "it must be finite", "pass a finite float")
    return number


def _loss_parameter(value: object) -> float:
    epsilon = _number("epsilon", value)
    _demand(
        epsilon >= 0, "epsilon", value, "a privacy loss cannot be negative", "pass epsilon >= 0"
    )
    return epsilon


@dataclass(frozen=True)
class Gaussian:
    """N(0, 1) against N(mu, 1): the Gaussian mechanism with mu = sensitivity / noise std.

    Parameters
    ----------
    mu : float
        Sensitivity divided by the standard deviation of the noise, at least 0.

    Examples
    --------
    >>> from privlearn.accounting import Gaussian, compose
    >>> round(compose([(Gaussian(0.5), 4)]).epsilon(1e-5), 2)
    4.38
    """

    mu: float

    def __post_init__(self) -> None:
        mu = _number("mu", self.mu)
        _demand(mu >= 0, "mu", self.mu, "it is a ratio of lengths", "pass mu >= 0")
        object.__setattr__(self, "mu", mu)


@dataclass(frozen=True)
class SampledGaussian:
    """Gaussian noise on the sum over a Poisson sample of the rows.

    Parameters
    ----------
    rate : float
        The probability with which each row enters the sample, in (0, 1].
    noise_multiplier : float
        Standard deviation of the noise divided by the clipping bound of one row.
    replace : bool, default=False
        False: one row is there or is empty (`zero_out`, `add_remove`). The pair is
        (1-q) N(0, z^2) + q N(1, z^2) against N(0, z^2), and both directions count.
        True: one row is exchanged for another (`replace_one`). The pair is
        (1-q) N(0, z^2) + q N(1, z^2) against (1-q) N(0, z^2) + q N(-1, z^2).

    Examples
    --------
    >>> from privlearn.accounting import SampledGaussian, compose
    >>> step = SampledGaussian(rate=0.01, noise_multiplier=1.0)
    >>> round(compose([(step, 1000)]).epsilon(1e-5), 2)
    1.83
    """

    rate: float
    noise_multiplier: float
    replace: bool = False

    def __post_init__(self) -> None:
        rate = _number("rate", self.rate)
        _demand(
            0 < rate <= 1, "rate", self.rate, "it is a probability above 0", "pass 0 < rate <= 1"
        )
        noise = _number("noise_multiplier", self.noise_multiplier)
        _demand(
            noise > 0,
            "noise_multiplier",
            self.noise_multiplier,
            "without noise nothing is private",
            "pass noise_multiplier > 0",
        )
        object.__setattr__(self, "rate", rate)
        object.__setattr__(self, "noise_multiplier", noise)
        object.__setattr__(self, "replace", bool(self.replace))


@dataclass(frozen=True)
class _LargestLoss:
    """A pair that one number describes: the largest loss."""

    epsilon: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _loss_parameter(self.epsilon))


class Laplace(_LargestLoss):
    """The Laplace mechanism: Lap(0, 1) against Lap(epsilon, 1).

    Parameters
    ----------
    epsilon : float
        L1 sensitivity divided by the scale of the noise, at least 0.
    """


class PureLoss(_LargestLoss):
    """Any mechanism that is epsilon-DP with delta = 0: the profile of randomised response.

    Parameters
    ----------
    epsilon : float
        The guarantee of the mechanism, at least 0.
    """


@dataclass(frozen=True)
class ApproximateLoss:
    """Any mechanism that is (epsilon, delta)-DP, about which nothing else is known.

    The worst such mechanism reveals everything with probability delta and is randomised response
    of epsilon otherwise (Kairouz, Oh, Viswanath 2015); see `accounting.md`, section 6.

    Parameters
    ----------
    epsilon, delta : float
        The guarantee of the mechanism, epsilon >= 0 and 0 <= delta < 1.

    Examples
    --------
    >>> from privlearn.accounting import ApproximateLoss, compose
    >>> twice = compose([(ApproximateLoss(0.5, 1e-7), 2)])
    >>> twice.epsilon(2.1e-7) <= 1.0 < twice.epsilon(1.9e-7)
    True
    """

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        delta = _number("delta", self.delta)
        _demand(0 <= delta < 1, "delta", self.delta, "it is a probability", "pass 0 <= delta < 1")
        object.__setattr__(self, "epsilon", _loss_parameter(self.epsilon))
        object.__setattr__(self, "delta", delta)


@dataclass(frozen=True)
class TwoBounds:
    """A mechanism of which two things are proved: it is (epsilon, delta)-DP, and Gaussian at most.

    It is dominated by `ApproximateLoss(epsilon, delta)`, and by N(0, 1) against N(mu, 1) that fails
    outright with a small probability. Alone it costs whichever is less; beside others the second is
    mostly the better one. Each holds for the whole of a composition: `accounting.md`, section 6.

    Parameters
    ----------
    epsilon, delta : float
        The one guarantee, epsilon >= 0 and 0 <= delta < 1.
    mu, failure : float
        The other one, mu >= 0 and 0 <= failure < 1.

    Examples
    --------
    >>> from privlearn.accounting import Gaussian, TwoBounds, compose
    >>> best = TwoBounds(1.0, 1e-6, 0.43, 1e-15)
    >>> compose([(best, 1)]).epsilon(1e-6)
    1.0
    >>> round(compose([(best, 1), (Gaussian(0.2), 1)]).epsilon(1e-6), 2)
    2.13
    """

    epsilon: float
    delta: float
    mu: float
    failure: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _loss_parameter(self.epsilon))
        Gaussian(self.mu)
        for name in ("delta", "failure"):
            value = _number(name, getattr(self, name))
            _demand(0 <= value < 1, name, value, "it is a probability", f"pass 0 <= {name} < 1")


class BoundedRange(_LargestLoss):
    """The exponential mechanism and report-noisy-max with Gumbel noise.

    The log ratio of the two output laws stays in an interval of length epsilon, which is less than
    an epsilon-DP mechanism may do; see `accounting.md`, section 6.

    Parameters
    ----------
    epsilon : float
        The guarantee of the mechanism, at least 0.
    """


@dataclass(frozen=True)
class GaussianMixture:
    """A Gaussian mechanism whose mu is drawn from a public law that is independent of the data.

    The profile is sum_k weights[k] * delta_Gauss(epsilon; mus[k]). Weights that sum to less than 1
    are allowed: what is missing counts as a complete loss of privacy, so a tail may be cut off.

    Parameters
    ----------
    mus : sequence of float
        The possible values of mu, each at least 0.
    weights : sequence of float
        Their probabilities.
    """

    mus: tuple[float, ...]
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        mus, weights = _numbers("mus", self.mus), _numbers("weights", self.weights)
        _demand(
            len(mus) == len(weights) > 0,
            "mus",
            f"{len(mus)} values, weights {len(weights)} values",
            "they must have the same length, at least 1",
            "give each mu one weight",
        )
        total = math.fsum(weights)
        _demand(
            0 < total <= 1 + 1e-9, "sum(weights)", total, "it must be in (0, 1]", "normalise them"
        )
        object.__setattr__(self, "mus", mus)
        object.__setattr__(self, "weights", weights)

    @property
    def missing(self) -> float:
        """The probability that the weights leave out."""
        return max(0.0, 1.0 - math.fsum(self.weights))


def _numbers(name: str, values: Iterable[object]) -> tuple[float, ...]:
    numbers = tuple(_number(f"{name}[{k}]", value) for k, value in enumerate(values))
    for k, value in enumerate(numbers):
        _demand(value >= 0, f"{name}[{k}]", value, "it must not be negative", "pass values >= 0")
    return numbers


Pair = (
    Gaussian
    | SampledGaussian
    | Laplace
    | PureLoss
    | ApproximateLoss
    | TwoBounds
    | BoundedRange
    | GaussianMixture
)
