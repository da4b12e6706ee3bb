"""Rows that come by columns and whose gradients are asked for once: they are not stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privlearn.solvers._common.integer_rows import IntegerRows, block_rows
from privlearn.solvers._common.loops import integer_rows as loops
from privlearn.solvers._common.loops.column_gradients import add_column_gradients

__all__ = ["ColumnRows"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class ColumnRows(IntegerRows):
    """As `IntegerRows`, for gradients alone; each row is an integer one while it is added.

    Attributes
    ----------
    columns : sequence of arrays
        Numbers as they were read, in single or double precision.
    y : array
        Targets as they were read.
    facts : array of shape (n_features, 6)
        What makes a number of each feature an integer: its ends and `integer_facts`.
    seconds : array of shape (n_features,)
        Second columns of wide features, -1 elsewhere.
    """

    columns: Sequence[NDArray[np.floating]]
    y: Array
    facts: Array
    seconds: NDArray[np.int64]

    def _gradients(
        self,
        first: int,
        last: int,
        how: tuple[int, float, float],
        weights: Array,
        per_unit: float,
        reach: float,
    ) -> list[int]:
        """Exact sums over all rows: of each column times the slopes, then of the slopes."""
        upper, lower = np.zeros((2, len(self.exponents) + 1), np.int64)
        held = [np.require(column, requirements=("C", "ALIGNED")) for column in self.columns]
        if any(len(one) != len(self.y) or one.dtype.kind != "f" for one in held):
            raise ValueError("columns of a batch are not numbers for each of its rows")
        places = [(one.__array_interface__["data"][0], one.itemsize) for one in held]
        columns = np.array(places, dtype=np.int64).reshape(len(held), 2)
        size = block_rows(len(self.exponents), len(self.y), compiled=True)
        units = *self.target_units, self.intercept_value
        rows = columns, self.y, self.facts, self.seconds, size, units
        add_column_gradients(rows, how, weights, per_unit, reach, upper, lower)
        return [
            (int(high) << loops.LIMB) + int(low) for high, low in zip(upper, lower, strict=True)
        ]
