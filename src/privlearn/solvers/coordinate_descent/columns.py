"""Prepared rows as columns, and the weights that sweep over them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from privlearn._core.problem import Problem
from privlearn._objective.losses import HUBER, LOGISTIC
from privlearn.solvers.coordinate_descent import rules as cd_rule
from privlearn.solvers.coordinate_descent.private_scales import Prepared
from privlearn.solvers.coordinate_descent.rules import Settings

if TYPE_CHECKING:
    from privlearn.solvers.coordinate_descent.loops import StoredColumns, Sweep

__all__ = ["as_columns", "proximal", "refresh", "set_limits", "start_of"]

Array = NDArray[np.float64]


def as_columns(prepared: Prepared) -> StoredColumns:
    """The same numbers column by column, with one more column for the intercept."""
    from privlearn.solvers.coordinate_descent.loops import StoredColumns

    rows, unit = prepared.rows, prepared.coordinates.unit
    present = prepared.present.astype(np.float64)
    targets = rows.targets
    if rows.columns.size == 0:
        values = np.empty((prepared.coordinates.width, len(targets)), np.float32)
        values[: rows.values.shape[1]] = rows.values.T
        values[rows.values.shape[1] :] = unit
        values[:, ~prepared.present] = 0.0  # the empty row, which centring has moved off zero
        none = np.empty(0, np.int64)
        return StoredColumns(values, none, none, targets, present)
    return _sparse_columns(prepared, present)


def _sparse_columns(prepared: Prepared, present: Array) -> StoredColumns:
    from scipy.sparse import csr_array

    from privlearn.solvers.coordinate_descent.loops import StoredColumns

    rows, features = prepared.rows, len(prepared.coordinates.center)
    n, width = len(rows.targets), prepared.coordinates.width
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


def start_of(problem: Problem, settings: Settings, prepared: Prepared) -> Sweep:
    """Weights at their start, with scores; limits are set once the clip is known."""
    from privlearn.solvers.coordinate_descent.loops import Sweep

    weights = prepared.start.copy()
    scores = np.zeros(len(prepared.rows.targets))
    paces = np.full(len(weights), settings.step_size / problem.loss.smoothness)
    paces[: len(prepared.squares)] /= prepared.squares
    return Sweep(
        weights=weights,
        scores=scores,
        limits=np.ones(len(weights)),
        paces=paces,
        l1=prepared.l1,
        l2=prepared.l2,
        low=prepared.low,
        high=prepared.high,
        points=np.zeros(len(weights)),
        loss=problem.loss.code,
        threshold=problem.loss.threshold,
        total=prepared.count,
    )


def refresh(columns: StoredColumns, sweep: Sweep) -> None:
    """Scores from scratch, less targets that are numbers: errors of many changes do not pile up."""
    from privlearn.solvers.coordinate_descent.loops import move_scores

    np.negative(columns.targets, out=sweep.scores)
    if sweep.loss == LOGISTIC:
        sweep.scores[:] = 0.0
    features = len(sweep.weights) - int(sweep.loss == HUBER)
    for j in range(features):
        move_scores(columns, j, sweep.weights[j], sweep.scores)


def set_limits(problem: Problem, sweep: Sweep, clip: float) -> None:
    """Limit of each partial derivative: its share of a gradient's length, and some room.

    A derivative in Huber's scale has a limit of its own, by its formula.
    """
    sweep.limits[:] = clip * cd_rule.COORDINATE_CLIP / math.sqrt(len(sweep.weights))
    if problem.loss.code == HUBER:
        sweep.limits[-1] = 0.5 * max(1.0, problem.loss.threshold**2 - 1.0)


def proximal(state: Sweep, moved: Array | float, pace: Array, unit: Array | float = 1.0) -> Array:
    """Proximal map of every coordinate's penalty, for points in units of `unit`; always finite."""
    from privlearn.solvers.coordinate_descent.loops import LARGEST

    shrunk = np.sign(moved) * np.maximum(np.abs(moved) - pace * state.l1 / unit, 0.0)
    inside = np.clip(shrunk / (1.0 + pace * state.l2), state.low / unit, state.high / unit)
    return np.nan_to_num(inside, nan=0.0, posinf=LARGEST, neginf=-LARGEST)
