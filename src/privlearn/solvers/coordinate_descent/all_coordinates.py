"""All coordinates at once: each step releases one gradient and moves by an estimated curvature."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from privlearn._core.problem import Problem
from privlearn._core.releaser import Releaser
from privlearn._data.bounded import BoundedData
from privlearn.solvers._common.loops import sgd
from privlearn.solvers._common.objective import Objective
from privlearn.solvers.base import Solution
from privlearn.solvers.coordinate_descent import rules
from privlearn.solvers.coordinate_descent.private_scales import (
    GRADIENT,
    Prepared,
    prepare,
    private_clip,
    private_curvature,
)
from privlearn.solvers.coordinate_descent.quadratic_model import QuadraticModel
from privlearn.solvers.coordinate_descent.rules import Settings

__all__ = ["descend_all"]

Array = NDArray[np.float64]


def descend_all(
    problem: Problem, settings: Settings, data: BoundedData, release: Releaser
) -> Solution:
    """Outer loops, each with its own clip; every step minimises the models of its loop so far."""
    prepared = prepare(problem, settings, data, release)
    objective = prepared.objective
    model = _model(settings, objective, private_curvature(prepared, release))
    everyone = np.arange(len(prepared.rows.targets))
    noise, count = release.noise_scale(GRADIENT), prepared.count
    weights, statistic = objective.start(prepared.target), np.empty(objective.size)
    for loop, steps in enumerate(rules.loops(settings)):
        noise_std = noise / math.sqrt(settings.passes)
        clip = private_clip(problem, settings, prepared, weights, release, noise_std)
        model.forget()
        for step in range(steps):
            sgd.clipped_sum(prepared.rows, everyone, objective.compiled(clip), weights, statistic)
            gradient = release(GRADIENT, statistic / clip, clip=1.0) * (clip / count)
            factor = objective.step_factor(weights)
            noise_std = noise * clip / count * factor
            if settings.intercept_first and loop == 0:
                _move_intercept(settings, prepared, weights, factor * gradient, noise_std)
                continue
            share = step + rules.AHEAD
            model.add(weights, factor * gradient, share=share, noise_std=noise_std)
            weights = model.minimiser(weights, factor)
    return objective.solution(weights)


def _move_intercept(
    settings: Settings, prepared: Prepared, weights: Array, gradient: Array, noise_std: float
) -> None:
    """One step of the intercept alone, whose curvature is known, less what may be noise.

    It takes what is the intercept's before features whose sum is constant, as the columns of
    one-hot groups, could share in it; and errors are smaller afterwards, and so is the next clip.
    """
    place, loss = prepared.objective.scaling.width - 1, prepared.objective.loss
    pull = float(gradient[place])
    trusted = max(0.0, 1.0 - noise_std**2 / pull**2) if pull != 0.0 else 0.0
    moved = weights[place] - trusted * settings.step_size * pull / loss.curvature
    largest = 1.0 if loss.has_unit else math.inf  # y lies in [-1, 1]; a mean is known to a factor
    weights[place] = min(max(moved, -largest), largest)


def _model(settings: Settings, objective: Objective, curvature: Array) -> QuadraticModel:
    """Curvature of the loss: that of the rows times the loss's own, which bounds it."""
    whole, width = np.zeros((objective.size,) * 2), objective.scaling.width
    whole[:width, :width] = objective.loss.curvature / settings.step_size * curvature
    if objective.loss.auxiliary.count:
        whole[-1, -1] = objective.loss.auxiliary.curvature / settings.step_size
    return QuadraticModel(whole, objective.penalty)
