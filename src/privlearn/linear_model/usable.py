"""A planned count of the rows that are not empty ones: a table that could not be read stops a fit.

Only where unusable rows are dropped, and where their number is public: else nothing says how many
rows there should be. It is the first release, so a fit that it stops has released nothing else.
"""

from __future__ import annotations

import numpy as np

from privlearn._core.plan import Release
from privlearn._core.problem import Budget, Problem
from privlearn._core.releaser import Releaser
from privlearn._data.bounded import Table
from privlearn.exceptions import PrivacyTestFailedError
from privlearn.solvers._common.row_count import (
    LEAST_USABLE,
    USABLE,
    least_usable,
    usable_release,
)

__all__ = ["SHARE", "demand_usable", "planned_count"]

SHARE = 0.01  # of the budget
FEW = 5.0  # usable rows that are asked for, below which nothing is


def planned_count(problem: Problem, budget: Budget) -> Release | None:
    """The count, where rows may be dropped and Gaussian noise is allowed; else None."""
    possible = budget.delta > 0.0 and not problem.levels and _rows(problem) is not None
    return usable_release() if problem.rows_may_be_empty and possible else None


def _rows(problem: Problem) -> int | None:
    """Rows, or people where they may have several; None where that is private."""
    return problem.people if problem.n is None else problem.n


def demand_usable(problem: Problem, table: Table, release: Releaser) -> None:
    """Stop where hardly any row is usable, as far as noise lets that be seen.

    With few rows the noise is larger than what is asked for, and nothing is said; nor is it where
    what is asked for is a handful.
    """
    rows, noise = _rows(problem), release.noise_scale(USABLE)
    found = float(release(USABLE, np.full(1, float(table.present().sum())), clip=1.0)[0])
    assert rows is not None
    least = least_usable(noise, rows)
    if found < least == LEAST_USABLE * rows >= FEW:
        raise PrivacyTestFailedError(
            f"hardly any row is usable: by a noisy count it is below {LEAST_USABLE:.0%} of all, so "
            "a model would be noise. The budget is spent and no model is published. Check that "
            "cells are spelled as the schema says (text needs a Category, or schema='estimate'; "
            "decimal marks and currencies are options of Number), that labels are those of "
            "classes, and that missing cells are few, or have missing='fill' or 'flag'"
        )
