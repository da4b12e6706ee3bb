"""A line first, then a curve for what it leaves over; or the line alone, where noise is large.

A few coefficients of the columns are known well long before hundreds of random features are. So the
line gets a share of the budget and is fitted as a linear model is; each row's residual (minus the
slope of its loss) is then what features of the kernel are fitted to, by least squares: one step of
gradient descent in the space of functions. The privacy proof is in proof.md, section 3.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privlearn._core.forecast import Forecast
from privlearn._core.plan import Plan
from privlearn._core.problem import Budget, Problem
from privlearn._core.releaser import ReleaseBatch, Releaser
from privlearn._data.bounded import BoundedData
from privlearn._objective.losses import Squared
from privlearn._objective.penalties import Penalty
from privlearn.accounting.gaussian import equivalent_mu
from privlearn.kernel_model.feature_map import FeatureMap
from privlearn.kernel_model.on_features import KernelSolution, OnFeatures
from privlearn.solvers import Solution, Solver, Support
from privlearn.solvers.base import SolverDefaults

if TYPE_CHECKING:
    from privlearn.solvers._common.standard_errors import StandardErrors

__all__ = ["LineFirst", "part_of"]

OF_THE_LINE = "line: "  # before the names of its releases


class Settings(NamedTuple):
    """Those of the two solvers; None where there is no curve."""

    line: Any
    curve: Any


def part_of(budget: Budget, share: float) -> Budget:
    """The promise that a share of the budget, in mu^2, would keep alone; for rules."""
    wanted = math.sqrt(share) * equivalent_mu(budget.epsilon, budget.delta)
    low, high = 0.0, budget.epsilon
    for _ in range(50):
        middle = (low + high) / 2.0
        reached = equivalent_mu(middle, budget.delta) < wanted
        low, high = (middle, high) if reached else (low, middle)
    return Budget(high, budget.delta)


@dataclass(frozen=True, eq=False)
class LineFirst(SolverDefaults):
    """The solver `line` on the columns, then `curve` on residuals; to an estimator, one solver.

    Attributes
    ----------
    line : Solver
        For the problem itself.
    curve : OnFeatures or None
        For least squares of the residuals; None leaves it at the line.
    penalty : Penalty
        On the coefficients of the curve; the problem's own is on those of the line.
    share : float
        Of the budget (in mu^2), for the line.
    """

    line: Solver
    curve: OnFeatures | None
    penalty: Penalty
    share: float

    @property
    def name(self) -> str:
        """Of both solvers."""
        return self.line.name if self.curve is None else f"{self.line.name}, {self.curve.name}"

    @property
    def support(self) -> Support:
        """The line's."""
        return self.line.support

    def configure(self, problem: Problem, budget: Budget) -> Settings:
        """Settings of either solver, for its part of the budget."""
        if self.curve is None:
            return Settings(self.line.configure(problem, budget), None)
        line = self.line.configure(_of_line(problem), part_of(budget, self.share))
        rest = part_of(budget, 1.0 - self.share)
        return Settings(line, self.curve.configure(self._residual_problem(problem), rest))

    def _residual_problem(self, problem: Problem) -> Problem:
        """Least squares of residuals: half as wide as the target at most, or slopes of labels."""
        ends, largest = problem.bounds.target, problem.loss.lipschitz
        if ends is not None:
            largest = ends[1] / 2.0 - ends[0] / 2.0
        bounds = replace(problem.bounds, target=(-largest, largest))
        return replace(problem, loss=Squared(), penalty=self.penalty, bounds=bounds)

    def plan(self, problem: Problem, settings: Settings, scale: float) -> Plan:
        """What the line releases, with its share of the budget, then what the curve does."""
        if self.curve is None:
            return self.line.plan(problem, settings.line, scale)
        curve = self.curve.plan(self._residual_problem(problem), settings.curve, scale)
        line = self.line.plan(_of_line(problem), settings.line, curve.scale)
        first = [
            (replace(release, name=OF_THE_LINE + release.name), self.share * line.share(release))
            for release in line.releases
        ]
        both = curve.split([*first, *((release, None) for release in curve.releases)])
        paper = f"{line.paper}; then, on residuals, {curve.paper}"
        return replace(both, assumptions=problem.assumptions(), paper=paper)

    def solve(
        self, problem: Problem, settings: Settings, data: BoundedData, release: Releaser
    ) -> KernelSolution:
        """Fit the line, replace targets by residuals, fit the curve, add them up."""
        if self.curve is None:
            found = self.line.solve(problem, settings.line, data, release)
            nothing = FeatureMap(np.zeros((problem.n_features, 0)))
            return KernelSolution(found.coef, found.intercept, nothing, errors=found.errors)
        own = cast("Releaser", _OfTheLine(release))
        line = self.line.solve(_of_line(problem), settings.line, data, own)
        rest = self._residual_problem(problem)
        residuals = _with_residuals(problem, rest, line, data)
        curve = self.curve.solve(rest, settings.curve, residuals, release)
        step = 1.0 / problem.loss.smoothness
        errors = curve.errors
        if errors is not None:
            errors = _beside_a_line(errors, curve.coef.shape[1], problem.n_features)
        return KernelSolution(
            np.hstack([step * curve.coef, line.coef]),
            line.intercept + step * curve.intercept,
            curve.features,
            errors=errors,
        )

    def settled(self, problem: Problem, settings: Settings) -> Settings:
        """Those of either solver."""
        if self.curve is None:
            return Settings(self.line.settled(problem, settings.line), None)
        line = self.line.settled(_of_line(problem), settings.line)
        return Settings(line, self.curve.settled(self._residual_problem(problem), settings.curve))

    def rehearsal(
        self, problem: Problem, settings: Settings, budget: Budget
    ) -> tuple[LineFirst, Settings]:
        """Of either solver."""
        its_problem = problem if self.curve is None else _of_line(problem)
        line, own = self.line.rehearsal(its_problem, settings.line, budget)
        few = replace(self, line=line)
        if self.curve is None:
            return few, Settings(own, None)
        rest = self._residual_problem(problem)
        curve, its = self.curve.rehearsal(rest, settings.curve, budget)
        return replace(few, curve=curve), Settings(own, its)

    def kind(self, settings: Settings) -> Hashable:
        """Of either solver."""
        curve = None if self.curve is None else self.curve.kind(settings.curve)
        return LineFirst, self.line.kind(settings.line), curve

    def memory(self, problem: Problem, settings: Settings, *, sparse: bool) -> float:
        """One solver runs after the other."""
        line = self.line.memory(problem, settings.line, sparse=sparse)
        if self.curve is None:
            return line
        rest = self._residual_problem(problem)
        residuals = 8.0 * (problem.n or 0)
        return max(line, residuals + self.curve.memory(rest, settings.curve, sparse=sparse))

    def forecast(self, problem: Problem, settings: Settings, plan: Plan, n: int) -> Forecast:
        """Noise of both: on coefficients of features and of columns, and on their sum."""
        if self.curve is None:
            return self.line.forecast(problem, settings.line, plan, n)
        size = len(OF_THE_LINE)
        mine = [r for r in plan.releases if r.name.startswith(OF_THE_LINE)]
        first = replace(plan, releases=tuple(replace(r, name=r.name[size:]) for r in mine))
        rest = self._residual_problem(problem)
        later = replace(plan, releases=tuple(r for r in plan.releases if r not in mine))
        line = self.line.forecast(_of_line(problem), settings.line, first, n)
        curve = self.curve.forecast(rest, settings.curve, later, n)
        step = 1.0 / problem.loss.smoothness
        return replace(
            line,
            coefficient=np.append(step * curve.coefficient, line.coefficient),
            prediction=math.hypot(line.prediction, step * curve.prediction),
        )


