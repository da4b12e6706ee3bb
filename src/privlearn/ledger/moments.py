"""Logarithms of the moments of privacy losses: E[exp(t L)] for each kind of pair, rounded up.

Moments of independent losses multiply, so their logarithms add up: what a ledger keeps. Where two
directions of a pair differ, the larger moment counts. Formulas and error bounds: `ledger.md`.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from privlearn.accounting import (
    ApproximateLoss,
    BoundedRange,
    Gaussian,
    GaussianMixture,
    Laplace,
    Pair,
    PureLoss,
    SampledGaussian,
    compose,
)

__all__ = ["Terms", "log_moments", "lost_mass"]

Array = NDArray[np.float64]
Terms = tuple[tuple[Pair, int], ...]

_RELATIVE = 1e-12  # far above the rounding of any formula here
_ABSOLUTE = 1e-13  # the same for the sums that approximate an integral
_REACH = 12.0  # standard deviations at which integrals are cut off: 1e-32 of them
_LARGE = 60.0  # t epsilon beyond which a bounded loss counts as its largest value
_PANELS, _NODES_PER_PANEL = 8, 24


@lru_cache(maxsize=4096)
def _cached(terms: Terms, orders: tuple[float, ...], useless: tuple[float, ...]) -> Array:
    total = np.zeros(len(orders))
    t, limit = np.array(orders), np.array(useless)
    for pair, count in terms:
        with np.errstate(over="ignore"):
            total += count * (_log_moment(pair, t, limit) * (1 + _RELATIVE) + _ABSOLUTE)
    total.flags.writeable = False
    return total


def log_moments(terms: Terms, orders: Array, useless: Array) -> Array:
    """log E[exp(t L)] of a composition, rounded up, for the t in `orders`.

    Parameters
    ----------
    terms : tuple of (pair, count)
        What is composed.
    orders : array
        The values of t, above 0.
    useless : array
        Where a logarithm is surely above these, it may be given as infinity, which is cheaper.

    Examples
    --------
    >>> import numpy as np
    >>> from privlearn.accounting import Gaussian
    >>> t = np.array([1.0, 3.0])
    >>> log_moments(((Gaussian(0.5), 4),), t, t * np.inf).round(6)
    array([1., 6.])
    """
    canonical = compose(terms).terms if terms else ()
    return _cached(canonical, tuple(orders.tolist()), tuple(useless.tolist()))


def lost_mass(terms: Terms) -> float:
    """Probability, rounded up, of a complete loss: what mixtures leave out, and failures."""
    lost = [count * pair.missing for pair, count in terms if isinstance(pair, GaussianMixture)]
    lost += [count * pair.delta for pair, count in terms if isinstance(pair, ApproximateLoss)]
    return math.fsum(lost) * (1 + _RELATIVE)


def _log_moment(pair: Pair, t: Array, useless: Array) -> Array:
    """One pair, nearly to rounding."""
    if isinstance(pair, Gaussian):
        return t * (t + 1) * pair.mu**2 / 2
    if isinstance(pair, GaussianMixture):
        exponents = np.multiply.outer(t * (t + 1), np.square(pair.mus) / 2)
        weights = np.log(np.maximum(pair.weights, 1e-300))
        return np.maximum(0.0, np.logaddexp.reduce(exponents + weights, axis=1))
    if isinstance(pair, SampledGaussian):
        found = [_sampled(pair, order, top) for order, top in zip(t, useless, strict=True)]
        return np.array(found)
    if isinstance(pair, ApproximateLoss):  # without its failures, which `lost_mass` tells
        return _bounded(PureLoss(pair.epsilon), t) if pair.epsilon > 0 else np.zeros(t.size)
    return _bounded(pair, t)


def _bounded(pair: Laplace | PureLoss | BoundedRange, t: Array) -> Array:
    """Symmetric pair with losses in [-epsilon, epsilon].

    E[exp(t L)] - 1 is t(t+1) times the integral of (e^(t l) + e^(-(t+1) l)) delta(l) over
    [0, epsilon]. No loss is above epsilon, which is a good bound where t epsilon is large.
    """
    nodes, weights = np.polynomial.legendre.leggauss(_NODES_PER_PANEL)
    length = pair.epsilon / _PANELS
    starts = np.arange(_PANELS)[:, None] * length
    loss = (starts + (nodes + 1) / 2 * length).ravel()
    mass = np.tile(weights / 2 * length, _PANELS) * _profile(pair, pair.epsilon - loss)
    low = np.minimum(t, _LARGE / pair.epsilon)
    kernel = np.exp(np.outer(low, loss)) + np.exp(-np.outer(low + 1, loss))
    excess = low * (low + 1) * (kernel @ mass)
    return np.where(t > low, t * pair.epsilon, np.log1p(excess))


def _profile(pair: Laplace | PureLoss | BoundedRange, rest: Array) -> Array:
    """delta at the loss epsilon - rest >= 0 (`accounting.md`, section 6)."""
    if isinstance(pair, Laplace):
        return -np.expm1(-rest / 2)
    if isinstance(pair, PureLoss):
        return -np.expm1(-rest) / (1 + math.exp(-pair.epsilon))
    return np.expm1(-rest / 2) ** 2 / -math.expm1(-pair.epsilon)


def _sampled(pair: SampledGaussian, t: float, useless: float) -> float:
    """Poisson-sampled Gaussian, by the trapezoidal rule over the output in standard deviations.

    Row there against row gone: the integral of phi(v) a(v)^(t+1) with a(v) = 1 - q + q
    exp(mu v - mu^2/2); the other direction is smaller (Mironov, Talwar, Zhang 2019, theorem 5).
    Exchange: phi(v) a(v)^(t+1) a(-v)^-t.
    """
    mu, order = 1.0 / pair.noise_multiplier, t + 1.0
    rate_loss = -math.log(pair.rate)
    if order * (t * mu * mu / 2 - rate_loss) > useless:
        return math.inf
    far = (order + (t if pair.replace else 0.0)) * mu
    width = min(3.0, 2.0 / mu, 2.0 / (mu * math.sqrt(t)) if pair.replace else math.inf)
    step = width / 6.5
    count = math.ceil((far + 2 * _REACH) / step)
    if count > 2_000_000:
        return math.inf
    v: Array = step * np.arange(count + 1, dtype=np.float64) - _REACH
    exponent: Array = -v * v / 2 + order * _log_ratio(v, pair.rate, mu)
    if pair.replace:
        exponent -= t * _log_ratio(-v, pair.rate, mu)
    peak = float(exponent.max())
    total = math.log(float(np.exp(exponent - peak).sum()) * step / math.sqrt(2 * math.pi))
    return max(0.0, peak + total)


def _log_ratio(v: Array, rate: float, mu: float) -> Array:
    """Likelihood ratio of N(0, 1) with and without a row that is sampled with this rate."""
    shift = mu * v - mu * mu / 2
    small = np.log1p(rate * np.expm1(np.minimum(shift, 1.0)))
    return np.where(shift > 1.0, np.logaddexp(math.log1p(-rate), math.log(rate) + shift), small)
