"""The loop of DP-SGD: clip each row's gradient, sum, release, step.

Dual methods share the sum: their rows contribute what changes in a gradient that they remember.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privlearn._core.jit import jit
from privlearn._core.release_step import release_step
from privlearn._objective.losses.compiled import write_dual_updates, write_loss_gradients
from privlearn._objective.prox import WeightPenalty, write_prox
from privlearn.solvers._common.loops.row_products import add_block, score_rows, sum_rows

__all__ = [
    "CompiledObjective",
    "SGDState",
    "auxiliary_value",
    "batch_sum",
    "clipped_sum",
    "descend",
    "split_weights",
    "take_step",
]

# Rows that are worked on together, at most BLOCK_ROWS: few stay in the first cache between their
# score and their sum; several outputs want matrices worth a product.
FEW, MANY = 64, 256
BELOW_ONE = 1.0 - 2.0**-40  # far more than rounding can add to a norm


class CompiledObjective(NamedTuple):
    """What turns a row into a gradient; all public."""

    loss: int
    threshold: float
    outputs: int
    width: int  # entries of a row, the intercept's included
    intercept_value: float  # the intercept's entry; 0 without intercept
    clip: float
    auxiliaries: int = 0  # weights that the loss learns beside the coefficients: none, or one
    auxiliary_unit: float = 1.0  # how much one intercept_value of that weight is


class SGDState(NamedTuple):
    """Weights as they move, and how they move; all of it post-processing of releases.

    Weights are `outputs` rows of `width` numbers, followed by the auxiliary one where there is one.
    """

    weights: NDArray[np.float64]
    previous: NDArray[np.float64]
    average: NDArray[np.float64]
    penalty: WeightPenalty
    step_size: float
    momentum: float
    divisor: float
    first_averaged: int


@jit(error_model="numpy")
def auxiliary_value(objective, weights):
    """What the loss learns beside the coefficients, to which steps are proportional; else 1."""
    return weights[-1] * objective.auxiliary_unit if objective.auxiliaries > 0 else 1.0


@jit(error_model="numpy")
def _shorten(clip, norms, batch, slopes, along):
    """Scale slopes so that no row's gradient is longer than `clip`.

    The gradient is slopes x row, so its norm is |slopes| |row|: no gradient is ever built.
    """
    limit = clip * BELOW_ONE
    for b in range(batch.size):
        squares = 0.0
        for k in range(slopes.shape[1]):
            squares += slopes[b, k] * slopes[b, k]
        norm = norms[batch[b]]
        length = math.sqrt(squares * norm * norm + along[b] * along[b])
        factor = 1.0 if length <= limit else limit / length
        if norm == 0.0 or not length < math.inf:  # the empty row; or weights beyond all bounds
            for k in range(slopes.shape[1]):
                slopes[b, k] = 0.0
            along[b] = 0.0
            continue
        for k in range(slopes.shape[1]):
            slopes[b, k] *= factor
        along[b] *= factor


@jit(error_model="numpy")
def _clear(numbers):
    for j in range(numbers.size):
        numbers[j] = 0.0


@jit(error_model="numpy")
def split_weights(weights, width, intercept_value, inner, shift):
    """Weights of features, and what the intercept adds to the scores."""
    features = inner.shape[1]
    for k in range(inner.shape[0]):
        for j in range(features):
            inner[k, j] = weights[k * width + j]
        shift[k] = 0.0
        if intercept_value != 0.0:
            shift[k] = intercept_value * weights[k * width + features]


@jit(error_model="numpy")
def _shift_scores(shift, part, all_targets, scores, targets):
    """Add the intercept's share to the scores, and read the targets that belong to them."""
    for b in range(part.size):
        targets[b] = all_targets[part[b]]
        for k in range(shift.size):
            scores[b, k] += shift[k]


@jit(error_model="numpy")
def _recall(norms, part, dual, stiffness, before, stiff):
    """Read dual variables; a step's stiffness is per squared length of its row."""
    for b in range(part.size):
        norm = norms[part[b]]
        stiff[b] = stiffness * norm * norm
        for k in range(dual.shape[1]):
            before[b, k] = dual[part[b], k]


@jit(error_model="numpy")
def _bound_along_auxiliary(slope, updates, size, along):
    """-a^2 / 2 is not linear in the step: it is shortened by a bound of its slope."""
    for b in range(size):
        along[b] = slope * updates[b, 0]


@jit(error_model="numpy")
def _write_dual(part, auxiliary_unit, before, updates, dual, along):
    """Let dual variables take their steps; write how -a^2 / 2 changes for the auxiliary weight."""
    for b in range(part.size):
        for k in range(updates.shape[1]):
            dual[part[b], k] = before[b, k] + updates[b, k]
        middle = before[b, 0] + 0.5 * updates[b, 0]
        along[b] = -auxiliary_unit * middle * updates[b, 0]


