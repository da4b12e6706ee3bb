"""The loop of DP-SCD: move each row's hidden dual variable, sum, release, step.

What is released adds up to v = sum of a_i x_i with noise, minus the gradient of all rows' losses as
their dual variables remember it. Weights are a function of released values alone.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privlearn._core.jit import jit
from privlearn._core.release_step import release_step
from privlearn._objective.losses import HUBER
from privlearn.solvers._common.loops.sgd import batch_sum, take_step

__all__ = ["Dual", "descend_dual"]

LEAST_RAMP = 0.05  # of the squares that Huber's scale is compared with, while few can have moved


class Dual(NamedTuple):
    """Dual variables, which are secret, and how they move, which is public."""

    held: NDArray[np.float64]  # (rows, outputs); never leaves
    total: NDArray[np.float64]  # v: the sum of all that was released
    clip: float
    stiffness: float  # of a step, per squared length of a row
    lead: float  # how many times the newest release counts again: it has been waited for
    ramp: float  # how far of Huber's threshold a row can have come per step
    gain: float  # of the logarithm of Huber's scale


@jit(error_model="numpy")
def _settle_scale(dual, model, descent, done):
    """Move Huber's scale towards where the squares of the dual variables have mean 1.

    That is the optimum's condition (Owen 2007, eq. 8). Before every row can have reached the
    threshold, the mean that the rows which did would have is aimed at instead.
    """
    rows, place = descent.divisor, descent.weights.size - 1
    reached = min(1.0, dual.ramp * done)
    aim = max(reached * reached, LEAST_RAMP)
    squares = -2.0 * dual.total[place] / (model.scale_unit * rows)
    error = min(max((squares - reached * reached) / aim, -1.0), 1.0)
    moved = descent.weights[place] * math.exp(dual.gain * error)
    descent.weights[place] = min(max(moved, descent.low[place]), descent.high[place])


@jit(error_model="numpy", nogil=True)
def descend_dual(rows, model, dual, descent, steps, done):
    """Take the steps that were handed out; False when a statistic does not fit its grid.

    A release is in units of the clip. `done` steps were taken before.
    """
    batches, noise, grid, statistics, released, answers = steps
    drawn, starts = batches
    held, total, clip, stiffness, lead, _, _ = dual
    w, average, first = descent.weights, descent.average, descent.first_averaged
    huber = model.loss == HUBER
    statistic, fresh, gradient = np.empty(w.size), np.empty(w.size), np.empty(w.size)
    for k in range(noise.shape[0]):
        batch = drawn[starts[k] : starts[k + 1]]
        batch_sum(rows, batch, model, clip, w, held, stiffness, statistic)
        statistic /= clip
        if not release_step(statistic, k, noise, grid, statistics, released, answers, fresh):
            return False
        for j in range(w.size):
            total[j] += clip * fresh[j]
            gradient[j] = -total[j] - lead * clip * fresh[j]
        if huber:
            gradient[-1] = 0.0
        take_step(descent, gradient, w[-1] * model.scale_unit if huber else 1.0)
        if huber:
            _settle_scale(dual, model, descent, done + k + 1)
        if done + k >= first:
            weight = 1.0 / (done + k + 1 - first)
            for j in range(w.size):
                average[j] += (w[j] - average[j]) * weight
    return True
