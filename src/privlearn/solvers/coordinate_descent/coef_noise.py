"""What the noise of all gradients does to the last weights: post-processing of what was released.

A step takes the minimiser w of averaged quadratic models, w = J q with the average q of A v - g
over the steps at v so far: A is the curvature that was released, g the gradient. The true gradient
moves by H dv, so that noise n of a gradient goes through all later steps by

    q <- (1 - part) q + part ((A - H) dv - n),    dw = J q.

A and J are known, and taken as they are at the last step: then the recursion falls apart along the
eigenvectors of R (A - H) R, where R R = J. H is not known: it is estimated from the noisy second
moments as well as their eigenvectors allow. Directions of little curvature, such as a group of
categories beside an intercept, do not converge, so their noise piles up; most of it would be
overlooked with A in the place of H. The last step of classes moves the intercept alone, of which
nothing is told. proof.md has the rule and what it was compared with.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privlearn._core.problem import Problem
from privlearn.solvers._common.objective import Objective
from privlearn.solvers.coordinate_descent.gaussian_rows import curvature_at
from privlearn.solvers.coordinate_descent.private_scales import RowMoments
from privlearn.solvers.coordinate_descent.range_noise import NoiseOfEnds

__all__ = ["NoiseRecord", "is_told"]

Array = NDArray[np.float64]
LOSSES = frozenset({"squared", "logistic"})  # of one score, with a curvature that is known
WIDEST = 200  # columns, the intercept's included: wider tables were not compared
FLATTEST = 1e-9  # of the damping: moments where noise has left none, so that means are numbers
# Squared part of a coefficient in directions that do not converge, relative to what noise of their
# eigenvectors gives it: below the first it is taken for noise, above the second for real.
NOISE_OR_REAL = 1.0, 4.0


def is_told(problem: Problem) -> bool:
    """Whether the noise of each coefficient can be told: from public facts."""
    narrow = problem.n_features + int(problem.fit_intercept) <= WIDEST
    return narrow and problem.loss.name in LOSSES and problem.penalty.smooth


class NoiseRecord:
    """What a descent released and did, and what its noise comes to.

    Parameters
    ----------
    objective : Objective
        What is minimised.
    moments : RowMoments
        Released.
    """

    def __init__(self, objective: Objective, moments: RowMoments) -> None:
        self._objective, self._moments = objective, moments
        self._parts, self._noise_stds = list[float](), list[float]()

    def add(self, part: float, noise_std: float) -> None:
        """Note a step whose model, with that noise on its gradient, is a part of the average."""
        self._parts.append(part)
        self._noise_stds.append(noise_std)

    def deviations(
        self,
        weights: Array,
        step_curvature: Array,
        response: Array,
        ends: NoiseOfEnds | None = None,
        times: Array | None = None,
    ) -> Array:
        """Standard deviation of the noise on each of the last weights.

        Parameters
        ----------
        weights : array of shape (width,)
            Where the last step was taken.
        step_curvature : array of shape (width, width)
            A, of its model.
        response : array of shape (width, width)
            J, the derivative of its minimiser in the average's pull.
        ends : NoiseOfEnds or None, default=None
            What noise on the ends of ranges does to gradients and weights.
        times : array of shape (width,) or None, default=None
            How much larger second moments are than those of shortened rows.
        """
        values, vectors = _true_spectrum(self._moments)
        positive = np.maximum(values, FLATTEST * self._moments.damping)
        own = self._loss_curvature((vectors * positive) @ vectors.T, weights)
        missing = step_curvature - _raised(own, times, step_curvature)
        root = _root(response)
        variance = self._variances(missing, root)
        weak = values < self._moments.damping
        real = _share_that_is_real(values, vectors, weak, self._moments.noise)
        if (real < 1.0).any():
            slow = vectors[:, weak] @ vectors[:, weak].T
            without = self._variances(missing - slow @ missing @ slow, root)  # as if they converged
            variance = without + real * np.maximum(variance - without, 0.0)
        if ends is not None:
            moved = self._lasting(missing, root) * ends.gradient
            variance = variance + np.sum(moved**2, axis=1) + ends.weights**2
        return np.sqrt(variance)

    def _loss_curvature(self, moments: Array, weights: Array) -> Array:
        """Of the mean loss, for rows with these second moments."""
        loss, scaling = self._objective.loss, self._objective.scaling
        if loss.bends:
            intercept = scaling.intercept_value > 0.0
            return curvature_at(loss, moments, intercept, weights[None, :]).within
        return loss.curvature * moments

    def _variances(self, missing: Array, root: Array) -> Array:
        """Of the last weights, where the models' curvature exceeds the loss's by `missing`."""
        basis, reached = self._through_steps(missing, root)
        in_the_end = reached * np.array(self._noise_stds)[:, None]
        covariance = (basis.T @ basis) * (in_the_end.T @ in_the_end)
        return np.maximum(np.einsum("ij,ij->i", basis @ covariance, basis), 0.0)

    def _lasting(self, missing: Array, root: Array) -> Array:
        """How far the last weights move per unit by which all gradients differ."""
        basis, reached = self._through_steps(missing, root)
        return np.asarray((basis * reached.sum(axis=0)) @ basis.T)

    def _through_steps(self, missing: Array, root: Array) -> tuple[Array, Array]:
        """Directions that steps do not mix, and what of each gradient reaches the end in each."""
        repeated, directions = np.linalg.eigh(root @ missing @ root)  # by the next step
        left = np.ones(len(repeated))
        reached = np.empty((len(self._parts), len(left)))
        for k in reversed(range(len(self._parts))):
            part = self._parts[k]
            reached[k] = part * left
            left *= 1.0 - part + part * repeated
        return root @ directions, reached


def _raised(curvature: Array, times: Array | None, most: Array) -> Array:
    """A curvature in so many times its squares, but no steeper than what steps were made for.

    Where it is, clipping keeps steps from doing what the recursion would tell.
    """
    if times is None:
        return curvature
    room = np.diag(most) / np.maximum(np.diag(curvature), np.finfo(np.float64).tiny)
    roots = np.sqrt(np.maximum(np.minimum(times, room), 1.0))
    return curvature * np.outer(roots, roots)


def _root(matrix: Array) -> Array:
    """The symmetric square root of a positive semidefinite matrix."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


