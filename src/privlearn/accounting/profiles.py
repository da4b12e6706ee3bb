"""Privacy profiles of Gaussian pairs, accurate relative to their own size.

Every profile is written with positive terms only, so that no digits cancel even where delta is
1e-40 (`accounting.md`, section 2). Each function has a stated bound on its relative rounding error.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcx, ndtr

Array = NDArray[np.float64]

UNIT = 2.0**-53  # relative rounding error of one float64 operation
TINY = 1e-300  # added where a positive value may have underflowed to zero

_SQRT_HALF_PI = math.sqrt(math.pi / 2)
_SQRT_TWO_PI = math.sqrt(2 * math.pi)
_NARROW = 0.25
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(6)
_NODES, _WEIGHTS = (_NODES + 1) / 2, _WEIGHTS / 2
# Nodes and weights on [0, 1] that `mills_drop` uses for narrow widths.
GAUSS_LEGENDRE = tuple(zip(_NODES.tolist(), _WEIGHTS.tolist(), strict=True))


def mills(x: Array) -> Array:
    """Mills ratio (1 - Phi(x)) / phi(x)."""
    return _SQRT_HALF_PI * erfcx(x / math.sqrt(2))


def density(x: Array) -> Array:
    """Density of the standard normal law."""
    return np.exp(-0.5 * x * x) / _SQRT_TWO_PI


def mills_drop(left: Array, width: float) -> Array:
    """phi(left) * (M(left) - M(left + width)) for left + width >= 0, M the Mills ratio.

    For a narrow width the difference is the integral of -M'(t) = 1 - t M(t) > 0, taken by six
    Gauss-Legendre nodes (relative error below 1e-18 for width <= 1/4: `accounting.md`, section 2).
    """
    if width < _NARROW:
        points = left[..., None] + width * _NODES
        slopes = 1.0 - points * mills(points)
        # Beyond 40 standard deviations the density underflows and the slope has lost its digits.
        return density(left) * width * (np.maximum(slopes, 0.0) @ _WEIGHTS)
    right = mills(left + width)
    weight = density(left)
    inside = np.maximum(left, 0.0)
    return np.where(left < 0, ndtr(-left) - weight * right, weight * (mills(inside) - right))


def gaussian_profile(loss: Array, mu: float) -> Array:
    """delta(loss) of N(0, 1) against N(mu, 1) for loss >= 0 (Balle and Wang 2018, theorem 8).

    Phi(a) - e^loss Phi(b) with a = mu/2 - loss/mu and b = a - mu; since phi(a) = e^loss phi(b) it
    equals phi(a) (M(-a) - M(-b)).
    """
    return mills_drop(loss / mu - mu / 2, mu)


def gaussian_rounding(loss: Array, mu: float) -> Array:
    """Bound on the relative rounding error of `gaussian_profile`."""
    return UNIT * (256.0 + 32.0 * (loss / mu + mu / 2) ** 2)


def sampled_exponent(loss: Array, rate: float) -> Array:
    """The loss of the unsampled Gaussian pair at the output where the sampled pair has `loss`.

    log((e^loss - 1 + q) / q), and -inf where the sampled loss is never that low.
    """
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        ratio = np.maximum(np.expm1(np.minimum(loss, 30.0)) / rate, -1.0)
        near = np.log1p(ratio)
        far = loss - math.log(rate) + np.log1p((rate - 1.0) * np.exp(-loss))
    return np.where(loss > 30.0, far, near)


def gap_exponent(gap: Array, rate: float) -> Array:
    """`sampled_exponent` at loss log(1 - q) + gap, exact near the lowest loss."""
    with np.errstate(over="ignore", divide="ignore"):
        near = np.log(np.expm1(np.clip(gap, 0.0, 30.0)))
    far = gap + np.log1p(-np.exp(-np.maximum(gap, 30.0)))
    return np.where(gap > 30.0, far, near) + (math.log1p(-rate) - math.log(rate))


def replace_output(loss: Array, rate: float, mu: float) -> Array:
    """The output, in noise standard deviations, where the exchange pair has this loss >= 0.

    The likelihood ratio is a quadratic in e^(mu v); its root is
    mu v = loss/2 + asinh((1 - q) sinh(loss/2) e^(mu^2/2) / q).
    """
    with np.errstate(divide="ignore", over="ignore"):
        exponent = mu * mu / 2 + (math.log1p(-rate) - math.log(rate))
        half = loss / 2
        log_argument = exponent + np.where(
            half > 20.0, half - math.log(2), np.log(np.sinh(np.clip(half, 0.0, 20.0)))
        )
        small = np.arcsinh(np.exp(np.minimum(log_argument, 20.0)))
        turned = np.where(log_argument > 20.0, log_argument + math.log(2), small)
    # asinh(y) < log(2 y) + 1/(4 y^2): beyond y = e^20 the difference is below rounding.
    return (half + turned) / mu


def replace_profile(loss: Array, rate: float, mu: float) -> Array:
    """delta(loss) of the exchange pair for loss >= 0, rate < 1; a sum of two positive terms."""
    output = replace_output(loss, rate, mu)
    towards = mills_drop(output - mu, mu)
    weight = np.exp(loss - mu * output - mu * mu / 2)
    return rate * (towards + weight * mills_drop(output, mu))


def replace_loss(output: Array, rate: float, mu: float) -> Array:
    """Log likelihood ratio of the exchange pair at an output in noise standard deviations."""
    rest = math.log1p(-rate)
    hit = math.log(rate) - mu * mu / 2
    return np.logaddexp(rest, hit + mu * output) - np.logaddexp(rest, hit - mu * output)
