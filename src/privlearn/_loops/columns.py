"""The loops of coordinate descent: walk down columns with the scores at hand.

Rows are taken a block at a time. Within a block the last change of the scores, the slopes and the
clipped sum follow each other while all of it is near the processor, so memory is read once a step.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from privlearn._loops.emit import emit
from privlearn._loops.slopes import write_slopes
from privlearn._loops.sums import ANY_ORDER, add_block
from privlearn.losses import HUBER, SQUARED

__all__ = ["StoredColumns", "Sweep", "all_sums", "move_scores", "sweep"]

AT_ONCE = 1024  # rows that are worked on together, at most BLOCK_ROWS (numerics.py)
BELOW_ONE = 1.0 - 2.0**-40


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

    `points` collects the mean of each coordinate's gradient step before its proximal map.
    """

    weights: NDArray[np.float64]
    scores: NDArray[np.float64]  # a secret: it never leaves
    limits: NDArray[np.float64]  # largest partial derivative of a row
    paces: NDArray[np.float64]  # step sizes
    l1: NDArray[np.float64]
    l2: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    points: NDArray[np.float64]
    loss: int
    threshold: float
    total: float  # number of rows, public or released


@njit(cache=True, fastmath=ANY_ORDER)
def _add_change(values, change, scores):
    for i in range(scores.size):
        scores[i] += change * values[i]


@njit(cache=True, fastmath=ANY_ORDER)
def _clipped_products(slopes, values, limit):
    """Sum of slope x value, each within the limit; what is not a number counts as the limit."""
    total = 0.0
    for i in range(values.size):
        total += min(max(slopes[i, 0] * values[i], -limit), limit)
    return total


@njit(cache=True, fastmath=ANY_ORDER)
def _clipped_along(along, present, limit):
    total = 0.0
    for i in range(present.size):
        total += present[i] * min(max(along[i], -limit), limit)
    return total


@njit(cache=True, fastmath=ANY_ORDER)
def _errors(scores, targets, slopes):
    for i in range(scores.size):
        slopes[i, 0] = scores[i] - targets[i]


@njit(cache=True, error_model="numpy")
def _write(loss, threshold, targets, scores, scale, slopes, along):
    if loss == SQUARED:
        _errors(scores, targets, slopes)
    else:
        write_slopes(loss, threshold, targets, scores.reshape(-1, 1), scale, slopes, along)


@njit(cache=True, error_model="numpy")
def _dense_sum(columns, s, j, before, change, scale, slopes, along, block, total, lost):
    """Clipped sum for coordinate j, after `change` of weight `before`, into `total`."""
    values, _, _, targets, present = columns
    _, scores, limits, _, _, _, _, _, _, loss, threshold, _ = s
    along_scale = j == values.shape[0]
    for start in range(0, scores.size, AT_ONCE):
        stop = min(start + AT_ONCE, scores.size)
        own = scores[start:stop]
        if change != 0.0:
            _add_change(values[before, start:stop], change, own)
        _write(loss, threshold, targets[start:stop], own, scale, slopes, along)
        if along_scale:
            block[0] = _clipped_along(along, present[start:stop], limits[j])
        else:
            block[0] = _clipped_products(slopes, values[j, start:stop], limits[j])
        add_block(block, total, lost)


@njit(cache=True, error_model="numpy")
def _move_sparse(columns, j, change, scores):
    for k in range(columns.starts[j], columns.starts[j + 1]):
        scores[columns.rows[k]] += change * columns.values[0, k]


@njit(cache=True, error_model="numpy")
def _sparse_sum(columns, s, j, before, change, scale, slopes, along, block, total, lost):
    """The same for sparse columns: only the column's rows are visited."""
    values, rows, starts, targets, present = columns
    _, scores, limits, _, _, _, _, _, _, loss, threshold, _ = s
    if change != 0.0:
        _move_sparse(columns, before, change, scores)
    whole = j == starts.size - 1  # Huber's scale: every row
    first, last = (0, scores.size) if whole else (starts[j], starts[j + 1])
    for start in range(first, last, AT_ONCE):
        stop = min(start + AT_ONCE, last)
        own = np.arange(start, stop) if whole else rows[start:stop]
        _write(loss, threshold, targets[own], scores[own], scale, slopes, along)
        if whole:
            block[0] = _clipped_along(along, present[start:stop], limits[j])
        else:
            block[0] = _clipped_products(slopes, values[0, start:stop], limits[j])
        add_block(block, total, lost)


@njit(cache=True, error_model="numpy")
def clipped_sum(columns, s, j, before, change, scale, slopes, along, block, statistic):
    """Sum over rows of partial derivatives, each within its limit, as a share of the limit."""
    total, lost = np.zeros(1), np.zeros(1)
    if columns.rows.size > 0:
        _sparse_sum(columns, s, j, before, change, scale, slopes, along, block, total, lost)
    else:
        _dense_sum(columns, s, j, before, change, scale, slopes, along, block, total, lost)
    statistic[0] = (total[0] + lost[0]) / s.limits[j] * BELOW_ONE


@njit(cache=True, error_model="numpy")
def proximal(s, j, moved, pace):
    """Proximal map of coordinate j's penalty."""
    shrunk = math.copysign(max(abs(moved) - pace * s.l1[j], 0.0), moved)
    return min(max(shrunk / (1.0 + pace * s.l2[j]), s.low[j]), s.high[j])


@njit(cache=True, error_model="numpy", nogil=True)
def sweep(columns, s, order, steps, done):
    """Release each coordinate of `order` in turn; False when a statistic does not fit its grid.

    `done` visits of each coordinate were averaged in `s.points` before.
    """
    _, noise, grid, statistics, released, answers = steps
    statistic, gradient, block = np.empty(1), np.empty(1), np.zeros(1)
    slopes, along = np.empty((AT_ONCE, 1)), np.empty(AT_ONCE)
    size, huber = s.weights.size, s.loss == HUBER
    before, change = 0, 0.0
    for k in range(order.size):
        j = order[k]
        scale = s.weights[size - 1] if huber else 1.0
        clipped_sum(columns, s, j, before, change, scale, slopes, along, block, statistic)
        if not emit(statistic, k, noise, grid, statistics, released, answers, gradient):
            return False
        pace = s.paces[j] * scale
        moved = s.weights[j] - pace * gradient[0] * s.limits[j] / s.total
        visits = done + k // size + 1
        s.points[j] += (moved - s.points[j]) / visits
        new = proximal(s, j, moved, pace)
        before, change = j, new - s.weights[j]
        if huber and j == size - 1:
            before, change = 0, 0.0  # the scale is no part of the scores
        s.weights[j] = new
    move_scores(columns, before, change, s.scores)
    return True


@njit(cache=True, error_model="numpy", nogil=True)
def move_scores(columns, j, change, scores):
    """Scores after weight j has changed."""
    if change == 0.0:
        return
    if columns.rows.size > 0:
        _move_sparse(columns, j, change, scores)
    else:
        _add_change(columns.values[j], change, scores)


@njit(cache=True, error_model="numpy", nogil=True)
def all_sums(columns, s, sums):
    """Clipped sums of every coordinate at the present weights, as shares of their limits."""
    slopes, along = np.empty((AT_ONCE, 1)), np.empty(AT_ONCE)
    block, statistic = np.zeros(1), np.empty(1)
    scale = s.weights[s.weights.size - 1] if s.loss == HUBER else 1.0
    for j in range(sums.size):
        clipped_sum(columns, s, j, 0, 0.0, scale, slopes, along, block, statistic)
        sums[j] = statistic[0]
