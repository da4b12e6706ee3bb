"""The number of rows where it is private: one release, the same in every solver.

And a count of usable rows, where some may be dropped: a table that could not be read stops a fit.
Only where the number of all rows is public: else nothing says how many there should be. It is the
first release, so a fit that it stops has released nothing else.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from privlearn._core.mechanisms import GAUSSIAN, LAPLACE, Mechanism
from privlearn._core.norms import UNIT_BOX
from privlearn._core.plan import FACTS, Plan, Release
from privlearn._core.problem import Budget, Problem
from privlearn._core.releaser import Releaser
from privlearn._data.bounded import BoundedData
from privlearn._objective.losses.base import Loss, Target
from privlearn.exceptions import PrivacyTestFailedError

__all__ = [
    "COUNT",
    "FEWER",
    "LEAST_USABLE",
    "USABLE",
    "USABLE_SHARE",
    "count_release",
    "demand_usable",
    "fewest_rows",
    "fewest_rows_release",
    "least_usable",
    "planned_count",
    "rows_in_all",
    "usable_release",
]

COUNT = "number of rows"
USABLE = "number of usable rows"
FEWEST_USABLE = 3.0  # usable rows, in standard deviations of the noise on their number
LEAST_USABLE = 0.05  # of all rows, where their number is public
USABLE_SHARE = 0.01  # of the budget, for their number
FEW = 5.0  # usable rows that are asked for, below which nothing is
FEWER = 1e-4  # probability that fewer rows are there than `fewest_rows` says


def count_release(mechanism: Mechanism = GAUSSIAN, name: str = COUNT) -> Release:
    """The planned release."""
    return Release(name, (1,), clip=1.0, mechanism=mechanism, stage=FACTS)


def rows_in_all(problem: Problem, data: BoundedData, release: Releaser, name: str = COUNT) -> float:
    """The public number of rows, or a released one; at least 1."""
    if problem.n is not None:
        return float(problem.n)
    present = np.full(1, float(data.count_present()))
    return max(1.0, float(release(name, present, clip=1.0)[0]))


def usable_release(name: str = USABLE) -> Release:
    """How many rows are not empty ones, of a number that is public: each is 0 or 1."""
    return replace(count_release(name=name), norm=UNIT_BOX)


def least_usable(noise: float, rows: float | None) -> float:
    """What a noisy number of usable rows must reach, or hardly any row is usable.

    Parameters
    ----------
    noise : float
        Its standard deviation.
    rows : float or None
        How many there are in all, where that is public.
    """
    return max(FEWEST_USABLE * noise, 0.0 if rows is None else LEAST_USABLE * rows)


def fewest_rows_release() -> Release:
    """The planned release of `fewest_rows`: needed where n is private, and only there."""
    return count_release(LAPLACE)


def fewest_rows(n: int | None, present: int, release: Releaser) -> int:
    """The public number of rows, or one that exceeds the private number rarely; at least 0.

    Dick, Gillenwater and Joseph 2023, section 4.2: n + Lap(1/e) - log(1/(2 eta))/e.

    Parameters
    ----------
    n : int or None
        The public number of rows, None where it is private.
    present : int
        How many rows are not empty; looked at only where n is private.
    release : Releaser
        With `fewest_rows_release` in its plan where n is private.
    """
    if n is not None:
        return n
    noisy = float(release(COUNT, np.full(1, float(present)), clip=1.0)[0])
    return max(0, math.floor(noisy - release.noise_scale(COUNT) * math.log(0.5 / FEWER)))


def planned_count(problem: Problem, budget: Budget, plan: Plan) -> Release | None:
    """The count, where rows may be dropped and the solver's plan has Gaussian noise; else None.

    Beside releases without any, which are priced by epsilon, it would cost far more than its share.
    """
    possible = budget.delta > 0.0 and not problem.levels and _rows(problem) is not None
    possible &= any(release.mechanism == GAUSSIAN for release in plan.releases)
    return usable_release() if problem.rows_may_be_empty and possible else None


def _rows(problem: Problem) -> int | None:
    """Rows, or people where they may have several; None where that is private."""
    return problem.people if problem.n is None else problem.n


def demand_usable(problem: Problem, present: int, release: Releaser) -> None:
    """Stop where hardly any row is usable, as far as noise lets that be seen.

    `present` is how many rows are not the empty row: a secret.

    With few rows the noise is larger than what is asked for, and nothing is said; nor is it where
    what is asked for is a handful.
    """
    rows, noise = _rows(problem), release.noise_scale(USABLE)
    found = float(release(USABLE, np.full(1, float(present)), clip=1.0)[0])
    assert rows is not None
    least = least_usable(noise, rows)
    if found < least == LEAST_USABLE * rows >= FEW:
        raise PrivacyTestFailedError(
            f"hardly any row is usable: by a noisy count it is below {LEAST_USABLE:.0%} of all, so "
            "a model would be noise. The budget is spent and no model is published. Check first "
            f"{_about_target(problem.loss)}; then that cells are spelled as the schema says (text "
            "needs a Category, or schema='estimate'; decimal marks and currencies are options of "
            "Number), and that missing cells are few, or have missing='fill' or 'flag'"
        )


def _about_target(loss: Loss) -> str:
    """What to check of y: what a model takes y for follows from its kind alone."""
    if loss.target is Target.NUMBER:
        return (
            "that the target holds numbers: labels, such as yes and no, need a classifier, such as "
            "LogisticRegression with classes=['no', 'yes'] (on the command line --model logistic, "
            "with --classes no,yes)"
        )
    return (
        "that labels are spelled as in classes, for 1 and 'yes' are different labels: "
        "classes=['no', 'yes'] (on the command line --classes no,yes) where the target holds these"
    )
