"""Averaged quadratic models of a loss, and their minimiser: post-processing of noisy gradients.

A gradient g at w and a curvature A give the model g'(v - w) + (v - w)'A(v - w) / 2, up to a
constant v'Av / 2 - (Aw - g)'v. Models of many steps are averaged, so their noise averages out while
each step moves to the minimiser of all that is known so far.

The curvature of several outputs is a product: what couples the outputs, times what couples the
entries of a row. In the directions of the one it falls apart into a matrix for each output.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privlearn._objective.prox import WeightPenalty
from privlearn.solvers._common.quadratic import minimise_quadratic

__all__ = ["Curvature", "QuadraticModel"]

Array = NDArray[np.float64]
# Variances of what a direction adds to predictions, each tried and weighted by its likelihood.
EFFECT_VARIANCES = np.logspace(-8, 3, 45)
NEARLY_SINGULAR = 1e-12
SAME = 0.003  # part by which a curvature may change before it is factorised again
SWEEPS, TOLERANCE = 1000, 1e-11


class Curvature(NamedTuple):
    """Of all weights: the Kronecker product of the outputs' own and of that within a row."""

    between: Array  # (outputs, outputs)
    within: Array  # (width, width)


class QuadraticModel:
    """The mean of quadratic models.

    Parameters
    ----------
    penalty : WeightPenalty
        Of all weights, per row; alike for every output.
    outputs : int, default=1
        Rows of weights.

    Attributes
    ----------
    total : float
        Sum of the models' shares.
    """

    def __init__(self, penalty: WeightPenalty, outputs: int = 1) -> None:
        self._penalty = penalty
        self._shape = outputs, len(penalty.curvature) // outputs
        self._expected = np.zeros(self._shape)
        self.forget()

    def shrink_to(self, weights: Array) -> None:
        """Expect these weights where noise outweighs what the model says, in place of zeros.

        Parameters
        ----------
        weights : array of shape (outputs * width,)
            Of a constant: intercepts, which nothing penalises, and zeros.
        """
        self._expected = weights.reshape(self._shape).copy()

    def forget(self) -> None:
        """Start a new average."""
        outputs, width = self._shape
        self._pull = np.zeros(self._shape)
        self._curvature = Curvature(np.zeros((outputs, outputs)), np.zeros((width, width)))
        self._variance = self.total = 0.0
        self._penalty_scale, self._moved = math.nan, 0.0
        self._last: Curvature | None = None  # where all so far are this one

    def add(
        self,
        weights: Array,
        gradient: Array,
        curvature: Curvature,
        *,
        share: float,
        noise_std: float,
    ) -> None:
        """Average in the model of a gradient with that noise, `share` times as heavy as 1."""
        self.total += share
        part = share / self.total
        at, slope = weights.reshape(self._shape), gradient.reshape(self._shape)
        own = curvature.between @ at @ curvature.within - slope
        self._pull += part * (own - self._pull)
        self._variance = (1.0 - part) ** 2 * self._variance + (part * noise_std) ** 2
        if curvature is self._last:  # the mean of equal ones, which the first has made theirs
            return
        self._last = curvature if self.total == share else None
        for mean, found in zip(self._curvature, curvature, strict=True):
            step = part * (found - mean)
            mean += step
            size = max(float(np.linalg.norm(mean)), np.finfo(np.float64).tiny)
            self._moved += float(np.linalg.norm(step)) / size

    def minimiser(self, start: Array, penalty_scale: float = 1.0) -> Array:
        """Minimiser of model and penalty, shrunk where noise outweighs what the model says."""
        if penalty_scale != self._penalty_scale or self._moved > SAME:
            self._factorise(penalty_scale)
        expected, along = (
            np.einsum("kji,kj->ki", self._vectors, self._across.T @ one)
            for one in (self._expected, self._pull)
        )
        along -= self._values * expected  # what pulls away from there
        gains = _gains(self._values.ravel(), along.ravel(), self._variance).reshape(along.shape)
        self._used = gains
        if self._penalty.smooth:
            moved = expected + gains * along
            found = self._across @ np.einsum("kij,kj->ki", self._vectors, moved)
            return np.asarray(found.ravel())
        damped = self._whole(1.0 / gains)
        pulled = along + expected / gains
        pull = self._across @ np.einsum("kij,kj->ki", self._vectors, pulled)
        rough = self._penalty.absolute * penalty_scale, self._penalty.low, self._penalty.high
        kept = minimise_quadratic(damped, pull.ravel(), *rough, start.copy(), SWEEPS, TOLERANCE)
        return np.asarray(kept)

    def response(self, minimiser: Array) -> Array:
        """Derivative of the last minimiser in the pull of one output, for gains as they are.

        Weights that an absolute value holds at zero, or a limit, do not move.
        """
        if self._penalty.smooth:
            return self._whole(self._used)
        low, high = self._penalty.low, self._penalty.high
        free = (minimiser > low) & (minimiser < high)
        free &= (minimiser != 0.0) | (self._penalty.absolute == 0.0)
        own = np.ix_(free, free)
        found = np.zeros((len(minimiser),) * 2)
        found[own] = np.linalg.pinv(self._whole(1.0 / self._used)[own], hermitian=True)
        return found

    def _factorise(self, penalty_scale: float) -> None:
        """Directions of the outputs, and of the weights along each of them."""
        self._penalty_scale, self._moved = penalty_scale, 0.0
        between, within = self._curvature
        bends, self._across = np.linalg.eigh(between)
        own = self._penalty.curvature[: self._shape[1]] * penalty_scale
        whole = np.maximum(bends, 0.0)[:, None, None] * within + np.diag(own)
        values, self._vectors = np.linalg.eigh(whole)
        floor = max(float(values.max()) * NEARLY_SINGULAR, np.finfo(np.float64).tiny)
        self._values = np.maximum(values, floor)

    def _whole(self, values: Array) -> Array:
        """The matrix of all weights that has these eigenvalues."""
        blocks = (self._vectors * values[:, None, :]) @ self._vectors.transpose(0, 2, 1)
        whole = np.einsum("ak,kij,bk->aibj", self._across, blocks, self._across)
        return np.asarray(whole.reshape(self._pull.size, self._pull.size))


def _gains(values: Array, along: Array, variance: float) -> Array:
    """Posterior mean of each coefficient over its pull; 1/e where nothing is noisy.

    Along eigenvector i the pull is e_i w_i with noise of the given variance. A priori e_i w_i^2 has
    the same variance t for all i: each direction may matter as much to predictions (Zellner's
    g-prior). w is counted from what is expected: an intercept far from zero, as that of a rare
    class is, says nothing about how much features matter. The posterior mean multiplies the pull
    by t / (e t + variance), averaged over t.
    """
    t = EFFECT_VARIANCES[:, None]
    total = values * t + variance
    log_likelihood = -0.5 * np.sum(np.log(total) + along**2 / total, axis=1)
    likelihood = np.exp(log_likelihood - log_likelihood.max())
    return np.asarray(likelihood @ (t / total) / likelihood.sum())
