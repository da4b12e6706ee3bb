"""The elastic net with a privacy guarantee."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from privlearn._core.docstrings import documented
from privlearn._objective.penalties import Penalty
from privlearn.linear_model.penalty_parameters import weight
from privlearn.linear_model.regressor import PrivateLinearRegressor

__all__ = ["ElasticNet"]


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class ElasticNet(PrivateLinearRegressor):
    """Least squares with L1 and L2 penalties, as in scikit-learn.

    The objective is |y - Xw|^2 / (2 n) + alpha l1_ratio |w|_1 + alpha (1 - l1_ratio) / 2 |w|^2.

    Parameters
    ----------
    alpha : float
        Weight of the penalties, in the units of the X and y that are given; 0 is least squares.
        Where ranges are estimated privately, the penalty is that of features divided by their root
        mean squares, as after scikit-learn's `StandardScaler`.
    l1_ratio : float
        Share of the L1 penalty, between 0 (L2 alone) and 1 (the Lasso).
    on_invalid : {"raise", "drop"}
        What happens to rows with NaN or infinity: an error before anything is spent, or they count
        as empty rows, and the guarantee covers them. The n of the objective counts them, too, where
        the number of rows is public.

    See Also
    --------
    Lasso : The L1 penalty alone.
    Ridge : The L2 penalty alone.

    Examples
    --------
    >>> import numpy as np
    >>> from privlearn import ElasticNet
    >>> x = np.linspace(0, 1, 20_000)
    >>> X, y = np.column_stack([x, np.sin(1000 * x)]), 3 * x + 1
    >>> model = ElasticNet(alpha=0.05, bounds_X=([0, -1], 1), bounds_y=(0, 5)).fit(X, y)
    >>> bool(model.coef_[1] == 0)
    True
    """

    alpha: float = 1.0
    l1_ratio: float = 0.5
    positive: bool = False
    coef_bounds: Any = None  # a pair of array-likes

    def _penalty(self) -> Penalty:
        alpha, share = weight("alpha", self.alpha), weight("l1_ratio", self.l1_ratio)
        return Penalty(l1=alpha * share, l2=alpha * (1.0 - share), per_row=True)
