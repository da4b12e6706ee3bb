"""Half the squared error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privlearn._core.jit import ANY_ORDER, jit
from privlearn._objective.losses.base import Array, Loss, between

__all__ = ["SQUARED", "Squared"]

SQUARED = 0


@dataclass(frozen=True)
class Squared(Loss):
    """Half the squared error, (y - z)^2 / 2.

    Examples
    --------
    >>> float(Squared().value(1.0, 3.0))
    2.0
    """

    name = "squared"
    code = SQUARED
    degree = 2
    has_unit = True
    smoothness = 1.0
    of_residual = True

    def value(self, y: Array, z: Array) -> Array:
        """Loss of predicting z where the truth is y."""
        return 0.5 * (y - z) ** 2

    def derivative(self, y: Array, z: Array) -> Array:
        """Derivative of the loss in z."""
        return z - y

    def second_derivative(self, z: Array) -> Array:
        """Of the loss in z: 1 everywhere."""
        return np.ones_like(z)


@jit(error_model="numpy")
def slope(y, z):
    """The derivative, of numbers or of arrays: the same bits either way."""
    return z - y


@jit(error_model="numpy")
def write_gradients(targets, scores, slopes):
    for b in range(targets.size):
        slopes[b, 0] = scores[b, 0] - targets[b]


@jit(fastmath=ANY_ORDER, error_model="numpy")
def write_dual_updates(targets, scores, dual, stiffness, updates):
    for i in range(targets.size):
        updates[i, 0] = (targets[i] - scores[i, 0] - dual[i, 0]) / (1.0 + stiffness[i])


@jit(fastmath=ANY_ORDER)
def column_sum(own, before, change, limit, scores):
    total = 0.0
    for i in range(scores.size):
        scores[i] += change * before[i]
        total += between(scores[i] * own[i], limit)
    return total
