"""The Lasso with a privacy guarantee."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from privlearn._core.docstrings import documented
from privlearn._objective.penalties import Penalty
from privlearn.linear_model.penalty_parameters import weight
from privlearn.linear_model.regressor import PrivateLinearRegressor

__all__ = ["Lasso"]


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class Lasso(PrivateLinearRegressor):
    """Least squares with an L1 penalty, as in scikit-learn: some coefficients become 0.

    The objective is |y - Xw|^2 / (2 n) + alpha |w|_1. Coefficients come from noisy numbers, so a 0
    may hide a weak feature, and a small coefficient may be noise.

    Parameters
    ----------
    alpha : float
        Weight of the penalty, in the units of the X and y that are given; 0 is least squares. Where
        ranges are estimated privately, the penalty is that of features divided by their root mean
        squares, as after scikit-learn's `StandardScaler`.
    on_invalid : {"raise", "drop"}
        What happens to rows with NaN or infinity: an error before anything is spent, or they count
        as empty rows, and the guarantee covers them. The n of the objective counts them, too, where
        the number of rows is public.

    See Also
    --------
    ElasticNet : With an L2 penalty as well.
    privlearn.feature_selection.KendallSelector : Selects features by rank correlation.

    Examples
    --------
    >>> import numpy as np
    >>> from privlearn import Lasso
    >>> x = np.linspace(0, 1, 20_000)
    >>> X, y = np.column_stack([x, np.sin(1000 * x)]), 3 * x + 1
    >>> model = Lasso(alpha=0.05, bounds_X=([0, -1], 1), bounds_y=(0, 5)).fit(X, y)
    >>> bool(model.coef_[1] == 0)
    True
    """

    alpha: float = 1.0
    positive: bool = False
    coef_bounds: Any = None  # a pair of array-likes

    def _penalty(self) -> Penalty:
        return Penalty(l1=weight("alpha", self.alpha), per_row=True)
