"""The Poisson loss of counts, with the logarithm of the mean for a score.

exp has no bounded slope or curvature. So means end at the largest value that a target can have:
scores beyond its logarithm have the slope that they have there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from privlearn._core.jit import ANY_ORDER, jit
from privlearn._objective.losses.base import Array, Loss, Units, between, exponential

__all__ = ["POISSON", "SPAN", "Poisson"]

POISSON = 6
SPAN = 20.0  # between the logarithms of the largest and of the smallest mean
TYPICAL = math.exp(-2.0)  # mean of targets whose largest value is 1, where nothing else is known


@dataclass(frozen=True)
class Poisson(Loss):
    """exp(z) - y z for y in [0, 1] and z from -20 to 0, as long as `threshold` is 0.

    Outside of that interval the loss goes on as a line: it stays convex, and no slope is above 1.
    In general y is relative to its largest value, whose logarithm, as a score, is `threshold`.

    Examples
    --------
    >>> Poisson().derivative(np.array(0.25), np.array([-99.0, math.log(0.25), 99.0])).round(6)
    array([-0.25,  0.  ,  0.75])
    """

    threshold: float = 0.0
    mean: float = TYPICAL
    least_slope: float = 0.0

    name = "poisson"
    code = POISSON
    degree = 1
    has_unit = True
    smoothness = 1.0
    lipschitz = 1.0
    scores = "logarithms of means"
    wants_moments = True

    def units(self, low: float, high: float, intercept: bool) -> Units:
        """Targets relative to the largest; a score of 0 is their typical mean, by the intercept."""
        largest = max(high, -low)
        center = math.log(largest) + math.log(self.mean) if intercept else 0.0
        return Units(0.0, largest, center, 1.0)

    @property
    def curvature(self) -> float:
        """Mean of exp(z), the second derivative: at the optimum that is the mean of y."""
        return self.mean

    def with_moments(self, mean: float, mean_square: float) -> Poisson:
        """The same loss with another typical mean and slope.

        Slopes of rare events all point the same way, so the mean comes out too low where clipping
        cuts off most of them. The count that an event is part of, on average, is the mean square
        over the mean; less the mean, that is 1 for Poisson's law, and more for heavier tails.
        """
        mean = min(max(mean, math.exp(-SPAN)), 1.0)
        return replace(self, mean=mean, least_slope=max(mean_square / mean - mean, 0.0))

    def in_units(self, units: Units) -> Poisson:
        """The same loss of scores in these units: where the largest mean is."""
        return replace(self, threshold=math.log(units.target_scale) - units.score_center)

    def value(self, y: Array, z: Array) -> Array:
        """Loss of predicting z where the truth is y."""
        inside = np.clip(z - self.threshold, -SPAN, 0.0)
        return np.exp(inside) * (1.0 + z - self.threshold - inside) - y * z

    def derivative(self, y: Array, z: Array) -> Array:
        """Derivative of the loss in z."""
        return np.asarray(np.exp(np.clip(z - self.threshold, -SPAN, 0.0)) - y)

    def second_derivative(self, z: Array) -> Array:
        """Of the loss in z: the mean, relative to the largest one, and 0 where it ends."""
        below = z - self.threshold
        inside = (below > -SPAN) & (below < 0.0)
        return np.where(inside, np.exp(np.clip(below, -SPAN, 0.0)), 0.0)


@jit(fastmath=ANY_ORDER, error_model="numpy")
def mean_of(score, threshold):
    """The mean at a score, relative to the largest one; 1 for what is not a number."""
    below = score - threshold
    below = below if below < 0.0 else 0.0
    return exponential(below if below > -SPAN else -SPAN)


@jit(fastmath=ANY_ORDER, error_model="numpy")
def write_gradients(threshold, targets, scores, slopes):
    for b in range(targets.size):
        slopes[b, 0] = mean_of(scores[b, 0], threshold) - targets[b]


@jit(fastmath=ANY_ORDER, error_model="numpy")
def column_sum(own, before, change, limit, threshold, targets, scores):
    total = 0.0
    for i in range(scores.size):
        scores[i] += change * before[i]
        total += between((mean_of(scores[i], threshold) - targets[i]) * own[i], limit)
    return total
