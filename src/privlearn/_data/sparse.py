"""Sparse rows under declared bounds, without ever making them dense."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from privlearn._core.problem import Bounds
from privlearn._data.clipping import feature_limit

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["bounded_csr"]


def bounded_csr(
    X: csr_array, bounds: Bounds, fit_intercept: bool, present: NDArray[np.bool_]
) -> csr_array:
    """A float64 copy of X with every row inside box and norm.

    Each row is treated on its own, box first; rows that are not present become all zeros.
    """
    rows = X.astype(np.float64, copy=True)
    rows.sum_duplicates()
    starts = np.asarray(rows.indptr, dtype=np.int64)
    owner = np.repeat(np.arange(rows.shape[0]), np.diff(starts))
    rows.data[~present[owner]] = 0.0
    if bounds.low is not None and bounds.high is not None:
        np.clip(rows.data, bounds.low[rows.indices], bounds.high[rows.indices], out=rows.data)
    if bounds.row_norm is not None:
        limit = feature_limit(bounds.row_norm, rows.shape[1], fit_intercept)
        _shorten(rows.data, owner, rows.shape[0], limit)
    return rows


def _shorten(values: NDArray[np.float64], owner: NDArray[np.int64], n: int, limit: float) -> None:
    """Scale rows longer than `limit` down to it, relative to their largest entry."""
    largest = np.zeros(n)
    np.maximum.at(largest, owner, np.abs(values))
    safe = np.where(largest > 0, largest, 1.0)
    relative = values / safe[owner]
    length = np.sqrt(np.bincount(owner, relative * relative, n))
    with np.errstate(over="ignore"):
        too_long = (length > limit / safe)[owner]
    values[too_long] = relative[too_long] * (limit / length[owner[too_long]])
