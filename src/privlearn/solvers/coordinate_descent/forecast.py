"""What the noise of coordinate descent will do to a model, for tables as people have them."""

from __future__ import annotations

import math

from privlearn._core.forecast import Forecast
from privlearn._core.plan import Plan
from privlearn._core.problem import Problem
from privlearn.solvers._common.forecast import (
    EVEN_SPREAD,
    TYPICAL_SPREAD,
    least_told,
    predicts_probabilities,
    predicts_scores,
    usual_error,
    what_scores_are,
)
from privlearn.solvers._common.histograms import EVEN
from privlearn.solvers._common.objective import n_weights
from privlearn.solvers._common.scaling import Scaling
from privlearn.solvers.coordinate_descent import private_scales
from privlearn.solvers.coordinate_descent.errors_told import expected_errors
from privlearn.solvers.coordinate_descent.rules import Settings

__all__ = ["first_order", "outlook"]

EXPLAINED = 0.5  # of the target's variance
AVERAGING = 4.0 / 3.0  # of the variance, for averages whose weights grow with the step
TYPICAL_BEND = 0.7  # curvature of a loss of scores, relative to the largest
TOO_LITTLE_NOISE = (
    "noise is so small\nthat ranges and columns that nearly agree decide (probably less than "
    "{:.2g} % of the\ntarget's standard deviation)"
)


def first_order(problem: Problem, settings: Settings, plan: Plan, n: int) -> float:
    """Noise of the averaged gradient over the curvature, for rows of independent features.

    Relative to the deviation of the target, of which half the variance is explained: scales and the
    clip are estimated, so that the noise follows the residuals and no bounds. Of probabilities, in
    which the loss's curvature cancels: it divides the noise on scores, and multiplies again what
    they do to a probability. Of other scores, as it is.
    """
    loss, number = problem.loss, not predicts_scores(problem)
    size = n_weights(problem) / loss.outputs  # slopes of several classes are no longer than of two
    slope = math.sqrt(1.0 - EXPLAINED if number else loss.curvature)
    unit = TYPICAL_SPREAD if number else 1.0  # of slopes, where the clip is given
    clip = settings.clip / unit if settings.clip else 2.0 * slope * math.sqrt(size)
    gradient = next(r for r in plan.releases if r.name == private_scales.GRADIENT)
    repeats = 1.0 if settings.mode == "greedy" else settings.passes / AVERAGING
    noise = plan.noise_scale(gradient) * clip / n / math.sqrt(repeats)
    if settings.mode != "all":
        noise *= settings.coordinate_clip / math.sqrt(size)
    if predicts_probabilities(problem):
        return noise * math.sqrt(size)
    return noise / (loss.curvature * (1.0 if number else TYPICAL_BEND)) * math.sqrt(size)


def outlook(problem: Problem, settings: Settings, plan: Plan, n: int) -> Forecast:
    """What usual tables make of first-order noise; coefficients for independent features."""
    scaling, number = Scaling.for_coordinates(problem), not predicts_scores(problem)
    first = first_order(problem, settings, plan, n)
    error, least = usual_error(problem, first), least_told(problem, first)
    even = min(first, error) / math.sqrt(n_weights(problem))
    if predicts_probabilities(problem):
        even /= problem.loss.curvature * TYPICAL_BEND
    elif number:
        even *= EVEN_SPREAD
    return Forecast(
        coefficient=even * scaling.inverse_scale / EVEN * scaling.score_scale,
        prediction=error * (TYPICAL_SPREAD if number else 1.0) * scaling.score_scale,
        kept=1.0,
        n=n,
        assumes="the table is a usual one: within a factor of 2 for nine of ten generated ones"
        + what_scores_are(problem),
        relative=error,
        withheld="" if math.isnan(least) else TOO_LITTLE_NOISE.format(200.0 * least),
        least=least,
        errors=expected_errors(problem, plan, n),
    )
