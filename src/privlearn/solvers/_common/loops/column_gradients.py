"""Gradients of rows that come by columns: made integers some at a time, and never all of them.

What is written is what integer_rows.py stores, number by number, and what is added up is what it
adds; some rows of all columns fit beside the processor, where a whole batch does not.
"""

import ctypes
import math

import numpy as np

from privlearn._core.jit import Hint, jit
from privlearn.solvers._common.loops import integer_rows as loops

__all__ = ["add_column_gradients"]


class _ColumnAt(Hint):
    """The array of `size` numbers that begins at an address, of the type of another."""

    def __call__(self, like: np.ndarray, address: int, size: int) -> np.ndarray:  # type: ignore[override]
        """The same where nothing is compiled."""
        words = (ctypes.c_char * (int(size) * like.itemsize)).from_address(int(address))
        return np.frombuffer(memoryview(words), like.dtype)


column_at = _ColumnAt("privlearn.solvers._common.loops.column_at")
SINGLE, DOUBLE = np.empty(0, np.float32), np.empty(0)
LIMB, LOWER = loops.LIMB, loops.LOWER
write_integers, split_wide = loops._write_integers, loops._split_wide
write_lengths, store_targets = loops._write_lengths, loops.store_targets
write_slopes, write_integer_slopes = loops._write_slopes, loops._write_integer_slopes
add_scores, sum_columns = loops._add_scores, loops._sum_columns


@jit(error_model="numpy")
def _write_column(own, fact, values, j, second, squares):
    upper = values[j, : own.size]
    if second < 0:
        write_integers(own, fact, upper, squares[: own.size])
    else:
        split_wide(own, fact, upper, values[second, : own.size], squares[: own.size])


@jit(error_model="numpy", nogil=True)
def add_column_gradients(rows, how, weights, per_unit, reach, upper, lower):
    """Add gradients of all rows, each shortened, to sums in two parts.

    `columns` says of each feature where its numbers begin, and how many bytes one has.
    """
    columns, y, facts, seconds, size, units = rows
    low, high, center, scale, intercept = units
    loss, unit, shift = how
    features, width = columns.shape[0], weights.size
    values, sums = np.zeros((width, size), np.int16), np.empty(width + 1)
    scores, slopes, squares = np.empty(size), np.empty(size), np.empty(size)
    targets, norms = np.zeros(size, np.float32), np.empty(size, np.float32)
    for first in range(0, y.size, size):
        there = min(size, y.size - first)
        squares[:] = 0.0
        for j in range(features):
            place = columns[j, 0] + first * columns[j, 1]
            if columns[j, 1] == 4:
                own = column_at(SINGLE, place, there)
                _write_column(own, facts[j], values, j, seconds[j], squares)
            else:
                other = column_at(DOUBLE, place, there)
                _write_column(other, facts[j], values, j, seconds[j], squares)
        norms[there:] = math.inf  # what is left there of other rows counts for nothing
        write_lengths(squares[:there], intercept, norms[:there])
        store_targets(y[first : first + there], low, high, center, scale, targets[:there])
        add_scores(values, weights, scores)
        write_slopes(loss, targets, unit, shift, scores, slopes)
        write_integer_slopes(norms, per_unit, reach, slopes)
        sum_columns(values, slopes, sums)
        for j in range(width + 1):
            found = np.int64(sums[j])
            upper[j] += found >> LIMB
            lower[j] += found & LOWER
