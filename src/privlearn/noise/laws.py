"""The continuous laws behind the samplers: tails in high precision, quantiles as power series.

A law is cut at its median. The *side* of a draw is 0 below and 1 above it, and the *tail mass* p
in (0, 1/2] is P(X <= x) below and P(X >= x) above. Everything here is written for a number type
and a namespace ``ctx`` that supplies ``exp``, ``log``, ``sqrt`` and ``pi``: numpy arrays to build
the tables, mpmath numbers to refine a draw, mpmath intervals to prove a bound in the tests.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

Context = Any  # numpy, or a context of mpmath
Number = Any  # of that context
Series = list[Number]


@dataclass(frozen=True)
class Law:
    """A continuous law on the line, given by its two tails.

    Attributes
    ----------
    name : what the law is called.
    tail : ``tail(ctx, side, x)`` is the tail mass at x on that side.
    density : ``density(ctx, x)``.
    series : ``series(ctx, side, mass, value, order)`` holds the Taylor coefficients, from order 0,
        of the quantile as a function of the tail mass around ``mass``, where it equals ``value``.
    guess : ``guess(side, mass)`` is the quantile in double precision, good to a few digits at
        least: Newton's method starts there, and no bound rests on it.
    symmetric : whether the two sides mirror each other at 0.
    """

    name: str
    tail: Callable[[Context, int, Number], Number]
    density: Callable[[Context, Number], Number]
    series: Callable[[Context, int, Number, Number, int], Series]
    guess: Callable[[int, float], float]
    symmetric: bool = True


def _convolve(left: Series, right: Series, order: int) -> Number:
    """Return the coefficient of the given order in the product of two series."""
    total = left[0] * right[order]
    for j in range(1, order + 1):
        total = total + left[j] * right[order - j]
    return total


def _minus_log_series(base: Series, value: Number) -> Series:
    """Return the series of -log(base), whose coefficient of order 0 is ``value``.

    With G = -log L: L G' = -L', so n L_0 G_n = -n L_n - sum_{j=1}^{n-1} j G_j L_{n-j}.
    """
    result = [value]
    for n in range(1, len(base)):
        total = -n * base[n]
        for j in range(1, n):
            total = total - j * result[j] * base[n - j]
        result.append(total / (n * base[0]))
    return result


def _gaussian_tail(ctx: Context, side: int, x: Number) -> Number:
    outward = x if side else -x
    return ctx.erfc(outward / ctx.sqrt(ctx.mpf(2))) / 2


def _gaussian_density(ctx: Context, x: Number) -> Number:
    return ctx.exp(-x * x / 2) / ctx.sqrt(2 * ctx.pi)


def _gaussian_series(ctx: Context, side: int, mass: Number, value: Number, order: int) -> Series:
    """Solve Q' = s Y, Y' = Q Q' Y with Y = 1/phi(Q), s = -1 above and +1 below the median."""
    direction = -1 if side else 1
    quantile = [value]
    inverse_density = [ctx.exp(value * value / 2) * ctx.sqrt(2 * ctx.pi)]
    half_square_slope: Series = []  # the series of Q Q'
    slope: Series = []  # the series of Q'
    for n in range(order):
        slope.append(direction * inverse_density[n])
        quantile.append(slope[n] / (n + 1))
        half_square_slope.append(_convolve(quantile, slope, n))
        inverse_density.append(_convolve(half_square_slope, inverse_density, n) / (n + 1))
    return quantile


def _laplace_tail(ctx: Context, side: int, x: Number) -> Number:
    outward = x if side else -x
    if outward >= 0:
        return ctx.exp(-outward) / 2
    return 1 - ctx.exp(outward) / 2


def _laplace_density(ctx: Context, x: Number) -> Number:
    return ctx.exp(-abs(x)) / 2


def _laplace_series(ctx: Context, side: int, mass: Number, value: Number, order: int) -> Series:
    """Expand -log(2p) above the median, log(2p) below."""
    direction = 1 if side else -1
    linear = [mass, mass * 0 + 1] + [mass * 0] * (order - 1)
    return [direction * c for c in _minus_log_series(linear, direction * value)]


def _gumbel_tail(ctx: Context, side: int, x: Number) -> Number:
    return -ctx.expm1(-ctx.exp(-x)) if side else ctx.exp(-ctx.exp(-x))


def _gumbel_density(ctx: Context, x: Number) -> Number:
    return ctx.exp(-x - ctx.exp(-x))


def _gumbel_series(ctx: Context, side: int, mass: Number, value: Number, order: int) -> Series:
    """Expand -log(L) with L = -log(p) below and L = -log(1-p) above the median."""
    base = [ctx.exp(-value)]
    inner = -1 / (1 - mass) if side else 1 / mass
    power = mass * 0 + 1
    for n in range(1, order + 1):
        power = power * -inner  # -log(m + d) = -log m - d/m + d^2/(2 m^2) - ...
        base.append(power / n)
    return _minus_log_series(base, value)


def _gaussian_guess(side: int, mass: float) -> float:
    quantile = NormalDist().inv_cdf(mass)
    return -quantile if side else quantile


def _laplace_guess(side: int, mass: float) -> float:
    length = -math.log(2 * mass)
    return length if side else -length


def _gumbel_guess(side: int, mass: float) -> float:
    return -math.log(-math.log1p(-mass) if side else -math.log(mass))


GAUSSIAN = Law("gaussian", _gaussian_tail, _gaussian_density, _gaussian_series, _gaussian_guess)
LAPLACE = Law("laplace", _laplace_tail, _laplace_density, _laplace_series, _laplace_guess)
GUMBEL = Law("gumbel", _gumbel_tail, _gumbel_density, _gumbel_series, _gumbel_guess, False)
LAWS = (GAUSSIAN, LAPLACE, GUMBEL)
