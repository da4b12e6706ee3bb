"""Huber's loss, whose scale of errors is learned beside the coefficients.

With a learned scale s the loss is (s + 2 s H(r / s)) / 2, H Huber's loss at scale 1, half of
scikit-learn's; its derivatives in z and in s have no units (Owen 2007, eq. 8).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privlearn._core.jit import ANY_ORDER, jit
from privlearn._objective.losses.base import Array, Auxiliary, Loss, between

__all__ = ["HUBER", "Huber"]

HUBER = 1
# Of the scale: where it starts, and its limits, relative to half the range of y.
FIRST, SMALLEST, LARGEST = 0.5, 1e-3, 1.0
UNIT = 0.3  # its steps are 0.09 of the others', relative to itself, and it takes little clip
DUAL_SHARE = 0.15  # of the scale in a row's contribution, relative to a row of length 1
LEAST_RAMP = 0.05  # of the squares that the scale is compared with, while few can have moved


@dataclass(frozen=True)
class Huber(Loss):
    """Half the squared error up to `threshold`, then a line (Huber 1964).

    `HuberRegressor` measures errors in units of a scale that is learned beside the coefficients, as
    scikit-learn does (Owen 2007, eq. 8); this is the loss at scale 1.

    Examples
    --------
    >>> float(Huber(1.0).derivative(np.array(0.0), np.array(5.0)))
    1.0
    """

    threshold: float = 1.35

    name = "huber"
    code = HUBER
    degree = 1  # with its scale learned
    has_unit = True
    smoothness = 1.0
    of_residual = True
    longest_step = 1.0  # steps are in units of a scale that the same steps move, which bears less

    def __post_init__(self) -> None:
        object.__setattr__(self, "lipschitz", self.threshold)
        object.__setattr__(self, "auxiliary", _scale(self.threshold))

    def value(self, y: Array, z: Array) -> Array:
        """Loss of predicting z where the truth is y."""
        error = np.abs(y - z)
        line = self.threshold * (error - 0.5 * self.threshold)
        return np.where(error <= self.threshold, 0.5 * error**2, line)

    def derivative(self, y: Array, z: Array) -> Array:
        """Derivative of the loss in z."""
        return np.clip(z - y, -self.threshold, self.threshold)


def _scale(threshold: float) -> Auxiliary:
    """What is learned beside the coefficients.

    Its curvature: the loss has (u, -t)(u, -t)' / s in rows u whose t = error / s is within the
    threshold. Near the optimum t and u hardly correlate, and the mean of t^2 is below 1; elsewhere
    averaging bears steps that are up to twice too long.
    """
    return Auxiliary(
        count=1,
        start=FIRST,
        low=SMALLEST,
        high=LARGEST,
        slope_limit=0.5 * max(1.0, threshold**2 - 1.0),
        curvature=1.0,
        unit=UNIT,
        dual_unit=DUAL_SHARE / threshold,
        dual_share=DUAL_SHARE,
    )


@jit(error_model="numpy")
def write_gradients(threshold, scale, targets, scores, slopes, along_scale):
    for b in range(targets.size):
        slope = min(max((scores[b, 0] - targets[b]) / scale, -threshold), threshold)
        slopes[b, 0] = slope
        along_scale[b] = 0.5 * (1.0 - slope * slope)


@jit(error_model="numpy")
def write_dual_updates(threshold, scale, targets, scores, dual, stiffness, updates):
    """The conjugate is scale a^2 / 2 - y a for |a| <= threshold.

    Weights move in proportion to the scale, and so does the stiffness.
    """
    for i in range(targets.size):
        a, s = dual[i, 0], stiffness[i]
        best = ((targets[i] - scores[i, 0]) / scale + s * a) / (1.0 + s)
        updates[i, 0] = min(max(best, -threshold), threshold) - a


@jit(fastmath=ANY_ORDER, error_model="numpy")
def column_sum(own, before, change, limit, threshold, scale, scores):
    total = 0.0
    for i in range(scores.size):
        scores[i] += change * before[i]
        total += between(between(scores[i] / scale, threshold) * own[i], limit)
    return total


@jit(fastmath=ANY_ORDER, error_model="numpy")
def scale_sum(present, before, change, limit, threshold, scale, scores):
    """The same for the derivative in the scale."""
    total = 0.0
    for i in range(scores.size):
        scores[i] += change * before[i]
        slope = between(scores[i] / scale, threshold)
        total += present[i] * between(0.5 * (1.0 - slope * slope), limit)
    return total


@jit(error_model="numpy")
def moved_scale(scale, dual_sum, rows, reached, gain):
    """The scale, moved towards where the squares of the dual variables have mean 1.

    That is the optimum's condition (Owen 2007, eq. 8); `dual_sum` is that of -a^2 / 2. Before every
    row can have `reached` the threshold, the mean that the rows which did would have is aimed at.
    """
    aim = max(reached * reached, LEAST_RAMP)
    squares = -2.0 * dual_sum / rows
    error = min(max((squares - reached * reached) / aim, -1.0), 1.0)
    return scale * math.exp(gain * error)
