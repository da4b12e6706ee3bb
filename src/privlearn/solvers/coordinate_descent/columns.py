"""Prepared rows as columns, and the weights that sweep over them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from privlearn._objective.losses import Loss
from privlearn._objective.prox import LARGEST
from privlearn.solvers._common.loops.row_products import StoredRows
from privlearn.solvers._common.scaling import Scaling
from privlearn.solvers.coordinate_descent import loops, rules
from privlearn.solvers.coordinate_descent.loops import StoredColumns, Sweep
from privlearn.solvers.coordinate_descent.private_scales import Prepared
from privlearn.solvers.coordinate_descent.rules import Settings
from privlearn.solvers.coordinate_descent.whole_rows import FloatRows

__all__ = ["as_columns", "proximal", "refresh", "set_limits", "start_of"]

Array = NDArray[np.float64]


def as_columns(prepared: Prepared) -> StoredColumns:
    """The same numbers column by column, with one more column for the intercept."""
    assert isinstance(prepared.rows, FloatRows)
    rows, there, scaling = prepared.rows.stored, prepared.rows.present, prepared.objective.scaling
    present = there.astype(np.float64)
    targets = rows.targets
    if rows.columns.size == 0:
        values = np.empty((scaling.width, len(targets)), np.float32)
        values[: rows.values.shape[1]] = rows.values.T
        values[rows.values.shape[1] :] = scaling.intercept_value
        values[:, ~there] = 0.0  # the empty row, which centring has moved off zero
        none = np.empty(0, np.int64)
        return StoredColumns(values, none, none, targets, present)
    return _sparse_columns(rows, present, scaling)


def _sparse_columns(rows: StoredRows, present: Array, scaling: Scaling) -> StoredColumns:
    from scipy.sparse import csr_array

    n, features, width = len(rows.targets), len(scaling.center), scaling.width
    entries = rows.starts[-1]
    matrix = csr_array(
        (rows.values[0, :entries], rows.columns[:entries], rows.starts), shape=(n, features)
    ).tocsc()
    values, indices = [matrix.data], [matrix.indices.astype(np.int64)]
    starts = matrix.indptr.astype(np.int64)
    if width > features:
        values.append(present.astype(np.float32))
        indices.append(np.arange(n))
        starts = np.append(starts, starts[-1] + n)
    if not len(starts) or starts[-1] == 0:  # no entries at all would read as dense columns
        values.append(np.zeros(1, np.float32))
        indices.append(np.zeros(1, np.int64))
    return StoredColumns(
        np.concatenate(values)[None, :], np.concatenate(indices), starts, rows.targets, present
    )


def start_of(settings: Settings, prepared: Prepared, n: int) -> Sweep:
    """Weights at their start, with scores; limits are set once the clip is known."""
    objective = prepared.objective
    weights = objective.start(prepared.target)
    loss = objective.loss
    step_sizes = np.full(len(weights), settings.step_size / loss.curvature)
    step_sizes[: len(prepared.squares)] /= prepared.squares
    return Sweep(
        weights=weights,
        scores=np.zeros(n),
        limits=np.ones(len(weights)),
        step_sizes=step_sizes,
        penalty=objective.penalty,
        points=np.zeros(len(weights)),
        loss=loss.code,
        threshold=loss.threshold,
        auxiliaries=loss.auxiliary.count,
        total=prepared.count,
    )


def refresh(columns: StoredColumns, sweep: Sweep, loss: Loss) -> None:
    """Scores from scratch, so that errors of many changes do not pile up.

    They are less the targets where the loss depends on that alone.
    """
    sweep.scores[:] = 0.0
    if loss.of_residual:
        np.negative(columns.targets, out=sweep.scores)
    for j in range(len(sweep.weights) - sweep.auxiliaries):
        loops.move_scores(columns, j, sweep.weights[j], sweep.scores)


def set_limits(loss: Loss, sweep: Sweep, clip: float, share: float = rules.COORDINATE_CLIP) -> None:
    """Limit of each partial derivative: its share of a gradient's length, and some slack.

    A derivative in an auxiliary weight has a limit of its own, by its formula.
    """
    sweep.limits[:] = clip * share / math.sqrt(len(sweep.weights))
    if loss.auxiliary.count:
        sweep.limits[-1] = loss.auxiliary.slope_limit


def proximal(state: Sweep, moved: Array | float, step: Array, unit: Array | float = 1.0) -> Array:
    """Proximal map of every coordinate's penalty, for points in units of `unit`; always finite."""
    found = state.penalty.prox(np.asarray(moved), step, unit)
    return np.nan_to_num(found, nan=0.0, posinf=LARGEST, neginf=-LARGEST)
