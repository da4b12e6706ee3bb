"""Bounded rows that are read anew in every pass, in the place of a table in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, NoReturn, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from privlearn._core.numerics import BLOCK_ROWS
from privlearn._core.problem import Bounds, Problem
from privlearn._data.bounded import BoundedData, Rows, Table
from privlearn._data.stream import Kept, Piece, Stream
from privlearn.exceptions import PlanViolationError

__all__ = ["BoundedPiece", "SourceData", "bound_source"]

T = TypeVar("T")


class _OnDisk:
    """In the place of arrays: whoever asks it for rows is stopped, rather than given none."""

    def __getattr__(self, name: str) -> NoReturn:
        raise PlanViolationError("all rows of a source were asked for at once: a solver bug")


@dataclass(frozen=True, eq=False)
class BoundedPiece(BoundedData):
    """Some rows of a source, in memory; `piece` has the same ones by columns, not yet bounded."""

    piece: Piece

    def __post_init__(self) -> None:
        """Audits are shown the source as a whole."""


@dataclass(frozen=True, eq=False)
class SourceData(BoundedData):
    """Rows of a stream that obey the declared bounds; `chosen` are the columns that count."""

    stream: Stream
    chosen: NDArray[np.int64] | None = None

    in_passes: ClassVar[bool] = True

    @property
    def n(self) -> int:
        """Number of rows, which is a secret under `add_remove`."""
        return self.stream.n

    @property
    def n_features(self) -> int:
        """Number of columns, which is public."""
        return self.stream.n_features if self.chosen is None else len(self.chosen)

    @property
    def sparse(self) -> bool:
        """Rows are dense."""
        return False

    @property
    def in_a_box(self) -> bool:
        """Whether numbers as they are read are the bounded ones, but for a box."""
        return self.bounds.row_norm is None and self.table.finite

    def results(self, work: Callable[[Piece], T], *, target_only: bool = False) -> Iterator[T]:
        """What `work` makes of each piece, in one pass through all rows."""
        if target_only:
            return self.stream.results(work, target_only=self.table.finite)
        return self.stream.results(self.on_chosen(work))

    def total(self, work: Callable[[Piece], T], zero: T, *, target_only: bool = False) -> T:
        """The sum of what `work` makes of pieces, in one pass through all rows."""
        if target_only:
            return self.stream.total(work, zero, target_only=self.table.finite)
        return self.stream.total(self.on_chosen(work), zero)

    def on_chosen(self, work: Callable[[Piece], T]) -> Callable[[Piece], T]:
        """The same work, of the columns that count alone."""
        return work if self.chosen is None else partial(_of_columns, self.chosen, work)

    def keep(self, make: Callable[[Piece], Any], bytes_each: float, most: float) -> Kept | None:
        """What `make` makes of pieces, where the stream holds it for later passes."""
        return self.stream.keep(self.on_chosen(make), bytes_each, most)

    def __reduce__(self) -> tuple[Any, ...]:
        """What travels to workers: bounds, and neither rows nor how many there are."""
        facts = self.bounds, self.fit_intercept, self.table.finite
        return _without_rows, (*facts, self.stream.n_features, self.chosen)

    def bounded(self, piece: Piece) -> BoundedPiece:
        """A piece within the bounds."""
        return BoundedPiece(piece.table(), self.bounds, self.fit_intercept, piece)

    def present(self) -> NDArray[np.bool_]:
        """Which rows are not the empty row; solvers ask `count_present`."""
        found = list(self.results(lambda piece: piece.table().present()))
        return np.concatenate(found) if found else np.empty(0, np.bool_)

    def count_present(self) -> int:
        """How many rows are not the empty row, as the first pass saw; a secret."""
        return self.stream.present

    def of_columns(self, chosen: NDArray[np.int64], bounds: Bounds) -> SourceData:
        """The same rows with the chosen columns only, within bounds of theirs."""
        own = chosen if self.chosen is None else self.chosen[chosen]
        return replace(self, bounds=bounds, chosen=own)

    def blocks(
        self, first: int = 0, last: int | None = None, at_once: int = BLOCK_ROWS
    ) -> Iterator[Rows]:
        """All rows in order, some at a time, in the blocks in which a table in memory has them."""
        if first != 0 or last is not None:
            raise PlanViolationError("some rows of a source were asked for: a solver bug")
        held: list[Table] = []
        for table in self.results(lambda piece: piece.table()):
            held.append(table)
            whole = sum(len(one.y) for one in held) // at_once * at_once
            if whole:
                together = _together(held)
                held = [_rows_of(together, slice(whole, None))]
                yield from self._blocks_of(_rows_of(together, slice(whole)), at_once)
        if held:
            yield from self._blocks_of(_together(held), at_once)

    def _blocks_of(self, table: Table, at_once: int) -> Iterator[Rows]:
        piece = Piece((), table.y, table.finite)
        return BoundedPiece(table, self.bounds, self.fit_intercept, piece).blocks(at_once=at_once)

    def take(self, rows: NDArray[np.int64]) -> NoReturn:
        """Refuse: rows come in their order."""
        raise PlanViolationError("single rows of a source were asked for: a solver bug")


def _of_columns(chosen: NDArray[np.int64], work: Callable[[Piece], T], piece: Piece) -> T:
    return work(piece.of_columns(chosen))


def _without_rows(
    bounds: Bounds,
    fit_intercept: bool,
    finite: bool,
    n_features: int,
    chosen: NDArray[np.int64] | None,
) -> SourceData:
    """Bounds alone: whoever asks for rows is stopped."""
    nothing: Any = _OnDisk()
    stream = Stream(nothing, nothing, n_features)
    return SourceData(Table(nothing, nothing, finite), bounds, fit_intercept, stream, chosen)


def _together(held: list[Table]) -> Table:
    if len(held) == 1:
        return held[0]
    X = np.concatenate([np.asarray(table.X) for table in held])
    return Table(X, np.concatenate([table.y for table in held]), held[0].finite)


def _rows_of(table: Table, own: slice) -> Table:
    return Table(table.X[own], table.y[own], table.finite)


def bound_source(stream: Stream, problem: Problem, *, finite: bool) -> SourceData:
    """Enforce the problem's declared bounds on every row of a stream."""
    nothing: Any = _OnDisk()
    table = Table(cast("NDArray[Any]", nothing), nothing, finite)
    return SourceData(table, problem.bounds, problem.fit_intercept, stream)
