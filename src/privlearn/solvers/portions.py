"""Rows of batches for compiled loops: all stored beforehand, or computed when their turn comes.

Random features of a million rows do not fit into memory; rows that are visited in batches need not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from privlearn.data import BoundedData
from privlearn.data import Rows as Block
from privlearn.numerics import BlockSum
from privlearn.solvers.coordinates import Coordinates

if TYPE_CHECKING:
    from privlearn._loops.sgd import Model
    from privlearn._loops.sums import StoredRows

__all__ = ["RowSource", "gradient_sum", "rows_in_turn"]

Array = NDArray[np.float64]
Rows = NDArray[np.int64]
AT_ONCE = 4096  # rows that are fetched together
NONE = np.empty(0, np.int64)


class RowSource(Protocol):
    """Hands out the rows of a batch."""

    @property
    def stored(self) -> StoredRows | None:
        """All rows, where they are in memory."""

    def portions(self, batch: Rows) -> Iterator[tuple[StoredRows, Rows]]:
        """Stored rows, and which of them come next, until the batch is through.

        Use a portion before asking for the next, which may overwrite it.
        """


class _Stored:
    """Rows that are all in memory."""

    def __init__(self, rows: StoredRows) -> None:
        self.stored = rows

    def portions(self, batch: Rows) -> Iterator[tuple[StoredRows, Rows]]:
        """All at once."""
        yield self.stored, batch


class _Computed:
    """Rows that are computed when their turn comes, few at a time."""

    stored = None

    def __init__(self, coordinates: Coordinates, data: BoundedData) -> None:
        assert data.longest is not None
        assert not coordinates.center.any()
        self._coordinates = coordinates
        self._data = data
        scale = coordinates.inverse_scale.astype(np.float32)
        self._scale = scale[0] if (scale == scale[0]).all() else scale  # one number is faster
        # As in Coordinates.stored: far more than rounding can add.
        length = data.longest * float(np.max(scale)) * (1.0 + 2.0**-20)
        self._norm = math.sqrt(length**2 + coordinates.unit**2) * (1.0 + 2.0**-30)

    def portions(self, batch: Rows) -> Iterator[tuple[StoredRows, Rows]]:
        """So few at a time that they stay near the processor; each portion overwrites the last."""
        order = np.arange(AT_ONCE, dtype=np.int64)
        for start in range(0, len(batch), AT_ONCE):
            for block in self._data.take(batch[start : start + AT_ONCE]).single_blocks():
                yield self._in_place(block), order[: len(block.y)]

    def _in_place(self, block: Block) -> StoredRows:
        """A block in the loop's coordinates, in the memory that it came in."""
        from privlearn._loops.sums import StoredRows

        values = np.multiply(block.X, self._scale, out=block.X)
        targets = (block.y - self._coordinates.target_center) / self._coordinates.target_scale
        norms = np.where(block.present, self._norm, 0.0)
        return StoredRows(values, NONE, NONE, targets, norms)


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
    from privlearn._loops.sgd import batch_sum

    total, part, none = BlockSum(weights.shape), np.empty(weights.size), np.empty((0, 1))
    for some, own in rows.portions(batch):
        batch_sum(some, own, model, model.clip, weights, none, 0.0, part)
        total.add(part)
    return total.value()
