"""Rows in the units of "boosted", and their residuals: all of it secret."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from privlearn._data.bounded import BoundedData, Rows
from privlearn._data.clipping import clip_rows
from privlearn.solvers._common.histograms import count_magnitudes
from privlearn.solvers.base import Solution
from privlearn.solvers.boosted.rules import BINS, TOP, Settings

__all__ = ["BoostedRows"]

Array = NDArray[np.float64]
KEPT = 5e7  # numbers that are kept in memory instead of being computed in every round


class BoostedRows:
    """Bounded rows, clipped and scaled as the settings say; empty rows are all zeros."""

    def __init__(self, settings: Settings, data: BoundedData) -> None:
        self._settings = settings
        self._data = data
        self.scaling = settings.scaling
        self._kept: list[tuple[Array, Array]] | None = None

    def residual_magnitudes(self, weights: Array) -> Array:
        """How many residuals lie between two powers of two; zeros, as of empty rows, in none."""
        counts = np.zeros(BINS)
        for Z, y in self.blocks():
            counts += count_magnitudes(y - _scores(Z, weights), TOP, BINS)
        return counts

    def clipped_errors(self, weights: Array, clip: float) -> Iterator[tuple[Array, Array]]:
        """Rows, and their residuals clipped and divided by the clip."""
        for Z, y in self.blocks():
            yield Z, np.clip(y - _scores(Z, weights), -clip, clip) / clip

    def blocks(self) -> Iterator[tuple[Array, Array]]:
        """Rows of (1, x), and y, in these units."""
        if self._kept is None and self._data.n * self._settings.width <= KEPT:
            self._kept = [self._scaled(rows) for rows in self._data.blocks()]
        if self._kept is not None:
            return iter(self._kept)
        return (self._scaled(rows) for rows in self._data.blocks())

    def _scaled(self, rows: Rows) -> tuple[Array, Array]:
        X, limits = np.array(rows.X, dtype=np.float64), self._settings.limits
        if limits is not None and limits.row_norm is not None:
            clip_rows(X, limits, self.scaling.intercept_value > 0)
        Z = self.scaling.moment_rows(Rows(X, rows.y, rows.present))
        return Z[:, :-1], Z[:, -1]

    def to_user_units(self, weights: Array) -> Solution:
        """The model in the units of X and y, with the limits that it was learned with."""
        own = np.roll(weights, len(self.scaling.center) - len(weights))[None, :]  # intercept last
        found = self.scaling.to_user_units(own, by_division=True)
        return Solution(found.coef, found.intercept, clip_bounds=self._settings.limits)


def _scores(Z: Array, weights: Array) -> Array:
    """Rows times weights, each row by itself: a matrix product lets its last bits depend on others.

    BLAS adds up a row in another order when other rows come before it, and residuals are clipped
    far below the size of scores.
    """
    return np.asarray(np.einsum("ij,j->i", Z, weights))
