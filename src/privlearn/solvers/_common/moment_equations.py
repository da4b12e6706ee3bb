"""From noisy second moments to coefficients: post-processing, which costs no privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from privlearn._objective.prox import WeightPenalty
from privlearn.solvers._common.quadratic import minimise_quadratic

__all__ = [
    "Ridge",
    "Spectrum",
    "centred",
    "inverse_eigenvalues",
    "means_of",
    "solve_moments",
    "solve_spectrum",
    "stack",
    "unstack",
]

Array = NDArray[np.float64]
Ridge = float | Literal["noise", "adassp"]

# Where x and y span [-1, 1]; chosen with benchmarks/derive/damping.py on generated data.
COEFFICIENT_VARIANCES = np.logspace(-4, 3, 29)
FLATTEST = 1e-10  # curvature of directions without any, beside the largest: one minimiser, not many
SWEEPS, TOLERANCE = 10_000, 1e-12
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


def means_of(first: Array, count: float) -> Array:
    """Means of (x, y), given the first row of the moments of (1, x, y); they lie in [-1, 1]."""
    return np.clip(first[1:] / count, -1.0, 1.0)


def centred(moments: Array, count: float) -> tuple[Array, Array, Array]:
    """Gram matrix, cross products and means of (x, y), given the moments of (1, x, y)."""
    means = means_of(moments[0], count)
    scatter = moments[1:, 1:] - count * np.outer(means, means)
    return scatter[:-1, :-1], scatter[:-1, -1], means


def inverse_eigenvalues(eigenvalues: Array, cross: Array, noise: float, ridge: Ridge) -> Array:
    """What replaces 1/e for each eigenvalue e of the noisy Gram matrix.

    Parameters
    ----------
    eigenvalues, cross : arrays of shape (p,)
        Spectrum of the noisy Gram matrix, and the noisy cross products along its eigenvectors.
    noise : float
        Standard deviation of the noise on the diagonal.
    ridge : {"noise", "adassp"} or float
        See `SufficientStatistics`.
    """
    p = len(eigenvalues)
    positive = np.maximum(eigenvalues, 0.0)
    if ridge == "noise" and noise > 0:
        return _posterior_gain(positive, cross, noise)
    if ridge != "noise":
        positive = positive + _added(eigenvalues, noise, ridge)
    usable = positive > positive.max(initial=0.0) * p * np.finfo(np.float64).eps
    return np.divide(1.0, positive, out=np.zeros(p), where=usable)


def _posterior_gain(eigenvalues: Array, cross: Array, noise: float) -> Array:
    """Posterior mean of each coefficient over its cross product.

    Along eigenvector i the cross product is e_i w_i plus noise of variance v = s^2/2 (1 + |w|^2):
    its own, and that of the Gram matrix times w. For coefficients of variance t the posterior mean
    multiplies it by e t / (e^2 t + v): 1/e where the signal is strong, 0 where there is none. The
    unknown t is averaged over a wide grid, each weighted by how likely it makes the cross products.
    """
    t = COEFFICIENT_VARIANCES[:, None]
    variance = 0.5 * noise**2 * (1.0 + len(eigenvalues) * t)
    total = eigenvalues**2 * t + variance
    log_likelihood = -0.5 * np.sum(np.log(total) + cross**2 / total, axis=1)
    weight = np.exp(log_likelihood - log_likelihood.max())
    return np.asarray(weight @ (eigenvalues * t / total) / weight.sum())


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


@dataclass(frozen=True, eq=False)
class Spectrum:
    """A Gram matrix as eigenvalues and eigenvectors, and products with the latter."""

    eigenvalues: Array
    vectors: Any

    def along(self, x: Array) -> Array:
        """Entries of a vector along the eigenvectors."""
        return np.asarray(self.vectors.T @ x)

    def back(self, along: Array) -> Array:
        """The vector that has such entries."""
        return np.asarray(self.vectors @ along)

    def responses(self, gain: Array, *to: Array) -> tuple[Array, ...]:
        """Of the matrix of such eigenvalues: squared lengths of rows, and products with vectors."""
        response = (self.vectors * gain) @ self.vectors.T
        return np.sum(response**2, axis=1), *(response @ one for one in to)


def solve_moments(
    moments: Array,
    *,
    intercept: bool,
    penalty: WeightPenalty,
    noise: float,
    ridge: Ridge,
    count: float | None,
) -> tuple[Array, float, Array | None]:
    """Coefficients and intercept that minimise the noisy, damped quadratic, and their noise.

    The noise is the standard deviation of each coefficient, None where the penalty has kinks.

    Parameters
    ----------
    moments : array of shape (p + 2, p + 2), or (p + 1, p + 1) without intercept
        Noisy moments of (1, x, y).
    intercept : bool
        Whether the first column is the intercept's.
    penalty : WeightPenalty
        In the coordinates of the moments; the noise has no part in it.
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
    spectrum = Spectrum(*np.linalg.eigh(gram + np.diag(penalty.curvature)))
    known = intercept and count is not None
    return solve_spectrum(
        spectrum, cross, means, penalty, noise, ridge, known if intercept else None
    )


