"""Bounded rows as features of a map, computed when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privlearn._core.numerics import BLOCK_ROWS
from privlearn._core.problem import Bounds
from privlearn._data.bounded import BoundedData, Rows
from privlearn.kernel_model.feature_map import STRAIGHT, FeatureMap
from privlearn.solvers._common.fourier_map import Workspace
from privlearn.solvers._common.loops.sequential_sgd import Recipe

__all__ = ["MappedData", "mapped_rows"]


class ComputedBlock(NamedTuple):
    """Where features of a few rows are written, and what is needed on the way."""

    values: NDArray[np.float32]
    own: Workspace


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

    def single_blocks(self, length: float = 1.0) -> Iterator[Rows]:
        """All rows in order in single precision, few at a time; each block overwrites the last."""
        workspace = self.new_workspace()
        for rows in self.source.blocks():
            inputs = self.features.inputs(rows.X, self.n * self.source.n_features)
            yield from self.computed(Rows(inputs, rows.y, rows.present), length, workspace)

    def inputs_of(self, batch: NDArray[np.int64]) -> Iterator[Rows]:
        """What features of some rows are computed from, in the place of X.

        Ranks are found once, and kept in single precision: they are asked for again and again.
        """
        if self.features.ranks is not None:
            kept = self._ranked
            yield Rows(kept.X[batch], kept.y[batch], kept.present[batch])
        elif len(batch):
            yield from self.source.take(batch).blocks()
        else:
            yield Rows(np.empty((0, self.source.n_features)), np.empty(0), np.empty(0, np.bool_))

    @cached_property
    def _ranked(self) -> Rows:
        n, p, start = self.n, self.source.n_features, 0
        X, y = np.empty((n, p), np.float32), np.empty(n)
        present = np.empty(n, np.bool_)
        for rows in self.source.blocks():
            own = slice(start, start + len(rows.y))
            X[own], y[own] = self.features.inputs(rows.X, n * p), rows.y
            present[own], start = rows.present, own.stop
        return Rows(X, y, present)

    def new_workspace(self) -> ComputedBlock:
        """Memory for one thread that computes features."""
        size = min(self.features.rows_at_once, max(self.n, 1))
        values = np.empty((size, self.features.n_features_out), np.float32)
        return ComputedBlock(values, self.features.workspace())

    def computed(self, rows: Rows, length: float, workspace: ComputedBlock) -> Iterator[Rows]:
        """Features from inputs, few rows at a time and none longer than `length`.

        Each block overwrites the last.
        """
        size = self.features.rows_at_once
        for start in range(0, max(len(rows.y), 1), size):
            own = slice(start, start + size)
            some, present = rows.X[own], rows.present[own]
            X = workspace.values[: len(some)]
            self.features.write(some, X, workspace.own, length)
            if not present.all():
                X[~present] = 0.0
            yield Rows(X, rows.y[own], present)


def mapped_rows(source: BoundedData, features: FeatureMap, bounds: Bounds) -> BoundedData:
    """Rows of a source under a map whose images obey `bounds`, where the rows are."""
    if not source.on_device:
        return MappedData.of(source, features, bounds)
    from privlearn._data.device_data import DeviceData
    from privlearn.solvers._device.waves import WaveData

    assert isinstance(source, DeviceData)
    assert source.bounds.low is not None
    assert source.bounds.high is not None
    ranks = None
    if features.edges is not None and features.ranks is not None:
        ranks = features.edges, features.ranks, STRAIGHT
    return WaveData(
        table=source.table,
        bounds=bounds,
        fit_intercept=source.fit_intercept,
        array=source.array,
        numbers=source.numbers,
        xp=source.xp,
        frequencies=features.frequencies,
        box=(source.bounds.low, source.bounds.high),
        ranks=ranks,
    )
