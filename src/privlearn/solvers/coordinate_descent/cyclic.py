"""One coordinate after the other (Mangold et al. 2022, Algorithm 1), in a public order."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from privlearn._core.problem import Problem
from privlearn._core.releaser import Releaser
from privlearn._data.bounded import BoundedData
from privlearn.exceptions import PlanViolationError
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
from privlearn.solvers.coordinate_descent.private_scales import GRADIENT, bought_clip, prepare
from privlearn.solvers.coordinate_descent.rules import Settings

if TYPE_CHECKING:
    from privlearn.solvers.coordinate_descent.loops import StoredColumns, Sweep

__all__ = ["descend_by_coordinates", "take_sweeps"]

AT_ONCE = 2**16  # releases that noise is drawn for at once


def descend_by_coordinates(
    problem: Problem, settings: Settings, data: BoundedData, release: Releaser
) -> Solution:
    """Outer loops of sweeps; each ends with one proximal map of its averaged gradient steps."""
    prepared = prepare(problem, settings, data, release)
    model = loss_model(problem, prepared)
    noise = release.noise_scale(GRADIENT)
    columns, state = as_columns(prepared), start_of(problem, settings, prepared)
    size = len(state.weights)
    for sweeps in cd_rule.loops(settings):
        blur = noise * cd_rule.COORDINATE_CLIP / math.sqrt(settings.passes * size)
        clip = bought_clip(problem, settings, prepared, model, state.weights, release, blur)
        set_limits(problem, state, clip)
        refresh(columns, state)
        take_sweeps(columns, state, sweeps, release)
        pace = state.paces * (state.weights[-1] if problem.loss.degree == 1 else 1.0)
        state.weights[:] = proximal(state, state.points, pace)
    found = state.weights[: prepared.coordinates.width]
    return prepared.coordinates.to_data_units(found[None, :])


def take_sweeps(columns: StoredColumns, state: Sweep, sweeps: int, release: Releaser) -> None:
    """Visit every coordinate in turn, so many times; its gradient steps are averaged.

    The loop looks at all rows, so no list of them is asked for.
    """
    from privlearn.solvers.coordinate_descent.loops import sweep

    size = len(state.weights)
    state.points[:] = 0.0
    done = 0
    while done < sweeps:
        turns = min(max(1, AT_ONCE // size), sweeps - done)
        steps = release.steps(GRADIENT, 0, clip=1.0, at_most=turns * size)
        if not sweep(columns, state, np.tile(np.arange(size), turns), steps, done):
            raise PlanViolationError("a sum of derivatives does not fit its grid: a solver bug")
        done += turns