def _of_line(problem: Problem) -> Problem:
    """A line before a curve tells no errors: the curve's are those of what this line leaves."""
    return replace(problem, intervals=False)


def _beside_a_line(errors: StandardErrors, size: int, columns: int) -> StandardErrors:
    """Errors of features and intercept, with none on the coefficients of the columns between."""

    def spread(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        nothing = np.zeros((len(weights), columns))
        return np.hstack([weights[:, :size], nothing, weights[:, size:]])

    return errors.mapped(spread)


def _with_residuals(
    problem: Problem, rest: Problem, line: Solution, data: BoundedData
) -> BoundedData:
    """The same rows, with minus the slope of each one's loss as its target.

    A row's score is a sum over its own cells, in an order that does not depend on its place.
    """
    residuals, start = np.full(data.n, np.nan), 0
    for rows in data.blocks():
        scores = (rows.X * line.coef[0]).sum(axis=1) + line.intercept[0]
        found = -problem.loss.derivative(rows.y, scores)
        own = slice(start, start + len(scores))
        residuals[own] = np.where(rows.present, found, np.nan)
        start = own.stop
    table = replace(data.table, y=residuals)
    return replace(data, table=table, bounds=rest.bounds)


class _OfTheLine:
    """A releaser for the line: what it calls by a solver's own names has names of the plan."""

    def __init__(self, release: Releaser) -> None:
        self._release = release

    def __call__(self, name: str, statistic: ArrayLike, *, clip: float) -> NDArray[np.float64]:
        """Release a statistic."""
        return self._release(OF_THE_LINE + name, statistic, clip=clip)

    def select(self, name: str, scores: ArrayLike, *, clip: float) -> int:
        """Release the index of the largest score."""
        return self._release.select(OF_THE_LINE + name, scores, clip=clip)

    def steps(self, name: str, n: int, *, clip: float, at_most: int) -> ReleaseBatch:
        """Batches and noise for a compiled loop."""
        return self._release.steps(OF_THE_LINE + name, n, clip=clip, at_most=at_most)

    def noise_scale(self, name: str) -> float:
        """Public scale of the noise."""
        return self._release.noise_scale(OF_THE_LINE + name)
