"""Compiled evaluation of tabulated quantile functions at 64-bit words.

The layout of a word and of a table row is described in ``privlearn/noise/tables.py``; the error
bounds that the rows carry are proven in ``privlearn/noise/noise.md``.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from privlearn._loops.noise_layout import BINADES, ERROR_COLUMN, SEGMENTS


def _emit_leading_zeros(typing_context: Any, word: Any) -> Any:  # noqa: ANN401
    """Type and emit the instruction that counts leading zero bits (64 for the word 0)."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ANN401
        defined_at_zero = ir.Constant(ir.IntType(1), 0)
        return builder.ctlz(arguments[0], defined_at_zero)

    return types.uint64(types.uint64), generate


_leading_zeros: Any = intrinsic(_emit_leading_zeros)


@njit(inline="always", error_model="numpy")
def _locate(word: Any) -> Any:  # noqa: ANN401
    """Return the row of the table that covers a word and the position in it, in [-1, 1)."""
    side = word & np.uint64(1)
    magnitude = word >> np.uint64(1)
    leading = _leading_zeros(magnitude)  # >= 1: the magnitude has 63 bits
    binade = min(leading - np.uint64(1), np.uint64(BINADES))
    aligned = magnitude << (leading & np.uint64(63))
    segment = (aligned >> np.uint64(58)) & np.uint64(SEGMENTS - 1)
    row = (side * np.uint64(BINADES + 1) + binade) * np.uint64(SEGMENTS) + segment
    offset = np.int64(aligned & np.uint64((1 << 58) - 1)) - np.int64(1 << 57)
    return np.int64(row), np.float64(offset) * 2.0**-57


@njit(inline="always", error_model="numpy")
def _polynomial(table: Any, row: Any, t: Any) -> Any:  # noqa: ANN401
    """Evaluate the degree-8 Taylor polynomial of one row by Horner's rule."""
    inner = table[row, 8]
    inner = table[row, 7] + t * inner
    inner = table[row, 6] + t * inner
    inner = table[row, 5] + t * inner
    inner = table[row, 4] + t * inner
    inner = table[row, 3] + t * inner
    inner = table[row, 2] + t * inner
    inner = table[row, 1] + t * inner
    return table[row, 0] + t * inner


@njit(
    types.int64(
        types.uint64[::1],
        types.float64[:, ::1],
        types.float64,
        types.float64,
        types.int64[::1],
        types.int64[::1],
    ),
    cache=True,
    nogil=True,
    error_model="numpy",
)
def round_quantiles(
    words: Any,  # noqa: ANN401
    table: Any,  # noqa: ANN401
    scale: Any,  # noqa: ANN401
    margin_factor: Any,  # noqa: ANN401
    rounded: Any,  # noqa: ANN401
    undecided: Any,  # noqa: ANN401
) -> Any:  # noqa: ANN401
    """Write round(scale * quantile(word)) and list the words whose rounding is not certain.

    Returns how many entries of ``undecided`` (positions in ``words``) were filled.
    """
    count = 0
    scaled_factor = scale * margin_factor
    for i in range(words.size):
        row, t = _locate(words[i])
        value = scale * _polynomial(table, row, t)
        nearest = np.rint(value)
        rounded[i] = np.int64(nearest)
        margin = scaled_factor * table[row, ERROR_COLUMN]
        if not (abs(value - nearest) + margin < 0.5):
            undecided[count] = i
            count += 1
    return count


@njit(
    types.void(types.uint64[::1], types.float64[:, ::1], types.float64[::1], types.float64[::1]),
    cache=True,
    nogil=True,
    error_model="numpy",
)
def approximate_quantiles(words: Any, table: Any, value: Any, error: Any) -> None:  # noqa: ANN401
    """Write quantile(word) and a bound on its distance from the true one, as doubles."""
    for i in range(words.size):
        row, t = _locate(words[i])
        value[i] = _polynomial(table, row, t)
        error[i] = table[row, ERROR_COLUMN]
