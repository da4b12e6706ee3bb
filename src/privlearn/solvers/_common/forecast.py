"""What noise on gradients will do to a model, and what an effective sample size lets expect.

The constants below were found on generated tables (`python -m benchmarks.derive forecast`), before
any was tried on real data.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from privlearn._core.forecast import PROBABILITY, SPREADS_OF_Y, Forecast
from privlearn._core.plan import BOUNDS, Plan
from privlearn._core.problem import Budget, Problem
from privlearn._objective.losses import Target
from privlearn.exceptions import FewRowsWarning
from privlearn.solvers._common.scaling import Scaling
from privlearn.solvers._common.snr import effective_mu, epsilon_for

if TYPE_CHECKING:
    from privlearn.solvers.base import Solver

__all__ = [
    "EVEN_SPREAD",
    "FEWEST",
    "FEWEST_FOR_RANGES",
    "TYPICAL_SLOPE",
    "TYPICAL_SPREAD",
    "judged",
    "judged_forecast",
    "least_told",
    "outlook_of_steps",
    "predicts_probabilities",
    "predicts_scores",
    "responses",
    "usual_error",
    "warn_of_few_rows",
    "what_scores_are",
]

Array = NDArray[np.float64]
EVEN_SPREAD = 1.0 / math.sqrt(3.0)  # deviation of a y that is uniform, over half its bounds
# The same of a usual y in bounds that people declare: between the 10th percentile (0.09) where they
# are up to 3 times as wide as the data, and the 90th (0.8) where they are the data's own range.
TYPICAL_SPREAD = 0.25
# Errors of usual tables, where `first` is what independent features without any surprise would
# have: level first^POWER, for the noise on directions in which columns nearly agree falls as its
# root; and at MOST what selection, damping and shrinkage let through. Numbers relative to y's
# deviation, classes in probabilities, counts in logs. Columns of 0 and 1 have no long tails and are
# seldom collinear: theirs is the second level.
LEVEL, LEVEL_OF_FLAGS, POWER, MOST = 0.97, 0.48, 0.725, 0.27
CLASS_LEVEL, CLASS_LEVEL_OF_FLAGS, CLASS_POWER, CLASS_MOST = 0.69, 0.34, 0.765, 0.086
COUNTS, MOST_OF_COUNTS = 0.16, 0.18  # the first relative to the level of numbers
UNKNOWN = 0.38  # share of such columns, where no bounds tell
# Of numbers, `first` below which fewer than two thirds of generated tables are within a factor of 2
# of what is told, unless nearly all columns are 0 or 1.
LEAST, NEARLY_ALL = 6e-4, 0.9
TYPICAL_SLOPE = 0.175  # of the probability in its log-odds
SEVERAL = 2.0  # how much more it is with several classes, where nothing else tells
# Effective sample size n mu: per coefficient, below which hardly anything is learned, and in all,
# below which ranges that nobody declared are missed in every second fit.
FEWEST, FEWEST_FOR_RANGES = 3.0, 50.0
HALF_KEPT, HALF_KEPT_OF_SCORES = 10.0, 20.0  # per coefficient, where half is kept
LOG_ODDS = "log-odds"
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
    return scaling.forecast(
        deviation, scaling.typical_length, shrinkage, n, what_scores_are(problem)
    )


def predicts_scores(problem: Problem) -> bool:
    """Whether predictions are scores such as log-odds, and not in units of y."""
    return bool(problem.loss.scores) or not problem.loss.has_unit


def predicts_probabilities(problem: Problem) -> bool:
    """Whether scores are log-odds."""
    return problem.loss.scores == LOG_ODDS


def what_scores_are(problem: Problem) -> str:
    """In words, where they are predictions neither of y nor of its probability."""
    scores = "" if predicts_probabilities(problem) else problem.loss.scores
    return f"; scores are {scores}" if scores else ""


def usual_error(problem: Problem, first: float) -> float:
    """The error of a usual table's predictions: relative, of probabilities, or of scores.

    Parameters
    ----------
    problem : Problem
        Public facts.
    first : float
        The same to first order, for independent features that explain half of the target.
    """
    flags = _share_of_flags(problem)
    if predicts_probabilities(problem):
        level = CLASS_LEVEL ** (1.0 - flags) * CLASS_LEVEL_OF_FLAGS**flags
        error, most = level * first**CLASS_POWER, CLASS_MOST
    else:
        level = LEVEL ** (1.0 - flags) * LEVEL_OF_FLAGS**flags
        error, most = level * first**POWER, MOST
        if predicts_scores(problem):
            error, most = COUNTS * error, MOST_OF_COUNTS
    return error / math.hypot(1.0, error / most)


def least_told(problem: Problem, first: float) -> float:
    """The smallest error of a number that is told, where noise is too small to tell; else NaN."""
    sure = predicts_scores(problem) or _share_of_flags(problem) >= NEARLY_ALL
    return math.nan if sure or first >= LEAST else usual_error(problem, LEAST)


def _share_of_flags(problem: Problem) -> float:
    """Columns that are declared to lie between 0 and 1; all, where rows have a norm alone.

    A schema brings all columns there, and knows which of them are indicators.
    """
    bounds = problem.bounds
    if bounds.estimated:
        return UNKNOWN
    if bounds.low is None or bounds.high is None:
        return 1.0
    flags = (bounds.low == 0.0) & (bounds.high == 1.0) if bounds.known is None else bounds.known
    return float(np.mean(flags))


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
    if predicts_probabilities(problem):
        error = found.relative
        if math.isnan(error):
            error = TYPICAL_SLOPE * found.prediction * (SEVERAL if loss.outputs > 1 else 1.0)
        return replace(found, relative=error, prediction=error, unit=PROBABILITY)
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


class Planned(Protocol):
    """A fit that is planned: what is to be solved, for which budget, how, and its releases."""

    @property
    def problem(self) -> Problem:
        """Public facts."""

    @property
    def budget(self) -> Budget:
        """What may be spent."""

    @property
    def solver(self) -> Solver:
        """How."""

    @property
    def settings(self) -> Any:  # noqa: ANN401
        """The solver's."""

    @property
    def plan(self) -> Plan:
        """What will be released."""

    @property
    def solver_plan(self) -> Plan:
        """The part of it that is the solver's."""


