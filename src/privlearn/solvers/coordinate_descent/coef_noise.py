"""What the noise of all gradients does to the last weights: post-processing of what was released.

A step takes the minimiser w of averaged quadratic models, w = J q with the average q of A v - g
over the steps at v so far: A is the curvature that was released, g the gradient. The true gradient
moves by H dv, so that noise n of a gradient goes through all later steps by

    q <- (1 - part) q + part ((A - H) dv - n),    dw = J q.

Covariance matrices follow this recursion. A and J are known. H is not: it is estimated from the
noisy second moments as well as their eigenvectors allow. Directions of little curvature, such as a
group of categories beside an intercept, do not converge, so their noise piles up; most of it would
be overlooked with A in the place of H. proof.md has the rule and what it was compared with.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privlearn._core.problem import Problem
from privlearn.solvers._common.objective import Objective
from privlearn.solvers.coordinate_descent.gaussian_rows import curvature_at
from privlearn.solvers.coordinate_descent.private_scales import RowMoments

__all__ = ["NoiseRecord", "is_told"]

Array = NDArray[np.float64]
LOSSES = frozenset({"squared", "logistic"})  # of one score, with a curvature that is known
WIDEST = 200  # columns: the recursion multiplies matrices of this size at every step
FLATTEST = 1e-9  # of the damping: moments where noise has left none, so that means are numbers
# Squared part of a coefficient in directions that do not converge, relative to what noise of their
# eigenvectors gives it: below the first it is taken for noise, above the second for real.
NOISE_OR_REAL = 1.0, 4.0


def is_told(problem: Problem) -> bool:
    """Whether the noise of each coefficient can be told: from public facts."""
    narrow = problem.n_features + int(problem.fit_intercept) <= WIDEST
    return narrow and problem.loss.name in LOSSES and problem.penalty.smooth


class _Step(NamedTuple):
    part: float  # of this step's model in the average
    noise_std: float  # on each number of its gradient
    curvature: Array  # of its model
    response: Array  # derivative of the minimiser in the average's pull


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
        self._steps: list[_Step] = []
        self._at = objective.start()

    def add(
        self,
        weights: Array,
        curvature: Array,
        response: Array,
        *,
        part: float,
        noise_std: float,
    ) -> None:
        """Note a step from the given weights; its model is that part of the present average."""
        self._steps.append(_Step(part, noise_std, curvature, response))
        self._at = weights

    def deviations(self) -> Array:
        """Standard deviation of the noise on each of the last weights."""
        values, vectors = _true_spectrum(self._moments)
        positive = np.maximum(values, FLATTEST * self._moments.damping)
        curvature = self._loss_curvature((vectors * positive) @ vectors.T)
        variance = self._propagated(curvature)
        weak = values < self._moments.damping
        real = _share_that_is_real(values, vectors, weak, self._moments.noise)
        if (real < 1.0).any():
            slow = vectors[:, weak] @ vectors[:, weak].T
            missing = slow @ (self._steps[-1].curvature - curvature) @ slow
            without = self._propagated(curvature + missing)  # as if they converged
            variance = without + real * np.maximum(variance - without, 0.0)
        return np.sqrt(variance)

    def _loss_curvature(self, moments: Array) -> Array:
        """Of the mean loss at the last weights, for rows with these second moments."""
        loss, scaling = self._objective.loss, self._objective.scaling
        if loss.bends:
            intercept = scaling.intercept_value > 0.0
            return curvature_at(loss, moments, intercept, self._at[None, :]).within
        return loss.curvature * moments

    def _propagated(self, curvature: Array) -> Array:
        """Variances of the last weights, if the loss has that curvature."""
        size = len(curvature)
        response, of_pull = np.zeros((size, size)), np.zeros((size, size))
        for step in self._steps:
            missing = step.curvature - curvature
            carried = step.part * (missing @ response)
            np.einsum("ii->i", carried)[:] += 1.0 - step.part
            of_pull = carried @ of_pull @ carried.T
            np.einsum("ii->i", of_pull)[:] += (step.part * step.noise_std) ** 2
            response = step.response
        return np.asarray(np.einsum("ij,ij->i", response @ of_pull, response))


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
