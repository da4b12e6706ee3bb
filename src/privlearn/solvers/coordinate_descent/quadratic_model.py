"""Averaged quadratic models of a loss, and their minimiser: post-processing of noisy gradients.

A gradient g at w and a curvature A give the model g'(v - w) + (v - w)'A(v - w) / 2, up to a
constant v'Av / 2 - (Aw - g)'v. Models of many steps are averaged, so their noise averages out while
each step moves to the minimiser of all that is known so far.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from privlearn._objective.prox import WeightPenalty
from privlearn.solvers._common.loops import quadratic

__all__ = ["QuadraticModel"]

Array = NDArray[np.float64]
# Variances of what a direction adds to predictions, each tried and weighted by its likelihood.
EFFECT_VARIANCES = np.logspace(-8, 3, 45)
NEARLY_SINGULAR = 1e-12
SWEEPS, TOLERANCE = 1000, 1e-11


class QuadraticModel:
    """The mean of quadratic models with one curvature.

    Parameters
    ----------
    curvature : array of shape (p, p)
        Symmetric, positive semidefinite, per row.
    penalty : WeightPenalty
        Of p weights, per row.
    """

    def __init__(self, curvature: Array, penalty: WeightPenalty) -> None:
        self._curvature = curvature
        self._penalty = penalty
        self._penalty_scale = math.nan
        self.forget()

    def forget(self) -> None:
        """Start a new average."""
        self._pull = np.zeros(len(self._curvature))
        self._variance = self._total = 0.0

    def add(self, weights: Array, gradient: Array, *, share: float, noise_std: float) -> None:
        """Average in the model of a gradient with that noise, `share` times as heavy as 1."""
        self._total += share
        part = share / self._total
        self._pull += part * (self._curvature @ weights - gradient - self._pull)
        self._variance = (1.0 - part) ** 2 * self._variance + (part * noise_std) ** 2

    def minimiser(self, start: Array, penalty_scale: float = 1.0) -> Array:
        """Minimiser of model and penalty, shrunk where noise outweighs what the model says."""
        if penalty_scale != self._penalty_scale:
            self._factorise(penalty_scale)
        along = self._vectors.T @ self._pull
        gains = _gains(self._values, along, self._variance)
        if self._penalty.smooth:
            return np.asarray(self._vectors @ (gains * along))
        damped = (self._vectors / gains) @ self._vectors.T
        rough = self._penalty.absolute * penalty_scale, self._penalty.low, self._penalty.high
        found = quadratic.minimise_quadratic(
            damped, self._pull, *rough, start.copy(), SWEEPS, TOLERANCE
        )
        return np.asarray(found)

    def _factorise(self, penalty_scale: float) -> None:
        self._penalty_scale = penalty_scale
        whole = self._curvature + np.diag(self._penalty.curvature * penalty_scale)
        values, self._vectors = np.linalg.eigh(whole)
        floor = max(float(values[-1]) * NEARLY_SINGULAR, np.finfo(np.float64).tiny)
        self._values = np.maximum(values, floor)


def _gains(values: Array, along: Array, variance: float) -> Array:
    """Posterior mean of each coefficient over its pull; 1/e where nothing is noisy.

    Along eigenvector i the pull is e_i w_i with noise of the given variance. A priori e_i w_i^2 has
    the same variance t for all i: each direction may matter as much to predictions (Zellner's
    g-prior). The posterior mean multiplies the pull by t / (e t + variance), averaged over t.
    """
    t = EFFECT_VARIANCES[:, None]
    total = values * t + variance
    log_likelihood = -0.5 * np.sum(np.log(total) + along**2 / total, axis=1)
    likelihood = np.exp(log_likelihood - log_likelihood.max())
    return np.asarray(likelihood @ (t / total) / likelihood.sum())
