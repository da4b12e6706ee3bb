"""All that is fixed about a fit before any data is touched."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privlearn._core.plan import Plan, Release
from privlearn._core.problem import Budget, Problem
from privlearn.solvers import Solver

if TYPE_CHECKING:
    from privlearn.schema.discovery import Discovery

__all__ = ["Job"]


@dataclass(frozen=True, eq=False)
class Job:
    """What is to be solved, for which budget, how, and what will be released for that.

    All of it is fixed before any data is touched. `level` is the place of each row's own promise
    among the problem's levels, where people have different ones.
    """

    problem: Problem
    budget: Budget
    solver: Solver
    settings: Any
    plan: Plan
    level: NDArray[np.int64] | None
    discovery: Discovery | None = None  # what is estimated about columns first
    usable: Release | None = None  # a count of rows, before that

    @property
    def solver_plan(self) -> Plan:
        """The part of the plan that is the solver's."""
        first = 0 if self.discovery is None else len(self.discovery.releases())
        counts = int(self.usable is not None)
        return replace(self.plan, releases=self.plan.releases[first + counts :])
