"""The loop of output perturbation: rows are visited one by one, and each moves the weights."""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from privlearn._loops.slopes import between, write_slopes
from privlearn._loops.sums import ANY_ORDER
from privlearn._loops.waves import multiply_rows, narrow_rows, write_waves

__all__ = ["ComputedRows", "Recipe", "shrink", "visit_rows"]

PHASES_AT_ONCE = 64  # rows whose phases are computed by one product: BLAS likes small ones
WAVES_AT_ONCE = 8  # rows whose features fit into the first cache
ONE = np.float32(1.0)


class Recipe(NamedTuple):
    """How features are computed: Fourier features of the inputs, then the inputs themselves.

    The names of the first four are those of `write_waves` in waves.py; `straight` is the factor of
    the inputs, 0 where they are not among the features.
    """

    turns: NDArray[np.float32]
    double: NDArray[np.float64]
    order: NDArray[np.int64]
    longest_first: NDArray[np.float64]
    amplitude: float
    straight: float
    by_row: bool


class ComputedRows(NamedTuple):
    """Dense rows that are computed one at a time, so that a row never leaves the first cache."""

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
def _visit_one(row, target, model, step, weights, room):
    """One step for a dense row and one output; how far weights moved, per length of the row."""
    loss, threshold, _, _, unit, cap, _ = model
    scores, slopes, along_scale = room
    scores[0, 0] = _score(row, weights) + (unit * weights[row.size] if unit != 0.0 else 0.0)
    write_slopes(loss, threshold, target, scores, 1.0, slopes, along_scale)
    by = step * between(slopes[0, 0], cap)
    _move(row, by, weights)
    if unit != 0.0:
        weights[row.size] -= by * unit
    return abs(by)


@njit(cache=True, error_model="numpy")
def _visit_dense(row, target, model, step, weights, room):
    """The same for any number of outputs."""
    if model.outputs == 1:
        return _visit_one(row, target, model, step, weights, room)
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
def _write(numbers, factor, out):
    for j in range(min(numbers.size, out.size)):
        out[j] = factor * numbers[j]


@njit(cache=True, error_model="numpy")
def _write_phases(inputs, recipe, single, lengths, phases):
    """Phases of some rows, with what else their waves depend on."""
    narrow_rows(inputs, single, lengths)
    if recipe.by_row:
        multiply_rows(single, recipe.turns, phases)
    else:
        np.dot(single, recipe.turns, phases)


@njit(cache=True, error_model="numpy")
def _write_few_waves(inputs, lengths, recipe, phases, waves):
    """Waves of a few rows, of which they leave the first cache no more."""
    _, double, order, longest_first, amplitude, _, _ = recipe
    for b in range(phases.shape[0]):
        _write(phases[b], ONE, waves[b])
    write_waves(inputs, lengths, double, order, longest_first, np.float32(amplitude), waves)


@njit(cache=True, error_model="numpy", nogil=True)
def _visit_computed(rows, model, step, radius, weights, length):
    recipe, inputs, targets, norms = rows
    (p, half), room, factor = recipe.turns.shape, _room(model.outputs), np.float32(recipe.straight)
    single, lengths = np.empty((PHASES_AT_ONCE, p), np.float32), np.empty(PHASES_AT_ONCE)
    phases = np.empty((PHASES_AT_ONCE, half), np.float32)
    waves = np.empty((WAVES_AT_ONCE, 2 * half), np.float32)
    both = np.empty(2 * half + p, np.float32)
    for i in range(targets.size):
        here, few = i % PHASES_AT_ONCE, i % WAVES_AT_ONCE
        if here == 0:
            some = inputs[i : i + PHASES_AT_ONCE]
            k = some.shape[0]
            _write_phases(some, recipe, single[:k], lengths[:k], phases[:k])
        if few == 0:
            own = slice(here, min(here + WAVES_AT_ONCE, k))
            k_few = own.stop - own.start
            _write_few_waves(some[own], lengths[own], recipe, phases[own], waves[:k_few])
        if norms[i] == 0.0:
            continue
        row = waves[few]
        if factor != 0.0:
            _write(waves[few], ONE, both)
            _write(single[here], factor, both[2 * half :])
            row = both
        far = _visit_dense(row, targets[i : i + 1], model, step, weights, room)
        length += far * norms[i]
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
