"""The coordinate whose step is largest, chosen privately (Mangold et al. 2023)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from privlearn._core.problem import Problem
from privlearn._core.releaser import Releaser
from privlearn._data.bounded import BoundedData
from privlearn._objective.losses import HUBER
from privlearn.solvers.base import Solution
from privlearn.solvers.coordinate_descent import rules as cd_rule
from privlearn.solvers.coordinate_descent.columns import (
    as_columns,
    proximal,
    refresh,
    set_limits,
    start_of,
)
from privlearn.solvers.coordinate_descent.loss_model import loss_model
from privlearn.solvers.coordinate_descent.private_scales import (
    CHOICE,
    GRADIENT,
    bought_clip,
    prepare,
)
from privlearn.solvers.coordinate_descent.rules import Settings

if TYPE_CHECKING:
    from privlearn.solvers.coordinate_descent.loops import Sweep

__all__ = ["descend_greedily"]

Array = NDArray[np.float64]
LARGEST = 2.0**7  # of a weight, in units of what one row can move it


def descend_greedily(
    problem: Problem, settings: Settings, data: BoundedData, release: Releaser
) -> Solution:
    """Each step selects a coordinate, releases its derivative and moves it."""
    from privlearn.solvers.coordinate_descent.loops import all_sums, move_scores

    prepared = prepare(problem, settings, data, release)
    model = loss_model(problem, prepared)
    noise = release.noise_scale(GRADIENT)
    columns, state = as_columns(prepared), start_of(problem, settings, prepared)
    sums = np.empty(len(state.weights))
    share = cd_rule.COORDINATE_CLIP / math.sqrt(len(sums))
    for steps in cd_rule.loops(settings):
        blur = noise * share * math.sqrt(steps / len(sums))
        clip = bought_clip(problem, settings, prepared, model, state.weights, release, blur)
        set_limits(problem, state, clip)
        refresh(columns, state)
        for _ in range(steps):
            all_sums(columns, state, sums)
            pace = state.paces * (state.weights[-1] if problem.loss.code == HUBER else 1.0)
            per_sum = pace * state.limits / prepared.count
            j = release.select(CHOICE, _steps(state, sums, pace, per_sum), clip=1.0)
            derivative = release(GRADIENT, sums[j : j + 1], clip=1.0)[0]
            moved = state.weights[j] - per_sum[j] * derivative
            change = float(proximal(state, moved, pace)[j]) - state.weights[j]
            state.weights[j] += change
            if j < prepared.coordinates.width:
                move_scores(columns, j, change, state.scores)
    found = state.weights[: prepared.coordinates.width]
    return prepared.coordinates.to_data_units(found[None, :])


def _steps(state: Sweep, sums: Array, pace: Array, per_sum: Array) -> Array:
    """Lengths of the proximal steps in units of the sums (proof.md, 4).

    The proximal map moves no two points apart, so a step in these units moves by no more than its
    sum does. Weights so large that rounding would matter are left alone.
    """
    start = state.weights / per_sum
    steps = np.abs(proximal(state, start - sums, pace, per_sum) - start)
    return np.where(np.abs(start) <= LARGEST * state.total, steps, 0.0)
