"""Rows within limits: each is clipped on its own, to a box first and to a norm then.

Clipping to the norm shrinks a row towards the point of the box that is nearest to zero, which is
zero itself where the box holds it. Both box and ball are convex, and that point lies in both, so a
clipped row obeys *both* limits: solvers that centre a box rely on it (algorithms.md, section 9).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privlearn._core.problem import Bounds, feature_norm, nearest_to_zero
from privlearn._data.reading import Features

__all__ = ["clip_rows", "feature_limit", "within"]

Array = NDArray[np.float64]


def within(X: Features, bounds: Bounds | None, fit_intercept: bool) -> Features:
    """Rows to predict from, as `bound` would make them; X itself where there are no limits."""
    if bounds is None or (bounds.low is None and bounds.row_norm is None):
        return X
    rows = np.array(X if isinstance(X, np.ndarray) else X.toarray(), dtype=np.float64)
    if bounds.low is not None:
        np.clip(rows, bounds.low, bounds.high, out=rows)
    if bounds.row_norm is not None:
        clip_rows(rows, bounds, fit_intercept)
    return rows


def feature_limit(row_norm: float, n_features: int, fit_intercept: bool) -> float:
    """What features are shortened to, so that the declared norm holds in exact arithmetic.

    It is lowered by 2^-40 of itself, or by what the squares of very many features may lose to
    rounding where that is more.
    """
    return feature_norm(row_norm, fit_intercept) * (1.0 - max(2.0**-40, n_features * 2.0**-51))


def clip_rows(X: Array, bounds: Bounds, fit_intercept: bool) -> None:
    """Shrink rows in place until |(1, x)| <= row_norm, or |x| <= row_norm without intercept.

    Rows are in the box already, if there is one, and stay there. Norms that decide are taken
    relative to the largest entry: 1e308 does not overflow. Rows that are clearly short enough are
    left alone after one look.
    """
    assert bounds.row_norm is not None
    limit = feature_limit(bounds.row_norm, X.shape[1], fit_intercept)
    with np.errstate(over="ignore"):
        squares = np.einsum("ij,ij->i", X, X)
    doubtful = ~(squares <= (limit * (1.0 - 2.0**-30)) ** 2)  # an overflow is doubtful, too
    if not doubtful.any():
        return
    anchor = nearest_to_zero(bounds)
    if anchor is None:
        X[doubtful] = _shortened(X[doubtful], limit)
    else:
        shrunk = _drawn_to(X[doubtful], anchor, limit)
        X[doubtful] = np.clip(shrunk, bounds.low, bounds.high)  # what rounding moved out


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


def _drawn_to(X: Array, anchor: Array, limit: float) -> Array:
    """The rows, those longer than `limit` moved straight towards `anchor` until they are not.

    With a the anchor, d = x - a and everything over the limit, t solves |a + t d| = 1. The anchor
    is the box's nearest point to zero, so a'd >= 0 and this form of the root loses no digits.
    """
    a, d = anchor / limit, X / limit - anchor / limit
    with np.errstate(over="ignore"):
        too_long = np.einsum("ij,ij->i", X / limit, X / limit) > 1.0
        square, slope = np.einsum("ij,ij->i", d, d), np.maximum(np.sum(d * a, axis=1), 0.0)
        left = 1.0 - float(a @ a)
        t = np.where(too_long, left / (slope + np.sqrt(slope**2 + square * left)), 1.0)
    moved = anchor + np.minimum(t, 1.0)[:, None] * (X - anchor)
    return np.where(too_long[:, None], moved, X)
