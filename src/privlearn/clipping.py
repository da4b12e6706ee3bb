"""Rows within limits: each is clipped on its own, to a box first and to a norm then."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privlearn.problem import Bounds

__all__ = ["clip_rows", "within"]

Array = NDArray[np.float64]


def within(X: Any, bounds: Bounds | None, fit_intercept: bool) -> Any:  # noqa: ANN401
    """Rows to predict from, as `bound` would make them; X itself where there are no limits."""
    if bounds is None or (bounds.low is None and bounds.row_norm is None):
        return X
    rows = np.array(X if isinstance(X, np.ndarray) else X.toarray(), dtype=np.float64)
    if bounds.low is not None:
        np.clip(rows, bounds.low, bounds.high, out=rows)
    if bounds.row_norm is not None:
        clip_rows(rows, bounds.row_norm, fit_intercept)
    return rows


def clip_rows(X: Array, row_norm: float, fit_intercept: bool) -> None:
    """Shrink rows in place until |(1, x)| <= row_norm, or |x| <= row_norm without intercept.

    The limit is lowered by 2^-40 of itself, far more than rounding can add, so that the norm holds
    in exact arithmetic. Norms that decide are taken relative to the largest entry: 1e308 does not
    overflow. Rows that are clearly short enough are left alone after one look.
    """
    limit = math.sqrt(row_norm**2 - 1.0) if fit_intercept else row_norm
    limit *= 1.0 - 2.0**-40
    with np.errstate(over="ignore"):
        squares = np.einsum("ij,ij->i", X, X)
    doubtful = ~(squares <= (limit * (1.0 - 2.0**-30)) ** 2)  # an overflow is doubtful, too
    if doubtful.any():
        X[doubtful] = _shortened(X[doubtful], limit)


def _shortened(X: Array, limit: float) -> Array:
    """The rows, those longer than `limit` scaled down to it."""
    largest = np.abs(X).max(axis=1, initial=0.0)
    safe = np.where(largest > 0, largest, 1.0)
    relative = X / safe[:, None]
    length = np.sqrt(np.einsum("ij,ij->i", relative, relative))  # norm of the row over `safe`
    with np.errstate(over="ignore"):
        too_long = length > limit / safe
    X[too_long] = relative[too_long] * (limit / length[too_long])[:, None]
    return X
