"""What the noise will do to a model, said before any data is touched."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Forecast"]


@dataclass(frozen=True, eq=False)
class Forecast:
    """Expected size of what privacy adds to the non-private fit, for data as `assumes` says.

    Attributes
    ----------
    coefficient : array of shape (n_features,)
        Standard deviation of the noise on each coefficient, in units of y per unit of x.
    prediction : float
        Standard deviation of the noise on the prediction for a typical row, in units of y.
    kept : float
        Part of each coefficient that the damping of the noise leaves, between 0 and 1.
    n : int
        Number of rows it speaks of.
    assumes : str
        The data it speaks of. Real data differ: correlated or narrow features get more noise.
    """

    coefficient: NDArray[np.float64]
    prediction: float
    kept: float
    n: int
    assumes: str

    def __str__(self) -> str:
        low, high = float(self.coefficient.min()), float(self.coefficient.max())
        spread = f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}, by feature"
        return (
            f"with n = {self.n:,} rows, noise of standard deviation\n"
            f"{spread} on a coefficient and {self.prediction:.3g} on a prediction\n"
            f"({self.kept:.0%} of each coefficient is kept, after shrinkage against noise),\n"
            f"if {self.assumes}"
        )
