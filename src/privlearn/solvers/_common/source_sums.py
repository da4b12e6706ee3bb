"""Sums over rows of a source, pass by pass: the same bits as of a table in memory.

All of them are sums of whole numbers (integer_rows.md), which have the same bits however rows are
cut into pieces and whatever thread adds which. Columns are read as they come, without being put
side by side, where a box is all that bounds them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from operator import methodcaller
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from privlearn._data.bounded import NOBODY, BoundedData, read_only
from privlearn._data.source_data import SourceData
from privlearn._data.stream import Kept, Piece
from privlearn.solvers._common.column_rows import ColumnRows
from privlearn.solvers._common.integer_rows import (
    IntegerRows,
    as_moments,
    block_rows,
    integer_facts,
    layout,
    store_integers,
)
from privlearn.solvers._common.loops import counting as counting_loops
from privlearn.solvers._common.loops import integer_rows as loops
from privlearn.solvers._common.memory import available
from privlearn.solvers._common.objective import Objective
from privlearn.solvers._common.scaling import Scaling

__all__ = ["SourceIntegers", "count_in_a_pass"]

Array = NDArray[np.float64]
T = TypeVar("T")
SIZES = 8  # of pieces, for which memory is kept
HELD = 3.0 * 2.0**27  # bytes of integers that are held: with what reading takes, below 1 GB
PART_OF_FREE = 0.25  # of the memory that there is


def count_in_a_pass(
    data: SourceData,
    what: str,
    bins: int,
    compiled: str,
    in_memory: Callable[[BoundedData], Array],
    *facts: Any,  # noqa: ANN401
) -> Array:
    """Counts of shape (columns, bins), of rows or of the target alone.

    Parameters
    ----------
    data : SourceData
        Rows.
    what : {"features", "target"}
        Whose columns.
    bins : int
        How many.
    compiled : str
        Name of the loop that counts.
    in_memory : callable
        Counts a piece whose rows have to be put side by side.
    *facts
        What the loop needs, with a number for each column where it is an array.
    """
    width, alone = (1, True) if what == "target" else (data.n_features, False)
    low, high = _ends(data, what)
    as_read = data.table.finite if alone else data.in_a_box  # but for the ends

    def of_piece(piece: Piece) -> Array:
        if not as_read:
            return in_memory(data.bounded(piece))
        counts = np.zeros((width, bins))
        columns = (np.asarray(piece.y, dtype=np.float64),) if alone else piece.columns
        for j, column in enumerate(columns):
            own = slice(j, j + 1)
            known = [fact[own] if isinstance(fact, np.ndarray) else fact for fact in facts]
            rows, box = read_only(column[:, None]), (low[own], high[own])
            getattr(counting_loops, compiled)(rows, NOBODY, box, *known, counts[own])
        return counts

    return data.total(of_piece, np.zeros((width, bins)), target_only=alone)


def _ends(data: SourceData, what: str) -> tuple[Array, Array]:
    """To what numbers are clipped, infinite where nothing bounds them."""
    bounds, far = data.bounds, np.full(data.n_features, np.inf)
    if what == "target":
        low, high = bounds.target or (-np.inf, np.inf)
        return np.array([low], dtype=np.float64), np.array([high], dtype=np.float64)
    if bounds.low is None or bounds.high is None:
        return -far, far
    return np.array(bounds.low), np.array(bounds.high)


@dataclass(frozen=True, eq=False)
class _Gradient:
    """The sum of gradients, each shortened to the clip, as whole numbers."""

    objective: Objective
    weights: Array
    clip: float

    def __call__(self, rows: IntegerRows) -> list[int]:
        return rows.integer_gradient(self.objective, self.weights, self.clip)


@dataclass(frozen=True, eq=False)
class SourceIntegers:
    """Rows of a source in a solver's coordinates, made integers anew in every pass.

    Attributes
    ----------
    scaling : Scaling
        Into these coordinates.
    limits : array of shape (n_features,)
        Bounds of the features in them.
    data : SourceData
        Rows.
    """

    scaling: Scaling
    limits: Array
    data: SourceData
    _spare: dict[int, list[IntegerRows]] = field(default_factory=dict, repr=False)

    @cached_property
    def _none(self) -> IntegerRows:
        """As rows are stored, without any."""
        return self._empty(0)

    def _empty(self, n: int) -> IntegerRows:
        """Memory for so many rows."""
        exponents, wide = layout(self.limits)
        size = block_rows(len(exponents), n, compiled=True)
        shape, intercept = (-(-n // size), size), self.scaling.intercept_value
        values = np.zeros((shape[0], len(exponents), size), np.int16)
        targets, norms = np.zeros(shape, np.float32), np.full(shape, np.inf, np.float32)
        return IntegerRows(values, targets, norms, exponents, wide, intercept, compiled=True)

    def __reduce__(self) -> tuple[Any, ...]:
        """What travels to workers: neither memory that is used again nor what others hold."""
        return SourceIntegers, (self.scaling, self.limits, self.data)

    @cached_property
    def _kept(self) -> Kept | None:
        """Rows as integers, where they are held: the first ones here, or all of a cluster."""
        columns, free = self._none.values.shape[1], available()
        most = HELD if free is None else min(HELD, PART_OF_FREE * free)
        return self.data.keep(self._stored, 2.0 * columns + 8.0, most)

    def _total(self, work: Callable[[IntegerRows], T]) -> T:
        """The sum of what `work` makes of all rows, in one pass."""
        one = partial(self._on, work=work)
        if self._kept is not None:
            return self._kept.total(work, work(self._none), self.data.on_chosen(one))
        return self.data.total(one, work(self._none))

    def _stored(self, piece: Piece) -> IntegerRows:
        """A piece as integers."""
        if not self.data.in_a_box:
            return store_integers(self.scaling, self.limits, self.data.bounded(piece))
        rows = self._empty(len(piece.y))
        self._store(piece, rows)
        return rows

    def _on(self, piece: Piece, work: Callable[[IntegerRows], T]) -> T:
        """What `work` makes of a piece as integers.

        Memory for rows that come by columns is used again: fresh one costs more than to fill it.
        """
        if not self.data.in_a_box:
            return work(self._stored(piece))
        if isinstance(work, _Gradient):
            return cast(T, work(self._unstored(piece)))
        spare = self._spare.setdefault(len(piece.y), [])
        rows = spare.pop() if spare else self._empty(len(piece.y))
        self._store(piece, rows)
        found = work(rows)
        if len(self._spare) <= SIZES:
            spare.append(rows)
        return found

    def _store(self, piece: Piece, rows: IntegerRows) -> None:
        """Write a piece as integers, column by column."""
        facts, second = self._facts
        squares = np.zeros(len(piece.y))
        for j, column in enumerate(piece.columns):
            loops.store_column(read_only(column), facts[j], j, second[j], rows.values, squares)
        loops.store_lengths(squares, rows.intercept_value, rows.norms.reshape(-1))
        y = read_only(np.asarray(piece.y, dtype=np.float64))
        loops.store_targets(y, *self._target_units, rows.targets.reshape(-1)[: len(y)])

    @cached_property
    def _facts(self) -> tuple[Array, NDArray[np.int64]]:
        """Of each feature, what makes it an integer, and the place of its second column or -1."""
        rows = self._none
        facts = np.vstack([*_ends(self.data, "features"), integer_facts(rows, self.scaling)]).T
        second = np.full(rows.n_features, -1)
        second[rows.wide] = rows.n_features + np.arange(len(rows.wide))
        return np.ascontiguousarray(facts), second

    @cached_property
    def _target_units(self) -> tuple[float, float, float, float]:
        (low, *_), (high, *_) = _ends(self.data, "target")
        return float(low), float(high), self.scaling.target_center, self.scaling.target_scale

    def _unstored(self, piece: Piece) -> ColumnRows:
        """A piece for gradients alone."""
        none, y = self._none, read_only(np.asarray(piece.y, dtype=np.float64))
        facts, second = self._facts
        return ColumnRows(
            none.values,
            none.targets,
            none.norms,
            none.exponents,
            none.wide,
            none.intercept_value,
            compiled=True,
            target_units=self._target_units,
            columns=piece.columns,
            y=y,
            facts=facts,
            seconds=second,
        )

    def gradient_sum(self, objective: Objective, weights: Array, clip: float) -> Array:
        """Sum of the gradients of all rows, each shortened to the clip; a secret."""
        total = self._total(_Gradient(objective, weights, clip))
        return self._none.as_gradient(total, objective, clip)

    def count_lengths(
        self, objective: Objective, weights: Array, longest: float, bins: int
    ) -> Array:
        """How many gradients lie in which half power of two below the longest; a secret."""
        facts = objective, weights, longest, bins
        total: Array = self._total(methodcaller("count_lengths", *facts))
        return total

    def second_moments(self, longest: float) -> Array:
        """Sum of v v' / longest^2 over rows v, each shortened to that length; a secret."""
        return as_moments(self._total(methodcaller("integer_moments", longest)), longest)
