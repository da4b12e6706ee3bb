"""A search from its parameters to the best try: checked, planned, charged once, and run."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from privlearn._core.budget import Budget, budget_of, warn_of_delta
from privlearn._core.certificate import Certificate
from privlearn._core.mechanisms import DisjointParts, Mechanism, RandomTries
from privlearn._core.norms import ONE_MODEL
from privlearn._core.plan import Plan, Release
from privlearn._core.problem import Adjacency
from privlearn._core.releaser import charge_and_open, progress
from privlearn._core.run_settings import set_to, untold
from privlearn._data.bounded import Table
from privlearn.linear_model.base import PrivateEstimator
from privlearn.model_selection.attempts import SCORES, Attempts, Tried
from privlearn.model_selection.grid import Setting, demand_estimator, settings_of
from privlearn.model_selection.parts import ReadIn
from privlearn.model_selection.penalty_path import PenaltyPath, is_path, parts_for
from privlearn.model_selection.rules import tries_for

__all__ = ["Asked", "checked_folds", "in_silence", "metric_of", "search"]

CHOICE = "setting, model and score"
TRIES = "random number of tries (Papernot, Steinke 2022; price: model_selection/proof.md), each of"
PATH = "one release of moments for all penalties, and a choice among them (Gumbel noise), of"
CHOSEN = "the settings were chosen without looking at the data"
MOST_FOLDS = 1000


@dataclass(frozen=True, eq=False)
class Asked:
    """What a search was asked for, checked; nothing about the data is known yet."""

    estimator: PrivateEstimator
    settings: list[Setting]
    budget: Budget
    metric: str
    folds: int
    charge: dict[str, Any]

    @classmethod
    def of(cls, search: Any) -> Asked:  # noqa: ANN401
        """The parameters of a search, or a refusal."""
        estimator = demand_estimator(search.estimator)
        settings = settings_of(estimator, search.grid)
        budget = budget_of(search.epsilon, search.delta)
        metric = metric_of(estimator, search.scoring)
        charge = {name: getattr(search, name) for name in ("ledger", "dataset", "random_state")}
        return cls(estimator, settings, budget, metric, checked_folds(search.folds), charge)

    @property
    def on_path(self) -> bool:
        """Whether one release gives the models of all settings."""
        return is_path(self.estimator, self.settings, self.metric)

    def _tries(self) -> RandomTries:
        return tries_for(self.budget, len(self.settings))

    def _parts(self) -> DisjointParts:
        if self.budget.delta == 0:
            self._tries()  # refuses it
        return parts_for(self.budget)

    def mechanism(self) -> Mechanism:
        """How the best is found, and what that costs."""
        return self._parts() if self.on_path else self._tries()

    def attempts(
        self, read: PrivateEstimator, table: Table, sizes: tuple[int, int]
    ) -> Attempts | PenaltyPath:
        """All settings, ready to be tried, or a refusal."""
        if self.on_path:
            return PenaltyPath.of(read, table, self.settings, self._parts(), self.metric, sizes)
        return Attempts.of(read, table, self.settings, self._tries(), self.metric, sizes)

    def plan(
        self,
        rows: int | None,
        assumptions: tuple[str, ...] = (),
        mechanism: Mechanism | None = None,
    ) -> Plan:
        """The whole search is one release; `mechanism` is what its fits really claim."""
        relation, most = Adjacency(self.estimator.adjacency), self.estimator.max_rows_per_person
        count, how = len(self.settings), mechanism or self.mechanism()
        best = Release(CHOICE, (count,), 1.0, norm=ONE_MODEL, mechanism=how)
        known = rows if relation.n_is_public and most in (None, 1) else None
        paper = (
            f"{PATH if self.on_path else TRIES} {count} settings of {type(self.estimator).__name__}"
            f": fits to {self.folds - 1} of {self.folds} parts of the rows, {self.metric} on the "
            "other"
        )
        return Plan((best,), relation, 1.0, known, (*assumptions, CHOSEN), paper, most)


def metric_of(estimator: PrivateEstimator, scoring: object) -> str:
    """The metric by which settings are compared."""
    if scoring is None:
        return "accuracy" if is_classifier(estimator) else "mse"
    if not isinstance(scoring, str) or scoring not in SCORES:
        shown = repr(scoring) if isinstance(scoring, str) else f"a {type(scoring).__name__}"
        raise ValueError(f"scoring is {shown}, but None or one of {', '.join(SCORES)} is needed")
    return scoring


def checked_folds(folds: object) -> int:
    """The number of parts, or a refusal."""
    whole = isinstance(folds, int | np.integer) and not isinstance(folds, bool)
    if not whole or not 2 <= int(folds) <= MOST_FOLDS:  # type: ignore[call-overload]
        shown = folds if isinstance(folds, int | float) else type(folds).__name__
        raise ValueError(f"folds={shown}, but a whole number from 2 to {MOST_FOLDS} is needed")
    return int(folds)  # type: ignore[call-overload]


def search(asked: Asked, X: object, y: object, groups: object) -> tuple[Tried, Certificate]:
    """Check everything, charge once, try, and tell the best."""
    given = ReadIn.by(asked.estimator, X, y, groups)
    sizes = sizes_of(given.n, asked.folds, public=given.public)
    attempts = asked.attempts(given.estimator, first_rows(given.table, sizes[0]), sizes)
    warn_of_delta(asked.budget, given.n if given.public else None)
    plan = asked.plan(given.n, attempts.assumptions(), attempts.mechanism)
    plan = given.named(plan)
    with charge_and_open(plan, asked.budget, **asked.charge) as release, in_silence():
        test, *rest = given.folds(release, asked.folds)
        train = given.everybody.of(np.sort(np.concatenate(rest)))
        held_out = given.everybody.of(test)
        found = release.best_of_tries(
            CHOICE, lambda setting, seed: attempts.run(setting, seed, train, held_out), clip=1.0
        )
    return found, release.certificate()


def sizes_of(n: int, folds: int, *, public: bool) -> tuple[int, int]:
    """Rows or people for fits and for scores; they are equal parts where the number is public."""
    if public and n < 2 * folds:
        raise ValueError(
            f"there are {n} rows or people, but {folds} folds of at least 2 are needed; use fewer "
            "folds, or more data"
        )
    return n - n // folds, n // folds


def first_rows(table: Table, rows: int) -> Table:
    """As many rows as a fit will see: for rehearsals, which look at the container alone."""
    if table.X.shape[0] <= rows:
        return table
    return replace(table, X=table.X[:rows], y=table.y[:rows])


@contextmanager
def in_silence() -> Iterator[None]:
    """Nobody is told about single tries: by no bar, of whomever, no log and no repeated warning."""
    with (
        set_to(untold, True),
        progress(lambda done, total: None),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield
