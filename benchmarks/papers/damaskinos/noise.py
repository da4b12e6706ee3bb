"""How much noise the published algorithms add: nominally, and to keep their promise.

Noise multipliers are deviations over sensitivities.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np
from scipy import optimize, special, stats

__all__ = [
    "exact_multiplier",
    "honest_epsilon",
    "honest_multiplier",
    "moments_epsilon",
    "moments_multiplier",
    "renyi_epsilon",
    "renyi_multiplier",
]

MOMENTS = np.arange(1, 129)  # the published program's; orders of Renyi divergence less one


def moments_epsilon(multiplier: float, rate: float, steps: int, delta: float) -> float:
    """The paper's: moments accountant (Abadi et al. 2016) of Gaussians on Poisson samples."""
    log_moments = steps * _log_moments(multiplier, rate)
    return float(np.min((log_moments - math.log(delta)) / MOMENTS))


def renyi_epsilon(multiplier: float, rate: float, steps: int, delta: float) -> float:
    """The same moments with the better conversion of Canonne, Kamath and Steinke 2020."""
    log_moments = steps * _log_moments(multiplier, rate)
    orders = MOMENTS + 1.0
    gain = np.log(orders) - MOMENTS * np.log1p(-1.0 / orders)
    return max(0.0, float(np.min((log_moments - math.log(delta) - gain) / MOMENTS)))


def _log_moments(multiplier: float, rate: float) -> np.ndarray:
    """log E_Q[(P/Q)^(m+1)], P = (1-q) N(0, s^2) + q N(1, s^2), Q = N(0, s^2), for each moment m."""
    orders = (MOMENTS + 1.0)[:, None]
    k = np.arange(MOMENTS[-1] + 2.0)[None, :]
    inside = k <= orders
    left = np.where(inside, orders - k, 0.0)
    choose = special.gammaln(orders + 1) - special.gammaln(k + 1) - special.gammaln(left + 1)
    terms = choose + special.xlogy(k, rate) + special.xlog1py(left, -rate)
    terms += k * (k - 1.0) / (2.0 * multiplier**2)
    return special.logsumexp(np.where(inside, terms, -np.inf), axis=1)


def honest_epsilon(multiplier: float, rate: float, steps: int, delta: float) -> float:
    """What the stated output [alpha; v] of every step costs.

    Only the alphas of a batch change, so who was in it is seen: with K visits of the differing row
    the output is that of K Gaussian releases, and delta is the mean over K ~ Binomial(steps, rate).
    """
    if _honest_delta(0.0, multiplier, rate, steps) <= delta:
        return 0.0

    def excess(epsilon: float) -> float:
        return _honest_delta(epsilon, multiplier, rate, steps) - delta

    return optimize.brentq(excess, 0.0, 1e4, xtol=1e-9)


def _honest_delta(epsilon: float, multiplier: float, rate: float, steps: int) -> float:
    law = stats.binom(steps, min(rate, 1.0))
    visits = np.arange(max(1.0, law.ppf(1e-15)), law.isf(1e-15) + 1.0)
    mu = np.sqrt(visits) / multiplier
    first = stats.norm.cdf(mu / 2.0 - epsilon / mu)
    second = np.exp(epsilon + stats.norm.logcdf(-mu / 2.0 - epsilon / mu))
    return float(law.pmf(visits) @ (first - second))


def _root(excess: Callable[[float], float]) -> float:
    """The multiplier where a falling function is 0."""
    return math.exp(optimize.brentq(lambda log: excess(math.exp(log)), -7.0, 14.0, xtol=1e-7))


@functools.cache
def moments_multiplier(epsilon: float, delta: float, rate: float, steps: int) -> float:
    """Step 2 of Algorithm 1: MA(delta, sigma, L / N, T) = epsilon."""
    return _root(lambda z: min(moments_epsilon(z, rate, steps, delta), 1e6) - epsilon)


@functools.cache
def renyi_multiplier(epsilon: float, delta: float, rate: float, steps: int) -> float:
    """Step 2 of Algorithm 1 with the better conversion: never more noise than the paper's."""
    return _root(lambda z: min(renyi_epsilon(z, rate, steps, delta), 1e6) - epsilon)


@functools.cache
def exact_multiplier(epsilon: float, delta: float, rate: float, steps: int) -> float:
    """Step 2 of Algorithm 1 with privlearn's accountant."""
    from privlearn.accounting import SampledGaussian, smallest_scale

    return smallest_scale(lambda z: [(SampledGaussian(rate, z), steps)], epsilon, delta)


@functools.cache
def honest_multiplier(epsilon: float, delta: float, rate: float, steps: int) -> float:
    """The same promise, kept for what Algorithm 1 says that it puts out."""
    return _root(lambda z: _honest_delta(epsilon, z, rate, steps) - delta)
