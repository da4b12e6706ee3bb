"""Random Fourier features in blocks, and SGD on them with one row a step."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

__all__ = ["FeatureMap", "permuted_order", "predict", "train"]

AT_ONCE = 256  # rows whose features are there at a time


class FeatureMap(NamedTuple):
    """phi(x) = sqrt(2/M) cos(w'x + b): the paper's Example 2.1, or paired sines and cosines."""

    frequencies: np.ndarray
    phases: np.ndarray

    @classmethod
    def draw(cls, features: int, bandwidth: float, paired: bool, generator) -> FeatureMap:
        """Frequencies of the Gaussian kernel. Paired, sin(z) = cos(z - pi/2) follows cos(z)."""
        if paired:
            half = generator.standard_normal((features // 2, 2)) / bandwidth
            phases = np.repeat([0.0, -np.pi / 2], len(half))
            frequencies = np.vstack([half, half])
        else:
            frequencies = generator.standard_normal((features, 2)) / bandwidth
            phases = generator.uniform(0.0, 2.0 * np.pi, features)
        return cls(frequencies.astype(np.float32), phases.astype(np.float32))

    def __call__(self, X: np.ndarray) -> np.ndarray:
        angles = X.astype(np.float32) @ self.frequencies.T
        angles += self.phases
        np.cos(angles, out=angles)
        angles *= np.float32(np.sqrt(2.0 / len(self.phases)))
        return angles


@numba.njit(cache=True, fastmath=True)
def _steps(phi, y, step_size, clip, w):
    """w <- w - eta clip(<w, phi> - y) phi, row by row."""
    for t in range(phi.shape[0]):
        residual = -y[t]
        for j in range(phi.shape[1]):
            residual += phi[t, j] * w[j]
        move = step_size * min(max(residual, -clip), clip)
        for j in range(phi.shape[1]):
            w[j] -= move * phi[t, j]


def train(phi: FeatureMap, X, y, order: np.ndarray, step_size: float, clip: float) -> np.ndarray:
    """The last iterate from 0, visiting rows in this order; residuals clipped unless `clip` is inf.

    Features are computed in single precision, weights in double.
    """
    w = np.zeros(len(phi.phases))
    for start in range(0, len(order), AT_ONCE):
        rows = order[start : start + AT_ONCE]
        _steps(phi(X[rows]), y[rows], step_size, clip, w)
    return w


def permuted_order(n: int, epochs: int, generator) -> np.ndarray:
    """Every row once per epoch, in an order of its own."""
    return np.concatenate([generator.permutation(n) for _ in range(epochs)])


def predict(phi: FeatureMap, weights: np.ndarray, X: np.ndarray) -> np.ndarray:
    """phi(X) @ weights, in blocks."""
    blocks = [phi(X[k : k + AT_ONCE]) @ weights for k in range(0, len(X), AT_ONCE)]
    return np.concatenate(blocks)
