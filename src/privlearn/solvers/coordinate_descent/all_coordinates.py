"""All coordinates at once: each step releases one gradient and moves by the bought curvature."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from privlearn._core.problem import Problem
from privlearn._core.releaser import Releaser
from privlearn._data.bounded import BoundedData
from privlearn._objective.losses import HUBER, Target
from privlearn.solvers.base import Solution
from privlearn.solvers.coordinate_descent import rules as cd_rule
from privlearn.solvers.coordinate_descent.loss_model import loss_model
from privlearn.solvers.coordinate_descent.private_scales import (
    GRADIENT,
    Prepared,
    bought_clip,
    bought_curvature,
    prepare,
)
from privlearn.solvers.coordinate_descent.quadratic_model import AveragedModels
from privlearn.solvers.coordinate_descent.rules import Settings

__all__ = ["descend_whole"]

Array = NDArray[np.float64]


def descend_whole(
    problem: Problem, settings: Settings, data: BoundedData, release: Releaser
) -> Solution:
    """Outer loops, each with its own clip; every step minimises the models of its loop so far."""
    from privlearn.solvers._common.loops.sgd import clipped_sum

    prepared = prepare(problem, settings, data, release)
    huber = problem.loss.code == HUBER
    models = _models(problem, settings, prepared, bought_curvature(prepared, release))
    model = loss_model(problem, prepared)
    everyone = np.arange(len(prepared.rows.targets))
    noise, count = release.noise_scale(GRADIENT), prepared.count
    weights, statistic = prepared.start.copy(), np.empty(len(prepared.l1))
    for loop, steps in enumerate(cd_rule.loops(settings)):
        blur = noise / math.sqrt(settings.passes)
        clip = bought_clip(problem, settings, prepared, model, weights, release, blur)
        models.forget()
        for step in range(steps):
            clipped_sum(prepared.rows, everyone, model._replace(clip=clip), weights, statistic)
            gradient = release(GRADIENT, statistic / clip, clip=1.0) * (clip / count)
            pace = weights[-1] if huber else 1.0  # Huber's steps are in units of its scale
            blurred = noise * clip / count * pace
            if settings.level_first and loop == 0:
                _move_level(problem, settings, prepared, weights, pace * gradient, blurred)
                continue
            models.add(weights, pace * gradient, share=step + cd_rule.AHEAD, blur=blurred)
            weights = models.minimiser(weights, pace)
    found = weights[: prepared.coordinates.width]
    return prepared.coordinates.to_data_units(found[None, :])


def _move_level(
    problem: Problem,
    settings: Settings,
    prepared: Prepared,
    weights: Array,
    gradient: Array,
    blur: float,
) -> None:
    """One step of the intercept alone, whose curvature is known, less what may be noise.

    It takes what is the intercept's before features whose sum is constant, as the columns of
    one-hot groups, could share in it; and errors are smaller afterwards, and so is the next clip.
    """
    level = prepared.coordinates.width - 1
    pull = float(gradient[level])
    trusted = max(0.0, 1.0 - blur**2 / pull**2) if pull != 0.0 else 0.0
    moved = weights[level] - trusted * settings.step_size * pull / problem.loss.smoothness
    largest = 1.0 if problem.loss.target is Target.NUMBER else math.inf  # y lies in [-1, 1]
    weights[level] = min(max(moved, -largest), largest)


def _models(
    problem: Problem, settings: Settings, prepared: Prepared, curvature: Array
) -> AveragedModels:
    """Curvature of the loss: that of the rows times the loss's own, which bounds it.

    Huber's loss in (weights, scale) has curvature (u, -t)(u, -t)' / scale in rows whose t = error /
    scale is within the threshold. Near the optimum t and u hardly correlate, and the mean of t^2 is
    below 1; elsewhere averaging bears steps that are up to twice too long.
    """
    whole = np.zeros((len(prepared.l1),) * 2)
    width = prepared.coordinates.width
    whole[:width, :width] = problem.loss.smoothness / settings.step_size * curvature
    if problem.loss.code == HUBER:
        whole[-1, -1] = 1.0 / settings.step_size
    return AveragedModels(whole, prepared.l1, prepared.l2, prepared.low, prepared.high)
