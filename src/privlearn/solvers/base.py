"""What every solver offers, and the one table of which combinations exist."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from privlearn.data import BoundedData
from privlearn.exceptions import UnsupportedCombination
from privlearn.forecast import Forecast
from privlearn.plan import Plan
from privlearn.problem import Bounds, Budget, Neighbors, Problem
from privlearn.release import Releaser

__all__ = ["Solution", "Solver", "Support", "check_numbers", "check_supported"]


@dataclass(frozen=True, eq=False)
class Solution:
    """A fitted model in the units of the X and y that were given: one row per output."""

    coef: NDArray[np.float64]  # (outputs, n_features)
    intercept: NDArray[np.float64]  # (outputs,)
    reach: Bounds | None = field(default=None, kw_only=True)  # what predictions clip, where learned


@dataclass(frozen=True)
class Support:
    """What a solver has a proof for. Errors, docs and tests read this and nothing else."""

    losses: frozenset[str]
    penalties: frozenset[str]
    neighbors: frozenset[Neighbors]
    levels: bool = False  # whether people may have different promises
    bounds: bool = True  # whether rows must have declared or bought limits

    @classmethod
    def of(
        cls,
        losses: Iterable[str],
        penalties: Iterable[str],
        neighbors: Iterable[Neighbors] = tuple(Neighbors),
        *,
        levels: bool = False,
        bounds: bool = True,
    ) -> Support:
        """Build from plain lists; every relation unless said otherwise."""
        return cls(frozenset(losses), frozenset(penalties), frozenset(neighbors), levels, bounds)

    def missing(self, problem: Problem) -> list[str]:
        """What the problem asks that is not there, in words."""
        wanted = [
            (f"loss {problem.loss.name!r}", problem.loss.name in self.losses),
            (f"penalty {problem.penalty.name!r}", problem.penalty.name in self.penalties),
            (f"neighbors={problem.neighbors.value!r}", problem.neighbors in self.neighbors),
            ("sample_epsilon (use solver='one-pass')", self.levels or not problem.levels),
        ]
        return [words for words, there in wanted if not there]


class Solver(Protocol):
    """An algorithm: settings by rule, a plan from public facts, a solution from releases."""

    name: ClassVar[str]
    support: ClassVar[Support]

    def configure(self, problem: Problem, budget: Budget) -> Any:  # noqa: ANN401
        """Choose steps, clips, shares from public facts; refuse missing ones."""

    def plan(self, problem: Problem, settings: Any, scale: float) -> Plan:  # noqa: ANN401
        """Everything that `solve` will release, with noise multiplier `scale`."""

    def solve(
        self,
        problem: Problem,
        settings: Any,  # noqa: ANN401
        data: BoundedData,
        release: Releaser,
    ) -> Solution:
        """Fit; all that leaves goes through `release`."""

    def forecast(self, problem: Problem, settings: Any, plan: Plan, n: int) -> Forecast:  # noqa: ANN401
        """What the plan's noise does to a model of `n` rows."""


def check_supported(solver: Solver, problem: Problem) -> None:
    """Raise `UnsupportedCombination` when the solver has no proof for the problem."""
    missing = solver.support.missing(problem)
    if missing:
        offers = "; ".join(
            f"{name}: {', '.join(sorted(getattr(solver.support, name)))}"
            for name in ("losses", "penalties", "neighbors")
        )
        raise UnsupportedCombination(
            f"solver={solver.name!r} does not support {' and '.join(missing)}; it supports {offers}"
        )


def check_numbers(solver: object, *, whole: Iterable[str], positive: Iterable[str]) -> None:
    """Refuse given fields of a solver that are not whole numbers, or not above 0."""
    for name in whole:
        value = getattr(solver, name)
        if value is not None and not (isinstance(value, int | np.integer) and value >= 1):
            raise ValueError(f"{name}={value!r}, but a whole number of at least 1 is needed")
    for name in positive:
        value = getattr(solver, name)
        if value is not None and not (math.isfinite(value) and value > 0):
            raise ValueError(f"{name}={value!r}, but a finite number above 0 is needed")
