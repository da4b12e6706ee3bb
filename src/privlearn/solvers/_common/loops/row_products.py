"""Stored rows, their products with weights, and sums within the error of numerics.py."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privlearn._core.jit import ANY_ORDER, Hint, jit

__all__ = [
    "StoredRows",
    "add_parts",
    "rescale_rows",
    "score_dense",
    "score_rows",
    "store_rows",
    "sum_dense",
    "sum_rows",
]

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
fetch = Hint("privlearn.solvers._common.loops.fetching")
LINE = 64  # bytes that come from memory at once, on every processor that is common today
AHEAD = 16  # rows whose memory is asked for before it is needed


class StoredRows(NamedTuple):
    """Bounded rows in a solver's coordinates.

    Dense row i is values[i]. Sparse row i has values[0, starts[i]:starts[i + 1]] in `columns`,
    which is empty for dense rows. `norms` are upper bounds of the rows' lengths, the intercept's
    entry included; an empty row has length 0 and contributes nothing.
    """

    values: NDArray[np.floating]
    columns: NDArray[np.int64]
    starts: NDArray[np.int64]
    targets: NDArray[np.float64]
    norms: NDArray[np.float64]


@jit(fastmath=ANY_ORDER, nogil=True)
def store_rows(X, center, inverse_scale, values, squares):
    """Write (x - center) * inverse_scale in single precision, and the squared length of that."""
    for i in range(X.shape[0]):
        total = 0.0
        for j in range(X.shape[1]):
            value = np.float32((X[i, j] - center[j]) * inverse_scale[j])
            values[i, j] = value
            total += np.float64(value) * np.float64(value)
        squares[i] = total


@jit(nogil=True)
def rescale_rows(rows, factor, intercept_value):
    """Multiply each feature of stored rows by its factor; write upper bounds of their lengths.

    Rounding errors of a sum of squares are far below 2^-30 of it. Empty rows have norm 0 and keep
    it.
    """
    values, columns, starts, _, norms = rows
    for i in range(norms.size):
        squares = intercept_value * intercept_value
        if columns.size == 0:
            for j in range(values.shape[1]):
                values[i, j] *= factor[j]
                squares += np.float64(values[i, j]) * np.float64(values[i, j])
        else:
            for k in range(starts[i], starts[i + 1]):
                values[0, k] *= factor[columns[k]]
                squares += np.float64(values[0, k]) * np.float64(values[0, k])
        if norms[i] > 0.0:
            norms[i] = math.sqrt(squares) * (1.0 + 2.0**-30)


@jit(fastmath=ANY_ORDER, nogil=True)
def score_dense(values, batch, weights, scores):
    """Four rows at a time: each weight is read once, while later rows are on their way."""
    whole, in_a_line = batch.size - batch.size % 4, LINE // values.itemsize
    for b in range(0, whole, 4):
        for later in range(b + AHEAD, min(b + AHEAD + 4, batch.size)):
            for j in range(0, values.shape[1], in_a_line):
                fetch(values, batch[later], j)
        i0, i1, i2, i3 = batch[b], batch[b + 1], batch[b + 2], batch[b + 3]
        t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0
        for j in range(values.shape[1]):
            weight = weights[0, j]
            t0 += values[i0, j] * weight
            t1 += values[i1, j] * weight
            t2 += values[i2, j] * weight
            t3 += values[i3, j] * weight
        scores[b, 0], scores[b + 1, 0], scores[b + 2, 0], scores[b + 3, 0] = t0, t1, t2, t3
    for b in range(whole, batch.size):
        i0, t0 = batch[b], 0.0
        for j in range(values.shape[1]):
            t0 += values[i0, j] * weights[0, j]
        scores[b, 0] = t0


@jit(fastmath=ANY_ORDER, nogil=True)
def sum_dense(values, rows, all_shares, at_once, all_sums):
    """Four rows at a time: each sum is read and written once."""
    for part in range(all_sums.shape[0]):
        batch = rows[part * at_once : (part + 1) * at_once]
        shares, sums = all_shares[part * at_once :], all_sums[part]
        for j in range(sums.shape[1]):
            sums[0, j] = 0.0
        whole = batch.size - batch.size % 4
        for b in range(0, whole, 4):
            i0, i1, i2, i3 = batch[b], batch[b + 1], batch[b + 2], batch[b + 3]
            a0, a1, a2, a3 = shares[b, 0], shares[b + 1, 0], shares[b + 2, 0], shares[b + 3, 0]
            for j in range(values.shape[1]):
                two = a0 * values[i0, j] + a1 * values[i1, j]
                sums[0, j] += two + (a2 * values[i2, j] + a3 * values[i3, j])
        for b in range(whole, batch.size):
            i0, a0 = batch[b], shares[b, 0]
            for j in range(values.shape[1]):
                sums[0, j] += a0 * values[i0, j]


@jit(fastmath=ANY_ORDER, nogil=True)
def _score_sparse(values, columns, starts, batch, weights, scores):
    for b in range(batch.size):
        i = batch[b]
        for k in range(weights.shape[0]):
            total = 0.0
            for j in range(starts[i], starts[i + 1]):
                total += values[0, j] * weights[k, columns[j]]
            scores[b, k] = total


@jit(fastmath=ANY_ORDER, nogil=True)
def _sum_sparse(values, columns, starts, rows, shares, at_once, sums):
    sums[:] = 0.0
    for b in range(rows.size):
        i, part = rows[b], b // at_once
        for k in range(sums.shape[1]):
            for j in range(starts[i], starts[i + 1]):
                sums[part, k, columns[j]] += shares[b, k] * values[0, j]


@jit(nogil=True)
def _score_outputs(values, batch, weights, gathered, scores):
    """Each row is a product of its own: one of matrices lets a row's bits depend on others."""
    for b in range(batch.size):
        row, own = values[batch[b]], gathered[b]
        for j in range(row.size):
            own[j] = row[j]
        np.dot(weights, own, scores[b])


