"""Ranks of feature values, from noisy histograms: what makes one bandwidth fit every feature.

A row is in one bin of each feature's histogram. Edges come from the declared bounds alone: even
ones, and half powers of two around zero (around the middle of a box that excludes zero), so that
bounds may be far too wide. The map to ranks is piecewise linear; all of it post-processes counts.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from privlearn._core.jit import worth_compiling
from privlearn._core.numerics import BlockSum
from privlearn._core.problem import Bounds
from privlearn._data.bounded import BoundedData
from privlearn.kernel_model import loops
from privlearn.solvers._common.histograms import count_within, slopes_of

__all__ = ["BINS", "edges_of", "histograms", "ranks_from", "ranks_of"]

Array = NDArray[np.float64]
EVEN = 16
HALF_POWERS = 24  # on either side: down to 2^-12 of the bounds
BINS = EVEN + 2 * HALF_POWERS + 1  # loops.py has this number, too
SIGNIFICANT = 2.0  # counts below so many deviations of their noise are taken for noise
LEAST_SEEN = 0.5  # of the rows: with less in significant bins, ranks fill the bounds evenly


def edges_of(bounds: Bounds, n_features: int, fit_intercept: bool) -> Array:
    """Edges of the bins, (n_features, BINS + 1), increasing."""
    if bounds.low is not None and bounds.high is not None:
        low, high = bounds.low, bounds.high
    else:
        assert bounds.row_norm is not None
        limit = math.sqrt(bounds.row_norm**2 - float(fit_intercept))
        low, high = np.full(n_features, -limit), np.full(n_features, limit)
    low, high = low[:, None], high[:, None]
    anchor = np.where((low > 0.0) | (high < 0.0), low / 2 + high / 2, 0.0)
    reach = np.maximum(high - anchor, anchor - low)
    shrinking = math.sqrt(0.5) ** np.arange(HALF_POWERS)
    around = np.clip(anchor + reach * np.append(-shrinking, shrinking), low, high)
    even = np.linspace(0.0, 1.0, EVEN + 1)[1:-1]
    evenly = low * (1.0 - even) + high * even
    return np.sort(np.hstack([low, around, evenly, anchor, high]), axis=1)


def histograms(data: BoundedData, edges: Array) -> Array:
    """How many rows are in which bin of each feature, (n_features, BINS); a secret."""
    if data.on_device:
        from privlearn._data.device_data import DeviceData
        from privlearn.solvers._device.ranks import count_between

        assert isinstance(data, DeviceData)
        return count_between(data, edges)
    compiled = worth_compiling(data.n * len(edges))
    total, counts = BlockSum((len(edges), BINS)), np.zeros((len(edges), BINS))
    for rows in data.blocks():
        X = rows.X if rows.present.all() else rows.X[rows.present]
        if compiled:
            loops.count_between(X, edges, counts)  # whole numbers: exact
        else:
            total.add(count_within(X, edges))
    total.add(counts)
    return total.value()


def ranks_of(
    X: NDArray[np.floating], edges: Array, ranks: Array, *, compiled: bool
) -> NDArray[np.float32]:
    """Ranks of values, linear between those of the edges, in single precision.

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
        Bounded values.
    edges, ranks : array of shape (n_features, BINS + 1)
        From `edges_of` and `ranks_from`.
    compiled : bool
        Which form is used; both give the same bits.
    """
    found, slopes = np.empty(X.shape, np.float32), slopes_of(edges, ranks)
    if compiled:
        loops.write_ranks(X, edges, ranks, slopes, found)
        return found
    for j, (own, of_own, slope) in enumerate(zip(edges, ranks, slopes, strict=True)):
        k = np.searchsorted(own[1:-1], X[:, j], side="right")
        with np.errstate(all="ignore"):
            between = slope[k] * (X[:, j] - own[k]) + of_own[k]
        between[X[:, j] >= own[-1]] = of_own[-1]
        found[:, j] = np.clip(between, of_own[0], of_own[-1])
    return found


def ranks_from(counts: Array, noise: float, edges: Array) -> Array:
    """Rank of each edge, from -1 to 1, by noisy counts; even where counts say nothing.

    Parameters
    ----------
    counts : array of shape (n_features, BINS)
        Noisy.
    noise : float
        Standard deviation of the noise on a count.
    edges : array of shape (n_features, BINS + 1)
        From `edges_of`.
    """
    kept = np.where(counts > SIGNIFICANT * noise, counts, 0.0)
    seen = kept.sum(axis=1)
    rows = max(float(np.median(counts.sum(axis=1))), 1.0)
    widest = np.maximum(np.abs(edges).max(axis=1, keepdims=True), 1e-300)
    widths = np.diff(edges / widest, axis=1)  # 1e308 has room for one width, not for their sum
    even = widths / np.maximum(widths.sum(axis=1, keepdims=True), 1e-300)
    shares = np.divide(kept, seen[:, None], out=even.copy(), where=seen[:, None] > 0)
    shares = np.where((seen > LEAST_SEEN * rows)[:, None], shares, even)
    ranks = np.zeros_like(edges)
    ranks[:, 1:] = np.cumsum(shares, axis=1)
    return np.clip(2.0 * ranks - 1.0, -1.0, 1.0)
