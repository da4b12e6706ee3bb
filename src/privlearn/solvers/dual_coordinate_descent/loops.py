"""The loop of DP-SCD: move each row's hidden dual variable, sum, release, step.

What is released adds up to v = sum of a_i x_i with noise, minus the gradient of all rows' losses as
their dual variables remember it. Weights are a function of released values alone.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privlearn._core.release_step import release_step
from privlearn._core.releaser import ReleaseBatch
from privlearn._objective.losses.compiled import moved_auxiliary
from privlearn.solvers._common.loops.row_products import StoredRows
from privlearn.solvers._common.loops.sgd import (
    CompiledObjective,
    SGDState,
    auxiliary_value,
    batch_sum,
    take_average,
    take_step,
)

__all__ = ["Dual", "descend_dual"]


class Dual(NamedTuple):
    """Dual variables, which are secret, and how they move, which is public."""

    variables: NDArray[np.float64]  # (rows, outputs); never leave
    total: NDArray[np.float64]  # v: the sum of all that was released
    clip: float
    stiffness: float  # of a step, per squared length of a row
    extrapolation: float  # how many times the newest release counts again: it has been waited for
    ramp: float  # how far of the loss's threshold a row can have come per step
    gain: float  # of the logarithm of the auxiliary weight


def _move_auxiliary(dual: Dual, objective: CompiledObjective, state: SGDState, done: int) -> None:
    """Move the auxiliary weight to where its own condition asks it to be, within its limits."""
    reached = min(1.0, dual.ramp * done)
    rows = objective.auxiliary_unit * state.divisor
    moved = moved_auxiliary(state.weights[-1], dual.total[-1], rows, reached, dual.gain)
    state.weights[-1] = min(max(moved, state.penalty.low[-1]), state.penalty.high[-1])


def descend_dual(
    rows: StoredRows,
    objective: CompiledObjective,
    dual: Dual,
    state: SGDState,
    steps: ReleaseBatch,
    done: int,
) -> bool:
    """Take the steps that were handed out; False when a statistic does not fit its grid.

    A release is in units of the clip. `done` steps were taken before.
    """
    _, noise, grid, *records = steps
    variables, total, clip, stiffness, extrapolation, _, _ = dual
    w, has_auxiliary = state.weights, objective.auxiliaries > 0
    statistic, fresh = np.empty(w.size), np.empty(w.size)
    for k in range(steps.taken):
        batch_sum(rows, steps.rows(k), objective, clip, w, variables, stiffness, statistic)
        statistic /= clip
        if not release_step(statistic, k, noise, grid, *records, fresh):
            return False
        total += clip * fresh
        gradient = -total - extrapolation * clip * fresh
        if has_auxiliary:
            gradient[-1] = 0.0
        take_step(state, gradient, auxiliary_value(objective, w))
        if has_auxiliary:
            _move_auxiliary(dual, objective, state, done + k + 1)
        take_average(state, done + k)
    return True
