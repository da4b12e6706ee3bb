"""Where solvers get their rows from: in memory, or computed when their turn comes.

A `RowSource` is what an estimator hands to a solver: bounded rows in the units of X and y. A solver
maps it into its own units by a `Scaling`, and `ScaledRows` then hands out batches to compiled loops
and sums gradients. Random features of a million rows do not fit into memory; rows that are visited
in batches need not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from privlearn._core.numerics import BLOCK_ROWS, BlockSum
from privlearn._core.problem import nearest_to_zero
from privlearn._core.threads import blas_in_one_thread, in_parts
from privlearn._data.bounded import BoundedData, Rows
from privlearn.solvers._common.loops import row_products, sgd
from privlearn.solvers._common.loops.row_products import StoredRows
from privlearn.solvers._common.loops.sequential_sgd import ComputedRows, Recipe
from privlearn.solvers._common.objective import Objective
from privlearn.solvers._common.scaling import Scaling

__all__ = ["RowSource", "ScaledRows", "make_row_source", "store_rows"]

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
AT_ONCE = 1024  # rows that are fetched together, and summed in one thread
NONE = np.empty(0, np.int64)


class RowSource(Protocol):
    """Bounded rows in the units of X and y; each depends on its own row alone."""

    @property
    def n(self) -> int:
        """Number of rows, which is a secret under `add_remove`."""

    @property
    def n_features(self) -> int:
        """Number of columns."""

    def present(self) -> NDArray[np.bool_]:
        """Which rows are not the empty row."""

    def blocks(
        self, first: int = 0, last: int | None = None, at_once: int = BLOCK_ROWS
    ) -> Iterator[Rows]:
        """All rows in order, or those between, some at a time; a block may overwrite the last."""

    def take(self, rows: Indices) -> RowSource:
        """Some of the rows, in the order given."""


@runtime_checkable
class _Features(Protocol):
    """Rows whose features are computed from the rows of a source, by this or by a loop itself."""

    source: BoundedData

    def recipe(self, scale: float) -> Recipe | None: ...

    def inputs_of(self, batch: Indices) -> Iterator[Rows]: ...

    def new_workspace(self) -> Any: ...  # noqa: ANN401

    def computed(self, rows: Rows, length: float, workspace: Any) -> Iterator[Rows]: ...  # noqa: ANN401


class ScaledRows:
    """Rows in a solver's units, all of them in memory."""

    def __init__(self, rows: StoredRows | None) -> None:
        self.stored = rows

    def stored_batches(self, batch: Indices) -> Iterator[tuple[StoredRows, Indices]]:
        """Rows for any loop, and which of them come next, until the batch is through.

        Use them before the next, which may overwrite them.
        """
        assert self.stored is not None
        yield self.stored, batch

    def batches(self, batch: Indices) -> Iterator[tuple[StoredRows | ComputedRows, Indices]]:
        """The same for `visit_rows`, which can compute rows itself."""
        yield from self.stored_batches(batch)

    def gradient_sum(
        self, batch: Indices, objective: Objective, weights: Array, clip: float
    ) -> Array:
        """Sum over a batch of gradients, each shortened to the clip; a secret."""
        total, lost, none = np.zeros(weights.size), np.zeros(weights.size), np.empty((0, 1))
        compiled = objective.compiled(clip)
        for rows, own in self.stored_batches(batch):
            sgd.add_batch(rows, own, compiled, clip, weights, none, 0.0, total, lost)
        return total + lost


class _Computed(ScaledRows):
    """Rows that are computed when their turn comes, few at a time."""

    def __init__(self, scaling: Scaling, data: BoundedData) -> None:
        assert data.longest is not None
        assert isinstance(data, _Features)
        assert not scaling.center.any()
        super().__init__(None)
        self._scaling = scaling
        self._data = data
        self._norm = _longest_row(scaling, data.longest)
        self._length, self._scale = _computed_scale(scaling, data.longest)
        self._recipe = data.recipe(self._length) if self._scale is None else None

    def batches(self, batch: Indices) -> Iterator[tuple[StoredRows | ComputedRows, Indices]]:
        """What rows are computed from, where loops can do that; else the rows."""
        if self._recipe is None:
            yield from self.stored_batches(batch)
            return
        for some in _pieces(batch):
            for block in self._data.source.take(some).blocks():
                targets, norms = self._targets_and_norms(block)
                order = np.arange(len(targets), dtype=np.int64)
                inputs = np.asarray(block.X, dtype=np.float64)
                yield ComputedRows(self._recipe, inputs, targets, norms), order

    def stored_batches(self, batch: Indices) -> Iterator[tuple[StoredRows, Indices]]:
        """So few at a time that they stay near the processor."""
        workspace = self._data.new_workspace()
        for some in _pieces(batch):
            for rows in self._data.inputs_of(some):
                for block in self._data.computed(rows, self._length, workspace):
                    targets, norms = self._targets_and_norms(block)
                    values = block.X
                    if self._scale is not None:
                        values *= self._scale
                    order = np.arange(len(targets), dtype=np.int64)
                    yield StoredRows(values, NONE, NONE, targets, norms), order

    def gradient_sum(
        self, batch: Indices, objective: Objective, weights: Array, clip: float
    ) -> Array:
        """The same in threads. Pieces of a batch, and not threads, say in which order sums add."""
        pieces, total = list(_pieces(batch)), BlockSum(weights.shape)

        def sums(first: int, last: int) -> list[Array]:
            of_a_piece = super(_Computed, self).gradient_sum
            return [of_a_piece(piece, objective, weights, clip) for piece in pieces[first:last]]

        for _ in self._data.inputs_of(batch[:0]):  # what is kept is found before there are threads
            pass
        with blas_in_one_thread():
            for found in in_parts(len(pieces), sums):
                for each in found:
                    total.add(each)
        return total.value()

    def _targets_and_norms(self, block: Rows) -> tuple[Array, Array]:
        return self._scaling.targets(block.y), np.where(block.present, self._norm, 0.0)


