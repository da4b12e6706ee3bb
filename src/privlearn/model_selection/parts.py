"""Rows for fits and rows for scores: nobody is in both, and nothing about anybody decides it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privlearn._core.certificate import Certificate
from privlearn._core.plan import Plan
from privlearn._core.problem import Adjacency
from privlearn._core.releaser import Releaser
from privlearn._data.bounded import Table
from privlearn._data.named_cells import with_ids, with_target
from privlearn._data.people import People, read_people
from privlearn._data.reading import is_frame, native
from privlearn.linear_model.atomic import blank
from privlearn.linear_model.base import PrivateEstimator
from privlearn.linear_model.people import demand_both, people_of, read_apart
from privlearn.metrics.evaluation import read_rows
from privlearn.metrics.people import Everybody
from privlearn.metrics.predictions import Predicted, predicted_blocks
from privlearn.metrics.task import Task

__all__ = ["Indices", "ReadIn", "Some", "certified", "folds_of", "scored_blocks", "taken"]

Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Some:
    """Some rows as users have them; `groups` is None where every row is a person."""

    X: Any
    y: Any
    groups: Any = None

    def of(self, rows: Indices) -> Some:
        """These rows of them."""
        groups = None if self.groups is None else taken(self.groups, rows)
        return Some(taken(self.X, rows), taken(self.y, rows), groups)

    @property
    def named(self) -> dict[str, Any]:
        """What `fit` gets by name."""
        return {} if self.groups is None else {"groups": self.groups}


@dataclass(frozen=True, eq=False)
class ReadIn:
    """A table that an estimator has read: what it holds, whose it is, and how many they are."""

    estimator: PrivateEstimator
    table: Table
    people: People | None
    everybody: Some

    @classmethod
    def by(cls, estimator: PrivateEstimator, X: object, y: object, groups: object) -> ReadIn:
        """Read by a twin of an estimator, or a refusal."""
        read = blank(estimator)
        read._validate_params()
        demand_both(read, groups)
        X, groups = with_ids(X, groups)
        X, y = with_target(X, y, read.schema)
        table = read_apart(read, X, y, groups)
        found = cls(read, table, people_of(read, groups, table), Some(X, y, groups))
        found.everybody.of(np.arange(min(found.n, 1)))  # rows can be taken out of whatever it is
        return found

    @property
    def n(self) -> int:
        """Number of rows, or of people."""
        return len(self.table.y) if self.people is None else self.people.count

    @property
    def public(self) -> bool:
        """Whether that number is."""
        return Adjacency(self.estimator.adjacency).n_is_public

    def named(self, plan: Plan) -> Plan:
        """The plan, with the name of the column of ids, by which a ledger knows people."""
        return plan if self.people is None else replace(plan, person=self.people.name)

    def folds(self, release: Releaser, folds: int, most: int | None = None) -> list[Indices]:
        """Rows of each fold, as in `folds_of`."""
        return folds_of(release, len(self.table.y), self.people, folds, most)


def scored_blocks(task: Task, test: Some, key: int, *, strict: bool) -> Iterator[Predicted]:
    """What a fitted model says about rows that count of everybody."""
    model = task.model
    most, on_invalid = model.max_rows_per_person, "raise" if strict else "drop"
    data = read_rows(task, test.X, test.y, model.adjacency, on_invalid, most)
    blocks = predicted_blocks(task, data, strict=strict)
    if most is None:
        return blocks
    people = read_people(test.groups, data.n, strict=strict)
    return Everybody.of(people, blocks).who_count(most, key)


def certified(
    model: PrivateEstimator,
    like: PrivateEstimator,
    known: Mapping[str, Any],
    certificate: Certificate,
) -> None:
    """Give a model the parameters and the certificate of the whole that it is a part of."""
    for name, value in known.items():
        setattr(model, name, value)
    if hasattr(model, "classes"):
        model.classes = like.classes
    model.privacy_ = certificate


def taken(table: Any, rows: Indices) -> Any:  # noqa: ANN401
    """Rows of what users have, in the same kind of container."""
    if native("pandas", table, "DataFrame") or native("pandas", table, "Series"):
        return table.iloc[rows]
    if isinstance(table, list | tuple):
        return [table[row] for row in rows.tolist()]
    if not isinstance(table, np.ndarray):
        if is_frame(table):
            import narwhals.stable.v1 as nw

            return nw.from_native(table, eager_only=True)[rows].to_native()
        if hasattr(table, "tocsr"):
            return table.tocsr()[rows]
        if hasattr(table, "take") and native("pyarrow", table, "ChunkedArray"):
            return table.take(rows)
        if not hasattr(table, "__getitem__") or not hasattr(table, "dtype"):
            table = np.asarray(table)
    return table[rows]


def folds_of(
    release: Releaser, n: int, people: People | None, folds: int, most: int | None = None
) -> list[Indices]:
    """Rows of each fold, in their order; rows that are nobody's are in none.

    Folds of rows, or of people, are equal where their number is public; else each is dealt alone.
    With `most`, those that a fold has beyond it, at random, are in none.
    """
    count = n if people is None else people.count
    order, starts = release.partition(count, folds, people=people is not None)
    fold = np.full(count, -1, dtype=np.int64)
    for k in range(folds):
        here = order[starts[k] : starts[k + 1]]
        fold[here[:most]] = k
    if people is None:
        return [np.flatnonzero(fold == k) for k in range(folds)]
    of_row = np.where(people.of_row < 0, -1, fold[people.of_row])
    return [np.flatnonzero(of_row == k) for k in range(folds)]
