"""The loop of DP-SGD: clip each row's gradient, sum, release, step.

Dual methods (dual.py) share the sum: their rows contribute what changes in a gradient they hold.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privlearn._core.jit import jit
from privlearn._core.release_step import release_step
from privlearn._objective.losses import HUBER
from privlearn.solvers._common.loops.dual_updates import write_moves
from privlearn.solvers._common.loops.loss_gradients import write_slopes
from privlearn.solvers._common.loops.row_products import add_block, score_rows, sum_rows

__all__ = ["Descent", "Model", "batch_sum", "clipped_sum", "descend", "take_step"]

# Rows that are worked on together, at most BLOCK_ROWS: few stay in the first cache between their
# score and their sum; several outputs want matrices worth a product.
FEW, MANY = 64, 256
BELOW_ONE = 1.0 - 2.0**-40  # far more than rounding can add to a norm


class Model(NamedTuple):
    """What turns a row into a gradient; all public."""

    loss: int
    threshold: float
    outputs: int
    width: int  # entries of a row, the intercept's included
    unit: float  # the intercept's entry; 0 without intercept
    clip: float
    scale_unit: float = 1.0  # Huber's scale per unit of its weight


class Descent(NamedTuple):
    """Weights as they move, and how they move; all of it post-processing of releases.

    Weights are `outputs` rows of `width` numbers, followed by Huber's scale where there is one.
    """

    weights: NDArray[np.float64]
    previous: NDArray[np.float64]
    average: NDArray[np.float64]
    l1: NDArray[np.float64]
    l2: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    step_size: float
    momentum: float
    divisor: float
    first_averaged: int


@jit(error_model="numpy")
def _shorten(clip, norms, batch, slopes, along_scale):
    """Scale slopes so that no row's gradient is longer than `clip`.

    The gradient is slopes x row, so its norm is |slopes| |row|: no gradient is ever built.
    """
    limit = clip * BELOW_ONE
    for b in range(batch.size):
        squares = 0.0
        for k in range(slopes.shape[1]):
            squares += slopes[b, k] * slopes[b, k]
        norm = norms[batch[b]]
        length = math.sqrt(squares * norm * norm + along_scale[b] * along_scale[b])
        factor = 1.0 if length <= limit else limit / length
        if norm == 0.0 or not length < math.inf:  # the empty row; or weights beyond all bounds
            for k in range(slopes.shape[1]):
                slopes[b, k] = 0.0
            along_scale[b] = 0.0
            continue
        for k in range(slopes.shape[1]):
            slopes[b, k] *= factor
        along_scale[b] *= factor


@jit(error_model="numpy")
def _clear(numbers):
    for j in range(numbers.size):
        numbers[j] = 0.0


@jit(error_model="numpy")
def _split(weights, width, unit, inner, shift):
    """Weights of features, and what the intercept adds to the scores."""
    features = inner.shape[1]
    for k in range(inner.shape[0]):
        for j in range(features):
            inner[k, j] = weights[k * width + j]
        shift[k] = unit * weights[k * width + features] if unit != 0.0 else 0.0


@jit(error_model="numpy")
def _shift_scores(shift, part, all_targets, scores, targets):
    """Add the intercept's share to the scores, and read the targets that belong to them."""
    for b in range(part.size):
        targets[b] = all_targets[part[b]]
        for k in range(shift.size):
            scores[b, k] += shift[k]


@jit(error_model="numpy")
def _recall(norms, part, held, stiffness, before, stiff):
    """Read dual variables; a step's stiffness is per squared length of its row."""
    for b in range(part.size):
        norm = norms[part[b]]
        stiff[b] = stiffness * norm * norm
        for k in range(held.shape[1]):
            before[b, k] = held[part[b], k]


@jit(error_model="numpy")
def _bound_along_scale(slope, moves, size, along_scale):
    """-a^2 / 2 is not linear in the step: it is shortened by a bound of its slope."""
    for b in range(size):
        along_scale[b] = slope * moves[b, 0]


@jit(error_model="numpy")
def _take_moves(part, scale_unit, before, moves, held, along_scale):
    """Let the dual variables take their steps, and write how -a^2 / 2 changes for Huber's scale."""
    for b in range(part.size):
        for k in range(moves.shape[1]):
            held[part[b], k] = before[b, k] + moves[b, k]
        middle = before[b, 0] + 0.5 * moves[b, 0]
        along_scale[b] = -scale_unit * middle * moves[b, 0]


@jit(error_model="numpy")
def _lay_out(sums, slopes, along_scale, size, width, unit, block):
    """A part's sums in the order of the weights, the intercept's and Huber's scale among them."""
    outputs, features = sums.shape
    for k in range(outputs):
        for j in range(features):
            block[k * width + j] = sums[k, j]
        if unit != 0.0:
            total = 0.0
            for b in range(size):
                total += slopes[b, k]
            block[k * width + features] = unit * total
    if block.size > outputs * width:
        total = 0.0
        for b in range(size):
            total += along_scale[b]
        block[outputs * width] = total


