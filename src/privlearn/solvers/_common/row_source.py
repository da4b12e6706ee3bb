"""Rows of batches for compiled loops: all stored beforehand, or computed when their turn comes.

Random features of a million rows do not fit into memory; rows that are visited in batches need not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from privlearn._core.numerics import BlockSum
from privlearn._data.bounded import BoundedData
from privlearn._data.bounded import Rows as Block
from privlearn.solvers._common.coordinates import Coordinates

if TYPE_CHECKING:
    from privlearn.solvers._common.loops.row_products import StoredRows
    from privlearn.solvers._common.loops.sequential_sgd import ComputedRows, Recipe
    from privlearn.solvers._common.loops.sgd import Model

__all__ = ["RowSource", "gradient_sum", "rows_in_turn"]

Array = NDArray[np.float64]
Rows = NDArray[np.int64]
AT_ONCE = 4096  # rows that are fetched together
NONE = np.empty(0, np.int64)


class RowSource(Protocol):
    """Hands out the rows of a batch. Use a portion before the next, which may overwrite it."""

    @property
    def stored(self) -> StoredRows | None:
        """All rows, where they are in memory."""

    def portions(self, batch: Rows) -> Iterator[tuple[StoredRows | ComputedRows, Rows]]:
        """Rows for `visit_rows`, and which of them come next, until the batch is through."""

    def stored_portions(self, batch: Rows) -> Iterator[tuple[StoredRows, Rows]]:
        """Rows for any loop, and which of them come next, until the batch is through."""


@runtime_checkable
class _WithRecipe(Protocol):
    """Rows whose features a compiled loop may compute itself, from the rows of a source."""

    source: BoundedData

    def recipe(self, scale: float) -> Recipe | None: ...


class _Stored:
    """Rows that are all in memory."""

    def __init__(self, rows: StoredRows) -> None:
        self.stored = rows

    def stored_portions(self, batch: Rows) -> Iterator[tuple[StoredRows, Rows]]:
        """All at once."""
        yield self.stored, batch

    portions = stored_portions


class _Computed:
    """Rows that are computed when their turn comes, few at a time."""

    stored = None

    def __init__(self, coordinates: Coordinates, data: BoundedData) -> None:
        assert data.longest is not None
        assert not coordinates.center.any()
        self._coordinates = coordinates
        self._data = data
        scale = coordinates.inverse_scale.astype(np.float32)
        self._norm = coordinates.longest_of(data.longest)
        one_for_all = bool((scale == scale[0]).all())
        self._scale = scale[:1] if one_for_all else scale  # one number is faster
        self._recipe = (
            data.recipe(float(scale[0])) if one_for_all and isinstance(data, _WithRecipe) else None
        )

    def portions(self, batch: Rows) -> Iterator[tuple[StoredRows | ComputedRows, Rows]]:
        """What rows are computed from, where loops can do that; else the rows."""
        from privlearn.solvers._common.loops.sequential_sgd import ComputedRows

        if self._recipe is None:
            yield from self.stored_portions(batch)
            return
        assert isinstance(self._data, _WithRecipe)
        for some in _pieces(batch):
            for block in self._data.source.take(some).blocks():
                targets, norms = self._targets_and_norms(block)
                order = np.arange(len(targets), dtype=np.int64)
                inputs = np.asarray(block.X, dtype=np.float64)
                yield ComputedRows(self._recipe, inputs, targets, norms), order

    def stored_portions(self, batch: Rows) -> Iterator[tuple[StoredRows, Rows]]:
        """So few at a time that they stay near the processor, scaled in their own memory."""
        from privlearn.solvers._common.loops.row_products import StoredRows

        for some in _pieces(batch):
            for block in self._data.take(some).single_blocks():
                targets, norms = self._targets_and_norms(block)
                values = np.multiply(block.X, self._scale, out=block.X)
                order = np.arange(len(targets), dtype=np.int64)
                yield StoredRows(values, NONE, NONE, targets, norms), order

    def _targets_and_norms(self, block: Block) -> tuple[Array, Array]:
        return self._coordinates.targets(block.y), np.where(block.present, self._norm, 0.0)


def _pieces(batch: Rows) -> Iterator[Rows]:
    return (batch[start : start + AT_ONCE] for start in range(0, len(batch), AT_ONCE))


def rows_in_turn(coordinates: Coordinates, data: BoundedData, *, stored: bool = False) -> RowSource:
    """Where a loop over batches gets its rows from.

    Parameters
    ----------
    coordinates : Coordinates
        Of the loop.
    data : BoundedData
        Rows that are there, or that can be computed.
    stored : bool, default=False
        Whether to keep even those that can be computed.
    """
    if data.longest is None or stored:
        return _Stored(coordinates.stored(data))
    return _Computed(coordinates, data)


def gradient_sum(rows: RowSource, batch: Rows, model: Model, weights: Array) -> Array:
    """Sum over a batch of gradients, each shortened to the model's clip; a secret."""
    from privlearn.solvers._common.loops.sgd import batch_sum

    total, part, none = BlockSum(weights.shape), np.empty(weights.size), np.empty((0, 1))
    for some, own in rows.stored_portions(batch):
        batch_sum(some, own, model, model.clip, weights, none, 0.0, part)
        total.add(part)
    return total.value()
