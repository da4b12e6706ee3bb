"""The one proximal map of separable penalties, for NumPy and for compiled loops."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privlearn._core.jit import jit
from privlearn._objective.losses.base import between

__all__ = ["WeightPenalty", "limited", "prox", "prox_of_one", "soft_threshold", "write_prox"]

Array = NDArray[np.float64]
LARGEST = 1e300  # of a weight: no difference of two is infinite


class WeightPenalty(NamedTuple):
    """l1 |w| + l2 w^2 / 2 and low <= w <= high, with numbers of their own for every weight w.

    In a solver's units, per row of the losses' mean. Solvers ask it, and do not take it apart.
    """

    l1: Array
    l2: Array
    low: Array
    high: Array

    @classmethod
    def free(cls, size: int) -> WeightPenalty:
        """None at all."""
        return cls(
            np.zeros(size), np.zeros(size), np.full(size, -math.inf), np.full(size, math.inf)
        )

    def put(self, first: int, other: WeightPenalty) -> None:
        """Overwrite the entries of as many weights as `other` has, from `first` on."""
        for own, side in zip(self, other, strict=True):
            own[first : first + len(other.low)] = side

    def limit(self, place: int, low: float, high: float) -> None:
        """Overwrite the limits of one weight."""
        self.low[place], self.high[place] = low, high

    @property
    def smooth(self) -> bool:
        """Whether there are neither absolute values nor limits."""
        boxed = np.isfinite(self.low).any() or np.isfinite(self.high).any()
        return not (self.l1.any() or boxed)

    @property
    def curvatures(self) -> Array:
        """Second derivatives."""
        return self.l2

    @property
    def absolute_values(self) -> tuple[Array, Array, Array]:
        """What is not smooth: weights of absolute values, and limits."""
        return self.l1, self.low, self.high

    def inside(self, weights: Array) -> Array:
        """Weights within their limits."""
        return np.clip(weights, self.low, self.high)

    def times(self, factor: float) -> WeightPenalty:
        """The same limits, with a penalty that is `factor` times as strong."""
        return self._replace(l1=self.l1 * factor, l2=self.l2 * factor)

    def plus(self, absolute: Array | float = 0.0, square: Array | float = 0.0) -> WeightPenalty:
        """With more of |w| and of w^2 / 2 for the first weights, one number each."""
        more = WeightPenalty(*(side.copy() for side in self))
        more.l1[: np.size(absolute)] += absolute
        more.l2[: np.size(square)] += square
        return more

    def prox(self, points: Array, step: Array | float, unit: Array | float = 1.0) -> Array:
        """Minimisers of (w - point)^2 / (2 step) + penalty(w), in units of `unit`."""
        return prox(self, points, step, unit)


def prox(
    penalty: WeightPenalty, points: Array, step: Array | float, unit: Array | float = 1.0
) -> Array:
    """Minimiser w of (w - point)^2 / (2 step) + penalty(w), for each point on its own.

    In one dimension the box only cuts off the minimiser without it, by convexity.

    Parameters
    ----------
    penalty : WeightPenalty
        One entry per point, or one for all.
    points, step : array or float
        Where to start from, and how far to go.
    unit : array or float, default=1.0
        What points and result are measured in.
    """
    l1, l2, low, high = penalty
    shrunk = np.sign(points) * np.maximum(np.abs(points) - step * l1 / unit, 0.0)
    return np.asarray(np.clip(shrunk / (1.0 + step * l2), low / unit, high / unit))


@jit(error_model="numpy")
def soft_threshold(value, amount):
    """`value`, nearer to 0 by `amount`."""
    return math.copysign(max(abs(value) - amount, 0.0), value)


@jit(error_model="numpy")
def write_prox(penalty, step, weights):
    """The proximal map in place."""
    l1, l2, low, high = penalty
    for j in range(weights.size):
        shrunk = soft_threshold(weights[j], step * l1[j])
        weights[j] = min(max(shrunk / (1.0 + step * l2[j]), low[j]), high[j])


@jit(error_model="numpy")
def limited(penalty, j, weight):
    """Weight j within its limits."""
    return min(max(weight, penalty.low[j]), penalty.high[j])


@jit(error_model="numpy")
def prox_of_one(penalty, j, point, step):
    """The same for weight j alone; always finite."""
    l1, l2, low, high = penalty
    shrunk = soft_threshold(point, step * l1[j])
    return between(min(max(shrunk / (1.0 + step * l2[j]), low[j]), high[j]), LARGEST)
