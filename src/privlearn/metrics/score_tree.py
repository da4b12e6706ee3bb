"""Histograms of scores by class, coarse and fine: noise that hardly grows with the resolution.

The axis of scores is cut into 4 bins, each of them into 4, and so on. A row is in one bin of every
level. What changes slowly along the axis is read off the coarse levels, which have most of the
budget, and each finer level adds only the differences within a bin: proof.md, section 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from privlearn._core.norms import ONE_BIN
from privlearn._core.plan import Release
from privlearn.metrics.parts import Released
from privlearn.metrics.predictions import Predicted

__all__ = ["BINS", "Leaves", "edges", "release_of", "tree_releases", "tree_sums"]

Array = NDArray[np.float64]
BRANCHES, LEVELS = 4, 6
DECAY = 0.5  # of the share of a level, from one to the next finer one
SPREAD = 2.0  # log-odds are divided by it before they are squeezed into (0, 1)
BINS = tuple(BRANCHES ** (level + 1) for level in range(LEVELS))
LEAST_VARIANCE = 1e-12


@cache
def _edges(spread: float) -> Array:
    """Probabilities between the finest bins, increasing; 1/2 is among them."""
    places = np.arange(1, BINS[-1]) / BINS[-1]
    odds = (places / (1.0 - places)) ** spread
    return np.asarray(odds / (1.0 + odds))


def edges() -> Array:
    """The same, by the rule."""
    return _edges(SPREAD)


def release_of(level: int) -> str:
    """The name of a level's release."""
    return f"scores by class, {BINS[level]} bins"


def tree_releases() -> list[tuple[Release, float]]:
    """A release for each level: both classes are one histogram, for a row has one class."""
    parts = DECAY ** np.arange(LEVELS)
    shares = (parts / parts.sum()).tolist()
    return [
        (Release(release_of(level), (2, bins), clip=1.0, norm=ONE_BIN), share)
        for level, (bins, share) in enumerate(zip(BINS, shares, strict=True))
    ]


def tree_sums(rows: Predicted) -> dict[str, Array]:
    """Counts of a block of rows."""
    places = np.searchsorted(edges(), rows.answers[rows.present, 0], side="left")
    cells = rows.target[rows.present].astype(np.int64) * BINS[-1] + places
    counts = np.bincount(cells, minlength=2 * BINS[-1]).astype(np.float64)
    return {
        release_of(level): counts.reshape(2, bins, -1).sum(axis=2)
        for level, bins in enumerate(BINS)
    }


class Leaves:
    """Counts of the finest bins, by least squares from all levels, and how noisy sums of them are.

    Parameters
    ----------
    released : Released
        With the counts of every level.
    """

    def __init__(self, released: Released) -> None:
        names = [release_of(level) for level in range(LEVELS)]
        self._variances = [max(released.noise[name] ** 2, LEAST_VARIANCE) for name in names]
        self.counts = _consistent([released.sums[name] for name in names], self._variances)

    def covariance(self, first: Array, second: Array) -> float:
        """Of the noise of two weighted sums of one class's leaves.

        The least-squares estimate has the covariance (H' S^-1 H)^-1, H the sums of leaves that the
        levels observe and S their noise; an observation of S w at the leaves, and of zeros above,
        is solved by that matrix times w.
        """
        nothing = [np.zeros((1, bins)) for bins in BINS[:-1]]
        observed = [*nothing, self._variances[-1] * second[None, :]]
        return float(first @ _consistent(observed, self._variances)[0])

    def at(self, level: int) -> Array:
        """Counts of a level's bins, of shape (2, bins)."""
        return self.counts.reshape(2, BINS[level], -1).sum(axis=2)

    def even(self, level: int) -> Array:
        """Counts of the leaves if those of a level's bins were spread evenly over their leaves."""
        within = BINS[-1] // BINS[level]
        return np.repeat(self.at(level) / within, within, axis=1)

    def matrix(self, level: int) -> Array:
        """Covariance of the noise on one class's counts of a level's bins."""
        within = np.kron(np.eye(BINS[level]), np.ones(BINS[-1] // BINS[level]))
        nothing = [np.zeros((BINS[level], bins)) for bins in BINS[:-1]]
        observed = [*nothing, self._variances[-1] * within]
        solved = _consistent(observed, self._variances)
        return np.asarray(solved.reshape(BINS[level], BINS[level], -1).sum(axis=2))

    @cached_property
    def variances(self) -> list[float]:
        """Of the noise on one count, by level."""
        found = []
        for bins in BINS:
            first = np.zeros(BINS[-1])
            first[: BINS[-1] // bins] = 1.0
            found.append(self.covariance(first, first))
        return found


def _consistent(levels: Sequence[Array], variances: Sequence[float]) -> Array:
    """Least squares: upwards, weighted means of a count and its children's sum; down, what is left.

    Hay, Rastogi, Miklau and Suciu 2010, Theorem 3, for noise that differs by level.
    """
    estimates, spread = [levels[-1]], variances[-1]
    for own, variance in zip(levels[-2::-1], variances[-2::-1], strict=True):
        below = _sums(estimates[-1])
        weight = variance / (variance + BRANCHES * spread)  # of what the children say
        estimates.append(weight * below + (1.0 - weight) * own)
        spread = weight * BRANCHES * spread
    final = estimates[-1]
    for estimate in estimates[-2::-1]:
        left = (final - _sums(estimate)) / BRANCHES
        final = estimate + np.repeat(left, BRANCHES, axis=1)
    return final


def _sums(counts: Array) -> Array:
    return np.asarray(counts.reshape(len(counts), -1, BRANCHES).sum(axis=2))
