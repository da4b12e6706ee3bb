"""How far estimates are off: covariances of weights, and how they follow an affine map.

A covariance that is computed from a noisy matrix is itself noisy. Let a be how much of each weight
a sum of estimates takes, C = R M R their covariance, and R the inverse of a matrix with noise of
deviation s on its diagonal and s / sqrt(2) off it. To first order the noise moves the variance
v = a' C a by -2 (R a)' noise (C a), so with b = R a and h = C a its variance is, relative to v^2,

    2 s^2 (|b|^2 |h|^2 + (b'h)^2) / v^2,

and Satterthwaite (1946) takes as many degrees of freedom, f, as two over that. Those are of errors
that have nothing to do with the noise; but estimates are off by that matrix times their own noise,
so that they spread where it is small, too, and there is less doubt. LEAST_DEGREES + SURER f^2 are
as many as errors were seen to have on generated tables: about f where noise nearly hides them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privlearn.solvers._common.residuals import Residual

__all__ = ["Doubt", "StandardErrors"]

Array = NDArray[np.float64]
WEAK_PART = 0.05  # of a combination in directions that noise hides, above which nothing is told
# On generated tables (python -m benchmarks.derive degrees; coordinate_descent/proof.md).
LEAST_DEGREES, SURER = 2.0, 0.5


@dataclass(frozen=True, eq=False)
class Doubt:
    """What noise on a covariance comes to, for k estimates that follow from d weights.

    Attributes
    ----------
    inverse : array of shape (d, k)
        The noise's deviation times the inverse of the noisy matrix, for each estimate's weights.
    covariance : array of shape (d, k)
        Of the weights, for the same.
    """

    inverse: Array
    covariance: Array

    def mapped(self, slopes: Array) -> Doubt:
        """That of sums of the estimates."""
        return Doubt(self.inverse @ slopes, self.covariance @ slopes)


@dataclass(frozen=True, eq=False)
class StandardErrors:
    """Covariance matrices of k estimates, the intercept's last where there is one.

    Attributes
    ----------
    noise : array of shape (k, k)
        Of the privacy noise alone, given the rows.
    total : array of shape (k, k)
        Of noise and of the sampling of rows together.
    weak : array of shape (m, d)
        Directions of a solver's d weights of which noise leaves nothing.
    basis : array of shape (d, k)
        How the estimates follow from those weights.
    residual : Residual or None
        Mean square of the target about its prediction, where the loss has one, and its noise.
    pulled : float
        How far a penalty pulls the estimates, and what they are of, towards 0: of the estimate that
        it moves most, as a part of what it would be, for columns that have nothing to do with each
        other. NaN where that is not known, 0 without a penalty.
    doubt : Doubt or None
        Where the covariances have noise of their own.

    Examples
    --------
    >>> two = StandardErrors(np.eye(2), 4 * np.eye(2), np.array([[1.0, 0.0]]), np.eye(2))
    >>> two.tells(np.eye(2)).tolist()
    [False, True]
    >>> two.mapped(lambda w: 10 * w[:, 1:], unit=10.0).total.tolist()
    [[400.0]]
    """

    noise: Array
    total: Array
    weak: Array
    basis: Array
    residual: Residual | None = None
    pulled: float = 0.0
    doubt: Doubt | None = None

    def tells(self, combinations: Array) -> NDArray[np.bool_]:
        """Whether sums of so much of each estimate are known, for each row of the array."""
        along = combinations @ self.basis.T
        along = _without_unit(along, along)
        hidden = np.sum((along @ self.weak.T) ** 2, axis=1)
        return np.asarray(hidden <= WEAK_PART * np.sum(along**2, axis=1))

    def degrees(self, combinations: Array) -> Array:
        """Degrees of freedom of the variance of such sums; infinite where it has no noise."""
        if self.doubt is None:
            return np.full(len(combinations), np.inf)
        along, inverse, covariance = (
            combinations @ one.T for one in (self.basis, self.doubt.inverse, self.doubt.covariance)
        )
        along, inverse = _without_unit(along, along), _without_unit(inverse, along)
        covariance = _without_unit(covariance, covariance)
        variance = np.sum(along * covariance, axis=1) ** 2
        squares = np.sum(inverse**2, axis=1) * np.sum(covariance**2, axis=1)
        noise = squares + np.sum(inverse * covariance, axis=1) ** 2
        known = (variance > 0.0) & (noise > 0.0)
        own = np.divide(variance, noise, out=np.full(len(noise), np.inf), where=known)
        with np.errstate(over="ignore"):  # more degrees than there are numbers: none are missed
            return LEAST_DEGREES + SURER * own**2

    def mapped(self, map_weights: Callable[[Array], Array], *, unit: float = 1.0) -> StandardErrors:
        """Those of an affine function of the estimates; residuals are measured in `unit`.

        Parameters
        ----------
        map_weights : callable
            From arrays of shape (rows, k) to arrays of shape (rows, l), row by row.
        unit : float, default=1.0
            How much one is, in the new units.
        """
        size = len(self.noise)
        found = map_weights(np.vstack([np.zeros(size), np.eye(size)]))
        slopes = found[1:] - found[0]
        return StandardErrors(
            _symmetric(slopes.T @ self.noise @ slopes),
            _symmetric(slopes.T @ self.total @ slopes),
            self.weak,
            self.basis @ slopes,
            None if self.residual is None else self.residual.in_units(unit),
            self.pulled,
            None if self.doubt is None else self.doubt.mapped(slopes),
        )


def _without_unit(rows: Array, like: Array) -> Array:
    """Rows in units of the largest entry of others: some units have no squares.

    Powers of two are exact, so that what does not depend on units stays the same to the last bit.
    """
    _, powers = np.frexp(np.max(np.abs(like), axis=1, initial=0.0, keepdims=True))
    return np.asarray(np.ldexp(rows, -powers))


def _symmetric(matrix: Array) -> Array:
    return np.asarray((matrix + matrix.T) / 2)
