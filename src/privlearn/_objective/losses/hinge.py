"""The hinge of a support vector machine."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privlearn._core.jit import jit
from privlearn._objective.losses.base import Array, Loss, Target, sign_of, signs, sum_over_classes

__all__ = ["HINGE", "Hinge"]

HINGE = 3


@dataclass(frozen=True)
class Hinge(Loss):
    """max(0, 1 - y z) for y = -1 or 1; at the kink the derivative is 0.

    With several outputs, one against the rest: the sum over classes k, with score z_k and sign 1
    for the row's own class and -1 for the others.

    Examples
    --------
    >>> float(Hinge().value(np.array(-1.0), np.array(0.5)))
    1.5
    >>> Hinge(3).derivative(np.array([1.0]), np.array([[0.0, 0.0, -2.0]]))
    array([[ 1., -1.,  0.]])
    """

    outputs: int = 1

    name = "hinge"
    code = HINGE

    def __post_init__(self) -> None:
        target = Target.SIGN if self.outputs == 1 else Target.CLASS
        object.__setattr__(self, "target", target)
        object.__setattr__(self, "lipschitz", math.sqrt(self.outputs))  # every margin violated

    def value(self, y: Array, z: Array) -> Array:
        """Loss of predicting z where the truth is y."""
        slack = np.maximum(0.0, 1.0 - signs(y, z, self.outputs) * z)
        return sum_over_classes(slack, self.outputs)

    def derivative(self, y: Array, z: Array) -> Array:
        """Derivative of the loss in z, one column per class where there are several."""
        own = signs(y, z, self.outputs)
        return np.where(own * z < 1.0, -own, 0.0)


@jit(error_model="numpy")
def write_gradients(targets, scores, slopes):
    for b in range(targets.size):
        slopes[b, 0] = -targets[b] if targets[b] * scores[b, 0] < 1.0 else 0.0


@jit(error_model="numpy")
def write_gradients_by_class(targets, scores, slopes):
    """As if every class were another's; then the own class, one per row."""
    for b in range(targets.size):
        for k in range(slopes.shape[1]):
            slopes[b, k] = 1.0 if scores[b, k] > -1.0 else 0.0
    for b in range(targets.size):
        own = int(targets[b])
        slopes[b, own] = -1.0 if scores[b, own] < 1.0 else 0.0


@jit(error_model="numpy")
def write_dual_updates(targets, scores, dual, stiffness, updates):
    """The conjugate is -b for b in [0, 1], with b = sign a."""
    outputs = updates.shape[1]
    for i in range(targets.size):
        for k in range(outputs):
            y = sign_of(targets, i, k, outputs)
            best = y * dual[i, k] + (1.0 - y * scores[i, k]) / stiffness[i]
            updates[i, k] = y * min(max(best, 0.0), 1.0) - dual[i, k]
