"""What a descent asks of all rows together: magnitudes first, then sums in units of the scales.

Dense rows of a loss whose gradient is a slope times the row become integers, whose sums are exact.
All others are kept in single precision, with sums within the error of numerics.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from privlearn._core.numerics import BLOCK_ROWS, BlockSum
from privlearn._core.problem import Problem
from privlearn._data.bounded import BoundedData
from privlearn.solvers._common.counting import count_magnitudes
from privlearn.solvers._common.integer_rows import IntegerRows, has_integer_slopes, store_integers
from privlearn.solvers._common.loops import histograms, row_products, sgd
from privlearn.solvers._common.loops.row_products import StoredRows
from privlearn.solvers._common.objective import Objective
from privlearn.solvers._common.row_source import store_rows
from privlearn.solvers._common.scaling import Scaling
from privlearn.solvers.coordinate_descent.rules import Settings

if TYPE_CHECKING:
    from privlearn.solvers._common.source_sums import SourceIntegers

__all__ = ["FloatRows", "Unscaled", "unscaled_rows"]

Array = NDArray[np.float64]
NONE = np.empty(0, np.int64)


class Unscaled(Protocol):
    """Rows whose features lie in [-1, 1], before their scales are known."""

    def count_features(self, counts: Array) -> None:
        """Write how many rows lie between two powers of two below 1, of each feature; a secret."""

    def count_targets(self, counts: Array) -> None:
        """The same of the target."""

    def divided(self, scales: Array) -> FloatRows | IntegerRows | SourceIntegers:
        """The rows with each feature divided by its scale."""


def unscaled_rows(
    problem: Problem, settings: Settings, plain: Scaling, data: BoundedData
) -> Unscaled:
    """Rows that will be integers, where these do, or that are stored at once."""
    whole = settings.mode == "all" and data.longest is None and not data.sparse
    whole = whole and not settings.intervals  # whose moments are of rows as they are stored
    if whole and has_integer_slopes(problem.loss):
        return _WillBeIntegers(plain, data)
    return _Stored(plain, store_rows(plain, data), data.present())


@dataclass(frozen=True, eq=False)
class _WillBeIntegers:
    """Rows that are not stored before their scales are known, and then once."""

    plain: Scaling
    data: BoundedData

    def count_features(self, counts: Array) -> None:
        center, inverse = self.plain.center, self.plain.inverse_scale
        counts[:] = count_magnitudes(self.data, "features", center, inverse, counts.shape[1])

    def count_targets(self, counts: Array) -> None:
        center, inverse = self.plain.target_center, 1.0 / self.plain.target_scale
        facts = np.array([center]), np.array([inverse])
        counts[:] = count_magnitudes(self.data, "target", *facts, counts.shape[1])

    def divided(self, scales: Array) -> IntegerRows | SourceIntegers:
        scaled = self.plain.divided(scales, np.ones(len(scales)))
        if self.data.in_passes:
            from privlearn._data.source_data import SourceData
            from privlearn.solvers._common.source_sums import SourceIntegers

            assert isinstance(self.data, SourceData)
            return SourceIntegers(scaled, 1.0 / scales, self.data)
        if self.data.on_device:
            from privlearn._data.device_data import DeviceData
            from privlearn.solvers._device.rows import store_on_device

            assert isinstance(self.data, DeviceData)
            return store_on_device(scaled, 1.0 / scales, self.data)
        return store_integers(scaled, 1.0 / scales, self.data)


@dataclass(frozen=True, eq=False)
class _Stored:
    plain: Scaling
    stored: StoredRows
    present: NDArray[np.bool_]

    def count_features(self, counts: Array) -> None:
        values, columns, starts, _, _ = self.stored
        histograms.count_magnitudes(values, columns, starts, self.present, counts)

    def count_targets(self, counts: Array) -> None:
        targets = self.stored.targets[:, None]
        histograms.count_magnitudes(targets, NONE, NONE, self.present, counts)

    def divided(self, scales: Array) -> FloatRows:
        row_products.rescale_rows(self.stored, 1.0 / scales, self.plain.intercept_value)
        return FloatRows(self.stored, self.present, len(scales), self.plain.intercept_value)


@dataclass(frozen=True, eq=False)
class FloatRows:
    """Rows in single precision, dense or sparse, in units of their scales."""

    stored: StoredRows
    present: NDArray[np.bool_]
    n_features: int
    intercept_value: float

    def gradient_sum(self, objective: Objective, weights: Array, clip: float) -> Array:
        """Sum of the gradients of all rows, each shortened to the clip; a secret."""
        everyone, found = np.arange(len(self.present)), np.empty(len(weights))
        sgd.clipped_sum(self.stored, everyone, objective.compiled(clip), weights, found)
        return found

    def count_lengths(
        self, objective: Objective, weights: Array, longest: float, bins: int
    ) -> Array:
        """How many gradients lie in which half power of two below the longest; a secret."""
        counts, compiled = np.zeros(bins), objective.compiled(clip=1.0)
        histograms.count_lengths(self.stored, self.present, compiled, weights, longest, counts)
        return counts

    def second_moments(self, longest: float) -> Array:
        """Sum of v v' / longest^2 over rows v, each shortened to that length; a secret."""
        size = self.n_features + bool(self.intercept_value)
        if self.stored.columns.size:
            from privlearn.solvers._common.sparse_moments import sparse_moments

            return sparse_moments(self.stored, size, self.intercept_value, longest)
        sums = BlockSum((size, size))
        for u in self._dense_blocks(size):
            squares = np.einsum("ij,ij->i", u, u)
            u *= np.sqrt((1.0 - 2.0**-30) / np.maximum(squares, longest**2))[:, None]
            sums.add(u.T @ u)
        return sums.value()

    def _dense_blocks(self, width: int) -> Iterator[Array]:
        """Blocks in double precision with the intercept's entry; empty rows are zeros."""
        rows, n = self.stored, len(self.present)
        for start in range(0, n, BLOCK_ROWS):
            own = slice(start, min(start + BLOCK_ROWS, n))
            block = np.empty((own.stop - start, width))
            block[:, : self.n_features] = rows.values[own]
            block[:, self.n_features :] = self.intercept_value
            block[~self.present[own]] = 0.0
            yield block