@jit(nogil=True)
def _sum_outputs(gathered, shares, at_once, sums):
    for part in range(sums.shape[0]):
        own = slice(part * at_once, (part + 1) * at_once)
        np.dot(shares[own].T, gathered[own], sums[part])


# The choices below are Python: of several loops only the one that rows need is compiled.


def score_rows(
    rows: StoredRows, batch: Indices, weights: Array, gathered: Array, scores: Array
) -> None:
    """Scores of the batch's rows; `weights` has one row per output, and is contiguous.

    With several outputs dense rows are gathered, and stay for `sum_rows`.
    """
    if rows.columns.size > 0:
        _score_sparse(rows.values, rows.columns, rows.starts, batch, weights, scores)
    elif len(weights) == 1:
        score_dense(rows.values, batch, weights, scores)
    else:
        _score_outputs(rows.values, batch, weights, gathered, scores)


def sum_rows(
    rows: StoredRows, batch: Indices, shares: Array, gathered: Array, at_once: int, sums: Array
) -> None:
    """Write the sum over b of shares[b, k] times row b to sums[part, k].

    A part is `at_once` rows, the last one perhaps fewer.
    """
    if rows.columns.size > 0:
        _sum_sparse(rows.values, rows.columns, rows.starts, batch, shares, at_once, sums)
    elif sums.shape[1] == 1:
        sum_dense(rows.values, batch, shares, at_once, sums)
    else:
        _sum_outputs(gathered, shares, at_once, sums)


@jit(error_model="numpy", nogil=True)
def add_parts(sums, slopes, along, at_once, width, intercept_value, total, lost):
    """Compensated total += the sums of each part (Neumaier). No reordering here.

    Sums are laid out in the order of the weights, intercept and auxiliary weight among them.
    """
    outputs, features = sums.shape[1], sums.shape[2]
    block = np.empty(total.size)
    for part in range(sums.shape[0]):
        first, last = part * at_once, min((part + 1) * at_once, slopes.shape[0])
        for k in range(outputs):
            for j in range(features):
                block[k * width + j] = sums[part, k, j]
            if intercept_value != 0.0:
                steps = 0.0
                for b in range(first, last):
                    steps += slopes[b, k]
                block[k * width + features] = intercept_value * steps
        if block.size > outputs * width:
            steps = 0.0
            for b in range(first, last):
                steps += along[b]
            block[outputs * width] = steps
        for j in range(block.size):
            value = total[j] + block[j]
            if abs(total[j]) >= abs(block[j]):
                lost[j] += (total[j] - value) + block[j]
            else:
                lost[j] += (block[j] - value) + total[j]
            total[j] = value
