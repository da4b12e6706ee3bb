"""Coordinates for gradient methods: public affine maps after which no row is longer than 1.

Steps, clips and thresholds then mean the same for every data set. As in `frame`, a box may be
centred or not; gradients grow with the length of a row, not with its square, so the criterion is
the length times the typical scale.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from privlearn._core.problem import Problem
from privlearn._data.bounded import BoundedData
from privlearn._data.sparse import bounded_csr, zero_is_allowed
from privlearn._objective.losses import Target
from privlearn.solvers._common.frame import candidates, typical
from privlearn.solvers.base import Solution

if TYPE_CHECKING:
    from privlearn.solvers._common.loops.row_products import StoredRows

__all__ = ["Coordinates"]

Array = NDArray[np.float64]
# The intercept's entry, relative to the longest x: a fifth costs the features 2 % more noise, 1
# would cost 41 %. Chosen with the rest of SGD's rule (sgd/proof.md).
INTERCEPT_SHARE = 0.2


@dataclass(frozen=True, eq=False)
class Coordinates:
    """x -> (x - center) / scale with an entry `unit` for the intercept, y to [-1, 1].

    A feature that its bounds leave no room has `inverse_scale` 0, and its coefficient is 0.
    """

    center: Array
    inverse_scale: Array
    unit: float
    target_center: float
    target_scale: float
    spread: float

    @classmethod
    def of(cls, problem: Problem, *, sparse: bool = False) -> Coordinates:
        """The better of the centred and the plain coordinates; sparse rows are never centred."""
        choices = candidates(problem.bounds, problem.n_features, problem.fit_intercept)
        if sparse and zero_is_allowed(problem.bounds):
            choices = [_plain(*choice) for choice in choices]
        center, scale, squares = min(choices, key=lambda c: math.sqrt(c[2]) * typical(c[1]))
        unit = INTERCEPT_SHARE * math.sqrt(squares or 1.0) if problem.fit_intercept else 0.0
        length = math.sqrt(squares + unit**2) or 1.0
        inverse = np.divide(1.0, scale * length, out=np.zeros_like(scale), where=scale > 0)
        movable = max(int(np.count_nonzero(scale)), 1)
        target_center, target_scale = _target(problem)
        return cls(
            center=center,
            inverse_scale=inverse,
            unit=unit / length,
            target_center=target_center,
            target_scale=target_scale,
            spread=squares / length**2 / movable / 3.0 or 1.0 / 3.0,
        )

    @classmethod
    def to_be_scaled(cls, problem: Problem, *, centred: bool = True) -> Coordinates:
        """Features within [-1, 1] and a whole 1 for the intercept, before scales are known.

        Only a box that excludes zero is centred: elsewhere zero means something, as in columns of
        0 and 1 that are 1 for few.
        """
        bounds, p = problem.bounds, problem.n_features
        center, reach = np.zeros(p), np.full(p, np.inf)
        if bounds.low is not None and bounds.high is not None:
            if problem.fit_intercept and centred:
                excluded = (bounds.low > 0.0) | (bounds.high < 0.0)
                center = np.where(excluded, bounds.low / 2 + bounds.high / 2, 0.0)
            reach = np.maximum(bounds.high - center, center - bounds.low)
        if bounds.row_norm is not None and not center.any():
            reach = np.minimum(reach, math.sqrt(bounds.row_norm**2 - float(problem.fit_intercept)))
        target_center, target_scale = _target(problem)
        return cls(
            center=center,
            inverse_scale=np.divide(1.0, reach, out=np.zeros(p), where=reach > 0),
            unit=float(problem.fit_intercept),
            target_center=target_center,
            target_scale=target_scale,
            spread=1.0 / 3.0,
        )

    def divided(self, scales: Array) -> Coordinates:
        """Coordinates in which each feature is divided by its scale, too."""
        return replace(self, inverse_scale=self.inverse_scale / scales)

    def penalty(self, problem: Problem, rows: float) -> tuple[Array, Array, Array, Array]:
        """Weights l1 and l2 and the box of the features' weights, per row of the losses' mean."""
        penalty = problem.penalty.total(rows)
        unit = self.inverse_scale * self.target_scale  # coefficient per weight
        share = 1.0 / (rows * self.target_scale**problem.loss.degree)  # of one row's loss
        free = unit == 0.0
        some = np.where(free, 1.0, unit)
        low = np.where(free, -np.inf, np.asarray(penalty.low) / some)
        high = np.where(free, np.inf, np.asarray(penalty.high) / some)
        return penalty.l1 * share * unit, penalty.l2 * share * unit**2, low, high

    @property
    def width(self) -> int:
        """Entries of a row, the intercept's included."""
        return len(self.center) + int(self.unit > 0)

    def stored(self, data: BoundedData) -> StoredRows:
        """All rows in these coordinates, ready for compiled loops.

        In single precision: half the memory and traffic, and what is stored *is* the row, so
        nothing else changes. Sums are taken in double precision (numerics.py).
        """
        if data.longest is not None:
            return self._stored_single(data, data.longest)
        if data.sparse and not self.center.any() and zero_is_allowed(data.bounds):
            return self._stored_sparse(data)
        return self._stored_dense(data)

    def _stored_single(self, data: BoundedData, longest: float) -> StoredRows:
        """Rows that come in single precision and no longer than `longest`."""
        from privlearn.solvers._common.loops.row_products import StoredRows

        assert not self.center.any()
        n, scale = data.table.n, self.inverse_scale.astype(np.float32)
        values, targets = np.empty((n, len(scale)), np.float32), np.empty(n)
        norms, norm, start = np.empty(n), self.longest_of(longest), 0
        for rows in data.single_blocks():
            own = slice(start, start + len(rows.y))
            np.multiply(rows.X, scale, out=values[own])
            norms[own] = np.where(rows.present, norm, 0.0)
            targets[own] = self.targets(rows.y)
            start = own.stop
        none = np.empty(0, np.int64)
        return StoredRows(values, none, none, targets, norms)

    def longest_of(self, longest: float) -> float:
        """Upper bound of the length of rows that were at most `longest` long, in these coordinates.

        Rounding a product to single precision is off by 2^-24 of it, far less than this allows.
        """
        scale = float(np.max(self.inverse_scale.astype(np.float32), initial=0.0))
        return math.hypot(longest * scale * (1.0 + 2.0**-20), self.unit) * (1.0 + 2.0**-30)

    def _stored_dense(self, data: BoundedData) -> StoredRows:
        from privlearn.solvers._common.loops.row_products import StoredRows, store_rows

        n, p = data.table.X.shape
        values, targets, norms = np.empty((n, p), np.float32), np.empty(n), np.empty(n)
        start = 0
        for rows in data.blocks():
            own = slice(start, start + len(rows.y))
            store_rows(rows.X, self.center, self.inverse_scale, values[own], norms[own])
            norms[own] = self._norms(norms[own], rows.present)
            targets[own] = self.targets(rows.y)
            start = own.stop
        none = np.empty(0, np.int64)
        return StoredRows(values, none, none, targets, norms)

    def _stored_sparse(self, data: BoundedData) -> StoredRows:
        from privlearn.solvers._common.loops.row_products import StoredRows

        table = data.table
        assert not isinstance(table.X, np.ndarray)
        present = data.present()
        rows = bounded_csr(table.X, data.bounds, data.fit_intercept, present)
        y = np.where(present, table.y, 0.0)
        if data.bounds.target is not None:
            np.clip(y, *data.bounds.target, out=y)
        columns = rows.indices.astype(np.int64)
        values = (rows.data * self.inverse_scale[columns]).astype(np.float32)
        starts = rows.indptr.astype(np.int64)
        owner = np.repeat(np.arange(len(y)), np.diff(starts))
        squares = np.bincount(owner, values.astype(np.float64) ** 2, len(y))
        norms = self._norms(np.asarray(squares, dtype=np.float64), present)
        if not len(columns):  # no entries at all would read as dense rows
            columns, values = np.zeros(1, np.int64), np.zeros(1, np.float32)
        return StoredRows(values[None, :], columns, starts, self.targets(y), norms)

    def _norms(self, squares: Array, present: NDArray[np.bool_]) -> Array:
        """Upper bounds of the rows' lengths; rounding errors are far below 2^-30."""
        return np.where(present, np.sqrt(squares + self.unit**2) * (1.0 + 2.0**-30), 0.0)

    def targets(self, y: Array) -> Array:
        """Targets in these coordinates."""
        return (y - self.target_center) / self.target_scale

    def to_data_units(self, weights: Array) -> Solution:
        """The model in the units of X and y from `outputs` rows of `width` weights."""
        p = len(self.center)
        coef = weights[:, :p] * self.inverse_scale * self.target_scale
        intercept = np.zeros(len(weights))
        if self.unit > 0:
            level = weights[:, p] * self.unit * self.target_scale
            intercept = level + self.target_center - coef @ self.center
        return Solution(coef, intercept)


def _plain(center: Array, scale: Array, squares: float) -> tuple[Array, Array, float]:
    """The same box around zero instead of its centre: |x| <= |center| + scale."""
    return np.zeros_like(center), np.abs(center) + scale, squares


def _target(problem: Problem) -> tuple[float, float]:
    """Centre and half width of y's range; without intercept the centre is 0."""
    if problem.loss.target is not Target.NUMBER:
        return 0.0, 1.0
    low, high = problem.bounds.target or (-1.0, 1.0)
    center = low / 2 + high / 2 if problem.fit_intercept else 0.0
    return center, max(high - center, center - low)
