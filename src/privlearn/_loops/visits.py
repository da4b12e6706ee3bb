"""The loop of output perturbation: rows are visited one by one, and each moves the weights."""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from privlearn._loops.slopes import between, write_slopes
from privlearn._loops.sums import ANY_ORDER
from privlearn._loops.waves import (
    LONG,
    _mend_long_phases,
    _turn_to_waves,
    multiply_rows,
    narrow_rows,
)

__all__ = ["ComputedRows", "Recipe", "shrink", "visit_rows"]

AT_ONCE = 64  # rows whose phases are computed by one product: BLAS likes small ones


class Recipe(NamedTuple):
    """How Fourier features are computed; the names are those of `write_waves` in waves.py."""

    turns: NDArray[np.float32]
    double: NDArray[np.float64]
    order: NDArray[np.int64]
    longest_first: NDArray[np.float64]
    amplitude: np.float32
    by_row: bool


class ComputedRows(NamedTuple):
    """Rows that are computed one at a time: features never leave the first cache."""

    recipe: Recipe
    inputs: NDArray[np.float64]
    targets: NDArray[np.float64]
    norms: NDArray[np.float64]


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
def _step_size(slopes, cap, step):
    """Turn slopes into steps, each slope cut to the cap, and return how long they are together."""
    squares = 0.0
    for k in range(slopes.shape[1]):
        slopes[0, k] = step * between(slopes[0, k], cap)
        squares += slopes[0, k] * slopes[0, k]
    return math.sqrt(squares)


@njit(cache=True, error_model="numpy")
def _visit_dense(row, target, model, step, weights, room):
    """One step for a dense row; how far the weights moved, per length of the row."""
    loss, threshold, outputs, width, unit, cap, _ = model
    scores, slopes, along_scale = room
    for k in range(outputs):
        own = weights[k * width : (k + 1) * width]
        scores[0, k] = _score(row, own) + (unit * own[row.size] if unit != 0.0 else 0.0)
    write_slopes(loss, threshold, target, scores, 1.0, slopes, along_scale)
    far = _step_size(slopes, cap, step)
    for k in range(outputs):
        own = weights[k * width : (k + 1) * width]
        _move(row, slopes[0, k], own)
        if unit != 0.0:
            own[row.size] -= slopes[0, k] * unit
    return far


@njit(cache=True, error_model="numpy")
def _visit_sparse(values, columns, target, model, step, weights, room):
    """The same for a row of which only some columns are not 0."""
    loss, threshold, outputs, width, unit, cap, _ = model
    scores, slopes, along_scale = room
    for k in range(outputs):
        own, total = weights[k * width : (k + 1) * width], 0.0
        for j in range(columns.size):
            total += values[j] * own[columns[j]]
        scores[0, k] = total + (unit * own[width - 1] if unit != 0.0 else 0.0)
    write_slopes(loss, threshold, target, scores, 1.0, slopes, along_scale)
    far = _step_size(slopes, cap, step)
    for k in range(outputs):
        own = weights[k * width : (k + 1) * width]
        for j in range(columns.size):
            own[columns[j]] -= slopes[0, k] * values[j]
        if unit != 0.0:
            own[width - 1] -= slopes[0, k] * unit
    return far


@njit(cache=True, error_model="numpy")
def _room(outputs):
    """Memory for the scores and slopes of a row."""
    return np.empty((1, outputs)), np.empty((1, outputs)), np.empty(1)


@njit(cache=True, error_model="numpy", nogil=True)
def _visit_stored(rows, batch, model, step, radius, weights, length):
    values, columns, starts, targets, norms = rows
    sparse, room = columns.size > 0, _room(model.outputs)
    for i in batch:
        if norms[i] == 0.0:
            continue
        target = targets[i : i + 1]
        if sparse:
            own = slice(starts[i], starts[i + 1])
            far = _visit_sparse(values[0, own], columns[own], target, model, step, weights, room)
        else:
            far = _visit_dense(values[i], target, model, step, weights, room)
        length += far * norms[i]
        if length > radius:
            length = _into_the_ball(weights, radius)
    return length


@njit(cache=True, error_model="numpy")
def _write_phases(inputs, recipe, single, lengths, phases):
    """Phases of some rows, with what else their waves depend on."""
    narrow_rows(inputs, single, lengths)
    if recipe.by_row:
        multiply_rows(single, recipe.turns, phases)
    else:
        np.dot(single, recipe.turns, phases)


@njit(cache=True, error_model="numpy", nogil=True)
def _visit_computed(rows, model, step, radius, weights, length):
    """Calls and slices inside of the loop would take as long as the arithmetic; hence few."""
    recipe, inputs, targets, norms = rows
    turns, double, order, longest_first, amplitude, _ = recipe
    loss, threshold, outputs, _, unit, cap, _ = model
    (p, half), room = turns.shape, _room(outputs)
    scores, slopes, along_scale = room
    single, lengths = np.empty((AT_ONCE, p), np.float32), np.empty(AT_ONCE)
    phases, row = np.empty((AT_ONCE, half), np.float32), np.empty(2 * half, np.float32)
    cosines, sines, own, level = row[:half], row[half:], weights[: 2 * half], weights[2 * half :]
    target = np.empty(1)
    for start in range(0, targets.size, AT_ONCE):
        some = inputs[start : start + AT_ONCE]
        size = some.shape[0]
        _write_phases(some, recipe, single[:size], lengths[:size], phases[:size])
        for b in range(size):
            norm = norms[start + b]
            if norm == 0.0:
                continue
            for k in range(half):
                cosines[k] = phases[b, k]
            if not lengths[b] * longest_first[0] <= LONG:
                _mend_long_phases(some[b], lengths[b], double, order, longest_first, cosines)
            _turn_to_waves(cosines, sines, amplitude)
            target[0] = targets[start + b]
            if outputs > 1:
                length += norm * _visit_dense(row, target, model, step, weights, room)
            else:
                scores[0, 0] = _score(row, own) + (unit * level[0] if unit != 0.0 else 0.0)
                write_slopes(loss, threshold, target, scores, 1.0, slopes, along_scale)
                by = step * between(slopes[0, 0], cap)
                _move(row, by, own)
                if unit != 0.0:
                    level[0] -= by * unit
                length += norm * abs(by)
            if length > radius:
                length = _into_the_ball(weights, radius)
    return length


def visit_rows(rows, batch, model, step, radius, weights, length):
    """One gradient step per row of the batch, slopes cut to `model.clip`, inside a ball.

    `length` is an upper bound of the weights' length, so the ball is looked at only when it may
    have been left. An empty row does nothing. Computed rows are all of their batch.
    """
    if isinstance(rows, ComputedRows):
        return _visit_computed(rows, model, step, radius, weights, length)
    return _visit_stored(rows, batch, model, step, radius, weights, length)


@njit(cache=True, error_model="numpy")
def shrink(weights, step, l1, l2, low, high):
    """The penalty's proximal map, at a public time."""
    for j in range(weights.size):
        moved = weights[j]
        shorter = math.copysign(max(abs(moved) - step * l1[j], 0.0), moved)
        weights[j] = min(max(shorter / (1.0 + step * l2[j]), low[j]), high[j])
