"""The coordinate whose step is largest, chosen privately (Mangold et al. 2023)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from privlearn._core.problem import Problem
from privlearn._core.releaser import Releaser
from privlearn._data.bounded import BoundedData
from privlearn.solvers.base import Solution
from privlearn.solvers.coordinate_descent import loops, rules
from privlearn.solvers.coordinate_descent.columns import (
    as_columns,
    proximal,
    refresh,
    set_limits,
    start_of,
)
from privlearn.solvers.coordinate_descent.loops import Sweep
from privlearn.solvers.coordinate_descent.private_scales import (
    CHOICE,
    GRADIENT,
    prepare,
    private_clip,
)
from privlearn.solvers.coordinate_descent.rules import Settings

__all__ = ["descend_greedily"]

Array = NDArray[np.float64]
LARGEST = 2.0**7  # of a weight, in units of what one row can move it


def descend_greedily(
    problem: Problem, settings: Settings, data: BoundedData, release: Releaser
) -> Solution:
    """Each step selects a coordinate, releases its derivative and moves it."""
    prepared = prepare(problem, settings, data, release)
    objective, noise = prepared.objective, release.noise_scale(GRADIENT)
    columns, state = as_columns(prepared), start_of(settings, prepared, data.n)
    sums = np.empty(objective.size)
    share = rules.COORDINATE_CLIP / math.sqrt(len(sums))
    for steps in rules.loops(settings):
        noise_std = noise * share * math.sqrt(steps / len(sums))
        clip = private_clip(problem, settings, prepared, state.weights, release, noise_std).length
        set_limits(problem.loss, state, clip)
        refresh(columns, state, problem.loss)
        for _ in range(steps):
            loops.all_sums(columns, state, sums)
            step = state.step_sizes * objective.step_factor(state.weights)
            per_sum = step * state.limits / prepared.count
            j = release.select(CHOICE, _steps(state, sums, step, per_sum), clip=1.0)
            derivative = release(GRADIENT, sums[j : j + 1], clip=1.0)[0]
            moved = state.weights[j] - per_sum[j] * derivative
            change = float(proximal(state, moved, step)[j]) - state.weights[j]
            state.weights[j] += change
            if j < prepared.objective.scaling.width:
                loops.move_scores(columns, j, change, state.scores)
    return objective.solution(state.weights)


def _steps(state: Sweep, sums: Array, step: Array, per_sum: Array) -> Array:
    """Lengths of the proximal steps in units of the sums (proof.md, 4).

    The proximal map moves no two points apart, so a step in these units moves by no more than its
    sum does. Weights so large that rounding would matter are left alone.
    """
    start = state.weights / per_sum
    steps = np.abs(proximal(state, start - sums, step, per_sum) - start)
    return np.where(np.abs(start) <= LARGEST * state.total, steps, 0.0)
