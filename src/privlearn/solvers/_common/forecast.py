"""What noise on gradients will do to a model, and what an effective sample size lets expect.

The constants below were found on generated tables (`python -m benchmarks.derive forecast`), before
any was tried on real data.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from privlearn._core.forecast import SPREADS_OF_Y, Forecast
from privlearn._core.problem import Problem
from privlearn.solvers._common.scaling import Scaling

__all__ = [
    "EVEN_SPREAD",
    "FEWEST",
    "FEWEST_FOR_RANGES",
    "TYPICAL_SPREAD",
    "judged",
    "outlook_of_steps",
    "predicts_scores",
    "responses",
    "usual_error",
]

Array = NDArray[np.float64]
EVEN_SPREAD = 1.0 / math.sqrt(3.0)  # deviation of a y that is uniform, over half its bounds
# The same of a usual y in bounds that people declare: between the 10th percentile (0.09) where they
# are up to 3 times as wide as the data, and the 90th (0.8) where they are the data's own range.
TYPICAL_SPREAD = 0.25
# Errors of tables relative to what independent features without any surprise would have, `first`:
# LEVEL first^POWER, and no more than what shrinkage lets through of the signal.
LEVEL, POWER = 0.75, 0.70
SIGNAL, SIGNAL_OF_SCORES = 0.7, 1.5  # deviation of what features explain
# Effective sample size n mu: per coefficient, below which hardly anything is learned, and in all,
# below which ranges that nobody declared are missed in every second fit.
FEWEST, FEWEST_FOR_RANGES = 3.0, 50.0
HALF_KEPT, HALF_KEPT_OF_SCORES = 10.0, 20.0  # per coefficient, where half is kept
HALF_KEPT_OF_RANGES = 100.0  # in all


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


def predicts_scores(problem: Problem) -> bool:
    """Whether predictions are scores such as log-odds, and not in units of y."""
    return bool(problem.loss.scores) or not problem.loss.has_unit


def usual_error(first: float, *, scores: bool) -> float:
    """The error of a usual table's predictions, relative to the target's deviation (or of scores).

    Parameters
    ----------
    first : float
        The same to first order for independent features that explain half of the target.
    scores : bool
        Whether predictions are scores such as log-odds.
    """
    signal = SIGNAL_OF_SCORES if scores else SIGNAL
    return LEVEL * first**POWER / (1.0 + (first / signal) ** 2)


def judged(
    found: Forecast, problem: Problem, seen: float, coefficients: int, *, ranges: bool
) -> Forecast:
    """A solver's forecast in units that mean something, or withheld; and what is kept.

    Parameters
    ----------
    found : Forecast
        The solver's, for bounds of [-1, 1] where they are yet to be estimated.
    problem : Problem
        Public facts, without bounds that stand in.
    seen : float
        Effective sample size, n mu.
    coefficients : int
        How many numbers are fitted.
    ranges : bool
        Whether ranges are estimated first.
    """
    scores = predicts_scores(problem)
    half_kept = (HALF_KEPT_OF_SCORES if scores else HALF_KEPT) * coefficients
    if ranges:
        half_kept = max(half_kept, HALF_KEPT_OF_RANGES)
    kept = min(found.kept, 1.0 / (1.0 + (half_kept / seen) ** 2))
    found = _in_units(found, problem)
    withheld = found.withheld or _too_little(seen, coefficients, ranges)
    if withheld:
        found = replace(found, prediction=math.nan, relative=math.nan, withheld=withheld)
    return replace(found, kept=kept)


def _in_units(found: Forecast, problem: Problem) -> Forecast:
    """The deviation of a prediction relative to y's, and in units of y where they are known."""
    loss, target = problem.loss, problem.bounds.target
    if predicts_scores(problem):
        unit = found.unit or loss.scores or "scores"
        return replace(found, relative=found.prediction, unit=unit)
    half = loss.units(*(target or (-1.0, 1.0)), problem.fit_intercept).score_scale
    relative = found.relative
    if math.isnan(relative):
        relative = found.prediction / (half * EVEN_SPREAD)
    if target is None and not found.unit:
        return replace(found, relative=relative, prediction=relative, unit=SPREADS_OF_Y)
    return replace(found, relative=relative, unit=found.unit or "y")


def _too_little(seen: float, coefficients: int, ranges: bool) -> str:
    """Why an effective sample size tells nothing of predictions, where that is so."""
    if seen < FEWEST * coefficients:
        return (
            f"the effective sample size is {seen / coefficients:.2g} per\n"
            f"coefficient, and below {FEWEST:g} predictions are noise, or a constant"
        )
    if ranges and seen < HALF_KEPT_OF_RANGES:
        return (
            f"the effective sample size is {seen:.2g},\nand below {HALF_KEPT_OF_RANGES:g} the "
            "ranges that nobody declared may be missed"
        )
    return ""
