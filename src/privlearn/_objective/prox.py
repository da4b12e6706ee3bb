"""The one proximal map of separable penalties, for NumPy and for compiled loops."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privlearn._core.jit import jit
from privlearn._objective.losses.base import between

__all__ = ["WeightPenalty", "prox_of_one", "soft_threshold", "write_prox"]

Array = NDArray[np.float64]
LARGEST = 1e300  # of a weight: no difference of two is infinite


class WeightPenalty(NamedTuple):
    """absolute |w| + curvature w^2 / 2, low <= w <= high, with numbers for every weight w.

    In a solver's units, per row of the losses' mean. Solvers ask it, and do not take it apart.
    """

    absolute: Array
    curvature: Array
    low: Array
    high: Array

    def laid_out(self, outputs: int, width: int, *last: tuple[float, float]) -> WeightPenalty:
        """The same for `outputs` rows of weights, `width` each, and limits of `last` ones.

        What a row has beyond these weights, the intercept, is free, and so are the last ones of all
        within their limits.
        """
        free = (0.0, 0.0, -math.inf, math.inf)
        ends = np.array([(0.0, 0.0, *limits) for limits in last]).reshape(-1, 4).T
        return WeightPenalty(
            *(
                np.append(np.tile(np.append(side, [rest] * (width - len(side))), outputs), end)
                for side, rest, end in zip(self, free, ends, strict=True)
            )
        )

    @property
    def smooth(self) -> bool:
        """Whether there are neither absolute values nor limits."""
        boxed = np.isfinite(self.low).any() or np.isfinite(self.high).any()
        return not (self.absolute.any() or boxed)

    def prox(self, points: Array, step: Array | float, unit: Array | float = 1.0) -> Array:
        """Minimiser w of (w - point)^2 / (2 step) + penalty(w), for each point on its own.

        In one dimension the box only cuts off the minimiser without it, by convexity. Points and
        result are measured in `unit`.
        """
        shrunk = np.sign(points) * np.maximum(np.abs(points) - step * self.absolute / unit, 0.0)
        inside = np.clip(shrunk / (1.0 + step * self.curvature), self.low / unit, self.high / unit)
        return np.asarray(inside)


@jit(error_model="numpy")
def soft_threshold(value, amount):
    """`value`, nearer to 0 by `amount`."""
    return math.copysign(max(abs(value) - amount, 0.0), value)


@jit(error_model="numpy")
def write_prox(l1, l2, low, high, step, weights):
    """The proximal map in place; the first four are those of a `WeightPenalty`."""
    for j in range(weights.size):
        shrunk = soft_threshold(weights[j], step * l1[j])
        weights[j] = min(max(shrunk / (1.0 + step * l2[j]), low[j]), high[j])


@jit(error_model="numpy")
def prox_of_one(penalty, j, point, step):
    """The same for weight j alone; always finite."""
    l1, l2, low, high = penalty
    shrunk = soft_threshold(point, step * l1[j])
    return between(min(max(shrunk / (1.0 + step * l2[j]), low[j]), high[j]), LARGEST)
