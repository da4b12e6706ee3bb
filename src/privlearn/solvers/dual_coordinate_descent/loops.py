"""The loop of DP-SCD: move each row's hidden dual variable, sum, release, step.

What is released adds up to v = sum of a_i x_i with noise, minus the gradient of all rows' losses as
their dual variables remember it. Weights are a function of released values alone.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privlearn._core.jit import jit
from privlearn._core.release_step import release_step
from privlearn._objective.losses.compiled import moved_auxiliary
from privlearn._objective.prox import limited
from privlearn.solvers._common.loops.sgd import auxiliary_value, batch_sum, take_step

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


@jit(error_model="numpy")
def _move_auxiliary(dual, objective, state, done):
    """Move the auxiliary weight to where its own condition asks it to be, within its limits."""
    place = state.weights.size - 1
    reached = min(1.0, dual.ramp * done)
    rows = objective.auxiliary_unit * state.divisor
    state.weights[place] = moved_auxiliary(
        state.weights[place], dual.total[place], rows, reached, dual.gain
    )
    state.weights[place] = limited(state.penalty, place, state.weights[place])


@jit(error_model="numpy", nogil=True)
def descend_dual(rows, objective, dual, state, steps, done):
    """Take the steps that were handed out; False when a statistic does not fit its grid.

    A release is in units of the clip. `done` steps were taken before.
    """
    batches, noise, grid, statistics, released, answers = steps
    drawn, starts = batches
    variables, total, clip, stiffness, extrapolation, _, _ = dual
    w, average, first = state.weights, state.average, state.first_averaged
    has_auxiliary = objective.auxiliaries > 0
    statistic, fresh, gradient = np.empty(w.size), np.empty(w.size), np.empty(w.size)
    for k in range(noise.shape[0]):
        batch = drawn[starts[k] : starts[k + 1]]
        batch_sum(rows, batch, objective, clip, w, variables, stiffness, statistic)
        statistic /= clip
        if not release_step(statistic, k, noise, grid, statistics, released, answers, fresh):
            return False
        for j in range(w.size):
            total[j] += clip * fresh[j]
            gradient[j] = -total[j] - extrapolation * clip * fresh[j]
        if has_auxiliary:
            gradient[-1] = 0.0
        take_step(state, gradient, auxiliary_value(objective, w))
        if has_auxiliary:
            _move_auxiliary(dual, objective, state, done + k + 1)
        if done + k >= first:
            weight = 1.0 / (done + k + 1 - first)
            for j in range(w.size):
                average[j] += (w[j] - average[j]) * weight
    return True
