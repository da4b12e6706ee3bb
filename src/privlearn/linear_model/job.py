"""Everything about a fit that is fixed before any data is touched."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from privlearn._core.calibration import calibrate
from privlearn._core.plan import Plan
from privlearn._core.problem import Budget, Problem
from privlearn._core.releaser import Releaser
from privlearn._data.bounded import Table, bound
from privlearn.solvers import Solution, Solver
from privlearn.solvers._common.memory import refuse_too_large
from privlearn.solvers._common.rehearsal import rehearse

__all__ = ["Job"]


@dataclass(frozen=True, eq=False)
class Job:
    """What is to be solved, for which budget, how, and what will be released for that."""

    problem: Problem
    budget: Budget
    solver: Solver
    settings: Any
    plan: Plan

    @classmethod
    def of(
        cls, problem: Problem, budget: Budget, solver: Solver, *, sparse: bool | None = None
    ) -> Job:
        """Settings and plan; with `sparse` a refusal where memory does not suffice to fit."""
        settings = solver.configure(problem, budget)
        if sparse is not None:
            least = solver.plan(problem, settings, 1.0)
            refuse_too_large(solver, problem, settings, least, sparse=sparse)
        plan = calibrate(partial(solver.plan, problem, settings), budget)
        return cls(problem, budget, solver, settings, replace(plan, solver=solver.name))

    def forecast(self, n: int) -> Plan:
        """The plan with what its noise does to a model of `n` rows."""
        found = self.solver.forecast(self.problem, self.settings, self.plan, n)
        return replace(self.plan, outlook=found)

    def rehearse(self, table: Table) -> None:
        """Run once on made-up rows, so that nothing is left to fail after the charge."""
        rehearse(self.solver, self.problem, self.settings, self.plan, self.budget, table)

    def solve(self, table: Table, release: Releaser) -> Solution:
        """Fit; all that leaves goes through `release`."""
        rows = bound(table, self.problem)
        return self.solver.solve(self.problem, self.settings, rows, release)
