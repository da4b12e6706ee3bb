"""One coordinate after the other (Mangold et al. 2022, Algorithm 1), in a public order."""

from __future__ import annotations

import math

import numpy as np

from privlearn._core.problem import Problem
from privlearn._core.releaser import Releaser
from privlearn._data.bounded import BoundedData
from privlearn.exceptions import PlanViolationError
from privlearn.solvers.base import Solution
from privlearn.solvers.coordinate_descent import loops, rules
from privlearn.solvers.coordinate_descent.columns import (
    as_columns,
    proximal,
    refresh,
    set_limits,
    start_of,
)
from privlearn.solvers.coordinate_descent.loops import StoredColumns, Sweep
from privlearn.solvers.coordinate_descent.private_scales import GRADIENT, prepare, private_clip
from privlearn.solvers.coordinate_descent.rules import Settings

__all__ = ["descend_by_coordinates", "take_sweeps"]

AT_ONCE = 2**16  # releases that noise is drawn for at once


def descend_by_coordinates(
    problem: Problem, settings: Settings, data: BoundedData, release: Releaser
) -> Solution:
    """Outer loops of sweeps; each ends with one proximal map of its averaged gradient steps."""
    prepared = prepare(problem, settings, data, release)
    objective, noise = prepared.objective, release.noise_scale(GRADIENT)
    columns, state = as_columns(prepared), start_of(settings, prepared, data.n)
    share, shortened = settings.coordinate_clip, state.step_sizes.copy()
    for sweeps in rules.loops(settings):
        noise_std = noise * share / math.sqrt(settings.passes * objective.size)
        clip = private_clip(problem, settings, prepared, state.weights, release, noise_std).length
        set_limits(problem.loss, state, clip, share)
        if settings.shortened:
            whole = noise_is_cut(state, noise)
            state.step_sizes[:] = shortened / (settings.step_size if whole else 1.0)
        refresh(columns, state, problem.loss)
        take_sweeps(columns, state, sweeps, release)
        steps = state.step_sizes * objective.step_factor(state.weights)
        state.weights[:] = proximal(state, state.points, steps)
    return objective.solution(state.weights)


def noise_is_cut(state: Sweep, noise: float) -> bool:
    """Whether an l1 penalty sets to zero what noise alone moves: then steps may be whole.

    Parameters
    ----------
    state : Sweep
        With the limits of its derivatives.
    noise : float
        Standard deviation of the noise on a derivative's sum, in units of its limit.
    """
    return bool(np.median(state.penalty.absolute - noise * state.limits / state.total) > 0.0)


def take_sweeps(columns: StoredColumns, state: Sweep, sweeps: int, release: Releaser) -> None:
    """Visit every coordinate in turn, so many times; its gradient steps are averaged.

    The loop looks at all rows, so no list of them is asked for.
    """
    size = len(state.weights)
    state.points[:] = 0.0
    done = 0
    while done < sweeps:
        turns = min(max(1, AT_ONCE // size), sweeps - done)
        steps = release.steps(GRADIENT, 0, clip=1.0, at_most=turns * size)
        if not loops.sweep(columns, state, np.tile(np.arange(size), turns), steps, done):
            raise PlanViolationError("a sum of derivatives does not fit its grid: a solver bug")
        done += turns
