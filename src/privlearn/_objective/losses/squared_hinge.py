"""The squared hinge of a support vector machine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privlearn._core.jit import jit
from privlearn._objective.losses.base import Array, Loss, Target, sign_of, signs, sum_over_classes

__all__ = ["SQUARED_HINGE", "SquaredHinge"]

SQUARED_HINGE = 5


@dataclass(frozen=True)
class SquaredHinge(Loss):
    """max(0, 1 - y z)^2 for y = -1 or 1, or its sum over classes as in `Hinge`.

    Its slope grows without limit as a row goes to the wrong side, so it is smooth but not
    Lipschitz.

    Examples
    --------
    >>> float(SquaredHinge().value(np.array(-1.0), np.array(0.5)))
    2.25
    >>> SquaredHinge(3).derivative(np.array([1.0]), np.array([[0.0, 0.0, -2.0]]))
    array([[ 2., -2.,  0.]])
    """

    outputs: int = 1

    name = "squared hinge"
    code = SQUARED_HINGE
    smoothness = 2.0

    def __post_init__(self) -> None:
        target = Target.SIGN if self.outputs == 1 else Target.CLASS
        object.__setattr__(self, "target", target)

    def value(self, y: Array, z: Array) -> Array:
        """Loss of predicting z where the truth is y."""
        slack = np.maximum(0.0, 1.0 - signs(y, z, self.outputs) * z)
        return sum_over_classes(slack**2, self.outputs)

    def derivative(self, y: Array, z: Array) -> Array:
        """Derivative of the loss in z, one column per class where there are several."""
        own = signs(y, z, self.outputs)
        return np.where(own * z < 1.0, 2.0 * (z - own), 0.0)


@jit(error_model="numpy")
def write_gradients(targets, scores, slopes):
    for b in range(targets.size):
        y, z = targets[b], scores[b, 0]
        slopes[b, 0] = 2.0 * (z - y) if y * z < 1.0 else 0.0


@jit(error_model="numpy")
def write_gradients_by_class(targets, scores, slopes):
    """As if every class were another's; then the own class, one per row."""
    for b in range(targets.size):
        for k in range(slopes.shape[1]):
            slopes[b, k] = 2.0 * (scores[b, k] + 1.0) if scores[b, k] > -1.0 else 0.0
    for b in range(targets.size):
        own = int(targets[b])
        slopes[b, own] = 2.0 * (scores[b, own] - 1.0) if scores[b, own] < 1.0 else 0.0


@jit(error_model="numpy")
def write_dual_updates(targets, scores, dual, stiffness, updates):
    """The conjugate is b^2 / 4 - b for b >= 0, with b = sign a."""
    outputs = updates.shape[1]
    for i in range(targets.size):
        s = stiffness[i]
        for k in range(outputs):
            y = sign_of(targets, i, k, outputs)
            best = (1.0 - y * scores[i, k] + s * y * dual[i, k]) / (0.5 + s)
            updates[i, k] = y * max(best, 0.0) - dual[i, k]
