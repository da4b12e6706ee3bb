"""The affine map between the units of X and y and those of a solver.

It is known before any row is seen, from declared bounds or from privately estimated ones. Features
in a box go to [-1, 1] around its centre. Where a row norm is declared, centring could lengthen
sparse rows (a one-hot row has norm 1, its centred image sqrt(p)), so the two choices are compared
by the noise that they would put on a coefficient, and the better one is taken.

Rows are within box *and* norm (_data/clipping.py), so their images are as short as is said here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privlearn._core.forecast import Forecast
from privlearn._core.problem import Bounds, Penalised, Problem, nearest_to_zero
from privlearn._data.bounded import Rows
from privlearn._objective.losses import Loss, Squared, Units
from privlearn._objective.penalties import Penalty
from privlearn._objective.prox import WeightPenalty
from privlearn.exceptions import PlanViolationError
from privlearn.solvers.base import Solution

__all__ = ["Scaling", "candidates"]

Array = NDArray[np.float64]
# The intercept's entry, relative to the longest x: a fifth costs the features 2 % more noise, 1
# would cost 41 %. Chosen with the rest of SGD's rule (sgd/proof.md).
INTERCEPT_SHARE = 0.2
# Curvature of a penalty, relative to that of the loss along the same feature: the weight is then a
# millionth of what it was, and more would hide other directions from an eigendecomposition.
HEAVIEST = 1e6
# Root mean square of a feature below which its own units make a penalty heavier than is meant: a
# feature of 0.01 would have 10,000 times the penalty of a standardised one, and is flattened.
SMALLEST = 1 / 4


@dataclass(frozen=True, eq=False)
class Scaling:
    """x -> (x - center) / scale beside an entry for the intercept; y and scores likewise.

    A feature that its bounds leave no slack has scale 0 (inverse 0); its image is 0 and so is its
    coefficient.

    Attributes
    ----------
    scale, inverse_scale : arrays of shape (n_features,)
        Moments are divided by the one, gradients multiplied by the other: two roundings.
    intercept_value : float
        The intercept's entry in a row; 0 without intercept.
    squared_norm : float
        Largest squared length of a row: of (1, x, y) for moments, of the entries else.
    spread : float
        Variance of a feature for data as `assumes` says.
    penalised : Penalised
        The units of the features whose coefficients are penalised.
    known, own_units : arrays of shape (n_features,) or None
        Of bounds: features that are penalised in their own units, and what these are.
    mean_squares : array of shape (n_features,) or None
        Of the features in these units, where released; None takes the `spread`.
    """

    center: Array
    scale: Array
    inverse_scale: Array
    intercept_value: float
    target_center: float
    target_scale: float
    score_center: float
    score_scale: float
    squared_norm: float
    spread: float
    assumes: str = "features are independent and uniform within their bounds"
    penalised: Penalised = Penalised.OWN_UNITS
    known: NDArray[np.bool_] | None = None
    own_units: Array | None = None
    mean_squares: Array | None = None

    @classmethod
    def for_moments(cls, bounds: Bounds, n_features: int, intercept: bool) -> Scaling:
        """Rows of (1, x, y) with x and y in [-1, 1]; the better choice for products of entries."""
        found = [
            cls._of_moments(bounds, *choice, intercept)
            for choice in candidates(bounds, n_features, intercept)
        ]
        return min(found, key=lambda one: one.squared_norm * _typical(one.scale))

    @classmethod
    def for_gradients(cls, problem: Problem, *, sparse: bool = False) -> Scaling:
        """Rows no longer than 1, so that steps, clips and thresholds mean the same everywhere.

        Gradients grow with the length of a row, not with its square, so the criterion is the length
        times the typical scale. Sparse rows are never centred.
        """
        choices = candidates(problem.bounds, problem.n_features, problem.fit_intercept)
        if sparse and nearest_to_zero(problem.bounds) is None:
            choices = [_around_zero(*choice) for choice in choices]
        center, scale, squares = min(choices, key=lambda c: math.sqrt(c[2]) * _typical(c[1]))
        entry = INTERCEPT_SHARE * math.sqrt(squares or 1.0) if problem.fit_intercept else 0.0
        length = math.sqrt(squares + entry**2) or 1.0
        movable = max(int(np.count_nonzero(scale)), 1)
        return cls(
            center,
            scale * length,
            np.divide(1.0, scale * length, out=np.zeros_like(scale), where=scale > 0),
            entry / length,
            *_units(problem.bounds, problem.fit_intercept, problem.loss),
            squared_norm=1.0,
            spread=squares / length**2 / movable / 3.0 or 1.0 / 3.0,
            **_penalised(problem.bounds),
        )

    @classmethod
    def for_coordinates(cls, problem: Problem, *, centred: bool = True) -> Scaling:
        """Features within [-1, 1] and a whole 1 for the intercept, before their scales are known.

        Only a box that excludes zero is centred: elsewhere zero means something, as in columns of
        0 and 1 that are 1 for few. An estimated box says itself around what.
        """
        bounds, p = problem.bounds, problem.n_features
        center, limit = np.zeros(p), np.full(p, np.inf)
        if bounds.low is not None and bounds.high is not None:
            if problem.fit_intercept and centred:
                excluded = (bounds.low > 0.0) | (bounds.high < 0.0)
                middle = np.where(excluded, bounds.low / 2 + bounds.high / 2, 0.0)
                center = middle if bounds.center is None else bounds.center
            limit = np.maximum(bounds.high - center, center - bounds.low)
        if bounds.row_norm is not None and not center.any():
            limit = np.minimum(limit, math.sqrt(bounds.row_norm**2 - float(problem.fit_intercept)))
        return cls(
            center,
            limit,
            np.divide(1.0, limit, out=np.zeros(p), where=limit > 0),
            float(problem.fit_intercept),
            *_units(bounds, problem.fit_intercept, problem.loss),
            squared_norm=math.inf,
            spread=1.0 / 3.0,
            **_penalised(bounds),
        )

    @classmethod
    def _of_moments(
        cls, bounds: Bounds, center: Array, scale: Array, length: float, intercept: bool
    ) -> Scaling:
        movable = int(np.count_nonzero(scale))
        even = "uniform within their bounds"
        if length < movable:
            even = "share a third of the squared row norm equally"
        return cls(
            center,
            scale,
            np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0),
            float(intercept),
            *_units(bounds, intercept, Squared()),
            squared_norm=(length + 1.0 + float(intercept)) * (1.0 + 2.0**-40),
            spread=length / movable / 3.0 if movable else 1.0 / 3.0,
            assumes=f"features are independent, {even}",
            **_penalised(bounds),
        )

    def as_planned(self, planned: Scaling) -> Scaling:
        """The same map with the planned length of rows, which must be enough for it.

        Parameters
        ----------
        planned : Scaling
            Of bounds that stood in for privately estimated ones: what was charged.
        """
        if self.squared_norm > planned.squared_norm or self.width != planned.width:
            raise PlanViolationError(
                "ranges estimated privately changed what is to be released: a solver bug"
            )
        return replace(self, squared_norm=planned.squared_norm)

    def divided(self, scales: Array, mean_squares: Array) -> Scaling:
        """The map that divides each feature by its scale, too; then it has that mean square."""
        return replace(
            self,
            scale=self.scale * scales,
            inverse_scale=self.inverse_scale / scales,
            mean_squares=mean_squares,
        )

    @property
    def units(self) -> Units:
        """Of targets and scores."""
        return Units(self.target_center, self.target_scale, self.score_center, self.score_scale)

    @property
    def width(self) -> int:
        """Entries of a row, the intercept's included."""
        return len(self.center) + int(self.intercept_value > 0)

    @property
    def movable(self) -> int:
        """How many features are not constant."""
        return int(np.count_nonzero(self.inverse_scale))

    def moment_rows(self, rows: Rows) -> Array:
        """Rows of (1, x, y) in these units; an empty row is all zeros, its 1 included."""
        first = self.width - len(self.center)
        Z = np.empty((len(rows.y), self.width + 1))
        Z[:, :first] = 1.0
        np.subtract(rows.X, self.center, out=Z[:, first:-1])
        Z[:, first:-1] /= np.where(self.scale > 0, self.scale, np.inf)
        Z[:, -1] = self.targets(rows.y)
        if not rows.present.all():
            Z[~rows.present] = 0.0
        return Z

    def targets(self, y: Array) -> Array:
        """Targets in these units."""
        return (y - self.target_center) / self.target_scale

    def penalty(self, penalty: Penalty, loss: Loss, rows: float) -> WeightPenalty:
        """The penalty of the features' weights beside the mean loss of `rows` rows."""
        unit = self.inverse_scale * self.score_scale  # coefficient per weight
        share = 1.0 / (rows * self.target_scale**loss.degree)  # of one row's loss
        penalised = self._penalised
        if penalised is not None:
            penalised = penalised * self.score_scale
        found = penalty.total(rows).per_weight(unit, share, penalised)
        return found._replace(curvature=np.minimum(found.curvature, self.heaviest))

    def moment_penalty(self, penalty: Penalty) -> WeightPenalty:
        """The penalty of the features' weights beside a sum of squared errors."""
        penalised = self._penalised
        if penalised is not None:
            penalised = 1.0 / np.where(self.scale > 0, penalised, 1.0)
        return penalty.per_scaled_weight(self.scale, self.target_scale, penalised)

    @property
    def _penalised(self) -> Array | None:
        """The units of penalised features in those of the solver; None for the units of X."""
        if self.penalised is Penalised.OWN_UNITS and self.own_units is None:
            return None
        own = self.inverse_scale if self.own_units is None else self.inverse_scale / self.own_units
        if self.penalised is Penalised.OWN_UNITS:
            return own
        found = self._root_mean_squares
        if self.penalised is Penalised.NOT_TOO_SMALL:
            found = np.minimum(own, found / SMALLEST)
        return found if self.known is None else np.where(self.known, own, found)

    @property
    def _root_mean_squares(self) -> Array:
        """Of the features in these units."""
        if self.mean_squares is None:
            return np.full(len(self.center), math.sqrt(self.spread))
        return np.sqrt(self.mean_squares)

    @property
    def heaviest(self) -> Array:
        """Curvature of a penalty above which a weight is nothing and others would be lost."""
        return HEAVIEST * self._root_mean_squares**2

    def to_user_units(
        self, weights: Array, *, by_division: bool = False, noise: Array | None = None
    ) -> Solution:
        """The model in the units of X and y, from a row of `width` weights per output.

        Weights of (x, 1) from moments, which were divided by scales, are so, too. `noise` has the
        standard deviations of the weights, where they are known.
        """
        p = len(self.center)
        if noise is not None:
            noise = noise[:, :p] * self.inverse_scale * self.score_scale
        coef = weights[:, :p] * self.inverse_scale
        if by_division:
            np.divide(weights[:, :p], self.scale, out=coef, where=self.scale > 0)
        coef, intercept = coef * self.score_scale, np.zeros(len(weights))
        if self.intercept_value > 0:
            moved = weights[:, p] * self.intercept_value * self.score_scale
            intercept = moved + self.score_center - coef @ self.center
        return Solution(coef, intercept, coef_noise=noise)

    @property
    def typical_length(self) -> float:
        """Root mean square length of a row, for data as `assumes` says."""
        return math.sqrt(self.movable * self.spread + self.intercept_value**2)

    def forecast(self, deviation: float, length: float, kept: float, n: int, more: str) -> Forecast:
        """Noise of a standard deviation on each weight, for rows of a typical length."""
        return Forecast(
            coefficient=deviation * self.inverse_scale * self.score_scale,
            prediction=deviation * length * self.score_scale,
            kept=min(max(kept, 0.0), 1.0),
            n=n,
            assumes=self.assumes + more,
        )


