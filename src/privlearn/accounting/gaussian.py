"""The Gaussian mechanism alone, in scalars: exact curve, and its inverses in both arguments."""

from __future__ import annotations

import math
from functools import lru_cache

UNIT = 2.0**-53
_SQRT_HALF_PI = math.sqrt(math.pi / 2)
_NARROW = 0.25


def _mills(x: float) -> float:
    from scipy.special import erfcx

    return _SQRT_HALF_PI * float(erfcx(x / math.sqrt(2)))


def _narrow(left: float, mu: float) -> float:
    """M(left) - M(left + mu) for a small mu, by the same quadrature as `profiles.mills_drop`."""
    from privlearn.accounting.profiles import GAUSS_LEGENDRE

    total = 0.0
    for node, weight in GAUSS_LEGENDRE:
        point = left + mu * node
        total += weight * max(0.0, 1.0 - point * _mills(point))
    return mu * total


def gaussian_delta(epsilon: float, mu: float) -> float:
    """The smallest delta of N(0, 1) against N(mu, 1) at epsilon >= 0, rounded up.

    Phi(a) - e^epsilon Phi(b) = phi(a) (M(-a) - M(-b)), a = mu/2 - epsilon/mu, b = a - mu.
    """
    if mu == 0:
        return 0.0
    left = epsilon / mu - mu / 2
    if left > 40.0:
        return 5e-324  # below 1e-347 in truth
    density = math.exp(-left * left / 2) / math.sqrt(2 * math.pi)
    if mu < _NARROW:
        value = density * _narrow(left, mu)
    elif left < 0:
        value = 0.5 * math.erfc(left / math.sqrt(2)) - density * _mills(left + mu)
    else:
        value = density * (_mills(left) - _mills(left + mu))
    return min(1.0, value * (1.0 + min(1.0, gaussian_rounding(epsilon, mu))) + 1e-300)


def gaussian_rounding(epsilon: float, mu: float) -> float:
    """Bound on the relative rounding error, as in `profiles.gaussian_rounding`."""
    reach = epsilon / mu + mu / 2
    return UNIT * (256.0 + 32.0 * reach * reach)


@lru_cache(maxsize=256)  # a fit asks for the same budget several times
def equivalent_mu(epsilon: float, delta: float) -> float:
    """The mu whose Gaussian curve passes through (epsilon, delta), to relative 1e-13 or so.

    Used as a ruler: a composition that reaches delta at epsilon is as costly as this mu, and mu is
    nearly proportional to 1 / noise. 0 for delta = 0, and inf when delta is 1 within rounding.
    """
    if delta <= 1e-299:
        return 0.0
    if delta >= 1 - 1e-14:
        return math.inf
    tail = math.sqrt(2 * max(0.0, -math.log(delta))) + 1.0
    high = tail + math.sqrt(tail * tail + 2 * epsilon)
    while gaussian_delta(epsilon, high) < delta:
        high *= 2
    low = epsilon / (tail + math.sqrt(tail * tail + 2 * epsilon)) / 4 if epsilon else delta
    while gaussian_delta(epsilon, low) > delta:
        low /= 2
    from scipy.optimize import brentq

    def excess(log_mu: float) -> float:
        return math.log(gaussian_delta(epsilon, math.exp(log_mu)) / delta)

    return math.exp(brentq(excess, math.log(low), math.log(high), xtol=1e-14, rtol=1e-13))
