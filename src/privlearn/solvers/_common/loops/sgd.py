"""The loop of DP-SGD: clip each row's gradient, sum, release, step.

Dual methods share the sum: their rows contribute what changes in a gradient that they remember.
Steps and blocks of rows are taken in Python, and loops over rows and numbers are compiled one by
one, so that a first fit waits for those alone that its loss and its rows need.
"""

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privlearn._core.jit import jit
from privlearn._core.release_step import release_step
from privlearn._core.releaser import ReleaseBatch
from privlearn._objective.losses.compiled import (
    OF_SCORES_ALONE,
    write_dual_updates,
    write_loss_gradients,
)
from privlearn._objective.prox import WeightPenalty, write_prox
from privlearn.solvers._common.loops.row_products import (
    StoredRows,
    add_parts,
    score_dense,
    score_rows,
    sum_dense,
    sum_rows,
)

__all__ = [
    "CompiledObjective",
    "SGDState",
    "add_batch",
    "auxiliary_value",
    "batch_sum",
    "clipped_sum",
    "descend",
    "scored_blocks",
    "take_average",
    "take_step",
]

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
# Rows whose sums are taken in any order, at most BLOCK_ROWS; several outputs want matrices worth a
# product.
FEW, MANY = 64, 256
# Numbers of rows that stay near the processor between their score and their sum; numbers in sums.
NEAR, MOST_SUMS = 2**19, 2**20
NOTHING = np.empty((0, 1))
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


class ScoredBlock(NamedTuple):
    """Some rows of a batch at given weights; a secret."""

    batch: Indices
    targets: Array
    scores: Array  # (rows, outputs)
    gathered: Array  # dense rows, where there are several outputs


def auxiliary_value(objective: CompiledObjective, weights: Array) -> float:
    """What the loss learns beside the coefficients, to which steps are proportional; else 1."""
    return float(weights[-1]) * objective.auxiliary_unit if objective.auxiliaries > 0 else 1.0


@jit(error_model="numpy", nogil=True)
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
        if norm == 0.0 or not length < math.inf:  # the empty row; or weights beyond all bounds
            for k in range(slopes.shape[1]):
                slopes[b, k] = 0.0
            along[b] = 0.0
            continue
        factor = min(limit / length, 1.0) if length > 0.0 else 1.0  # which rows are long is chance
        for k in range(slopes.shape[1]):
            slopes[b, k] *= factor
        along[b] *= factor


def scored_blocks(
    rows: StoredRows, batch: Indices, objective: CompiledObjective, weights: Array
) -> Iterator[ScoredBlock]:
    """The batch in blocks of so many rows as stay near the processor, with their scores.

    An empty batch is one empty block, so that a rehearsal compiles what comes after it.
    """
    outputs, width, intercept_value = objective[2:5]
    features = width if intercept_value == 0.0 else width - 1
    table = weights[: outputs * width].reshape(outputs, width)
    inner, several = np.ascontiguousarray(table[:, :features]), outputs > 1
    at_once = rows_at_once(rows, outputs, features)
    for start in range(0, max(batch.size, 1), at_once):
        own = batch[start : start + at_once]
        scores = np.empty((own.size, outputs))
        gathered = np.empty((own.size if several and not rows.columns.size else 0, features))
        score_rows(rows, own, inner, gathered, scores)
        if intercept_value != 0.0:
            scores += intercept_value * table[:, features]
        yield ScoredBlock(own, rows.targets[own], scores, gathered)


