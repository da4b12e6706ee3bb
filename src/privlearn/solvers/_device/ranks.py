"""Ranks of numbers on a device, and counts of how many lie between edges: NumPy's, bit by bit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privlearn._data.device import Namespace, to_host
from privlearn._data.device_data import DeviceData
from privlearn.solvers._common.histograms import slopes_of

__all__ = ["RankTables", "count_between"]

Array = NDArray[np.float64]
AT_ONCE = 2**22  # numbers


def _bins_of(xp: Namespace, X: Any, inner: Any) -> Any:  # noqa: ANN401
    """How many of its column's inner edges are at most each number; columns are rows of X."""
    if xp.kind == "torch":
        return xp.module.searchsorted(inner, X.contiguous(), right=True)
    found = xp.full(tuple(X.shape), 0, "int64")
    for k in range(int(inner.shape[1])):
        found = found + xp.astype(inner[:, k : k + 1] <= X, "int64")
    return found


@dataclass(frozen=True, eq=False)
class RankTables:
    """What `ranks_of` looks up, on a device: one row for each column of X."""

    xp: Namespace
    edges: Any
    ranks: Any
    slopes: Any
    inner: Any

    @classmethod
    def of(cls, xp: Namespace, edges: Array, ranks: Array) -> RankTables:
        """Tables where the rows are."""
        tables = edges, ranks, slopes_of(edges, ranks), edges[:, 1:-1]
        return cls(xp, *(xp.put(np.array(one)) for one in tables))

    def __call__(self, X: Any) -> Any:  # noqa: ANN401
        """Ranks of numbers, given by columns, in single precision as double."""
        xp, (columns, edges) = self.xp, self.edges.shape
        k, column = _bins_of(xp, X, self.inner), xp.put(np.arange(int(columns))[:, None])
        edge, rank = (xp.take(one, k + column * int(edges)) for one in (self.edges, self.ranks))
        slope = xp.take(self.slopes, k + column * (int(edges) - 1))
        between = slope * (X - edge) + rank
        last = self.edges[:, -1:], self.ranks[:, -1:]
        between = xp.where(last[0] <= X, last[1], between)
        between = xp.minimum(xp.maximum(between, self.ranks[:, :1]), last[1])
        return xp.astype(xp.astype(between, "float32"), "float64")


def count_between(data: DeviceData, edges: Array) -> Array:
    """How many rows are between which edges of each column.

    Parameters
    ----------
    data : DeviceData
        Bounded rows on a device.
    edges : array of shape (columns, bins + 1)
        In order; what is beyond the outer ones is in the outer bins.
    """
    xp, (columns, bins) = data.xp, (len(edges), edges.shape[1] - 1)
    low, high = (xp.put(np.array(end)[:, None]) for end in (data.bounds.low, data.bounds.high))
    inner = xp.put(np.ascontiguousarray(edges[:, 1:-1]))
    base = xp.put(np.arange(columns)[:, None] * bins)
    step, counts = max(1, AT_ONCE // columns), np.zeros(columns * bins, np.int64)
    for start in range(0, data.n, step):
        X = xp.astype(data.array[start : min(start + step, data.n), ...].T, "float64")
        k = _bins_of(xp, xp.minimum(xp.maximum(X, low), high), inner) + base
        counts += to_host(xp.bincount(k, columns * bins))
    return counts.reshape(columns, bins).astype(np.float64)
