"""What every solver offers, and the one table of which combinations exist."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from privlearn._core.forecast import Forecast
from privlearn._core.numerics import MAX_ROWS
from privlearn._core.plan import Plan
from privlearn._core.problem import Adjacency, Bounds, Budget, Problem, nearest_to_zero
from privlearn._core.releaser import Releaser
from privlearn._data.bounded import BoundedData
from privlearn._objective.losses import Logistic, Softmax, Target
from privlearn._objective.penalties import PENALTIES
from privlearn.exceptions import UnsupportedCombinationError

if TYPE_CHECKING:
    from privlearn.solvers._common.standard_errors import StandardErrors

__all__ = [
    "Solution",
    "Solver",
    "SolverDefaults",
    "Support",
    "check_numbers",
    "check_shares",
    "check_supported",
    "need_bounds",
    "positive_number",
    "stored_rows",
]


@dataclass(frozen=True, eq=False)
class Solution:
    """A fitted model in the units of the X and y that were given: one row per output."""

    coef: NDArray[np.float64]  # (outputs, n_features)
    intercept: NDArray[np.float64]  # (outputs,)
    clip_bounds: Bounds | None = field(default=None, kw_only=True)  # of predictions, where learned
    # Deviations of the privacy noise on coef, like coef; where the releases tell them.
    coef_noise: NDArray[np.float64] | None = field(default=None, kw_only=True)
    # Covariances of coef and intercept, where standard errors were asked for.
    errors: StandardErrors | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class Support:
    """What a solver has a proof for. Errors, docs and tests read this and nothing else."""

    losses: frozenset[str]
    penalties: frozenset[str]
    adjacency: frozenset[Adjacency]
    levels: bool = False  # whether people may have different promises
    bounds: bool = True  # whether rows must have declared or estimated limits
    people: bool = False  # whether one person may have several rows
    intervals: frozenset[str] = frozenset()  # losses of whose coefficients it tells standard errors
    narrows: bool = False  # whether what is released may tell that there are fewer features
    sources: frozenset[str] = frozenset()  # losses whose rows may stay on disk, read in passes
    cluster: bool = False  # whether sums over these are of whole numbers, and any tasks may add

    @classmethod
    def of(
        cls,
        losses: Iterable[str],
        penalties: Iterable[str] = tuple(penalty.name for penalty in PENALTIES),
        adjacency: Iterable[Adjacency] = tuple(Adjacency),
        *,
        levels: bool = False,
        bounds: bool = True,
        people: bool = False,
        narrows: bool = False,
        intervals: Iterable[str] = (),
        sources: Iterable[str] = (),
        cluster: bool = False,
    ) -> Support:
        """Build from plain lists; every penalty and relation unless said otherwise."""
        sets = frozenset(losses), frozenset(penalties), frozenset(adjacency)
        told, read = frozenset(intervals), frozenset(sources)
        return cls(*sets, levels, bounds, people, told, narrows, read, cluster)

    def missing(self, problem: Problem) -> list[str]:
        """What the problem asks that is not there, in words."""
        wanted = [
            (f"loss {problem.loss.name!r}", problem.loss.name in self.losses),
            (f"penalty {problem.penalty.name!r}", problem.penalty.name in self.penalties),
            (f"adjacency={problem.adjacency.value!r}", problem.adjacency in self.adjacency),
            ("sample_epsilon (use solver='one-pass')", self.levels or not problem.levels),
            (
                f"max_rows_per_person={problem.rows_per_person} (use solver='auto', or let one row "
                "of each person count)",
                self.people or problem.most_rows == 1,
            ),
            (
                "intervals=True here (use solver='auto', smooth penalties and at most two classes)",
                not problem.intervals or self._tells_intervals(problem),
            ),
            (
                "columns whose kinds or categories are estimated (declare them in the schema, or "
                "use solver='auto')",
                self.narrows or problem.fewest is None,
            ),
            (
                "rows that stay on disk, which it needs in memory (read them first, if they fit, "
                "such as X = pandas.read_parquet(path), or use solver='auto' with squared errors "
                "or two classes, and without intervals)",
                not problem.from_source or self.takes_sources(problem),
            ),
        ]
        return [words for words, there in wanted if not there]

    def _tells_intervals(self, problem: Problem) -> bool:
        return problem.loss.name in self.intervals and problem.penalty.smooth

    def takes_sources(self, problem: Problem) -> bool:
        """Whether rows may stay on disk."""
        return problem.loss.name in self.sources and not problem.intervals


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

    def fitted_numbers(self, problem: Problem, settings: Any) -> int:  # noqa: ANN401
        """How many coefficients share what the rows tell."""

    def settled(self, problem: Problem, settings: Any) -> Any:  # noqa: ANN401
        """The same settings where bounds that stood in are replaced by estimated ones."""

    def narrowed(self, problem: Problem, settings: Any) -> tuple[Solver, Any]:  # noqa: ANN401
        """Solver and settings of a problem of which fewer features were found than planned for."""

    def rehearsal(
        self,
        problem: Problem,
        settings: Any,  # noqa: ANN401
        budget: Budget,
    ) -> tuple[Solver, Any]:
        """A short run of the same kind on a small problem: solver and settings."""

    def kind(self, settings: Any) -> Hashable:  # noqa: ANN401
        """What decides which code runs, beyond problem and plan."""

    def memory(self, problem: Problem, settings: Any, *, sparse: bool) -> float:  # noqa: ANN401
        """Bytes that a fit holds at once beyond X and y, about; by public facts."""

    def row_passes(self, problem: Problem, settings: Any) -> int | None:  # noqa: ANN401
        """How often it reads all rows at most, where they stay on disk; None needs them all."""


class SolverDefaults:
    """What most solvers say about being settled, rehearsed and weighed."""

    short_run: ClassVar[Mapping[str, int]] = {}  # settings of a rehearsal
    forks: ClassVar[tuple[str, ...]] = ()  # settings that decide which code runs

    def fitted_numbers(self, problem: Problem, settings: Any) -> int:  # noqa: ANN401
        """One per feature and one for the intercept, of each output."""
        return problem.loss.outputs * (problem.n_features + int(problem.fit_intercept))

    def settled(self, problem: Problem, settings: Any) -> Any:  # noqa: ANN401
        """Settings do not depend on where bounds lie."""
        return settings

    def narrowed(self, problem: Problem, settings: Any) -> tuple[Any, Any]:  # noqa: ANN401
        """Settings do not depend on how many features there are; shapes of releases do."""
        return self, settings

    def rehearsal(
        self,
        problem: Problem,
        settings: Any,  # noqa: ANN401
        budget: Budget,
    ) -> tuple[Any, Any]:
        """The given settings, shorter; or those by rule of a small problem."""
        if self.short_run:
            return self, replace(settings, **self.short_run)
        return self, self.configure(problem, budget)  # type: ignore[attr-defined]

    def kind(self, settings: Any) -> Hashable:  # noqa: ANN401
        """The class and its forks: problem and plan tell the rest."""
        return type(self), *(getattr(settings, name) for name in self.forks)

    def memory(self, problem: Problem, settings: Any, *, sparse: bool) -> float:  # noqa: ANN401
        """Rows in single precision, where their number is public; sparse ones cost little."""
        return stored_rows(problem, sparse=sparse)

    def row_passes(self, problem: Problem, settings: Any) -> int | None:  # noqa: ANN401
        """None: rows must be in memory, unless `support.sources` names their loss."""
        return None


def stored_rows(problem: Problem, *, sparse: bool, copies: int = 1) -> float:
    """Bytes of all rows that may count in single precision, and of numbers beside each."""
    rows = (problem.people or 0) * problem.most_rows if problem.n is None else problem.n
    rows = 0 if problem.from_source else rows  # there are never more than a few at once
    dense = not sparse or nearest_to_zero(problem.bounds) is not None
    return rows * ((4.0 * problem.n_features * copies if dense else 0.0) + 32.0)


def need_bounds(problem: Problem, solver: str) -> None:
    """Refuse where the bounds of a row, or of a target that is a number, are not known."""
    problem.bounds.need_features(solver)
    if problem.loss.target is Target.NUMBER:
        problem.bounds.need_target(solver)


def check_supported(solver: Solver, problem: Problem) -> None:
    """Raise `UnsupportedCombinationError` when the solver has no proof for the problem."""
    missing = solver.support.missing(problem)
    if missing:
        offers = "; ".join(
            f"{name}: {', '.join(sorted(getattr(solver.support, name)))}"
            for name in ("losses", "penalties", "adjacency")
        )
        raise UnsupportedCombinationError(
            f"{_too_many_classes(solver, problem)}solver={solver.name!r} does not support "
            f"{' and '.join(missing)}; it supports {offers}"
        )


def _too_many_classes(solver: Solver, problem: Problem) -> str:
    """Where two classes would do: how many there are, which is declared or assumed to be public."""
    loss = problem.loss
    if (
        getattr(loss, "target", None) is not Target.CLASS
    ):  # losses that are unknown here may have a name alone
        return ""
    two = Logistic() if isinstance(loss, Softmax) else type(loss)()
    now, then = (solver.support.missing(replace(problem, loss=each)) for each in (loss, two))
    if len(then) == len(now):
        return ""
    return (
        f"the target has {loss.outputs} labels, but this takes two: if only two are meant, as "
        "where others are typing errors, pass classes=[...] with these two (on the command line "
        "--classes no,yes); rows with other labels are then invalid ones. For so many, "
    )


LEAST, LARGEST = 1e-50, 1e50  # of numbers that meet declared facts of up to 1e100


def check_numbers(solver: object, *, whole: Iterable[str], positive: Iterable[str]) -> None:
    """Refuse given fields of a solver that are not whole numbers, or not above 0; plain numbers.

    What is accepted is stored as an int or a float: compiled loops tell them apart.
    """
    for name in whole:
        value = getattr(solver, name)
        if value is None:
            continue
        if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
            raise ValueError(f"{name}={value!r}, but a whole number of at least 1 is needed")
        if not 1 <= value <= MAX_ROWS:
            raise ValueError(
                f"{name}={value!r}, but a whole number of at least 1 and at most {MAX_ROWS} is "
                "needed"
            )
        object.__setattr__(solver, name, int(value))
    for name in positive:
        value = getattr(solver, name)
        if value is not None:
            object.__setattr__(solver, name, positive_number(name, value))


def check_shares(solver: object, *names: str, below_one: bool = False) -> None:
    """Refuse given fields that are no numbers in [0, 1], or in [0, 1) where 1 is too much."""
    for name in names:
        value = getattr(solver, name)
        if value is None:
            continue
        real = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
        if not (real and 0 <= value <= 1 and not (below_one and value == 1)):
            end = ")" if below_one else "]"
            raise ValueError(f"{name}={value!r}, but a number in [0, 1{end} is needed")
        object.__setattr__(solver, name, float(value))


def positive_number(name: str, value: object) -> float:
    """A number above 0 of ordinary size as a float, or a refusal.

    Examples
    --------
    >>> from fractions import Fraction
    >>> positive_number("step_size", Fraction(1, 2))
    0.5
    """
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise ValueError(f"{name}={value!r}, but a finite number above 0 is needed")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not (math.isfinite(number) and number > 0):
        raise ValueError(f"{name}={value!r}, but a finite number above 0 is needed")
    if not LEAST <= number <= LARGEST:
        raise ValueError(
            f"{name}={value!r}, but a number between {LEAST:g} and {LARGEST:g} is needed"
        )
    return number