def _true_spectrum(moments: RowMoments) -> tuple[Array, Array]:
    """True second moments along the eigenvectors of the noisy ones, and these.

    Noise pushes eigenvalues apart, by the sum of one over their distances times its variance (Bun,
    Allez, Bouchaud, Potters 2016); it cannot tell distances below its own deviation.
    """
    values, vectors = np.linalg.eigh(moments.noisy)
    if moments.noise <= 0.0:
        return values, vectors
    apart = values[:, None] - values
    pushed = np.sum(apart / (apart**2 + moments.noise**2), axis=1)
    return values - moments.noise**2 * pushed, vectors


def _share_that_is_real(
    values: Array, vectors: Array, weak: NDArray[np.bool_], noise: float
) -> Array:
    """How much of a weight's part in the weak directions is beyond the noise of eigenvectors.

    Noise turns them towards others by noise^2 / 2 over the squared distance of their eigenvalues.
    """
    if not weak.any() or weak.all() or noise <= 0.0:
        return np.ones(len(values))
    rest = ~weak
    turned = 0.5 * noise**2 * np.sum((vectors[:, rest] / values[rest]) ** 2, axis=1) * weak.sum()
    found = np.sum(vectors[:, weak] ** 2, axis=1)
    noisy, real = NOISE_OR_REAL
    times = found / np.maximum(turned, np.finfo(np.float64).tiny)
    return np.asarray(np.clip((times - noisy) / (real - noisy), 0.0, 1.0))