def _pieces(batch: Indices) -> Iterator[Indices]:
    """An empty batch is one empty piece, so that a rehearsal compiles what comes after it."""
    return (batch[start : start + AT_ONCE] for start in range(0, max(len(batch), 1), AT_ONCE))


def make_row_source(scaling: Scaling, data: BoundedData, *, stored: bool = False) -> ScaledRows:
    """Where a loop over batches gets its rows from.

    Parameters
    ----------
    scaling : Scaling
        Into the loop's units.
    data : BoundedData
        Rows that are there, or that can be computed.
    stored : bool, default=False
        Whether to keep even those that can be computed.
    """
    if data.longest is None or stored:
        return ScaledRows(store_rows(scaling, data))
    return _Computed(scaling, data)


def store_rows(scaling: Scaling, data: BoundedData) -> StoredRows:
    """All rows in a solver's units, ready for compiled loops.

    In single precision: half the memory and traffic, and what is stored *is* the row, so nothing
    else changes. Sums are taken in double precision (numerics.py).
    """
    around_zero = not scaling.center.any() and nearest_to_zero(data.bounds) is None
    if data.longest is None and data.sparse and around_zero:
        return _stored_sparse(scaling, data)
    n, p = data.n, len(scaling.center)
    rows = StoredRows(np.empty((n, p), np.float32), NONE, NONE, np.empty(n), np.empty(n))
    if data.longest is not None:
        _store_computed(scaling, data, data.longest, rows)
        return rows
    in_parts(-(-n // BLOCK_ROWS), partial(_store_blocks, scaling, data, rows), at_least=8)
    return rows


def _store_blocks(
    scaling: Scaling, data: BoundedData, stored: StoredRows, first: int, last: int
) -> None:
    """Rows of the blocks from `first` to before `last`."""
    start, center, inverse = first * BLOCK_ROWS, scaling.center, scaling.inverse_scale
    for rows in data.blocks(start, last * BLOCK_ROWS):
        own = slice(start, start + len(rows.y))
        norms, start = stored.norms[own], own.stop
        row_products.store_rows(rows.X, center, inverse, stored.values[own], norms)
        norms[:] = _lengths(scaling, norms, rows.present)
        stored.targets[own] = scaling.targets(rows.y)


def _store_computed(
    scaling: Scaling, data: BoundedData, longest: float, stored: StoredRows
) -> None:
    """Rows that come in single precision and no longer than is asked for."""
    start, (length, scale) = 0, _computed_scale(scaling, longest)
    for rows in data.single_blocks(length):
        own = slice(start, start + len(rows.y))
        np.multiply(rows.X, np.float32(1.0) if scale is None else scale, out=stored.values[own])
        stored.norms[own] = np.where(rows.present, _longest_row(scaling, longest), 0.0)
        stored.targets[own] = scaling.targets(rows.y)
        start = own.stop


def _computed_scale(scaling: Scaling, longest: float) -> tuple[float, NDArray[np.float32] | None]:
    """Length of the rows to compute, and what is left to multiply them by, if anything is.

    One scale for all features is part of what they are computed with.
    """
    scale = scaling.inverse_scale.astype(np.float32)
    if len(scale) and (scale == scale[0]).all():
        return longest * float(scale[0]), None
    return longest, scale


def _longest_row(scaling: Scaling, longest: float) -> float:
    """Upper bound of the length of rows that were at most `longest` long, in a solver's units.

    Rounding a product to single precision is off by 2^-24 of it, far less than this allows.
    """
    assert not scaling.center.any()
    scale = float(np.max(scaling.inverse_scale.astype(np.float32), initial=0.0))
    scaled = longest * scale * (1.0 + 2.0**-20)
    return math.hypot(scaled, scaling.intercept_value) * (1.0 + 2.0**-30)


def _stored_sparse(scaling: Scaling, data: BoundedData) -> StoredRows:
    present = data.present()
    rows, y = data.sparse_rows()
    columns = rows.indices.astype(np.int64)
    values = (rows.data * scaling.inverse_scale[columns]).astype(np.float32)
    starts = rows.indptr.astype(np.int64)
    owner = np.repeat(np.arange(len(y)), np.diff(starts))
    squares = np.bincount(owner, values.astype(np.float64) ** 2, len(y))
    norms = _lengths(scaling, np.asarray(squares, dtype=np.float64), present)
    if not len(columns):  # no entries at all would read as dense rows
        columns, values = np.zeros(1, np.int64), np.zeros(1, np.float32)
    return StoredRows(values[None, :], columns, starts, scaling.targets(y), norms)


def _lengths(scaling: Scaling, squares: Array, present: NDArray[np.bool_]) -> Array:
    """Upper bounds of lengths, the intercept's entry included; 0 for empty rows."""
    lengths = np.sqrt(squares + scaling.intercept_value**2) * (1.0 + 2.0**-30)
    return np.where(present, lengths, 0.0)
