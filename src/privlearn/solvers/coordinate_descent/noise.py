"""Noise on the weights that coordinate descent finds, from what was released and its known noise.

The minimiser of averaged quadratic models is w = V diag(gains) V' pull (quadratic_model.py), V the
eigenvectors of the curvature. The pull carries the averaged noise of the gradients, which is
isotropic and independent of V and, nearly, of the gains: so w has covariance
variance V diag(gains^2) V'. All of it is post-processing of releases.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["noise_of_minimiser", "noise_of_outputs", "noise_of_weights"]

Array = NDArray[np.float64]


def noise_of_minimiser(vectors: Array, gains: Array, variance: float) -> Array:
    """Standard deviation of each weight.

    Parameters
    ----------
    vectors : array of shape (p, p)
        Eigenvectors of the curvature, penalty included, in columns.
    gains : array of shape (p,)
        What multiplies the pull along each of them: 1 / eigenvalue, or less where it is shrunk.
    variance : float
        Of the noise on one coordinate of the averaged gradient, per row.

    Examples
    --------
    >>> noise_of_minimiser(np.eye(2), np.array([1.0, 0.5]), 4.0).tolist()
    [2.0, 1.0]
    """
    return np.asarray(np.sqrt(variance * (vectors**2 @ gains**2)))


def noise_of_outputs(across: Array, vectors: Array, gains: Array, variance: float) -> Array:
    """The same of several outputs, whose curvature falls apart in directions of the outputs.

    Parameters
    ----------
    across : array of shape (outputs, outputs)
        Directions of the outputs, in columns.
    vectors, gains : arrays of shape (outputs, p, p) and (outputs, p)
        As in `noise_of_minimiser`, for each of these directions.
    variance : float
        Of the noise on one coordinate of the averaged gradient, per row.

    Returns
    -------
    array of shape (outputs, p)
        Standard deviations of the weights.

    Examples
    --------
    >>> noise_of_outputs(np.eye(1), np.eye(2)[None], np.array([[1.0, 0.5]]), 4.0).tolist()
    [[2.0, 1.0]]
    """
    along = np.einsum("kij,kj->ki", vectors**2, gains**2)
    return np.asarray(np.sqrt(variance * (across**2 @ along)))


def noise_of_weights(curvature: Array, variance: float, gains: Array | None = None) -> Array:
    """The same from the curvature itself; without gains nothing is shrunk.

    Parameters
    ----------
    curvature : array of shape (p, p)
        Symmetric, positive definite, per row; the penalty's included.
    variance : float
        Of the noise on one coordinate of the averaged gradient, per row.
    gains : array of shape (p,) or None
        In the order of increasing eigenvalues.

    Examples
    --------
    >>> noise_of_weights(np.diag([2.0, 4.0]), 16.0).tolist()
    [2.0, 1.0]
    """
    values, vectors = np.linalg.eigh(curvature)
    floor = max(float(values[-1]), np.finfo(np.float64).tiny) * np.finfo(np.float64).eps
    usual = 1.0 / np.maximum(values, floor)
    return noise_of_minimiser(vectors, usual if gains is None else gains, variance)
