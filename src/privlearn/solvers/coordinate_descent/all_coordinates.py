"""All coordinates at once: each step releases one gradient and moves by an estimated curvature."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from privlearn._core.problem import Problem
from privlearn._core.releaser import Releaser
from privlearn._data.bounded import BoundedData
from privlearn._objective.losses import Loss
from privlearn.solvers._common.objective import Objective
from privlearn.solvers.base import Solution
from privlearn.solvers.coordinate_descent import rules
from privlearn.solvers.coordinate_descent.gaussian_rows import curvature_at
from privlearn.solvers.coordinate_descent.private_scales import (
    GRADIENT,
    prepare,
    private_clip,
    private_curvature,
)
from privlearn.solvers.coordinate_descent.quadratic_model import Curvature, QuadraticModel
from privlearn.solvers.coordinate_descent.rules import Settings

__all__ = ["descend_all"]

Array = NDArray[np.float64]


def descend_all(
    problem: Problem, settings: Settings, data: BoundedData, release: Releaser
) -> Solution:
    """Outer loops, each with its own clip; every step minimises the models of its loop so far."""
    from privlearn.solvers.coordinate_descent.coef_noise import NoiseRecord, is_told  # fits alone
    from privlearn.solvers.coordinate_descent.intercept_steps import first_step, last_step
    from privlearn.solvers.coordinate_descent.long_rows import shortened_by
    from privlearn.solvers.coordinate_descent.range_noise import noise_of_ends
    from privlearn.solvers.coordinate_descent.standard_errors import LoopRecord, newton_solution

    prepared = prepare(problem, settings, data, release)
    objective = prepared.objective
    longest = settings.longest_for_errors if settings.intervals else rules.LONGEST_ROW
    moments = private_curvature(prepared, release, longest)
    rows, record = moments.damped, NoiseRecord(objective, moments)
    model = QuadraticModel(objective.penalty, objective.loss.outputs)
    noise, count = release.noise_scale(GRADIENT), prepared.count
    weights = objective.start(prepared.target)
    bend = _curvature(settings, objective, rows, weights)
    least, clip, bounded = 0.0, math.inf, math.isfinite(objective.loss.lipschitz)
    for loop, steps in enumerate(rules.loops(settings)):
        noise_std = noise / math.sqrt(settings.passes)
        most = math.inf if bounded else rules.GROWTH * clip
        clip, slope = private_clip(
            problem, settings, prepared, weights, release, noise_std, least, most
        )
        model.forget()
        last = LoopRecord()
        for step in range(steps):
            sums = prepared.rows.gradient_sum(objective, weights, clip)
            gradient = release(GRADIENT, sums / clip, clip=1.0) * (clip / count)
            if objective.loss.coupled:
                gradient = _balanced(objective.loss, gradient)
            factor = objective.step_factor(weights)
            noise_std = noise * clip / count * factor
            if settings.intercept_first and loop == 0:
                own = first_step(
                    objective, weights, settings.step_size, factor * gradient, noise_std
                )
                least = objective.loss.slope_to_keep(own)
                model.shrink_to(settings.expected(weights))
                continue
            if objective.loss.bends:
                bend = _curvature(settings, objective, rows, weights)
            share = step + rules.AHEAD
            model.add(weights, factor * gradient, bend, share=share, noise_std=noise_std)
            record.add(share / model.total, noise_std)
            if settings.intervals:
                last.add(share, weights, gradient, noise_std)
            before, weights = weights, model.minimiser(weights, factor)
    if settings.intervals:
        return newton_solution(prepared, settings, last, weights, clip, moments, release)
    if settings.intercept_last:
        weights = last_step(prepared, weights, rows, release)
    if not is_told(problem):
        return objective.solution(weights)
    ends = noise_of_ends(problem.bounds, objective, moments, weights, slope)
    times = shortened_by(prepared, settings, moments, release)
    deviations = record.deviations(before, bend.within, model.response(weights), ends, times)
    return objective.solution(weights, deviations)


def _balanced(loss: Loss, gradient: Array) -> Array:
    """Slopes of several classes add up to 0, so their sum is noise; and so is a common shift."""
    by_class = gradient.reshape(loss.outputs, -1)
    return np.asarray((by_class - by_class.mean(axis=0)).ravel())


def _curvature(settings: Settings, objective: Objective, rows: Array, weights: Array) -> Curvature:
    """Of the loss: that of the rows times the loss's own, as far as it is known, else its bound."""
    loss, width = objective.loss, objective.scaling.width
    if loss.bends:
        at = weights[: loss.outputs * width].reshape(loss.outputs, width)
        intercept = objective.scaling.intercept_value > 0.0
        least = rules.LEAST_BEND * loss.curvature
        return curvature_at(loss, rows / settings.step_size, intercept, at, least)
    whole = np.zeros((objective.size,) * 2)
    whole[:width, :width] = loss.curvature / settings.step_size * rows
    if loss.auxiliary.count:
        whole[-1, -1] = loss.auxiliary.curvature / settings.step_size
    return Curvature(np.ones((1, 1)), whole)