def _numbers(job: Planned) -> tuple[int, float, bool]:
    """Coefficients that are fitted, mu, and whether ranges are estimated that nobody declared."""
    problem, bounds = job.problem, job.problem.bounds
    least = problem if problem.fewest is None else replace(problem, n_features=problem.fewest)
    coefficients = max(job.solver.fitted_numbers(least, job.settings), 1)
    mu = effective_mu(problem, job.budget, coefficients)
    unknown = not bounds.limit_features
    unknown = unknown or (problem.loss.target is Target.NUMBER and bounds.target is None)
    return coefficients, mu, unknown and any(r.stage == BOUNDS for r in job.plan.releases)


def judged_forecast(job: Planned, n: int) -> Forecast:
    """The solver's forecast for `n` rows, in units that mean something, or withheld."""
    coefficients, mu, ranges = _numbers(job)
    found = job.solver.forecast(job.problem, job.settings, job.solver_plan, n)
    told = judged(found, job.problem, n * mu, coefficients, ranges=ranges)
    return replace(told, counted="rows" if job.problem.rows_per_person is None else "people")


def warn_of_few_rows(job: Planned, n: int) -> None:
    """Warn where the effective sample size of `n` rows, which are public, is too small."""
    coefficients, mu, ranges = _numbers(job)
    ranges = ranges and coefficients < FEWEST_FOR_RANGES / FEWEST
    needed = FEWEST_FOR_RANGES if ranges else FEWEST * coefficients
    if n * mu >= needed:
        return
    enough = epsilon_for(job.problem, job.budget, coefficients, needed / n)
    what = "rows" if job.problem.rows_per_person is None else "people"
    remedy = f"about {math.ceil(needed / mu):,} {what}"
    if math.isfinite(enough):
        remedy += f" or epsilon={float(f'{1.005 * enough:.2g}'):g}"
    from privlearn._core.users_line import users_line  # only who is warned pays

    warnings.warn(
        f"n = {n:,} {what} at epsilon={job.budget.epsilon:g} are an effective sample size (n mu) "
        f"of {n * mu:.2g} for {coefficients:,} coefficients, but below {needed:g} "
        + ("ranges that nobody declared are missed" if ranges else "hardly anything is learned")
        + f"; {remedy} would be the least, or "
        + ("bounds that are declared" if ranges else "fewer features"),
        FewRowsWarning,
        stacklevel=users_line(),
    )
