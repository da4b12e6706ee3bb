"""One least-squares model per group of rows, each from its own rows alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from privlearn._core.sampling import Batches
from privlearn._data.bounded import BoundedData
from privlearn.solvers.tukey import loops

__all__ = ["group_models"]

Array = NDArray[np.float64]
AT_ONCE = 65_536  # rows that are copied together; no group is divided


def group_models(data: BoundedData, groups: Batches, fit_intercept: bool) -> Array:
    """Coefficients of every group, the intercept first where there is one.

    Empty rows are left out. Columns that the others of a group explain get coefficient 0, so a
    group of too few rows has a model by the same rule, and a group of none has the model 0.

    Parameters
    ----------
    data : BoundedData
        The rows.
    groups : Batches
        Which rows belong to which group.
    fit_intercept : bool
        Whether models have an intercept.
    """
    models = np.empty((len(groups.starts) - 1, data.n_features + int(fit_intercept)))
    for first, last in _parts(groups.starts):
        starts = groups.starts[first : last + 1]
        X, y, present = _gathered(data.take(groups.rows[starts[0] : starts[-1]]))
        loops.fit_blocks(X, y, present, starts - starts[0], fit_intercept, models[first:last])
    return models


def _parts(starts: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Ranges of groups with about `AT_ONCE` rows together."""
    first, groups = 0, len(starts) - 1
    while first < groups:
        end = int(np.searchsorted(starts, starts[first] + AT_ONCE, side="right")) - 1
        last = min(groups, max(first + 1, end))
        yield first, last
        first = last


def _gathered(data: BoundedData) -> tuple[Array, Array, NDArray[np.bool_]]:
    """All rows in one array each."""
    n, p = data.n, data.n_features
    X, y, present = np.empty((n, p)), np.empty(n), np.empty(n, dtype=np.bool_)
    start = 0
    for rows in data.blocks():
        part = slice(start, start + len(rows.y))
        X[part], y[part], present[part] = rows.X, rows.y, rows.present
        start = part.stop
    return X, y, present
