"""What `fit` makes of `groups`: whose each row is, before anything is charged."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from privlearn._core.jit import on_a_large_table, worth_compiling
from privlearn._core.problem import Adjacency
from privlearn._data.bounded import Table
from privlearn._data.named_cells import column_names, with_ids, with_target
from privlearn._data.people import People, name_of_ids, read_people
from privlearn._data.reading import is_frame
from privlearn.exceptions import (
    InvalidBudgetError,
    MissingFactError,
    UnsupportedCombinationError,
)

if TYPE_CHECKING:
    from privlearn.linear_model.base import PrivateEstimator

__all__ = [
    "demand_both",
    "people_of",
    "read_apart",
    "read_with_people",
    "refuse_unproved",
    "rehearsed_form",
]


def read_with_people(estimator: PrivateEstimator, X: object, y: object, groups: object) -> Table:
    """X and y as numbers, and whose each row is, or a refusal."""
    demand_both(estimator, groups)
    X, groups = with_ids(X, groups)
    table = read_apart(estimator, *with_target(X, y, estimator.schema), groups)
    return replace(table, people=people_of(estimator, groups, table))


def read_apart(estimator: PrivateEstimator, X: object, y: object, groups: object) -> Table:
    """X and y as numbers; an entry of a schema about the column of ids is about no column of X."""
    schema, name = estimator.schema, name_of_ids(groups)
    there = isinstance(schema, Mapping) and name in schema
    if not there or (is_frame(X) and name in column_names(X, "schema")):
        return estimator._read(X, y)
    estimator.schema = {own: kind for own, kind in schema.items() if own != name}
    try:
        return estimator._read(X, y)
    finally:
        estimator.schema = schema


def demand_both(estimator: PrivateEstimator, groups: object) -> None:
    """Refuse ids without a largest number of rows, and the number without ids."""
    most = estimator.max_rows_per_person
    if groups is not None and most is None:
        raise MissingFactError(
            "max_rows_per_person is missing, but with groups one person may have several rows, and "
            "how many of them count decides how much noise hides the person; pass "
            "max_rows_per_person=5, say, a number that is chosen from public knowledge and never "
            "from the data, or estimated privately (privlearn.schema.estimate_max_rows). Of those "
            "with more rows so many are drawn"
        )
    if groups is None and most is not None:
        raise MissingFactError(
            f"groups is missing, but max_rows_per_person={most} limits the rows of a person; pass "
            "fit(X, y, groups=ids) with one id per row, or leave max_rows_per_person out: then "
            "every row is a person"
        )


def refuse_unproved(estimator: PrivateEstimator, sample_epsilon: object) -> None:
    """Refuse promises per row where a person may have several, and pure ones about such people."""
    most = estimator.max_rows_per_person
    if isinstance(most, bool | np.bool_):
        raise ValueError(
            f"max_rows_per_person={most}, but a whole number is needed: how many rows of a person "
            "count; for one row of each pass max_rows_per_person=1"
        )
    if most is not None and most > 1 and estimator.delta == 0:
        raise InvalidBudgetError(
            f"delta=0, but with max_rows_per_person={most} all solvers that have a proof need "
            "delta > 0; set delta, for example delta=1e-6, or let one row of each person count"
        )
    if most is not None and sample_epsilon is not None:
        raise UnsupportedCombinationError(
            "max_rows_per_person and sample_epsilon together are not supported: there is no proof "
            "for personal epsilons of people with several rows; leave one of them out"
        )


def people_of(estimator: PrivateEstimator, groups: object, table: Table) -> People | None:
    """Whose each row is, or a refusal; None where every row is a person."""
    if groups is None:
        return None
    people = read_people(groups, len(table.y), strict=estimator.on_invalid == "raise")
    if people.count == 0 and Adjacency(estimator.adjacency).n_is_public:
        raise ValueError(
            "groups holds no id, so there is nobody, while at least one person is needed; give the "
            "id of a person in every row"
        )
    return people


def rehearsed_form(table: Table) -> AbstractContextManager[None]:
    """Run loops in the form that was rehearsed, which the whole table decided, not rows chosen."""
    return on_a_large_table(worth_compiling(math.prod(table.X.shape)))
