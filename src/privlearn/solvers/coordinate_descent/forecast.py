"""What the noise of coordinate descent will do to a model, for evenly spread features."""

from __future__ import annotations

import math

import numpy as np

from privlearn._core.forecast import Forecast
from privlearn._core.plan import Plan
from privlearn._core.problem import Problem
from privlearn._objective.losses import Target
from privlearn.solvers._common.coordinates import Coordinates
from privlearn.solvers._common.log_histogram import EVEN
from privlearn.solvers.coordinate_descent import private_scales as cd_facts
from privlearn.solvers.coordinate_descent import rules as cd_rule
from privlearn.solvers.coordinate_descent.rules import Settings

__all__ = ["outlook"]

AVERAGING = 4.0 / 3.0  # of the variance, for averages whose weights grow with the step


def outlook(problem: Problem, settings: Settings, plan: Plan, n: int) -> Forecast:
    """Noise of an averaged gradient over the curvature, with half of y's variance explained."""
    coordinates = Coordinates.to_be_scaled(problem)
    number = problem.loss.target is Target.NUMBER
    slope = math.sqrt(0.5 / 3.0) if number else 0.5
    size = cd_rule.size(problem)
    clip = settings.clip or 2.0 * slope * math.sqrt(size)
    gradient = next(r for r in plan.releases if r.name == cd_facts.GRADIENT)
    repeats = {"whole": settings.passes / AVERAGING, "sweeps": settings.passes, "greedy": 1.0}
    noise = plan.noise_scale(gradient) * clip / n / math.sqrt(repeats[settings.mode])
    if settings.mode != "whole":
        noise *= cd_rule.COORDINATE_CLIP / math.sqrt(size)
    bend = problem.loss.smoothness * (1.0 if number else 0.7)
    pulled = noise / bend
    kept = 1.0 / (1.0 + pulled**2 * size / (0.5 / 3.0 if number else 1.0))
    deviation = kept * pulled
    prediction = deviation * math.sqrt(size)
    return Forecast(
        coefficient=deviation * coordinates.inverse_scale / EVEN * coordinates.target_scale,
        prediction=prediction * coordinates.target_scale,
        kept=float(np.clip(kept, 0.0, 1.0)),
        n=n,
        assumes="features are independent, uniform within their bounds"
        + (" and explain half of the target's variance" if number else "; scores are log-odds"),
    )
