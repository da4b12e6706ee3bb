"""A fit with something to do before the solver's, under the same charge.

It counts usable rows, chooses rows of people, or finds out about its columns: kinds and lists.
Up to the charge the widest table that may be found stands for the one that will be: its plan is
charged, its memory is there, its loops are rehearsed. What was released then says which features
there are, and the solver goes on with those alone (schema/discovery.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privlearn._core.plan import Plan, Release
from privlearn._core.problem import Budget, Problem
from privlearn._core.releaser import Releaser, charge_and_open
from privlearn._data.bounded import Table, bound
from privlearn.exceptions import InvalidBudgetError, UnsupportedCombinationError
from privlearn.linear_model.job import Job
from privlearn.solvers import Solution
from privlearn.solvers._common.rehearsal import once, rehearse, run_through
from privlearn.solvers._common.row_count import USABLE_SHARE, demand_usable

if TYPE_CHECKING:
    from privlearn.linear_model.base import PrivateEstimator
    from privlearn.schema.discovery import Discovery

__all__ = ["after_first", "discovery_of", "learned_after_first", "usually_found"]

USUAL_FEATURES = 2.0  # of a column that nobody describes: a number, a flag, or a list of values


def discovery_of(estimator: PrivateEstimator, problem: Problem, budget: Budget) -> Discovery | None:
    """What has to be estimated about columns first; None where the schema says it all."""
    from privlearn.linear_model.tabular import open_columns

    columns = open_columns(estimator, problem.n_features)
    if columns is None:
        return None
    if budget.delta == 0.0:
        raise InvalidBudgetError(
            "delta=0, but kinds and categories that nobody declared are found with Gaussian noise, "
            "which needs delta > 0; set delta, for example delta=1e-6, or declare them in schema"
        )
    if problem.levels:
        raise UnsupportedCombinationError(
            "sample_epsilon is not supported where kinds or categories are estimated: there is no "
            "proof for it here; declare them in schema, or leave sample_epsilon out"
        )
    from privlearn.schema.discovery import Discovery

    return Discovery.of(columns, budget)


def after_first(
    plan_at: Callable[[float], Plan],
    discovery: Discovery | None,
    usable: Release | None,
    scale: float,
) -> Plan:
    """The solver's plan after what is counted and found out first."""
    plan = plan_at(scale)
    first = [] if usable is None else [(usable, USABLE_SHARE)]
    if discovery is not None:
        from privlearn.schema.discovery import METHOD

        plan = replace(plan, paper=f"{plan.paper}; {METHOD}")
        first += discovery.releases()
    return plan.after(first)


def learned_after_first(
    estimator: PrivateEstimator, job: Job, table: Table, charge: dict[str, Any]
) -> tuple[Solution, Releaser]:
    """Rehearse, charge, and do what comes first, then what the solver does."""
    space = _rehearsed(job, table)
    with _charged(job, table, space, charge) as (release, counted):
        return _solved(estimator, job, counted, space, release), release


def usually_found(job: Job) -> Job:
    """The same fit of as many features as are usually found, for a forecast.

    A plan has room for long lists in all columns, which no table has. Features without bounds of
    their own come first: any column may be a number.
    """
    from privlearn._core.narrowing import narrowed
    from privlearn.private_bounds.selection import bounds_of

    problem = job.problem
    if problem.fewest is None:
        return job
    width = min(problem.n_features, round(USUAL_FEATURES * problem.fewest))
    known = problem.bounds.known
    order = np.arange(problem.n_features) if known is None else np.argsort(known, kind="stable")
    bounds = bounds_of(problem.bounds, np.sort(order[:width]))
    problem = replace(problem, n_features=width, bounds=bounds)
    solver, settings = job.solver.narrowed(problem, job.settings)
    charged = job.solver_plan
    plan = narrowed(solver.plan(problem, settings, job.plan.scale), charged)
    first = job.plan.releases[: len(job.plan.releases) - len(charged.releases)]
    plan = replace(plan, releases=(*first, *plan.releases))
    return replace(job, problem=problem, solver=solver, settings=settings, plan=plan)


def _widest(table: Table, job: Job) -> Table:
    """Memory for the widest table that may be found, asked for before anything is charged."""
    if job.discovery is None:
        return table
    X = np.empty((len(table.y), job.problem.n_features))
    return replace(table, X=X, raw=None)


def _rehearsed(job: Job, table: Table) -> Table:
    """Memory for the table that will be solved, once all that compiles or loads has done so."""
    if job.discovery is not None or job.usable is not None:
        import privlearn._core.narrowing  # noqa: F401  what is charged loads nothing any more
    space = _widest(table, job)
    rehearse(job.solver, job.problem, job.settings, job.solver_plan, job.budget, space)
    _rehearse_discovery(job, table)
    return space


def _rehearse_discovery(job: Job, table: Table) -> None:
    """Find out about rows that are nobody's, so that nothing loads after the charge."""
    if job.discovery is None or table.raw is None:
        return
    numbers = np.zeros((2, table.X.shape[1]))
    words = tuple(("a",) for _ in table.raw.words)
    rows = replace(table.raw, numbers=numbers, words=words)
    run = partial(job.discovery.run, rows, np.full(2, True))
    key = "discovery", job.discovery.unknown > 0, job.plan.adjacency
    once(key, lambda: run_through(job.plan, job.budget, run))


@contextmanager
def _charged(
    job: Job, table: Table, space: Table, charge: dict[str, Any]
) -> Iterator[tuple[Releaser, Table]]:
    """Charge the plan, then lend its Releaser and the table of the rows that count."""
    people, plan = table.people, job.plan
    if people is None and job.discovery is None:
        with charge_and_open(plan, job.budget, **charge) as release:
            yield release, table
        return
    from privlearn.linear_model.people import rehearsed_form

    room = None if people is None else people.room(table)
    plan = plan if people is None else replace(plan, person=people.name)
    with rehearsed_form(space), charge_and_open(plan, job.budget, **charge) as release:
        if people is None or room is None:
            yield release, table
            return
        most, key = job.problem.most_rows, release.choice_key()
        yield release, people.limited(table, most, key, room)


def _solved(
    estimator: PrivateEstimator, job: Job, table: Table, room: Table, release: Releaser
) -> Solution:
    """The solver's model; of the features that are found, where something is to be found first."""
    if job.usable is not None:
        demand_usable(job.problem, int(table.present().sum()), release)
        if job.discovery is None:
            release.narrow(job.solver_plan)
    if job.discovery is None or table.raw is None:
        rows = bound(table, job.problem)
        return job.solver.solve(job.problem, job.settings, rows, release)
    from privlearn.linear_model.tabular import bounds_by
    from privlearn.schema.raw import encode_into

    raw = replace(table.raw, numbers=np.asarray(table.X))
    found = job.discovery.run(raw, table.present(), release)
    estimator._encoding = found
    width = len(found.features)
    bounds = bounds_by(found, job.problem.bounds, estimator)
    problem = replace(job.problem, n_features=width, bounds=bounds)
    solver, settings = job.solver.narrowed(problem, job.settings)
    release.narrow(solver.plan(problem, settings, job.plan.scale))
    X = _first(room.X, len(table.y), width)
    encode_into(X, raw, found)
    rows = bound(replace(table, X=X, raw=None), problem)
    return solver.solve(problem, settings, rows, release)


def _first(memory: object, rows: int, width: int) -> NDArray[np.float64]:
    """The first numbers of the memory that is there, as a smaller table."""
    assert isinstance(memory, np.ndarray)
    return np.asarray(memory.reshape(-1)[: rows * width].reshape(rows, width))
