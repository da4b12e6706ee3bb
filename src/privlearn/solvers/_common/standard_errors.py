"""How far estimates are off: covariances of weights, and how they follow an affine map."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["StandardErrors"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StandardErrors:
    """Covariance matrices of estimates, the intercept's last where there is one.

    Attributes
    ----------
    noise : array of shape (k, k)
        Of the privacy noise alone, given the rows.
    total : array of shape (k, k)
        Of noise and of the sampling of rows together.
    told : array of shape (k,)
        Whether noise leaves enough of the rows to tell an estimate at all.
    residual : float or None
        Standard deviation of the target about its prediction, where the loss has one.
    """

    noise: Array
    total: Array
    told: NDArray[np.bool_]
    residual: float | None = None

    def mapped(self, map_weights: Callable[[Array], Array], *, unit: float = 1.0) -> StandardErrors:
        """Those of an affine function of the estimates; residuals are measured in `unit`.

        Parameters
        ----------
        map_weights : callable
            From arrays of shape (m, k) to arrays of shape (m, l), row by row.
        unit : float, default=1.0
            How much one is, in the new units.
        """
        size = len(self.told)
        found = map_weights(np.vstack([np.zeros(size), np.eye(size)]))
        slopes = found[1:] - found[0]
        return StandardErrors(
            _symmetric(slopes.T @ self.noise @ slopes),
            _symmetric(slopes.T @ self.total @ slopes),
            ~(np.abs(slopes[~self.told]) > 0.0).any(axis=0),
            None if self.residual is None else self.residual * unit,
        )


def _symmetric(matrix: Array) -> Array:
    return (matrix + matrix.T) / 2
