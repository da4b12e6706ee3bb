"""Rows for fits and rows for scores: nobody is in both, and nothing about anybody decides it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privlearn._core.releaser import Releaser
from privlearn._data.people import People
from privlearn._data.reading import is_frame, native

__all__ = ["Indices", "Some", "folds_of", "taken"]

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
