"""Tables of Taylor polynomials for the quantile functions, with an error bound for each row.

How a 64-bit word selects a point: bit 0 is the side of the median, the other 63 bits are an integer
k, and the tail mass is p in [k, k + 1] 2^-64. With m leading zeros among the 63 bits, p lies in the
binade [2^-(m+2), 2^-(m+1)); the five bits after the leading one pick one of 32 equal segments, with
middle mass p_0 and half width h; the remaining bits give t = (p - p_0)/h in [-1, 1).

A row holds c_0..c_8 with quantile(p_0 + h t) = sum c_j t^j up to its last entry, the error bound.
The bound is derived in noise.md. The rows of the last binade, which stands for all words with 24
or more leading zeros, have an infinite bound: those words are always refined.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from privlearn.noise.evaluate import BINADES, DEGREE, ERROR_COLUMN, SEGMENTS
from privlearn.noise.laws import Law
from privlearn.noise.precise import high_precision, quantile

UNIT_ROUNDOFF = 2.0**-53
# Bounds of noise.md, "The margin". Each is about twice what the proof needs.
VALUE_UNITS = 8.0
SLOPE_UNITS = 160.0
REMAINDER_UNITS = 0.25


def segments() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the middle masses and half widths of all segments, each of shape (24, 32)."""
    start = np.ldexp(1.0, -2 - np.arange(BINADES))[:, np.newaxis]
    middle = start * (1 + (np.arange(SEGMENTS) + 0.5) / SEGMENTS)
    half_width = start / (2 * SEGMENTS) * np.ones(SEGMENTS)
    return middle, half_width


def _middle_values(law: Law, side: int, masses: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the quantiles of the middle masses, rounded to nearest from 80 bits."""
    values = np.empty(masses.shape)
    with high_precision(80) as ctx:
        for i, mass in np.ndenumerate(masses):
            values[i] = float(quantile(ctx, law, side, ctx.mpf(float(mass))))
    return values


def _error_bounds(value: NDArray[np.float64], slope: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the bound of noise.md for each segment: rounding, remainder, width of a word."""
    rounding = UNIT_ROUNDOFF * (VALUE_UNITS * abs(value) + SLOPE_UNITS * abs(slope))
    word_width = np.ldexp(1.0, np.arange(BINADES) - 56)[:, np.newaxis]
    return rounding + REMAINDER_UNITS * UNIT_ROUNDOFF + 2 * word_width * abs(slope)


def _side(law: Law, side: int) -> NDArray[np.float64]:
    """Build the rows of one side, of shape (25, 32, 10)."""
    masses, half_widths = segments()
    values = _middle_values(law, side, masses)
    rows = np.zeros((BINADES + 1, SEGMENTS, ERROR_COLUMN + 1))
    rows[BINADES, :, ERROR_COLUMN] = np.inf
    for order, coefficient in enumerate(law.series(np, side, masses, values, DEGREE)):
        rows[:BINADES, :, order] = coefficient * half_widths**order
    rows[:BINADES, :, ERROR_COLUMN] = _error_bounds(values, rows[:BINADES, :, 1])
    return rows


@cache
def quantile_table(law: Law) -> NDArray[np.float64]:
    """Return the table of a law: 10 numbers for each of 2 sides x 25 binades x 32 segments.

    Transposed: all constant terms first, then all slopes, and so on, for fast look-up.
    """
    below = _side(law, 0)
    if law.symmetric:
        above = below.copy()
        above[..., : DEGREE + 1] *= -1
    else:
        above = _side(law, 1)
    rows = np.concatenate([below, above]).reshape(-1, ERROR_COLUMN + 1)
    return np.ascontiguousarray(rows.T)


@cache
def table_by_piece(law: Law) -> NDArray[np.float64]:
    """The same numbers, those of a piece side by side: for loops that take one word at a time."""
    return np.ascontiguousarray(quantile_table(law).T)
