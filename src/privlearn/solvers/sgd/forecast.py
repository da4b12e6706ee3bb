"""What SGD's noise will do to a model: exact for a quadratic loss, an outlook for the others."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from privlearn._core.forecast import Forecast
from privlearn._core.plan import Plan
from privlearn._core.problem import Problem
from privlearn.solvers._common.scaling import Scaling
from privlearn.solvers.sgd import rules as sgd_rule
from privlearn.solvers.sgd.rules import Settings

__all__ = ["outlook", "outlook_of_steps", "responses"]

Array = NDArray[np.float64]


def responses(
    steps: int, momentum: float, averaged: float, step: float, curvature: float
) -> tuple[Array, float]:
    """How far the result moves per unit of noise in each step, and the share of the optimum kept.

    Heavy ball on curvature (w - w*)^2 / 2 is linear: noise in step t adds -step h(s - t - 1) to
    iterate s, h the impulse response, and the result averages the last iterates.
    """
    T = steps
    impulse = np.zeros(T + 1)
    impulse[0] = 1.0
    for k in range(T):
        before = impulse[k - 1] if k else 0.0
        impulse[k + 1] = (1 + momentum - step * curvature) * impulse[k] - momentum * before
    tail = max(1, math.ceil(averaged * T))
    reached = np.concatenate([[0.0], np.cumsum(impulse)])
    ends = T - np.arange(T)  # how many iterates feel the noise of step t
    moved = step * (reached[ends] - reached[np.maximum(ends - tail, 0)]) / tail
    return moved, float(curvature * moved.sum())


def outlook(problem: Problem, settings: Settings, plan: Plan, n: int) -> Forecast:
    """Noise of `SGD` for evenly spread, independent features."""
    return outlook_of_steps(
        problem,
        n,
        noise=plan.noise_scale(plan.releases[-1]) / (settings.rate * n),
        step=sgd_rule.step_size(problem, settings, n),
        steps=settings.steps,
        momentum=settings.momentum,
        averaged=settings.averaged,
    )


def outlook_of_steps(
    problem: Problem,
    n: int,
    *,
    noise: float,
    step: float,
    steps: int,
    momentum: float,
    averaged: float,
) -> Forecast:
    """The same for any steps along gradients with `noise` on each number of their mean."""
    scaling = Scaling.for_gradients(problem)
    number = problem.loss.has_unit
    bend = problem.loss.curvature if math.isfinite(problem.loss.curvature) else 1.0
    curvature = scaling.spread * bend * (1.0 if number else 0.5)
    moved, shrinkage = responses(steps, momentum, averaged, step, curvature)
    deviation = noise * float(np.linalg.norm(moved))
    more = f"; scores are {problem.loss.scores}" if problem.loss.scores else ""
    return scaling.forecast(deviation, scaling.typical_length, shrinkage, n, more)
