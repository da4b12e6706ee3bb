"""What the noise of dual coordinate descent will do to a model, for a quadratic loss."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from privlearn._core.forecast import Forecast
from privlearn._core.plan import Plan
from privlearn._core.problem import Problem
from privlearn.solvers._common.forecast import (
    EVEN_SPREAD,
    TYPICAL_SLOPE,
    TYPICAL_SPREAD,
    predicts_probabilities,
    predicts_scores,
)
from privlearn.solvers._common.scaling import Scaling
from privlearn.solvers.dual_coordinate_descent import rules
from privlearn.solvers.dual_coordinate_descent.lengths import slopes_are_unknown
from privlearn.solvers.dual_coordinate_descent.rules import Movement, Settings

__all__ = ["outlook", "responses"]

Array = NDArray[np.float64]
TYPICAL_ERROR = 0.5  # of y, relative to half its range
# What generated tables make of the noise on predictions of evenly spread features, `first`: level
# first^POWER of numbers whose clip is estimated, relative to y's deviation, and of probabilities.
LEVEL, CLASS_LEVEL, POWER = 2.0, 0.4, 0.85


def responses(
    settings: Settings, movement: Movement, curvature: float, stiffness: float
) -> tuple[Array, float]:
    """How far the result moves per unit of noise in each step, and the share of the optimum kept.

    On curvature (w - w*)^2 / 2 a step is linear: v without its noise, of which rows know nothing,
    moves by rate / (1 + stiffness) of the way to curvature (w* - w), and w by (v + extrapolation x
    newest) / resistance. Noise at step t moves iterate s as noise at step 0 moves iterate s - t;
    the result averages the last iterates.
    """
    T = settings.steps
    follow = settings.rate / (1.0 + stiffness)
    tail = max(1, math.ceil(rules.AVERAGED * T))
    impulse, path = np.zeros(T + 1), np.zeros(T + 1)
    for track, noise, aim in ((impulse, 1.0, 0.0), (path, 0.0, 1.0)):
        v = w = 0.0
        for k in range(T):
            fresh = follow * (curvature * (aim - w) - (v - noise if k else v)) + noise * (k == 0)
            v += fresh
            w += (v + movement.extrapolation * fresh) / movement.resistance
            track[k + 1] = w
    reached = np.concatenate([[0.0], np.cumsum(impulse[1:])])
    ends = T - np.arange(T)  # how many iterates feel the noise of step t
    moved = (reached[ends] - reached[np.maximum(ends - tail, 0)]) / tail
    return moved, float(path[-tail:].mean())


def outlook(problem: Problem, settings: Settings, plan: Plan, n: int) -> Forecast:
    """Noise for evenly spread, independent features."""
    scaling = Scaling.for_gradients(problem)
    length = scaling.typical_length
    number = problem.loss.has_unit
    clip = TYPICAL_ERROR * length if slopes_are_unknown(problem) else None
    slack = rules.slack_for(problem, settings.mu, n, length, clip)
    if settings.clip is not None:
        slack, length = settings.clip * settings.epochs, 1.0
    movement = rules.movement(problem, settings, slack, length, n)
    bend = problem.loss.largest_curvature
    curvature = n * scaling.spread * bend * (1.0 if number else 0.5)
    stiffness = movement.stiffness * length**2 * bend
    moved, shrinkage = responses(settings, movement, curvature, stiffness)
    noise = plan.noise_scale(plan.releases[-1]) * movement.clip
    deviation = noise * float(np.linalg.norm(moved))
    found = scaling.forecast(
        deviation, length, shrinkage, n, "" if number else "; scores are margins of about 1"
    )
    if settings.clip is not None:
        return found
    if predicts_probabilities(problem):
        return replace(found, relative=CLASS_LEVEL * (TYPICAL_SLOPE * found.prediction) ** POWER)
    if clip is None or predicts_scores(problem):
        return found
    error = LEVEL * (found.prediction / (scaling.score_scale * EVEN_SPREAD)) ** POWER
    in_units = error * TYPICAL_SPREAD * scaling.score_scale
    return replace(found, relative=error, prediction=in_units)
