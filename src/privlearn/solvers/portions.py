"""Rows of batches for compiled loops: all stored beforehand, or computed when their turn comes.

Random features of a million rows do not fit into memory; rows that are visited in batches need not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from privlearn.data import BoundedData
from privlearn.solvers.coordinates import Coordinates

if TYPE_CHECKING:
    from privlearn._loops.sums import StoredRows

__all__ = ["RowSource", "rows_in_turn"]

Rows = NDArray[np.int64]


class RowSource(Protocol):
    """Hands out the rows of a batch."""

    def portions(self, batch: Rows) -> Iterator[tuple[StoredRows, Rows]]:
        """Stored rows, and which of them come next, until the batch is through."""


class _Stored:
    """Rows that are all in memory."""

    def __init__(self, rows: StoredRows) -> None:
        self._rows = rows

    def portions(self, batch: Rows) -> Iterator[tuple[StoredRows, Rows]]:
        """All at once."""
        yield self._rows, batch


def rows_in_turn(coordinates: Coordinates, data: BoundedData) -> RowSource:
    """Where a loop over batches gets its rows from."""
    return _Stored(coordinates.stored(data))
