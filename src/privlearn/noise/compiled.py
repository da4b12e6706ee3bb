"""Rounded draws and geometric skips from 64-bit words, compiled.

The arithmetic is that of `evaluate.py`, in the same order, one word after the other, so results are
the same to the last bit. It is used where numba is loaded already, for the steps of a solver that
draws millions: a single release does not wait for a compiler.
"""

import math

import numpy as np

from privlearn._core.jit import jit
from privlearn.noise.evaluate import BINADES, DEGREE, ERROR_COLUMN, SEGMENT_BITS, SEGMENTS

__all__ = ["write_rounded", "write_skips"]

_OFFSET_BITS = 63 - SEGMENT_BITS
_UPPER_BITS = np.uint64((1 << 63) - (1 << 10))  # of 63: exact in a double
_OFFSET_MASK = np.uint64((1 << _OFFSET_BITS) - 1)
_ONE, _SHIFT, _ALL = np.uint64(1), np.uint64(_OFFSET_BITS), np.uint64(63)
_SEGMENT_MASK = np.uint64(SEGMENTS - 1)
_ROUNDING = 16 * 2.0**-53  # covers log1p and the division (noise.md, "Skips"), twice over


@jit()
def _quantile_and_error(word, by_piece):
    """Quantile of the law that is tabulated, and a bound on its error, by Horner's rule."""
    magnitude = word >> _ONE
    upper = np.float64(np.int64(magnitude & _UPPER_BITS))
    leading = 63 - (math.frexp(upper)[1] - 1) if upper > 0.0 else BINADES + 1
    magnitude <<= np.uint64(leading) & _ALL
    row = (min(leading - 1, BINADES) + np.int64(word & _ONE) * (BINADES + 1)) * SEGMENTS
    row += np.int64((magnitude >> _SHIFT) & _SEGMENT_MASK)
    offset = np.int64(magnitude & _OFFSET_MASK) - (1 << (_OFFSET_BITS - 1))
    t = np.float64(offset) * 2.0 ** (1 - _OFFSET_BITS)
    value = by_piece[row, DEGREE]
    for degree in range(DEGREE - 1, -1, -1):
        value = value * t + by_piece[row, degree]
    return value, by_piece[row, ERROR_COLUMN]


@jit(error_model="numpy", nogil=True)
def write_rounded(words, by_piece, scale, margin_factor, rounded):
    """Write round(scale * quantile(word)); return which words are undecided.

    `by_piece` is the table of the law with the numbers of a piece side by side.
    """
    undecided = np.empty(words.size, np.int64)
    found = 0
    for i in range(words.size):
        value, error = _quantile_and_error(words[i], by_piece)
        value *= scale
        nearest = np.rint(value)
        rounded[i] = np.int64(nearest)
        if not abs(value - nearest) + error * (scale * margin_factor) < 0.5:
            undecided[found] = i
            found += 1
    return undecided[:found]


@jit(error_model="numpy", nogil=True)
def write_skips(words, by_piece, log_keep, limit, margin_factor, skips):
    """Write floor(|quantile| / log_keep), at most `limit`; return which words are undecided.

    `by_piece` is that of the Laplace law.
    """
    undecided = np.empty(words.size, np.int64)
    found = 0
    for i in range(words.size):
        value, error = _quantile_and_error(words[i], by_piece)
        ratio = abs(value) / log_keep
        margin = (error / log_keep + _ROUNDING * ratio) * margin_factor
        lowest = min(np.floor(max(ratio - margin, 0.0)), limit)
        highest = min(np.floor(ratio + margin), limit)
        if lowest == highest:  # not so for nan, from an infinite margin
            skips[i] = np.int64(highest)
        else:
            undecided[found] = i
            found += 1
    return undecided[:found]