# Inlined: each function between a loop and its caller is compiled again with all that it calls.
@jit(error_model="numpy", inline="always")
def clipped_sum(rows, batch, model, weights, statistic):
    """Sum over the batch of gradients, each shortened to at most `model.clip`."""
    batch_sum(rows, batch, model, model.clip, weights, np.empty((0, 1)), 0.0, statistic)


@jit(error_model="numpy")
def batch_sum(rows, batch, model, clip, weights, held, stiffness, statistic):
    """Sum over the batch of gradients, or of steps of the dual variables `held` times rows.

    Each is shortened to at most `clip`. Without dual variables (none are held) rows contribute
    their gradients; dual variables take their steps, and `stiffness` is per squared length of a
    row. A part of the batch is scored, shortened and summed while it is near the processor.
    """
    loss, threshold, outputs, width, unit, _, scale_unit = model
    norms, dual = rows.norms, held.shape[0] > 0
    features = width if unit == 0.0 else width - 1
    scale = weights[-1] * scale_unit if loss == HUBER else 1.0
    at_once = FEW if outputs == 1 else MANY
    inner, shift = np.empty((outputs, features)), np.empty(outputs)
    gathered = np.empty((at_once if outputs > 1 and rows.columns.size == 0 else 0, features))
    scores, slopes = np.empty((at_once, outputs)), np.empty((at_once, outputs))
    before, stiff = np.empty((at_once, outputs)), np.empty(at_once)
    targets, along_scale = np.empty(at_once), np.empty(at_once)
    sums, block = np.empty((outputs, features)), np.empty(statistic.size)
    lost = np.zeros(statistic.size)
    _split(weights, width, unit, inner, shift)
    _clear(statistic)
    for start in range(0, batch.size, at_once):
        part = batch[start : start + at_once]
        score_rows(rows, part, inner, gathered, scores)
        _shift_scores(shift, part, rows.targets, scores, targets)
        own = targets[: part.size]
        if dual:
            _recall(norms, part, held, stiffness, before, stiff)
            write_moves(loss, threshold, own, scores, scale, before, stiff, slopes)
            _bound_along_scale(scale_unit * threshold, slopes, own.size, along_scale)
            _shorten(clip, norms, part, slopes, along_scale)
            _take_moves(part, scale_unit, before, slopes, held, along_scale)
        else:
            write_slopes(loss, threshold, own, scores, scale, slopes, along_scale)
            for b in range(own.size):
                along_scale[b] *= scale_unit
            _shorten(clip, norms, part, slopes, along_scale)
        sum_rows(rows, part, slopes, gathered, sums)
        _lay_out(sums, slopes, along_scale, own.size, width, unit, block)
        add_block(block, statistic, lost)
    for j in range(statistic.size):
        statistic[j] += lost[j]


@jit(error_model="numpy")
def take_step(descent, gradient, scale):
    """Heavy ball, then the penalty's proximal map (Ochs et al. 2014, Algorithm 4)."""
    w, before, _, l1, l2, low, high, step_size, momentum, divisor, _ = descent
    step = step_size * scale
    per_sum = step / divisor
    for j in range(w.size):
        moved = w[j] + momentum * (w[j] - before[j]) - per_sum * gradient[j]
        before[j] = w[j]
        shrunk = math.copysign(max(abs(moved) - step * l1[j], 0.0), moved)
        w[j] = min(max(shrunk / (1.0 + step * l2[j]), low[j]), high[j])


@jit(error_model="numpy", nogil=True)
def descend(rows, model, descent, steps, done):
    """Take the steps that were handed out; False when a statistic does not fit its grid.

    `done` steps were taken before; iterates from `descent.first_averaged` on are averaged. Fields
    are read once, outside of the loops: every access to one counts references.
    """
    batches, noise, grid, statistics, released, answers = steps
    drawn, starts = batches
    w, average, first = descent.weights, descent.average, descent.first_averaged
    statistic, gradient = np.empty(w.size), np.empty(w.size)
    for k in range(noise.shape[0]):
        batch = drawn[starts[k] : starts[k + 1]]
        clipped_sum(rows, batch, model, w, statistic)
        if not release_step(statistic, k, noise, grid, statistics, released, answers, gradient):
            return False
        take_step(descent, gradient, w[-1] * model.scale_unit if model.loss == HUBER else 1.0)
        if done + k >= first:
            weight = 1.0 / (done + k + 1 - first)
            for j in range(w.size):
                average[j] += (w[j] - average[j]) * weight
    return True