def solve_spectrum(
    spectrum: Spectrum,
    cross: Array,
    means: Array,
    penalty: WeightPenalty,
    noise: float,
    ridge: Ridge,
    count_is_public: bool | None,
) -> tuple[Array, float, Array | None]:
    """The same from centred moments; `count_is_public` is None without an intercept."""
    along = spectrum.along(cross)
    gain = inverse_eigenvalues(spectrum.eigenvalues, along, noise, ridge)
    coef, noise_std = spectrum.back(gain * along), None
    intercept = count_is_public is not None
    if penalty.smooth:
        constant = float(means[-1] - means[:-1] @ coef) if intercept else 0.0
        public = bool(count_is_public)
        noise_std = _noise_of(spectrum, gain, coef, means[:-1], constant, noise, public)
    else:
        added = 0.0 if ridge == "noise" else _added(spectrum.eigenvalues, noise, ridge)
        curvature = np.maximum(spectrum.eigenvalues, 0.0) + added
        coef = _penalised(coef, curvature, spectrum.vectors, penalty)
    return coef, float(means[-1] - means[:-1] @ coef), noise_std


def _noise_of(
    spectrum: Spectrum,
    gain: Array,
    coef: Array,
    means: Array,
    constant: float,
    noise: float,
    count_is_public: bool,
) -> Array:
    """Standard deviation of each coefficient, to first order in the noise and for given gains.

    The equations for (1, x) are off by E t, where E is the noise of the moments of (1, x, y) and t
    = (constant, coef, -1). E has variance s^2 on its diagonal and s^2/2 off it, so E t has
    covariance s^2/2 (|t|^2 I + t t'). Centring takes `means` times its first entry from the others,
    and the gains turn what is left into coefficients: G (e - means e_1).
    """
    square = 1.0 + float(coef @ coef) + constant**2
    of_first = square - constant**2 if count_is_public else square + constant**2
    squares, of_left, of_means = spectrum.responses(gain, coef - constant * means, means)
    variance = square * squares + of_left**2
    # The intercept's own equation: its variance is of_first in place of square + constant^2.
    variance += (of_first - constant**2) * of_means**2
    return np.asarray(noise * np.sqrt(0.5 * variance))


def _penalised(damped: Array, curvature: Array, vectors: Array, penalty: WeightPenalty) -> Array:
    """Minimiser of the quadratic around the damped solution, plus l1 and within the box.

    A direction pulls with its own curvature towards its damped solution, so one without curvature
    is left to the penalty, as in scikit-learn: columns of categories, which add up to 1, have one.
    With 1 / gain as curvature it would be held at 0, and hardly a sparse vector could be reached.
    """
    floor = FLATTEST * max(float(curvature.max()), np.finfo(np.float64).tiny)
    A = (vectors * np.maximum(curvature, floor)) @ vectors.T
    b, start = A @ damped, damped.copy()
    rough = penalty.absolute, penalty.low, penalty.high
    return np.asarray(minimise_quadratic(A, b, *rough, start, SWEEPS, TOLERANCE))
