"""What an effective sample size lets expect: a forecast, and a warning where it is too small."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING

from privlearn._core.forecast import Forecast
from privlearn._core.plan import BOUNDS
from privlearn.exceptions import FewRowsWarning
from privlearn.solvers._common.forecast import FEWEST, FEWEST_FOR_RANGES, judged
from privlearn.solvers._common.snr import effective_mu, epsilon_for

if TYPE_CHECKING:
    from privlearn.linear_model.base import Job

__all__ = ["judged_forecast", "warn_of_few_rows"]


def _numbers(job: Job) -> tuple[int, float, bool]:
    """Coefficients that are fitted, mu, and whether ranges are estimated."""
    coefficients = max(job.solver.fitted_numbers(job.problem, job.settings), 1)
    mu = effective_mu(job.problem, job.budget, coefficients)
    return coefficients, mu, any(release.stage == BOUNDS for release in job.plan.releases)


def judged_forecast(job: Job, n: int) -> Forecast:
    """The solver's forecast for `n` rows, in units that mean something, or withheld."""
    coefficients, mu, ranges = _numbers(job)
    found = job.solver.forecast(job.problem, job.settings, job.plan, n)
    return judged(found, job.problem, n * mu, coefficients, ranges=ranges)


def warn_of_few_rows(job: Job, n: int) -> None:
    """Warn where the effective sample size of `n` rows, which are public, is too small.

    Called by what the user's method calls, so that the warning points at the user's line.
    """
    coefficients, mu, ranges = _numbers(job)
    ranges = ranges and coefficients < FEWEST_FOR_RANGES / FEWEST
    needed = FEWEST_FOR_RANGES if ranges else FEWEST * coefficients
    if n * mu >= needed:
        return
    enough = epsilon_for(job.problem, job.budget, coefficients, needed / n)
    remedy = f"about {math.ceil(needed / mu):,} rows"
    if math.isfinite(enough):
        remedy += f" or epsilon={float(f'{1.005 * enough:.2g}'):g}"
    warnings.warn(
        f"n = {n:,} rows at epsilon={job.budget.epsilon:g} are an effective sample size (n mu) of "
        f"{n * mu:.2g} for {coefficients:,} coefficients, but below {needed:g} "
        + ("ranges that nobody declared are missed" if ranges else "hardly anything is learned")
        + f"; {remedy} would be the least, or "
        + ("bounds that are declared" if ranges else "fewer features"),
        FewRowsWarning,
        stacklevel=4,
    )
