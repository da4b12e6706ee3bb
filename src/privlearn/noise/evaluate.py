"""Evaluate tabulated quantile functions at blocks of 64-bit words.

Plain array operations on blocks that fit a core's cache: about 23 ns a word, without a compiler's
start-up time in front of the first fit. The layout of a word and of a table row is described in
``tables.py``; the error bounds that the rows carry are proven in ``noise.md``. A table has one row
of ``DEGREE + 2`` numbers for each of 2 sides x (BINADES + 1) x SEGMENTS pieces: its builder and its
readers must agree on that.
"""

import numpy as np
from numpy.typing import NDArray

BINADES = 24
SEGMENTS = 32
SEGMENT_BITS = 5
DEGREE = 8
ERROR_COLUMN = DEGREE + 1

Words = NDArray[np.uint64]
Doubles = NDArray[np.float64]
Integers = NDArray[np.int64]

_OFFSET_BITS = 63 - SEGMENT_BITS  # what is left of a word after its leading one and its segment
_EXACT_IN_DOUBLE = np.uint64((1 << 63) - (1 << 10))  # the upper 53 of 63 bits


def locate(words: Words) -> tuple[Integers, Doubles]:
    """Return the rows of the table that cover the words and the positions in them, in [-1, 1)."""
    magnitude = words >> np.uint64(1)
    # Without its low bits a magnitude is exact as a double, whose exponent tells the leading one.
    # (If nothing else is set it reads as 0, and the row is one that is always refined.)
    as_double = (magnitude & _EXACT_IN_DOUBLE).view(np.int64).astype(np.float64)
    exponent = (as_double.view(np.int64) >> 52) - 1023
    leading = 63 - exponent  # zeros above the leading one, of 64 bits
    magnitude <<= leading.view(np.uint64) & np.uint64(63)
    row = np.minimum(leading - 1, BINADES)
    row += (words & np.uint64(1)).view(np.int64) * (BINADES + 1)
    row *= SEGMENTS
    row += ((magnitude >> np.uint64(_OFFSET_BITS)) & np.uint64(SEGMENTS - 1)).view(np.int64)
    magnitude &= np.uint64((1 << _OFFSET_BITS) - 1)
    offset = magnitude.view(np.int64)
    offset -= 1 << (_OFFSET_BITS - 1)
    position = offset.astype(np.float64)
    position *= 2.0 ** (1 - _OFFSET_BITS)
    return row, position


def approximate_quantiles(words: Words, table: Doubles) -> tuple[Doubles, Doubles]:
    """Return quantile(word) and a bound on its distance from the true one, as doubles.

    The table has one row of memory per coefficient. Horner's rule, in this order of operations.
    """
    row, t = locate(words)
    value = np.take(table[DEGREE], row)
    coefficient = np.empty_like(value)
    for degree in range(DEGREE - 1, -1, -1):
        value *= t
        value += np.take(table[degree], row, out=coefficient, mode="clip")
    return value, np.take(table[ERROR_COLUMN], row, out=coefficient, mode="clip")


def round_quantiles(
    words: Words, table: Doubles, scale: float, margin_factor: float, rounded: Integers
) -> Integers:
    """Write round(scale * quantile(word)); return the words whose rounding is not certain."""
    value, margin = approximate_quantiles(words, table)
    value *= scale
    nearest = np.rint(value)
    rounded[...] = nearest
    value -= nearest
    np.abs(value, out=value)
    margin *= scale * margin_factor
    value += margin
    return np.flatnonzero(~(value < 0.5))
