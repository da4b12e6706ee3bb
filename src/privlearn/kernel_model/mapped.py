"""Bounded rows as features of a map, computed when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privlearn._core.numerics import BLOCK_ROWS
from privlearn._core.problem import Bounds
from privlearn._data.bounded import BoundedData, Rows
from privlearn.kernel_model.feature_map import FeatureMap
from privlearn.solvers._common.loops.sequential_sgd import Recipe

__all__ = ["MappedData"]


@dataclass(frozen=True, eq=False)
class MappedData(BoundedData):
    """The rows of `source`, seen through a map that depends on public and released values alone."""

    source: BoundedData
    features: FeatureMap

    longest: ClassVar[float | None] = 1.0  # of a row's features

    @classmethod
    def of(cls, source: BoundedData, features: FeatureMap, bounds: Bounds) -> MappedData:
        """Rows of a source under a map whose images obey `bounds`."""
        return cls(source.table, bounds, source.fit_intercept, source, features)

    @property
    def n_features(self) -> int:
        """How many features the map computes."""
        return self.features.n_features_out

    @property
    def sparse(self) -> bool:
        """Features are dense."""
        return False

    def take(self, rows: NDArray[np.int64]) -> MappedData:
        """Some of the rows, in the order given."""
        return MappedData.of(self.source.take(rows), self.features, self.bounds)

    def recipe(self, scale: float) -> Recipe | None:
        """How a loop computes the features of the source's rows, times `scale`, where it can."""
        return self.features.recipe(scale)

    def blocks(
        self, first: int = 0, last: int | None = None, at_once: int = BLOCK_ROWS
    ) -> Iterator[Rows]:
        """All rows in order, or those between, some at a time, in double precision."""
        for rows in self.source.blocks(first, last, at_once):
            X = self.features.transform(rows.X)
            X[~rows.present] = 0.0
            yield Rows(X, rows.y, rows.present)

    def single_blocks(self) -> Iterator[Rows]:
        """All rows in order in single precision, few at a time; each block overwrites the last."""
        size, workspace = self.features.rows_at_once, self.features.workspace()
        values = np.empty((min(size, self.n), self.features.n_features_out), np.float32)
        for rows in self.source.blocks():
            inputs = self.features.inputs(rows.X)
            for start in range(0, len(rows.y), size):
                own = slice(start, start + size)
                some, present = inputs[own], rows.present[own]
                X = values[: len(some)]
                self.features.write(some, X, workspace)
                X[~present] = 0.0
                yield Rows(X, rows.y[own], present)
