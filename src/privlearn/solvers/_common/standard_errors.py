"""How far estimates are off: covariances of weights, and how they follow an affine map."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privlearn.solvers._common.residuals import Residual

__all__ = ["StandardErrors"]

Array = NDArray[np.float64]
WEAK_PART = 0.05  # of a combination in directions that noise hides, above which nothing is told


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
    penalised : bool
        Whether a penalty pulls the estimates, and what they are of, towards 0.

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
    penalised: bool = False

    def tells(self, combinations: Array) -> NDArray[np.bool_]:
        """Whether sums of so much of each estimate are known, for each row of the array."""
        along = combinations @ self.basis.T
        # Shares do not depend on units, of which some have no squares; powers of two are exact.
        _, powers = np.frexp(np.max(np.abs(along), axis=1, initial=0.0, keepdims=True))
        along = np.ldexp(along, -powers)
        hidden = np.sum((along @ self.weak.T) ** 2, axis=1)
        return np.asarray(hidden <= WEAK_PART * np.sum(along**2, axis=1))

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
            self.penalised,
        )


def _symmetric(matrix: Array) -> Array:
    return np.asarray((matrix + matrix.T) / 2)
