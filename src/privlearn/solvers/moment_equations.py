"""From a noisy moment matrix to coefficients: post-processing, which costs no privacy."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["Ridge", "centred", "inverse_eigenvalues", "solve_moments", "stack", "unstack"]

Array = NDArray[np.float64]
Ridge = float | Literal["noise", "adassp"]

# Chosen on generated data (docs/adr/0001-noise-level-damping.md), before any real data was fitted.
DAMPING = math.sqrt(3.0)
ADASSP_FAILURE = 0.05  # Wang 2018, Algorithm 2: the bounds hold with probability 95 %


def stack(matrix: Array) -> Array:
    """Upper triangle as a vector, off-diagonal entries times sqrt(2): an isometry.

    The L2 norm of the vector is the Frobenius norm of the symmetric matrix, so equal noise on the
    vector is noise s on the diagonal and s / sqrt(2) off it.
    """
    rows, columns = np.triu_indices(len(matrix))
    return matrix[rows, columns] * np.where(rows == columns, 1.0, math.sqrt(2.0))


def unstack(vector: Array, size: int) -> Array:
    """The symmetric matrix that `stack` came from."""
    rows, columns = np.triu_indices(size)
    matrix = np.empty((size, size))
    matrix[rows, columns] = vector / np.where(rows == columns, 1.0, math.sqrt(2.0))
    matrix[columns, rows] = matrix[rows, columns]
    return matrix


def centred(moments: Array, count: float) -> tuple[Array, Array, Array]:
    """Gram matrix, cross products and means of (x, y), given the moments of (1, x, y).

    Means are known to lie in [-1, 1], so they are put there.
    """
    means = np.clip(moments[0, 1:] / count, -1.0, 1.0)
    scatter = moments[1:, 1:] - count * np.outer(means, means)
    return scatter[:-1, :-1], scatter[:-1, -1], means


def inverse_eigenvalues(eigenvalues: Array, noise: float, ridge: Ridge) -> Array:
    """What replaces 1/e for each eigenvalue e of the noisy Gram matrix.

    With ``"noise"``, e / (e^2 + k^2), k = sqrt(3 p) times the noise: the posterior mean when cross
    products carry noise of that size, 1/e where the signal is strong and 0 where there is none.
    """
    p = len(eigenvalues)
    positive = np.maximum(eigenvalues, 0.0)
    if ridge == "noise":
        spread = (DAMPING * noise) ** 2 * p
    else:
        positive = positive + _added(eigenvalues, noise, ridge)
        spread = 0.0
    negligible = positive <= positive.max(initial=0.0) * p * np.finfo(np.float64).eps
    denominator = positive**2 + spread
    return np.divide(positive, denominator, out=np.zeros(p), where=~negligible & (denominator > 0))


def _added(eigenvalues: Array, noise: float, ridge: float | str) -> float:
    """A given ridge, or AdaSSP's: enough to outweigh the noise, less what is there already.

    The norm of the noise matrix exceeds s (sqrt(2 p) + t) with probability at most 2 exp(-t^2/2):
    its expectation is at most s sqrt(2 p), and it is s-Lipschitz in independent Gaussians.
    """
    if not isinstance(ridge, str):
        return float(ridge)
    tail = math.sqrt(2.0 * math.log(2.0 / ADASSP_FAILURE))
    largest_noise = noise * (math.sqrt(2.0 * len(eigenvalues)) + tail)
    surely_there = max(float(eigenvalues.min()) - largest_noise, 0.0)
    return max(0.0, largest_noise - surely_there)


def solve_moments(
    moments: Array,
    *,
    intercept: bool,
    penalty: Array,
    noise: float,
    ridge: Ridge,
    count: float | None,
) -> tuple[Array, float]:
    """Coefficients and intercept that minimise the noisy, damped quadratic.

    Parameters
    ----------
    moments : array of shape (p + 2, p + 2), or (p + 1, p + 1) without intercept
        Noisy moments of (1, x, y).
    intercept : bool
        Whether the first column is the intercept's.
    penalty : array of shape (p,)
        Quadratic penalty on each coefficient, which the noise has no part in.
    noise : float
        Standard deviation of the noise on the diagonal.
    ridge : {"noise", "adassp"} or float
        See `SufficientStatistics`.
    count : float or None
        Number of rows, or None to take the noisy one.
    """
    if intercept:
        rows = max(float(moments[0, 0]), 1.0) if count is None else float(count)
        gram, cross, means = centred(moments, rows)
    else:
        gram, cross, means = moments[:-1, :-1], moments[:-1, -1], np.zeros(len(moments))
    eigenvalues, vectors = np.linalg.eigh(gram + np.diag(penalty))
    coef = vectors @ (inverse_eigenvalues(eigenvalues, noise, ridge) * (vectors.T @ cross))
    return coef, float(means[-1] - means[:-1] @ coef)
