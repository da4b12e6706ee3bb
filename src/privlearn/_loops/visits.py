"""The loop of output perturbation: rows are visited one by one, and each moves the weights."""

import math

import numpy as np
from numba import njit

from privlearn._loops.slopes import between, write_slopes
from privlearn._loops.sums import ANY_ORDER

__all__ = ["shrink", "visit_rows"]


@njit(cache=True, fastmath=ANY_ORDER)
def _score(row, weights):
    total = 0.0
    for j in range(row.size):
        total += row[j] * weights[j]
    return total


@njit(cache=True, fastmath=ANY_ORDER)
def _move(row, by, weights):
    for j in range(row.size):
        weights[j] -= by * row[j]


@njit(cache=True, error_model="numpy")
def _into_the_ball(weights, radius):
    """Project the weights onto the ball, and return how long they are."""
    squares = 0.0
    for j in range(weights.size):
        squares += weights[j] * weights[j]
    length = math.sqrt(squares)
    if length > radius:
        for j in range(weights.size):
            weights[j] *= radius / length
        return radius
    return length


@njit(cache=True, error_model="numpy")
def _visit_dense(rows, batch, model, step, radius, weights, length):
    """The same as `_visit_any` for dense rows and one output, in less time."""
    loss, threshold, _, width, unit, cap, _ = model
    values, _, _, targets, norms = rows
    features = width if unit == 0.0 else width - 1
    own, level = weights[:features], weights[features:]
    scores, slopes = np.empty((1, 1)), np.empty((1, 1))
    target, along_scale = np.empty(1), np.empty(1)
    for i in batch:
        if norms[i] == 0.0:
            continue
        scores[0, 0] = _score(values[i], own) + (unit * level[0] if unit != 0.0 else 0.0)
        target[0] = targets[i]
        write_slopes(loss, threshold, target, scores, 1.0, slopes, along_scale)
        slope = between(slopes[0, 0], cap)
        _move(values[i], step * slope, own)
        if unit != 0.0:
            level[0] -= step * slope * unit
        length += step * abs(slope) * norms[i]
        if length > radius:
            length = _into_the_ball(weights, radius)
    return length


@njit(cache=True, error_model="numpy")
def _visit_any(rows, batch, model, step, radius, weights, length):
    loss, threshold, outputs, width, unit, cap, _ = model
    values, columns, starts, targets, norms = rows
    sparse, features = columns.size > 0, width if unit == 0.0 else width - 1
    scores, slopes = np.empty((1, outputs)), np.empty((1, outputs))
    target, along_scale = np.empty(1), np.empty(1)
    for i in batch:
        if norms[i] == 0.0:
            continue
        for k in range(outputs):
            own = weights[k * width : k * width + features]
            if sparse:
                total = 0.0
                for j in range(starts[i], starts[i + 1]):
                    total += values[0, j] * own[columns[j]]
            else:
                total = _score(values[i], own)
            scores[0, k] = total + (unit * weights[k * width + features] if unit != 0.0 else 0.0)
        target[0] = targets[i]
        write_slopes(loss, threshold, target, scores, 1.0, slopes, along_scale)
        squares = 0.0
        for k in range(outputs):
            slope = between(slopes[0, k], cap)
            squares += slope * slope
            own = weights[k * width : k * width + features]
            if sparse:
                for j in range(starts[i], starts[i + 1]):
                    own[columns[j]] -= step * slope * values[0, j]
            else:
                _move(values[i], step * slope, own)
            if unit != 0.0:
                weights[k * width + features] -= step * slope * unit
        length += step * math.sqrt(squares) * norms[i]
        if length > radius:
            length = _into_the_ball(weights, radius)
    return length


@njit(cache=True, error_model="numpy", nogil=True)
def visit_rows(rows, batch, model, step, radius, weights, length):
    """One gradient step per row of the batch, slopes cut to `model.clip`, inside a ball.

    `length` is an upper bound of the weights' length, so the ball is looked at only when it may
    have been left. An empty row does nothing.
    """
    if rows.columns.size == 0 and model.outputs == 1:
        return _visit_dense(rows, batch, model, step, radius, weights, length)
    return _visit_any(rows, batch, model, step, radius, weights, length)


@njit(cache=True, error_model="numpy")
def shrink(weights, step, l1, l2, low, high):
    """The penalty's proximal map, at a public time."""
    for j in range(weights.size):
        moved = weights[j]
        shorter = math.copysign(max(abs(moved) - step * l1[j], 0.0), moved)
        weights[j] = min(max(shorter / (1.0 + step * l2[j]), low[j]), high[j])
