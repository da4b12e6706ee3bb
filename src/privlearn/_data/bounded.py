"""From a table of numbers to bounded rows: `bound` enforces declared limits.

Each row is clipped on its own, to the box first and to the norm then, so a row's contribution
depends on that row alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from privlearn._core.numerics import BLOCK_ROWS
from privlearn._core.problem import Bounds, Problem
from privlearn._data.clipping import clip_rows
from privlearn._data.reading import Features
from privlearn._data.sparse import bounded_csr

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from privlearn._data.people import People
    from privlearn.schema.raw import RawRows

__all__ = [
    "BoundedData",
    "Features",
    "Rows",
    "Table",
    "bound",
    "read_only",
    "watch_rows",
]

Array = NDArray[np.float64]
NOBODY = np.empty(0, dtype=bool)  # in the place of who is there: everybody


@dataclass(frozen=True, eq=False)
class Table:
    """Features and target as numeric arrays of equal length; nothing is bounded yet.

    `finite` says that no row holds NaN or infinity, because such data were refused. `level` is the
    place of each row's promise among the problem's levels, where people have different ones. Two
    classes that were not refused are -1 and 1 in single bytes; whoever hands them out makes them
    numbers. `people` says whose the rows are, until a Releaser has chosen those that count; from
    then on rows of one person lie side by side, person p's from `person_starts[p]` on, where one
    may have several.
    """

    X: Features
    y: NDArray[Any]
    finite: bool = False
    level: NDArray[np.int64] | None = None
    people: People | None = None
    person_starts: NDArray[np.int64] | None = None
    raw: RawRows | None = None  # where X stands for cells whose kinds or lists are still unknown

    def present(self) -> NDArray[np.bool_]:
        """Which rows have neither NaN nor infinity nor an unknown label."""
        if self.finite:
            return np.full(len(self.y), True)
        there = np.isfinite(self.y)
        if isinstance(self.X, np.ndarray):
            return there & np.isfinite(self.X).all(axis=1)
        owner = np.repeat(np.arange(len(self.y)), np.diff(self.X.indptr))
        there[owner[~np.isfinite(self.X.data)]] = False
        return there


@dataclass(frozen=True, eq=False)
class Rows:
    """A block of bounded rows. Where `present` is False the row is the empty row, all zeros."""

    X: NDArray[np.floating]
    y: Array
    present: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class BoundedData:
    """Rows that obey the declared bounds, handed out in blocks that are bounded on the way."""

    table: Table
    bounds: Bounds
    fit_intercept: bool

    # Largest length of a row, where rows are computed when they are asked for; else None.
    longest: ClassVar[float | None] = None
    in_passes: ClassVar[bool] = False  # whether rows stay on disk, and are read again and again
    on_device: ClassVar[bool] = False  # whether rows lie on a GPU, and stay there

    def __post_init__(self) -> None:
        for watcher in _WATCHERS:
            watcher(self)

    @property
    def n(self) -> int:
        """Number of rows, which is a secret under `add_remove`."""
        return len(self.table.y)

    @property
    def n_features(self) -> int:
        """Number of columns, which is public."""
        return int(self.table.X.shape[1])

    @property
    def level(self) -> NDArray[np.int64] | None:
        """Place of each row's promise among the problem's, where people have different ones."""
        return self.table.level

    @property
    def person_starts(self) -> NDArray[np.int64] | None:
        """Where each person's rows begin, and the end of all; None where every row is a person."""
        return self.table.person_starts

    @property
    def sparse(self) -> bool:
        """Whether X is a sparse matrix: a fact about its container, not about a row."""
        return not isinstance(self.table.X, np.ndarray)

    def take(self, rows: NDArray[np.int64]) -> BoundedData:
        """Some of the rows, in the order given."""
        table = self.table
        level = None if table.level is None else table.level[rows]
        some = Table(table.X[rows], table.y[rows], table.finite, level)
        return BoundedData(some, self.bounds, self.fit_intercept)

    def sparse_rows(self) -> tuple[csr_array, Array]:
        """All rows at once, without making them dense, and their targets; where X is sparse."""
        assert not isinstance(self.table.X, np.ndarray)
        y = np.where(self.present(), self.table.y.astype(np.float64), 0.0)
        rows = bounded_csr(self.table.X, self.bounds, self.fit_intercept, self.present())
        return rows, y if self.bounds.target is None else np.clip(y, *self.bounds.target)

    def as_given(self) -> tuple[Features, Array]:
        """X and y before any bounds: for methods that look at orders alone."""
        return self.table.X, np.asarray(self.table.y, dtype=np.float64)

    def single_blocks(self, length: float = 1.0) -> Iterator[Rows]:
        """All rows in order in single precision, none longer than `length`, if `longest` is 1."""
        raise NotImplementedError

    def present(self) -> NDArray[np.bool_]:
        """Which rows are not the empty row: those without NaN, infinity or an unknown label."""
        return self.table.present()

    def count_present(self) -> int:
        """How many rows are not the empty row; a secret."""
        return int(self.present().sum())

    def of_columns(self, chosen: NDArray[np.int64], bounds: Bounds) -> BoundedData:
        """The same rows with the chosen columns only, within bounds of theirs.

        Which rows are invalid is decided before, by all columns.
        """
        table = self.table
        y = table.y if table.finite else np.where(self.present(), table.y, np.nan)
        return replace(self, table=replace(table, X=table.X[:, chosen], y=y), bounds=bounds)

    def targets(self, first: int, last: int) -> tuple[Array, NDArray[np.bool_]]:
        """Bounded targets of some rows, and which of them are not the empty row's."""
        y, X = self.table.y[first:last].astype(np.float64), self.table.X[first:last]
        there = np.full(len(y), True)
        if not self.table.finite:
            there = Table(X, y).present()
            y[~there] = 0.0
        if self.bounds.target is not None:
            np.clip(y, *self.bounds.target, out=y)
        return np.where(there, y, 0.0), there

    def blocks(
        self, first: int = 0, last: int | None = None, at_once: int = BLOCK_ROWS
    ) -> Iterator[Rows]:
        """All rows in order, or those from `first` to before `last`, some at a time.

        Each block is overwritten by the next: fresh memory for each would cost more than the rest.
        What needs no bounds is not even copied, and cannot be written to.
        """
        (n, p), whole = self.table.X.shape, self._in_a_box and self.bounds.low is None
        last = n if last is None else min(last, n)
        most = min(max(last - first, 0), at_once)
        room, box = np.empty((0 if whole else most, p)), self._box(most)
        for start in range(first, last, at_once):
            rows = slice(start, min(start + at_once, last))
            X, y = self.table.X[rows], self.table.y[rows].astype(np.float64)
            if whole:
                yield self._bounded(read_only(np.asarray(X, dtype=np.float64)), y, box)
                continue
            own = room[: len(y)]
            with np.errstate(invalid="ignore"):  # a signalling NaN is a NaN
                own[:] = X if isinstance(X, np.ndarray) else X.toarray()
            yield self._bounded(own, y, box)

    def blocks_to_clip(
        self, first: int, last: int, at_once: int
    ) -> Iterator[tuple[Rows, tuple[Array, Array, Array, Array]]]:
        """Rows for compiled loops, and the ends to which these clip features and target.

        Where a box is all that bounds them, that are the table's own numbers, all at once unless
        classes have to become numbers, and an empty `present` says that all are there. Other rows
        come from `blocks`, and ends are infinite. Neither can be written to.
        """
        table, bounds = self.table, self.bounds
        far, none = np.full(self.n_features, np.inf), np.full(1, np.inf)
        if not self._in_a_box:
            for rows in self.blocks(first, last, at_once):
                X = read_only(np.asarray(rows.X, dtype=np.float64))
                yield Rows(X, read_only(rows.y), rows.present), (-far, far, -none, none)
            return
        assert isinstance(table.X, np.ndarray)
        low, high = -far, far
        if bounds.low is not None and bounds.high is not None:  # in a layout that loops know
            low, high = np.array(bounds.low), np.array(bounds.high)
        ends = [np.array([end]) for end in bounds.target or (-np.inf, np.inf)]
        size = max(last - first, 1) if table.y.dtype == np.float64 else at_once
        for start in range(first, min(last, self.n), size):
            own = slice(start, min(start + size, last))
            X, y = (np.asarray(one[own], dtype=np.float64) for one in (table.X, table.y))
            yield Rows(read_only(X), read_only(y), NOBODY), (low, high, ends[0], ends[1])

    def raw_targets(self) -> tuple[NDArray[np.int8], Array] | None:
        """The target before it is clipped, as classes or as numbers, the other of them empty.

        None, where the table's own numbers are not what compiled loops take.
        """
        if not self._in_a_box:
            return None
        y = read_only(self.table.y)
        return (y, NO_NUMBERS) if y.dtype == np.int8 else (NO_CLASSES, y)

    def _box(self, rows: int) -> tuple[Array, Array] | None:
        """The box's ends, once for each row of a block: whole arrays are compared much faster."""
        low, high = self.bounds.low, self.bounds.high
        if low is None or high is None:
            return None
        return np.tile(low, (rows, 1)), np.tile(high, (rows, 1))

    @property
    def _in_a_box(self) -> bool:
        """Whether the table's own numbers are the bounded ones, but for a box."""
        boxed = self.longest is None and self.bounds.row_norm is None and self.table.finite
        return boxed and _is_plain(self.table.X) and _is_plain(self.table.y, np.float64, np.int8)

    def _bounded(self, X: Array, y: Array, box: tuple[Array, Array] | None) -> Rows:
        present = np.full(len(y), True)
        if not self.table.finite:
            present = np.isfinite(X).all(axis=1) & np.isfinite(y)
            X[~present], y[~present] = 0.0, 0.0
        if box is not None:
            np.maximum(X, box[0][: len(y)], out=X)  # faster than one clip
            np.minimum(X, box[1][: len(y)], out=X)
        if self.bounds.row_norm is not None:
            clip_rows(X, self.bounds, self.fit_intercept)
        if self.bounds.target is not None:
            np.clip(y, *self.bounds.target, out=y)
        if not self.table.finite:
            X[~present], y[~present] = 0.0, 0.0  # once more: a box may exclude zero
        return Rows(X, y, present)


def _is_plain(numbers: Features, *types: type) -> bool:
    """Whether compiled loops take an array as it is: they are made for one layout in memory."""
    return (
        isinstance(numbers, np.ndarray)
        and numbers.dtype in (types or (np.float64,))
        and numbers.flags.c_contiguous
        and numbers.flags.aligned
    )


def read_only(numbers: NDArray[Any]) -> NDArray[Any]:
    """The same numbers; a compiled loop takes all that it only reads in this form."""
    view = numbers.view()
    view.flags.writeable = False
    return view


NO_CLASSES, NO_NUMBERS = read_only(np.empty(0, np.int8)), read_only(np.empty(0))


_WATCHERS: list[Callable[[BoundedData], None]] = []


@contextmanager
def watch_rows(*watchers: Callable[[BoundedData], None]) -> Iterator[None]:
    """Show these audits, and no others, the rows that a fit is about to use."""
    held, _WATCHERS[:] = _WATCHERS[:], watchers
    try:
        yield
    finally:
        _WATCHERS[:] = held


def bound(table: Table, problem: Problem) -> BoundedData:
    """Enforce the problem's declared bounds on every row."""
    assert table.people is None, "which rows count must be chosen first"
    return BoundedData(table, problem.bounds, problem.fit_intercept)