def candidates(
    bounds: Bounds, n_features: int, intercept: bool
) -> list[tuple[Array, Array, float]]:
    """Triples (center, scale, largest squared length of the scaled x)."""
    choices = []
    if bounds.low is not None and bounds.high is not None:
        low, high = bounds.low, bounds.high
        center = low / 2 + high / 2 if intercept else np.zeros(n_features)
        # The larger of the two gaps, as computed: rounding is monotone, so |x - center| <= scale.
        scale = np.maximum(high - center, center - low)
        choices.append((center, scale, float(np.count_nonzero(scale))))
    if bounds.row_norm is not None:
        square = bounds.row_norm**2 - float(intercept)
        largest = np.full(n_features, math.sqrt(square))
        if bounds.low is not None and bounds.high is not None:
            largest = np.minimum(largest, np.maximum(np.abs(bounds.low), np.abs(bounds.high)))
        choices.append((np.zeros(n_features), largest, _knapsack(largest, square)))
    return choices


def _typical(scale: Array) -> float:
    """Geometric mean of the scales: noise on a coefficient grows with norm^2 times scale."""
    used = scale[scale > 0]
    return float(np.exp(np.mean(np.log(used)))) if len(used) else 0.0


def _knapsack(scale: Array, square: float) -> float:
    """Largest sum of (x_j / scale_j)^2 with |x_j| <= scale_j and |x|^2 <= square.

    Linear in the squares, so filling the smallest scales first is optimal.
    """
    squares = np.sort(scale[scale > 0] ** 2)
    filled = np.cumsum(squares)
    whole = int(np.searchsorted(filled, square, side="right"))
    if whole == len(squares):
        return float(whole)
    used = filled[whole - 1] if whole else 0.0
    return whole + float(square - used) / float(squares[whole])


def _penalised(bounds: Bounds) -> dict[str, Any]:
    return {"penalised": bounds.penalised, "known": bounds.known, "own_units": bounds.own_units}


def _around_zero(center: Array, scale: Array, squares: float) -> tuple[Array, Array, float]:
    """The same box around zero instead of its centre: |x| <= |center| + scale."""
    return np.zeros_like(center), np.abs(center) + scale, squares


def _units(bounds: Bounds, intercept: bool, loss: Loss) -> Units:
    """Those of the loss for the range of y, or for [-1, 1]."""
    return loss.units(*(bounds.target or (-1.0, 1.0)), intercept)
