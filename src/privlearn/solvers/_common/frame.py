"""Public coordinates: affine maps, known beforehand, that make rows of (1, x, y) short.

With a box alone, features go to [-1, 1] around its centre. Where a row norm is declared, centring
could lengthen sparse rows (a one-hot row has norm 1, its centred image sqrt(p)), so the two choices
are compared by the noise that they would put on a coefficient, and the better one is taken.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privlearn._core.problem import Bounds
from privlearn._data.bounded import Rows
from privlearn._objective.penalties import Penalty
from privlearn.solvers.base import Solution

__all__ = ["Frame", "FramedPenalty", "candidates", "typical"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FramedPenalty:
    """A penalty in a frame, one number per feature; `smooth` without absolute values and box."""

    l1: Array
    l2: Array
    low: Array
    high: Array
    smooth: bool


@dataclass(frozen=True, eq=False)
class Frame:
    """x -> (x - center) / scale, y -> (y - y_center) / y_scale, and what length results.

    A feature that its bounds leave no room has scale 0; its image is 0 and its coefficient is 0.
    `spread` is the variance of a feature in this frame for data as `assumes` says; only forecasts
    use it.
    """

    center: Array
    scale: Array
    y_center: float
    y_scale: float
    squared_norm: float
    intercept: bool
    spread: float
    assumes: str

    @classmethod
    def of(cls, bounds: Bounds, n_features: int, intercept: bool) -> Frame:
        """The better of the centred and the plain frame, by public facts."""
        frames = [
            _frame(bounds, center, scale, length, intercept)
            for center, scale, length in candidates(bounds, n_features, intercept)
        ]
        return min(frames, key=lambda frame: frame.squared_norm * typical(frame.scale))

    @property
    def width(self) -> int:
        """Number of columns of (1, x, y), or of (x, y) without intercept."""
        return len(self.scale) + 1 + int(self.intercept)

    def rows(self, rows: Rows) -> Array:
        """The rows of (1, x, y) in this frame; an empty row is all zeros, its 1 included."""
        first = int(self.intercept)
        Z = np.empty((len(rows.y), self.width))
        Z[:, :first] = 1.0
        np.subtract(rows.X, self.center, out=Z[:, first:-1])
        Z[:, first:-1] /= np.where(self.scale > 0, self.scale, np.inf)
        Z[:, -1] = (rows.y - self.y_center) / self.y_scale
        if not rows.present.all():
            Z[~rows.present] = 0.0
        return Z

    def penalty(self, penalty: Penalty) -> FramedPenalty:
        """The same penalty in these coordinates; features without room are kept at 0."""
        room = self.scale > 0
        scale = np.where(room, self.scale, 1.0)
        sides = (np.asarray(side) * scale / self.y_scale for side in (penalty.low, penalty.high))
        low, high = (np.where(room, side, 0.0) for side in sides)
        return FramedPenalty(
            l1=np.where(room, penalty.l1 / (scale * self.y_scale), 0.0),
            l2=np.where(room, penalty.l2 / scale**2, 0.0),
            low=low,
            high=high,
            smooth=penalty.name in ("none", "l2"),
        )

    def to_data_units(self, coef: Array, intercept: float) -> Solution:
        """The model in the units of the X and y that were given."""
        slope = np.divide(coef, self.scale, out=np.zeros_like(coef), where=self.scale > 0)
        slope *= self.y_scale
        level = self.y_center + self.y_scale * intercept - float(slope @ self.center)
        return Solution(slope[None, :], np.array([level if self.intercept else 0.0]))


def typical(scale: Array) -> float:
    """Geometric mean of the scales: noise on a coefficient grows with norm^2 times scale."""
    used = scale[scale > 0]
    return float(np.exp(np.mean(np.log(used)))) if len(used) else 0.0


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
        room = bounds.row_norm**2 - float(intercept)
        largest = np.full(n_features, math.sqrt(room))
        if bounds.low is not None and bounds.high is not None:
            largest = np.minimum(largest, np.maximum(np.abs(bounds.low), np.abs(bounds.high)))
        choices.append((np.zeros(n_features), largest, _knapsack(largest, room)))
    return choices


def _knapsack(scale: Array, room: float) -> float:
    """Largest sum of (x_j / scale_j)^2 with |x_j| <= scale_j and |x|^2 <= room.

    Linear in the squares, so filling the smallest scales first is optimal.
    """
    squares = np.sort(scale[scale > 0] ** 2)
    filled = np.cumsum(squares)
    whole = int(np.searchsorted(filled, room, side="right"))
    if whole == len(squares):
        return float(whole)
    used = filled[whole - 1] if whole else 0.0
    return whole + float(room - used) / float(squares[whole])


def _frame(bounds: Bounds, center: Array, scale: Array, length: float, intercept: bool) -> Frame:
    low, high = bounds.target or (-1.0, 1.0)
    y_center = low / 2 + high / 2 if intercept else 0.0
    y_scale = max(high - y_center, y_center - low)
    movable = int(np.count_nonzero(scale))
    full = length >= movable
    where = (
        "uniform within their bounds" if full else "share a third of the squared row norm equally"
    )
    return Frame(
        center=center,
        scale=scale,
        y_center=y_center,
        y_scale=y_scale,
        squared_norm=(length + 1.0 + float(intercept)) * (1.0 + 2.0**-40),
        intercept=intercept,
        spread=length / movable / 3.0 if movable else 1.0 / 3.0,
        assumes=f"features are independent, {where}",
    )
