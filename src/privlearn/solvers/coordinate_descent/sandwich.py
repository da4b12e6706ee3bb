"""What stands between the two inverses of a standard error: post-processing of noisy moments.

Noisy second moments of gradients, V, have negative eigenvalues, and cutting those off makes what is
left too large, the more so the flatter a direction of the curvature J is: intervals become wider
than they need be. If errors have nothing to do with rows, V = c J. So V is taken apart in the
directions of J, where c J is c times the identity, and each entry's deviation d from that counts as

    d t^2 / (t^2 + s^2),    s the noise on that entry, t = SPREAD c,

the mean of a deviation of that prior size (Stein; Efron, Morris 1973). Where noise is far below
the errors' own size, which is so for all entries from some thousand rows on, V stays as it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["MomentsAt", "drawn_together", "middle", "semidefinite", "square_without_noise"]

Array = NDArray[np.float64]
# Size of deviations of V from c J, relative to c J. On generated tables (proof.md) 1 leaves less of
# the bias, but covers less where errors grow with the direction in which columns hardly differ.
SPREAD = 3.0
# How far eigenvalues are drawn together again: all the way is right on average of the eigenvalues,
# but the inverse bends, so that it would be too small (python -m benchmarks.derive degrees).
DRAWN = 0.75


@dataclass(frozen=True)
class MomentsAt:
    """A noisy matrix of second moments."""

    mean: Array
    noise: float  # deviation on the diagonal; off it, of a part sqrt(1/2) of it


def middle(slopes: MomentsAt, gradient: Array, curvature: MomentsAt) -> Array:
    """Covariance of gradients of rows, without what noise is known to add on average.

    Parameters
    ----------
    slopes : MomentsAt
        Second moments of gradients.
    gradient : array of shape (width,)
        Their mean.
    curvature : MomentsAt
        Mean second derivative of the loss, to whose multiples deviations are shrunk.
    """
    values, vectors = np.linalg.eigh(curvature.mean)
    tiny, close = np.finfo(np.float64).tiny, np.finfo(np.float64).eps
    values = np.maximum(values, max(curvature.noise, values[-1] * close, tiny))
    roots = vectors * np.sqrt(values)
    across = vectors / np.sqrt(values)
    found = across.T @ (slopes.mean - np.outer(gradient, gradient)) @ across
    length = max(float(np.sum(values**2)), tiny)  # numbers whose squares are none
    size = float(np.sum(values**2 * np.diag(found))) / length
    size = max(size, slopes.noise / math.sqrt(length))  # noise may hide all of it
    noise = np.square(slopes.noise) + np.square(size * curvature.noise)
    noise = noise / np.outer(values, values)
    own = np.square(SPREAD * size)
    alike = size * np.eye(len(values))
    kept = own / np.maximum(own + noise, tiny)
    shrunk = alike + kept * (found - alike)
    if not np.isfinite(shrunk).all():  # of numbers so small or large that their squares are none
        return semidefinite(slopes.mean - np.outer(gradient, gradient))
    return np.asarray(roots @ semidefinite(shrunk) @ roots.T)


def square_without_noise(step: Array, slope: Array, variance: float) -> Array:
    """step step' of what a noisy step measures, without what the noise of its slope adds.

    A slope of d entries that is nothing but noise has a squared length of d times its variance on
    average; the step counts by how much of that length is more (James, Stein 1961). Taken off in
    units of the step instead, noise of the flattest direction decides, and half of it stays.
    """
    length, noise = float(slope @ slope), len(slope) * variance
    kept = max(0.0, 1.0 - noise / length) if length > 0.0 else 0.0
    return kept * np.outer(step, step)


def drawn_together(found: MomentsAt) -> Array:
    """The matrix with the eigenvalues that noise has pushed apart moved back, as far as DRAWN.

    Noise of variance s^2 / 2 off the diagonal moves an eigenvalue by s^2 / 2 times the sum of one
    over its distances, on average and to second order; distances below s are not known.
    """
    values, vectors = np.linalg.eigh(found.mean)
    if found.noise <= 0.0:
        return found.mean
    apart = (values - values[:, None]) / found.noise
    moved = 0.5 * DRAWN * found.noise * np.sum(apart / (apart**2 + 1.0), axis=1)
    return np.asarray((vectors * (values + moved)) @ vectors.T)


def semidefinite(matrix: Array) -> Array:
    """The nearest matrix without negative eigenvalues."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)