@jit(error_model="numpy")
def _lay_out(sums, slopes, along, size, width, intercept_value, block):
    """A part's sums in the order of the weights, intercept and auxiliary weight among them."""
    outputs, features = sums.shape
    for k in range(outputs):
        for j in range(features):
            block[k * width + j] = sums[k, j]
        if intercept_value != 0.0:
            total = 0.0
            for b in range(size):
                total += slopes[b, k]
            block[k * width + features] = intercept_value * total
    if block.size > outputs * width:
        total = 0.0
        for b in range(size):
            total += along[b]
        block[outputs * width] = total


# Inlined: each function between a loop and its caller is compiled again with all that it calls.
@jit(error_model="numpy", inline="always")
def clipped_sum(rows, batch, objective, weights, statistic):
    """Sum over the batch of gradients, each shortened to at most `objective.clip`."""
    none = np.empty((0, 1))
    batch_sum(rows, batch, objective, objective.clip, weights, none, 0.0, statistic)


@jit(error_model="numpy")
def batch_sum(rows, batch, objective, clip, weights, dual, stiffness, statistic):
    """Sum over the batch of gradients, or of steps of the dual variables `dual` times rows.

    Each is shortened to at most `clip`. Without dual variables (there are none) rows contribute
    their gradients; dual variables take their steps, and `stiffness` is per squared length of a
    row. A part of the batch is scored, shortened and summed while it is near the processor.
    """
    loss, threshold, outputs, width, intercept_value, _, _, auxiliary_unit = objective
    norms, is_dual = rows.norms, dual.shape[0] > 0
    features = width if intercept_value == 0.0 else width - 1
    auxiliary = auxiliary_value(objective, weights)
    at_once = FEW if outputs == 1 else MANY
    inner, shift = np.empty((outputs, features)), np.empty(outputs)
    gathered = np.empty((at_once if outputs > 1 and rows.columns.size == 0 else 0, features))
    scores, slopes = np.empty((at_once, outputs)), np.empty((at_once, outputs))
    before, stiff = np.empty((at_once, outputs)), np.empty(at_once)
    targets, along = np.empty(at_once), np.empty(at_once)
    sums, block = np.empty((outputs, features)), np.empty(statistic.size)
    lost = np.zeros(statistic.size)
    split_weights(weights, width, intercept_value, inner, shift)
    _clear(statistic)
    for start in range(0, batch.size, at_once):
        part = batch[start : start + at_once]
        score_rows(rows, part, inner, gathered, scores)
        _shift_scores(shift, part, rows.targets, scores, targets)
        own = targets[: part.size]
        if is_dual:
            _recall(norms, part, dual, stiffness, before, stiff)
            write_dual_updates(loss, threshold, own, scores, auxiliary, before, stiff, slopes)
            _bound_along_auxiliary(auxiliary_unit * threshold, slopes, own.size, along)
            _shorten(clip, norms, part, slopes, along)
            _write_dual(part, auxiliary_unit, before, slopes, dual, along)
        else:
            write_loss_gradients(loss, threshold, own, scores, auxiliary, slopes, along)
            for b in range(own.size):
                along[b] *= auxiliary_unit
            _shorten(clip, norms, part, slopes, along)
        sum_rows(rows, part, slopes, gathered, sums)
        _lay_out(sums, slopes, along, own.size, width, intercept_value, block)
        add_block(block, statistic, lost)
    for j in range(statistic.size):
        statistic[j] += lost[j]


@jit(error_model="numpy")
def take_step(state, gradient, factor):
    """Heavy ball, then the penalty's proximal map (Ochs et al. 2014, Algorithm 4)."""
    w, before, _, penalty, step_size, momentum, divisor, _ = state
    step = step_size * factor
    per_sum = step / divisor
    for j in range(w.size):
        moved = w[j] + momentum * (w[j] - before[j]) - per_sum * gradient[j]
        before[j] = w[j]
        w[j] = moved
    write_prox(penalty, step, w)


@jit(error_model="numpy", nogil=True)
def descend(rows, objective, state, steps, done):
    """Take the steps that were handed out; False when a statistic does not fit its grid.

    `done` steps were taken before; iterates from `state.first_averaged` on are averaged. Fields
    are read once, outside of the loops: every access to one counts references.
    """
    batches, noise, grid, statistics, released, answers = steps
    drawn, starts = batches
    w, average, first = state.weights, state.average, state.first_averaged
    statistic, gradient = np.empty(w.size), np.empty(w.size)
    for k in range(noise.shape[0]):
        batch = drawn[starts[k] : starts[k + 1]]
        clipped_sum(rows, batch, objective, w, statistic)
        if not release_step(statistic, k, noise, grid, statistics, released, answers, gradient):
            return False
        take_step(state, gradient, auxiliary_value(objective, w))
        if done + k >= first:
            weight = 1.0 / (done + k + 1 - first)
            for j in range(w.size):
                average[j] += (w[j] - average[j]) * weight
    return True
