"""What noise on gradients will do to a model: exact for a quadratic loss, an outlook for others."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from privlearn._core.forecast import Forecast
from privlearn._core.problem import Problem
from privlearn.solvers._common.scaling import Scaling

__all__ = ["outlook_of_steps", "responses"]

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
    """Steps along gradients with `noise` on each number of their mean, for independent features."""
    scaling = Scaling.for_gradients(problem)
    bend = problem.loss.curvature if math.isfinite(problem.loss.curvature) else 1.0
    curvature = scaling.spread * bend * (1.0 if problem.loss.has_unit else 0.5)
    moved, shrinkage = responses(steps, momentum, averaged, step, curvature)
    deviation = noise * float(np.linalg.norm(moved))
    more = f"; scores are {problem.loss.scores}" if problem.loss.scores else ""
    return scaling.forecast(deviation, scaling.typical_length, shrinkage, n, more)
