"""A run on made-up rows before the charge: what compiles or imports does so before it costs.

After the charge nothing may fail for reasons that were there before. Compilers, caches and modules
are among them, so every kind of run happens once per process on a few rows that are nobody's, with
noise that is drawn and thrown away.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privlearn._core.certificate import Certificate
from privlearn._core.jit import (
    LARGE,
    LARGE_ENOUGH,
    compiled_so_far,
    on_a_large_table,
    worth_compiling,
)
from privlearn._core.plan import Plan, Release
from privlearn._core.problem import Bounds, Budget, Problem, nearest_to_zero
from privlearn._core.releaser import Releaser
from privlearn._core.run_settings import Watcher
from privlearn._data.bounded import BoundedData, Table, bound, watch_rows
from privlearn._objective.losses import Target
from privlearn.exceptions import PlanViolationError, PrivacyTestFailedError
from privlearn.solvers.base import Solver

__all__ = [
    "SCALE",
    "made_up_table",
    "once",
    "rehearse",
    "run_through",
    "signature",
    "small_case",
]

ROWS, COLUMNS, LEVELS = 8, 3, 2
FAR = 100.0  # from zero
MANY_DRAWS = 2**22  # of one release: they take as long as it takes to load a compiler
SCALE = 2.0**-8  # of the noise: so little that a privacy test passes
_seen: set[Hashable] = set()


class _Rehearsal(Releaser):
    """Draws noise and adds none. Nothing about it is private, and it certifies nothing."""

    def _draw_noise(self, release: Release, count: int) -> NDArray[np.int64]:
        return np.zeros_like(super()._draw_noise(release, count))

    def noise_scale(self, name: str) -> float:
        """Hardly any, so that few rows are seen."""
        return SCALE * super().noise_scale(name)

    def _report(self, watcher: Watcher) -> None:
        """Nobody watches a rehearsal."""

    def certificate(self) -> Certificate:
        """Refuse: nothing was released."""
        raise PlanViolationError("a rehearsal has no certificate: it saw no data")


def once(key: Hashable, run: Callable[[], None]) -> None:
    """Run, unless this process has done so under the same key, compiled or not."""
    while (key, before := compiled_so_far()) not in _seen:
        with watch_rows():  # by nobody: made-up rows are nobody's
            run()  # once more where it loads a compiler, with which noise is drawn otherwise
        _seen.add((key, before))


def run_through(plan: Plan, budget: Budget, run: Callable[[Releaser], object]) -> None:
    """Run on made-up rows with a Releaser that is good for nothing else."""
    from privlearn.noise.precise import high_precision

    with high_precision(64):  # rare draws need it, and it imports what it is made of
        pass
    with np.errstate(all="ignore"), suppress(PrivacyTestFailedError):
        run(_Rehearsal(plan, budget, 0))


def rehearse(
    solver: Solver,
    problem: Problem,
    settings: Any,  # noqa: ANN401
    plan: Plan,
    budget: Budget,
    table: Table,
    held: Callable[[Table, Problem], BoundedData] = bound,
    kind: Hashable = None,
) -> None:
    """Run a solver through a small problem of the same kind, once per process.

    Parameters
    ----------
    solver, problem, settings, plan, budget
        What is about to be charged.
    table : Table
        Only the kind of its container counts: no row is looked at.
    held : callable, default=bound
        Makes of made-up rows what the solver gets.
    kind : hashable, default=None
        What else decides which code runs.
    """

    def run() -> None:
        if many:  # drawn by compiled loops, where there is a compiler
            import numba  # noqa: F401
        for shift in _places(problem, table):
            small = _smaller(problem)
            data = held(_table(small, table, shift), small)
            short, own = solver.rehearsal(small, settings, budget)
            least = short.plan(small, own, SCALE)
            with on_a_large_table(worth_compiling(numbers)):
                run_through(least, budget, partial(short.solve, small, own, data))

    numbers = math.prod(table.X.shape)
    many = max((release.size for release in plan.releases), default=0) >= MANY_DRAWS
    large = numbers >= LARGE, numbers >= LARGE_ENOUGH, many
    once((signature(solver.kind(settings), problem, plan, table), large, kind), run)


def _places(problem: Problem, table: Table) -> tuple[float, ...]:
    """Where made-up rows lie: sparse ones are stored otherwise if an estimated box lacks zero."""
    estimated = not problem.bounds.whole_box and not isinstance(table.X, np.ndarray)
    return (0.0, FAR) if estimated else (0.0,)


def small_case(problem: Problem, table: Table, shift: float = 0.0) -> tuple[Problem, BoundedData]:
    """A problem of the same kind, and made-up rows for it in the same kind of container."""
    small = _smaller(problem)
    return small, bound(_table(small, table, shift), small)


def signature(kind: Hashable, problem: Problem, plan: Plan, table: Table) -> Hashable:
    """Everything that decides which code runs, and on which types."""
    bounds, loss = problem.bounds, problem.loss
    releases = {(r.name.split(",")[0], r.mechanism.name, type(r.sampling)) for r in plan.releases}
    return (
        kind,
        frozenset(releases),
        (loss.code, loss.outputs > 1, problem.penalty.name, problem.penalty.per_row),
        (problem.fit_intercept, problem.n is None, problem.rows_may_be_empty, bool(problem.levels)),
        problem.most_rows > 1,
        (
            bounds.low is None,
            bounds.whole_box,
            bounds.known is None,
            bounds.row_norm is None,
            bounds.target is None,
            bounds.scale is None,
        ),
        (nearest_to_zero(bounds) is None, min(problem.n_features, COLUMNS)),
        (isinstance(table.X, np.ndarray), table.X.dtype.str),
    )


def _smaller(problem: Problem) -> Problem:
    """The same facts about fewer columns and rows."""
    p = min(problem.n_features, COLUMNS)
    bounds, penalty = problem.bounds, problem.penalty
    some = _typical_columns(bounds, p)
    cut: dict[str, Any] = {
        name: None if getattr(bounds, name) is None else getattr(bounds, name)[some]
        for name in ("low", "high", "scale", "known", "own_units", "rare")
    }
    people = tuple(
        replace(level, people=None if level.people is None else ROWS // LEVELS)
        for level in problem.levels[:LEVELS]
    )
    return replace(
        problem,
        n=None if problem.n is None else ROWS,
        people=None if problem.people is None else ROWS,
        n_features=p,
        bounds=replace(bounds, **cut),
        penalty=replace(penalty, low=penalty.low[:p], high=penalty.high[:p]),
        levels=people,
    )


def _typical_columns(bounds: Bounds, p: int) -> NDArray[np.int64]:
    """Some of each kind, where nothing is declared of some columns and all is known of others."""
    if bounds.low is None or (bounds.known is None and bounds.whole_box):
        return np.arange(p)
    known = np.zeros(len(bounds.low)) if bounds.known is None else bounds.known.astype(float)
    order = np.argsort(np.where(np.isfinite(bounds.low), known, -1.0), kind="stable")
    return np.sort(np.concatenate([order[: p - 1], order[-1:]]))


def _table(problem: Problem, like: Table, shift: float) -> Table:
    """Made-up rows with targets of the kind that the loss wants."""
    turns = np.arange(ROWS)
    kinds: dict[Target, Any] = {
        Target.NUMBER: turns / (ROWS - 1.0),
        Target.SIGN: 2.0 * (turns % 2) - 1.0,
        Target.CLASS: turns % max(problem.loss.outputs, 1) * 1.0,
    }
    table = made_up_table(like, problem.n_features, kinds[problem.loss.target], shift)
    level = turns % len(problem.levels) if problem.levels else None
    starts = np.arange(ROWS + 1) if problem.most_rows > 1 else None
    return replace(table, level=level, person_starts=starts)


def made_up_table(
    like: Table, n_features: int, y: NDArray[np.float64], shift: float = 0.0
) -> Table:
    """Rows that are nobody's, in a container of the same kind as those of `like`."""
    cells = np.arange(len(y) * n_features).reshape(len(y), n_features)
    X: Any = ((cells * 5 % 7 - 3.0) / 3.0 + shift).astype(like.X.dtype)
    if not like.finite:
        X[-1, 0] = np.nan
    if not isinstance(like.X, np.ndarray):
        from scipy.sparse import csr_array

        X = csr_array(X)
    return replace(like, X=X, y=y.astype(np.float64), level=None, people=None)
