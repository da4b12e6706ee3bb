"""Cross-entropy of several classes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privlearn._core.jit import jit
from privlearn._objective.losses.base import Array, Loss, Target

__all__ = ["SOFTMAX", "Softmax"]

SOFTMAX = 4


@dataclass(frozen=True)
class Softmax(Loss):
    """Cross-entropy of `outputs` classes: log sum_k exp(z_k) - z_y.

    |p - e_y|^2 <= 2, and the second derivative diag(p) - p p' is at most 1/2 (Boehning 1992).

    Examples
    --------
    >>> loss = Softmax(2).value(np.array([0.0]), np.array([[0.0, 0.0]]))
    >>> round(float(loss[0]), 4)
    0.6931
    """

    outputs: int = 3

    name = "softmax"
    code = SOFTMAX
    target = Target.CLASS
    smoothness = 0.5
    lipschitz = math.sqrt(2.0)
    scores = "log-odds"
    coupled = True

    def value(self, y: Array, z: Array) -> Array:
        """Loss of predicting z where the truth is y."""
        top = z.max(axis=1)
        rest = np.log(np.exp(z - top[:, None]).sum(axis=1))
        return np.asarray(top + rest - z[np.arange(len(z)), y.astype(int)])

    def derivative(self, y: Array, z: Array) -> Array:
        """Derivative of the loss in z, one column per class."""
        weight = np.exp(z - z.max(axis=1, keepdims=True))
        weight /= weight.sum(axis=1, keepdims=True)
        weight[np.arange(len(z)), y.astype(int)] -= 1.0
        return np.asarray(weight)


@jit(error_model="numpy")
def write_gradient(y, scores, slopes):
    top = scores[0]
    for k in range(1, scores.size):
        top = max(top, scores[k])
    total = 0.0
    for k in range(scores.size):
        slopes[k] = math.exp(scores[k] - top)
        total += slopes[k]
    for k in range(scores.size):
        slopes[k] /= total
    slopes[int(y)] -= 1.0