def rows_at_once(rows: StoredRows, outputs: int, features: int) -> int:
    """Rows of a block: whole parts, whose rows and sums are near the processor."""
    part = FEW if outputs == 1 else MANY
    in_a_row = rows.values.size // max(rows.targets.size, 1)
    parts = min(NEAR // (part * max(in_a_row, 1)), MOST_SUMS // (outputs * max(features, 1)))
    return part * max(parts, 1)


def batch_sum(
    rows: StoredRows,
    batch: Indices,
    objective: CompiledObjective,
    clip: float,
    weights: Array,
    dual: Array,
    stiffness: float,
    statistic: Array,
) -> None:
    """Sum over the batch of gradients, or of steps of the dual variables `dual` times rows.

    Each is shortened to at most `clip`. Without dual variables (there are none) rows contribute
    their gradients; dual variables take their steps, and `stiffness` is per squared length of a
    row. The sum is written to `statistic`.
    """
    lost = np.zeros(statistic.size)
    statistic[:] = 0.0
    add_batch(rows, batch, objective, clip, weights, dual, stiffness, statistic, lost)
    statistic += lost


# Inside of a step nothing but the weights is known: neither overflow nor NaN is anybody's business.
@np.errstate(all="ignore")
def add_batch(
    rows: StoredRows,
    batch: Indices,
    objective: CompiledObjective,
    clip: float,
    weights: Array,
    dual: Array,
    stiffness: float,
    total: Array,
    lost: Array,
) -> None:
    """Add that sum to `total`, and what rounding takes from it to `lost`."""
    outputs, width, intercept_value = objective[2:5]
    features = width if intercept_value == 0.0 else width - 1
    part, auxiliary = FEW if outputs == 1 else MANY, auxiliary_value(objective, weights)
    if outputs == 1 and objective.loss in ADD and not rows.columns.size and not len(dual):
        _add_dense(rows, batch, objective, clip, weights, total, lost)
        return
    for block in scored_blocks(rows, batch, objective, weights):
        if len(dual):
            slopes, along = _dual_steps(
                block, rows.norms, objective, clip, auxiliary, dual, stiffness
            )
        else:
            slopes, along = loss_gradients(block, objective, auxiliary)
            _shorten(clip, rows.norms, block.batch, slopes, along)
        sums = np.empty((-(-len(slopes) // part), outputs, features))
        sum_rows(rows, block.batch, slopes, block.gathered, part, sums)
        add_parts(sums, slopes, along, part, width, intercept_value, total, lost)


def _add_dense(
    rows: StoredRows,
    batch: Indices,
    objective: CompiledObjective,
    clip: float,
    weights: Array,
    total: Array,
    lost: Array,
) -> None:
    """The same for dense rows and one output, in one compiled call: batches may be small."""
    values, _, _, targets, norms = rows
    width, intercept_value, add = objective.width, objective.intercept_value, ADD[objective.loss]
    at_once = rows_at_once(rows, 1, values.shape[1])
    for start in range(0, max(batch.size, 1), at_once):
        own = batch[start : start + at_once]
        add(clip, values, targets, norms, own, weights, width, intercept_value, total, lost)


def _adding(write_gradients: Callable[..., None]) -> Callable[..., None]:
    """The loop for one loss: a loop for all of them would compile all of them."""

    @jit(error_model="numpy", nogil=True)
    def add(clip, values, targets, norms, batch, weights, width, intercept_value, total, lost):
        features, scores = values.shape[1], np.empty((batch.size, 1))
        slopes, along, own = np.empty((batch.size, 1)), np.zeros(batch.size), targets[batch]
        score_dense(values, batch, weights[:features].reshape(1, features), scores)
        if intercept_value != 0.0:
            scores += intercept_value * weights[features]
        write_gradients(own, scores, slopes)
        _shorten(clip, norms, batch, slopes, along)
        sums = np.empty((-(-batch.size // FEW), 1, features))
        sum_dense(values, batch, slopes, FEW, sums)
        add_parts(sums, slopes, along, FEW, width, intercept_value, total, lost)

    return add


ADD = {code: _adding(write) for code, write in OF_SCORES_ALONE.items()}


def loss_gradients(
    block: ScoredBlock, objective: CompiledObjective, auxiliary: float
) -> tuple[Array, Array]:
    """Derivatives of the losses in the scores, and along the auxiliary weight; secrets."""
    slopes, along = np.empty(block.scores.shape), np.empty(len(block.scores))
    choose = write_loss_gradients.py_func  # interpreted: one loss is compiled, not all of them
    loss, threshold = objective[:2]
    choose(loss, threshold, block.targets, block.scores, auxiliary, slopes, along)
    if objective.auxiliaries:
        along *= objective.auxiliary_unit
    return slopes, along


def _dual_steps(
    block: ScoredBlock,
    norms: Array,
    objective: CompiledObjective,
    clip: float,
    auxiliary: float,
    dual: Array,
    stiffness: float,
) -> tuple[Array, Array]:
    """Steps of the dual variables, which take them; and how -a^2 / 2 changes.

    The latter is not linear in the step: it is shortened by a bound of its slope.
    """
    batch, targets, scores, _ = block
    loss, threshold, unit = objective.loss, objective.threshold, objective.auxiliary_unit
    before, lengths, updates = dual[batch], norms[batch], np.empty(scores.shape)
    stiff = stiffness * lengths * lengths
    write_dual_updates(loss, threshold, targets, scores, auxiliary, before, stiff, updates)
    along = unit * threshold * updates[:, 0]
    _shorten(clip, norms, batch, updates, along)
    dual[batch] = before + updates
    middle = before[:, 0] + 0.5 * updates[:, 0]
    return updates, -unit * middle * updates[:, 0]


def clipped_sum(
    rows: StoredRows,
    batch: Indices,
    objective: CompiledObjective,
    weights: Array,
    statistic: Array,
) -> None:
    """Sum over the batch of gradients, each shortened to at most `objective.clip`."""
    batch_sum(rows, batch, objective, objective.clip, weights, NOTHING, 0.0, statistic)


@jit(error_model="numpy", nogil=True)
def _move(w, before, momentum, step, per_sum, gradient, l1, l2, low, high):
    for j in range(w.size):
        moved = w[j] + momentum * (w[j] - before[j]) - per_sum * gradient[j]
        before[j] = w[j]
        w[j] = moved
    write_prox(l1, l2, low, high, step, w)


def take_step(state: SGDState, gradient: Array, factor: float) -> None:
    """Heavy ball, then the penalty's proximal map (Ochs et al. 2014, Algorithm 4)."""
    w, before, _, penalty, step_size, momentum, divisor, _ = state
    step = step_size * factor
    _move(w, before, momentum, step, step / divisor, gradient, *penalty)


def take_average(state: SGDState, done: int) -> None:
    """Let the average follow the weights, `done` steps having been taken before this one."""
    if done >= state.first_averaged:
        weight = 1.0 / (done + 1 - state.first_averaged)
        state.average[:] += (state.weights - state.average) * weight


def descend(
    rows: StoredRows,
    objective: CompiledObjective,
    state: SGDState,
    steps: ReleaseBatch,
    done: int,
) -> bool:
    """Take the steps that were handed out; False when a statistic does not fit its grid.

    `done` steps were taken before; iterates from `state.first_averaged` on are averaged.
    """
    _, noise, grid, *records = steps
    w = state.weights
    statistic, gradient = np.empty(w.size), np.empty(w.size)
    for k in range(steps.taken):
        clipped_sum(rows, steps.rows(k), objective, w, statistic)
        if not release_step(statistic, k, noise, grid, *records, gradient):
            return False
        take_step(state, gradient, auxiliary_value(objective, w))
        take_average(state, done + k)
    return True
