"""The loops of coordinate descent: walk down columns with the scores at hand.

A step reads the scores and two columns once: the last change of the scores, the slopes and the
clipped sum are one pass over the rows, in blocks whose sums numerics.py bounds. There are no
threads: one already takes what memory gives (benchmarks/speed/coordinate_descent.py).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privlearn._core.jit import ANY_ORDER, jit
from privlearn._core.release_step import release_step
from privlearn._objective.losses.compiled import auxiliary_sum, column_sum
from privlearn._objective.prox import WeightPenalty, prox_of_one

__all__ = ["StoredColumns", "Sweep", "all_sums", "move_scores", "sweep"]

AT_ONCE = 1024  # rows that are summed together, at most BLOCK_ROWS (numerics.py)
BELOW_ONE = 1.0 - 2.0**-40
LATE = 1.0  # of a visit's number, the power that weighs its point; 0 weighs all alike


class StoredColumns(NamedTuple):
    """Bounded columns in a solver's coordinates, the intercept's last.

    Dense column j is values[j]. Sparse column j has values[0, starts[j]:starts[j + 1]] in `rows`,
    which is empty for dense columns; its rows ascend.
    """

    values: NDArray[np.floating]
    rows: NDArray[np.int64]
    starts: NDArray[np.int64]
    targets: NDArray[np.float64]
    present: NDArray[np.float64]  # 1, or 0 for the empty row


class Sweep(NamedTuple):
    """Weights as they move, and how they move; all of it post-processing of releases.

    `scores` are less the targets where these are numbers: a loss then needs no targets any more.
    `points` collects the mean of each coordinate's gradient step before its proximal map; the k-th
    visit weighs k times as much as the first.
    """

    weights: NDArray[np.float64]
    scores: NDArray[np.float64]  # a secret: it never leaves
    limits: NDArray[np.float64]  # largest partial derivative of a row
    step_sizes: NDArray[np.float64]
    penalty: WeightPenalty
    points: NDArray[np.float64]
    loss: int
    threshold: float
    auxiliaries: int  # weights that the loss learns beside the coefficients: none, or one
    total: float  # number of rows, public or released


@jit(error_model="numpy", nogil=True)
def _dense_sum(values, targets, present, scores, how, j, before, change):
    """Add `change` x column `before` to the scores, then sum partial derivatives in coordinate j.

    Each row's is within its limit; `how` is loss, limit, threshold and auxiliary value. Where there
    is no column j, it is the auxiliary weight. Blocks are summed with compensation (Neumaier).
    """
    loss, limit, threshold, auxiliary = how
    along = j == values.shape[0]
    column, changed = values[0 if along else j], values[before]
    total, lost = 0.0, 0.0
    for start in range(0, scores.size, AT_ONCE):
        stop = min(start + AT_ONCE, scores.size)
        own, old, at = column[start:stop], changed[start:stop], scores[start:stop]
        if along:
            there = present[start:stop]
            block = auxiliary_sum(there, old, change, limit, threshold, auxiliary, at)
        else:
            y = targets[start:stop]
            block = column_sum(loss, threshold, auxiliary, own, old, change, limit, y, at)
        value = total + block
        lost += (total - value) + block if abs(total) >= abs(block) else (block - value) + total
        total = value
    return total + lost


@jit(error_model="numpy")
def _move_sparse(values, rows, start, stop, change, scores):
    for k in range(start, stop):
        scores[rows[k]] += change * values[0, k]


@jit(error_model="numpy")
def _sparse_sum(columns, scores, how, j, before, change):
    """The same for sparse columns: the column's rows are gathered, and stand for all of them."""
    values, rows, starts, targets, present = columns
    zero, one = np.int64(0), np.int64(1)
    if change != 0.0:
        _move_sparse(values, rows, starts[before], starts[before + 1], change, scores)
    if j == starts.size - 1:  # the auxiliary weight: every row, and a column that changes nothing
        still = np.zeros((1, scores.size), values.dtype)
        return _dense_sum(still, targets, present, scores, how, one, zero, 0.0)
    own = rows[starts[j] : starts[j + 1]]
    column = values[0, starts[j] : starts[j + 1]].reshape(1, own.size)
    return _dense_sum(column, targets[own], present, scores[own], how, zero, zero, 0.0)


@jit(error_model="numpy", nogil=True)
def sweep(columns, s, order, steps, done):
    """Release each coordinate of `order` in turn; False when a statistic does not fit its grid.

    `done` visits of each coordinate were averaged in `s.points` before. Fields are read once,
    outside of the loop: every access to one counts references.
    """
    values, rows, _, targets, present = columns
    weights, scores, limits, step_sizes, penalty, points, loss, threshold, auxiliaries, total = s
    _, noise, grid, statistics, released, answers = steps
    statistic, gradient = np.empty(1), np.empty(1)
    size, sparse = weights.size, rows.size > 0
    before, change = np.int64(0), 0.0
    for k in range(order.size):
        j = order[k]
        auxiliary = weights[size - 1] if auxiliaries > 0 else 1.0
        how = (loss, limits[j], threshold, auxiliary)
        if sparse:
            found = _sparse_sum(columns, scores, how, j, before, change)
        else:
            found = _dense_sum(values, targets, present, scores, how, j, before, change)
        statistic[0] = found / limits[j] * BELOW_ONE
        if not release_step(statistic, k, noise, grid, statistics, released, answers, gradient):
            return False
        step = step_sizes[j] * auxiliary
        moved = weights[j] - step * gradient[0] * limits[j] / total
        visit = done + k // size + 1
        points[j] += (moved - points[j]) * (1.0 + LATE) / (visit + LATE)
        new = prox_of_one(penalty, j, moved, step)
        before, change = j, new - weights[j]
        if j >= size - auxiliaries:
            before, change = np.int64(0), 0.0  # an auxiliary weight is no part of the scores
        weights[j] = new
    move_scores(columns, before, change, scores)
    return True


@jit(fastmath=ANY_ORDER)
def _add_change(values, change, scores):
    for i in range(scores.size):
        scores[i] += change * values[i]


@jit(error_model="numpy", nogil=True)
def move_scores(columns, j, change, scores):
    """Scores after weight j has changed."""
    values, rows, starts, _, _ = columns
    if change == 0.0:
        return
    if rows.size > 0:
        _move_sparse(values, rows, starts[j], starts[j + 1], change, scores)
    else:
        _add_change(values[j], change, scores)


@jit(error_model="numpy", nogil=True)
def all_sums(columns, s, sums):
    """Clipped sums of every coordinate at the present weights, as shares of their limits."""
    values, rows, _, targets, present = columns
    weights, scores, limits, _, _, _, loss, threshold, auxiliaries, _ = s
    auxiliary = weights[weights.size - 1] if auxiliaries > 0 else 1.0
    none, sparse = np.int64(0), rows.size > 0
    for j in range(sums.size):
        how = (loss, limits[j], threshold, auxiliary)
        if sparse:
            found = _sparse_sum(columns, scores, how, j, none, 0.0)
        else:
            found = _dense_sum(values, targets, present, scores, how, j, none, 0.0)
        sums[j] = found / limits[j] * BELOW_ONE
