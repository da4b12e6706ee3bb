"""What the noise of coordinate descent will do to a model, for evenly spread features."""

from __future__ import annotations

import math

import numpy as np

from privlearn._core.forecast import Forecast
from privlearn._core.plan import Plan
from privlearn._core.problem import Problem
from privlearn.solvers._common.histograms import EVEN
from privlearn.solvers._common.objective import n_weights
from privlearn.solvers._common.scaling import Scaling
from privlearn.solvers.coordinate_descent import private_scales
from privlearn.solvers.coordinate_descent.rules import Settings

__all__ = ["outlook"]

HALF = " and explain half of the target's variance"
AVERAGING = 4.0 / 3.0  # of the variance, for averages whose weights grow with the step


def outlook(problem: Problem, settings: Settings, plan: Plan, n: int) -> Forecast:
    """Noise of an averaged gradient over the curvature, with half of y's variance explained."""
    scaling = Scaling.for_coordinates(problem)
    number = not problem.loss.scores
    slope = math.sqrt(0.5 / 3.0 if number else problem.loss.curvature)
    size = n_weights(problem)
    clip = settings.clip or 2.0 * slope * math.sqrt(size)
    gradient = next(r for r in plan.releases if r.name == private_scales.GRADIENT)
    repeats = 1.0 if settings.mode == "greedy" else settings.passes / AVERAGING
    noise = plan.noise_scale(gradient) * clip / n / math.sqrt(repeats)
    if settings.mode != "all":
        noise *= settings.coordinate_clip / math.sqrt(size)
    bend = problem.loss.curvature * (1.0 if number else 0.7)
    pulled = noise / bend
    shrinkage = 1.0 / (1.0 + pulled**2 * size / (0.5 / 3.0 if number else 1.0))
    deviation = shrinkage * pulled
    prediction = deviation * math.sqrt(size)
    return Forecast(
        coefficient=deviation * scaling.inverse_scale / EVEN * scaling.score_scale,
        prediction=prediction * scaling.score_scale,
        kept=float(np.clip(shrinkage, 0.0, 1.0)),
        n=n,
        assumes="features are independent, uniform within their bounds"
        + (f"; scores are {problem.loss.scores}" if problem.loss.scores else HALF),
    )
