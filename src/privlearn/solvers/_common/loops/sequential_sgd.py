"""The loop of output perturbation: rows are visited one by one, and each moves the weights."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privlearn._core.jit import ANY_ORDER, jit
from privlearn._objective.losses.base import between
from privlearn._objective.losses.compiled import write_loss_gradients
from privlearn.solvers._common.loops.fourier_features import (
    LONG,
    mend_long_phases,
    multiply_rows,
    narrow_rows,
    turn_to_waves,
)

__all__ = ["ComputedRows", "Recipe", "visit_rows"]

ABOVE_ONE = 1.0 + 2.0**-40  # more than rounding can take from a bound on a length
STILL_ABOVE = 1.0 + 2.0**-50  # the same for one addition
AT_ONCE = 64  # rows whose phases are computed by one product: BLAS likes small ones


class Recipe(NamedTuple):
    """How Fourier features are computed; the names are those of `write_waves`."""

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


@jit(fastmath=ANY_ORDER)
def _score(row, weights):
    total = 0.0
    for j in range(row.size):
        total += row[j] * weights[j]
    return total


@jit(fastmath=ANY_ORDER)
def _move(row, by, weights):
    for j in range(row.size):
        weights[j] -= by * row[j]


@jit(error_model="numpy")
def _into_the_ball(weights, radius):
    """Project the weights onto the ball, and return how long they are, at most.

    Squares are summed in short runs: their rounding is then that of 64 + size / 64 additions.
    """
    squares = 0.0
    for start in range(0, weights.size, 64):
        run = 0.0
        for j in range(start, min(start + 64, weights.size)):
            run += weights[j] * weights[j]
        squares += run
    length = math.sqrt(squares)
    if length > radius:
        for j in range(weights.size):
            weights[j] *= radius / length
        length = radius
    return length * ABOVE_ONE


@jit(error_model="numpy")
def _visit_row(row, target, objective, step, weights, workspace):
    """One step for a dense row; how far the weights moved, per length of the row."""
    loss, threshold, outputs, width, intercept_value, slope_clip, _, _ = objective
    scores, slopes, along = workspace
    for k in range(outputs):
        own = weights[k * width : (k + 1) * width]
        shift = intercept_value * own[row.size] if intercept_value != 0.0 else 0.0
        scores[0, k] = _score(row, own) + shift
    write_loss_gradients(loss, threshold, target, scores, 1.0, slopes, along)
    squares = 0.0
    for k in range(outputs):
        own, by = weights[k * width : (k + 1) * width], step * between(slopes[0, k], slope_clip)
        squares += by * by
        _move(row, by, own)
        if intercept_value != 0.0:
            own[row.size] -= by * intercept_value
    return math.sqrt(squares)


@jit(error_model="numpy")
def _new_workspace(outputs):
    """Memory for the scores and slopes of a row."""
    return np.empty((1, outputs)), np.empty((1, outputs)), np.empty(1)


@jit(error_model="numpy", nogil=True)
def _visit_stored(rows, batch, objective, step, radius, weights, length):
    loss, threshold, outputs, width, intercept_value, slope_clip, _, _ = objective
    values, columns, starts, targets, norms = rows
    sparse, has_intercept = columns.size > 0, intercept_value != 0.0
    features = width - 1 if has_intercept else width
    scores, slopes = np.empty((1, outputs)), np.empty((1, outputs))
    target, along = np.empty(1), np.empty(1)
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
            shift = intercept_value * weights[k * width + features] if has_intercept else 0.0
            scores[0, k] = total + shift
        target[0] = targets[i]
        write_loss_gradients(loss, threshold, target, scores, 1.0, slopes, along)
        squares = 0.0
        for k in range(outputs):
            slope = between(slopes[0, k], slope_clip)
            squares += slope * slope
            own = weights[k * width : k * width + features]
            if sparse:
                for j in range(starts[i], starts[i + 1]):
                    own[columns[j]] -= step * slope * values[0, j]
            else:
                _move(values[i], step * slope, own)
            if has_intercept:
                weights[k * width + features] -= step * slope * intercept_value
        length = (length + step * math.sqrt(squares) * norms[i]) * STILL_ABOVE
        if length > radius:
            length = _into_the_ball(weights, radius)
    return length


@jit(error_model="numpy")
def _write_phases(inputs, recipe, single, lengths, phases):
    """Phases of some rows, with what else their waves depend on."""
    narrow_rows(inputs, single, lengths)
    if recipe.by_row:
        multiply_rows(single, recipe.turns, phases)
    else:
        np.dot(single, recipe.turns, phases)


@jit(error_model="numpy", nogil=True)
def _visit_computed(rows, objective, step, radius, weights, length):
    """Calls and slices inside of the loop would take as long as the arithmetic; hence few."""
    recipe, inputs, targets, norms = rows
    turns, double, order, longest_first, amplitude, _ = recipe
    loss, threshold, outputs, _, intercept_value, slope_clip, _, _ = objective
    (p, half), workspace = turns.shape, _new_workspace(outputs)
    scores, slopes, along = workspace
    single, lengths = np.empty((AT_ONCE, p), np.float32), np.empty(AT_ONCE)
    phases, row = np.empty((AT_ONCE, half), np.float32), np.empty(2 * half, np.float32)
    moved = weights.copy()  # numba aligns it for vector instructions, a tenth faster
    cosines, sines, own, intercept = row[:half], row[half:], moved[: 2 * half], moved[2 * half :]
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
                mend_long_phases(some[b], lengths[b], double, order, longest_first, cosines)
            turn_to_waves(cosines, sines, amplitude)
            target[0] = targets[start + b]
            if outputs > 1:
                far = _visit_row(row, target, objective, step, moved, workspace)
            else:
                shift = intercept_value * intercept[0] if intercept_value != 0.0 else 0.0
                scores[0, 0] = _score(row, own) + shift
                write_loss_gradients(loss, threshold, target, scores, 1.0, slopes, along)
                by = step * between(slopes[0, 0], slope_clip)
                _move(row, by, own)
                if intercept_value != 0.0:
                    intercept[0] -= by * intercept_value
                far = abs(by)
            length = (length + norm * far) * STILL_ABOVE
            if length > radius:
                length = _into_the_ball(moved, radius)
    weights[:] = moved
    return length


def visit_rows(rows, batch, objective, step, radius, weights, length):
    """One gradient step per row of the batch, slopes cut to `objective.clip`, inside a ball.

    `length` is an upper bound of the weights' length, so the ball is looked at only when it may
    have been left. An empty row does nothing. Computed rows are all of their batch.
    """
    if isinstance(rows, ComputedRows):
        return _visit_computed(rows, objective, step, radius, weights, length)
    return _visit_stored(rows, batch, objective, step, radius, weights, length)
