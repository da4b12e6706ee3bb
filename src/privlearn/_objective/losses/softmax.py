"""Cross-entropy of several classes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privlearn._core.jit import jit
from privlearn._objective.losses.base import Array, Loss, Target
from privlearn._objective.losses.logistic import RAREST, rare_slope

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
    bends = True

    def value(self, y: Array, z: Array) -> Array:
        """Loss of predicting z where the truth is y."""
        top = z.max(axis=1)
        rest = np.log(np.exp(z - top[:, None]).sum(axis=1))
        return np.asarray(top + rest - z[np.arange(len(z)), y.astype(int)])

    def derivative(self, y: Array, z: Array) -> Array:
        """Derivative of the loss in z, one column per class."""
        weight = _shares(z)
        weight[np.arange(len(z)), y.astype(int)] -= 1.0
        return np.asarray(weight)

    def constant_score(self, slope: Array, noise: float) -> Array:
        """Logarithms of the classes' shares, with mean 0; none is below what noise would hide."""
        least = min(max(noise, RAREST), 1.0 / self.outputs)
        share = np.maximum(1.0 / self.outputs - slope, least)
        return np.asarray(np.log(share) - np.log(share).mean())

    def slope_to_keep(self, score: Array) -> float:
        """As of two classes: rows of the rare ones have the steepest slopes."""
        return rare_slope(_shares(score[None, :]).max(), self.lipschitz, self.outputs)

    def mean_shares(self, z: Array) -> Array:
        """Mean probability of every class."""
        return np.asarray(_shares(z).mean(axis=0))

    def mean_second_derivative(self, z: Array) -> Array:
        """Mean over the rows of z of diag(p) - p p', whatever y is."""
        shares = _shares(z)
        return np.asarray(np.diag(shares.mean(axis=0)) - shares.T @ shares / len(z))


def _shares(z: Array) -> Array:
    weight = np.exp(z - z.max(axis=1, keepdims=True))
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


@jit(error_model="numpy", nogil=True)
def write_gradients(targets, scores, slopes):
    for b in range(targets.size):
        top, total = scores[b, 0], 0.0
        for k in range(1, slopes.shape[1]):
            top = max(top, scores[b, k])
        for k in range(slopes.shape[1]):
            slopes[b, k] = math.exp(scores[b, k] - top)
            total += slopes[b, k]
        for k in range(slopes.shape[1]):
            slopes[b, k] /= total
        slopes[b, int(targets[b])] -= 1.0
