"""A linear solver on the features of a map: its releases, and before them the map's."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privlearn._core.forecast import Forecast
from privlearn._core.plan import Plan
from privlearn._core.problem import Bounds, Budget, Problem
from privlearn._core.releaser import Releaser
from privlearn._data.bounded import BoundedData
from privlearn.exceptions import InvalidBudgetError, UnsupportedCombinationError
from privlearn.kernel_model.feature_map import FeatureMap, KernelSpec
from privlearn.kernel_model.mapped import mapped_rows
from privlearn.kernel_model.ranks import BINS, edges_of, histograms, ranks_from
from privlearn.solvers import Solution, Solver, SufficientStatistics, Support
from privlearn.solvers._common.histograms import histogram_release
from privlearn.solvers.base import SolverDefaults

__all__ = ["KernelSolution", "OnFeatures", "inner_problem"]

RANKS = "feature ranks"
SHARE = 0.05  # of the budget (in mu^2), for ranks
LENGTH = 0.37  # of the kernel, in units of half the range of ranks and of the root of the features


@dataclass(frozen=True, eq=False)
class KernelSolution(Solution):
    """A linear model of features, and the map that computes them."""

    features: FeatureMap


def inner_problem(problem: Problem, spec: KernelSpec, estimated: bool) -> Problem:
    """The linear problem on features: rows no longer than 1 beside the intercept's 1."""
    size = spec.n_components + (problem.n_features if estimated else 0)
    norm = math.sqrt(1.0 + float(problem.fit_intercept))
    bounds = Bounds(None, None, problem.bounds.target, norm)
    return replace(problem, n_features=size, bounds=bounds)


@dataclass(frozen=True, eq=False)
class OnFeatures(SolverDefaults):
    """The solver `inner` on features; to an estimator it looks like any other solver.

    Attributes
    ----------
    inner : Solver
        Any that supports the problem.
    spec : KernelSpec
        The kernel and its features.
    bandwidth : float, array or None
        Length of the kernel in units of X. None estimates ranks, for which a length is known.
    """

    inner: Solver
    spec: KernelSpec
    bandwidth: Any

    @property
    def name(self) -> str:
        """The inner solver's."""
        return self.inner.name

    @property
    def support(self) -> Support:
        """The inner solver's."""
        return self.inner.support

    @property
    def takes_devices(self) -> bool:
        """Whether rows may stay on a device, where products of features are all that is asked."""
        return isinstance(self.inner, SufficientStatistics)

    def configure(self, problem: Problem, budget: Budget) -> object:
        """Settings of the inner solver."""
        problem.bounds.need_features(self.inner.name)
        if self.bandwidth is None and budget.delta == 0:
            raise InvalidBudgetError(
                "delta=0, but a missing bandwidth is estimated privately with Gaussian noise, "
                "which needs delta > 0; give bandwidth, in units of X, or set delta"
            )
        if self.bandwidth is None and problem.levels:
            raise UnsupportedCombinationError(
                "bandwidth is missing, and it is estimated privately with one epsilon for all, "
                "which sample_epsilon rules out; give bandwidth, in units of X"
            )
        self._frequencies(problem)  # refuses a bad bandwidth before anything is charged
        return self.inner.configure(self._inner(problem), budget)

    def _frequencies(self, problem: Problem) -> NDArray[np.float64]:
        p = problem.n_features
        length = LENGTH * math.sqrt(p) if self.bandwidth is None else self.bandwidth
        return self.spec.frequencies(p, length)

    def _inner(self, problem: Problem) -> Problem:
        return inner_problem(problem, self.spec, self.bandwidth is None)

    def plan(self, problem: Problem, settings: object, scale: float) -> Plan:
        """What the inner solver releases, and ranks before it where they are estimated."""
        plan = self.inner.plan(self._inner(problem), settings, scale)
        plan = replace(plan, assumptions=problem.assumptions(), paper=f"{plan.paper}; {METHOD}")
        if self.bandwidth is not None:
            return plan
        p = problem.n_features
        return plan.after([(histogram_release(RANKS, BINS, p), SHARE)])

    def solve(
        self, problem: Problem, settings: object, data: BoundedData, release: Releaser
    ) -> KernelSolution:
        """Estimate ranks, compute features, fit."""
        features = self._features(problem, data, release)
        inner = self._inner(problem)
        mapped = mapped_rows(data, features, inner.bounds)
        found = self.inner.solve(inner, settings, mapped, release)
        own = replace(features, by_row=True)
        return KernelSolution(found.coef, found.intercept, own, errors=found.errors)

    def _features(self, problem: Problem, data: BoundedData, release: Releaser) -> FeatureMap:
        p, private, frequencies = problem.n_features, problem.n is None, self._frequencies(problem)
        if self.bandwidth is not None:
            return FeatureMap(frequencies, by_row=private)
        edges = edges_of(problem.bounds, p, problem.fit_intercept)
        counts = release(RANKS, histograms(data, edges), clip=math.sqrt(p))
        ranks = ranks_from(counts, release.noise_scale(RANKS), edges)
        return FeatureMap(frequencies, edges, ranks, private)

    def settled(self, problem: Problem, settings: object) -> object:
        """The inner solver's: only the target's range may have been estimated."""
        return self.inner.settled(self._inner(problem), settings)

    def rehearsal(
        self, problem: Problem, settings: object, budget: Budget
    ) -> tuple[OnFeatures, object]:
        """Few features of few columns."""
        spec = replace(self.spec, n_components=min(self.spec.n_components, 4))
        length = self.bandwidth
        if length is not None and np.ndim(length):
            length = np.asarray(length)[: problem.n_features]
        few = replace(self, spec=spec, bandwidth=length)
        inner, own = self.inner.rehearsal(few._inner(problem), settings, budget)
        return replace(few, inner=inner), own

    def kind(self, settings: object) -> Hashable:
        """Whether ranks are estimated, and for which solver."""
        return OnFeatures, self.bandwidth is None, self.inner.kind(settings)

    def memory(self, problem: Problem, settings: object, *, sparse: bool) -> float:
        """The inner solver's, on dense features."""
        return self.inner.memory(self._inner(problem), settings, sparse=False)

    def forecast(self, problem: Problem, settings: object, plan: Plan, n: int) -> Forecast:
        """The inner solver's, for coefficients of features; what they add up to is not known."""
        own = replace(plan, releases=tuple(r for r in plan.releases if r.name != RANKS))
        found = self.inner.forecast(self._inner(problem), settings, own, n)
        return replace(found, withheld="the penalty of a kernel takes away noise", errors="")


METHOD = "random Fourier features (Rahimi and Recht 2007)"
