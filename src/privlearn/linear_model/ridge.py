"""Ridge regression with a privacy guarantee."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from privlearn._core.docstrings import documented
from privlearn._objective.penalties import Penalty
from privlearn.linear_model.intervals import IntervalsMixin
from privlearn.linear_model.penalty_parameters import weight
from privlearn.linear_model.regressor import PrivateLinearRegressor

__all__ = ["Ridge"]


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class Ridge(IntervalsMixin, PrivateLinearRegressor):
    """Least squares with an L2 penalty: |y - Xw|^2 + alpha |w|^2, as in scikit-learn.

    Parameters
    ----------
    alpha : float
        Weight of the penalty, in the units of the X and y that are given. Where ranges are
        estimated privately, the penalty is that of features divided by their root mean squares, as
        after scikit-learn's `StandardScaler`.

    See Also
    --------
    LinearRegression : Without a penalty.
    ElasticNet : With an L1 penalty as well.
    KernelRegressor : Kernel ridge regression.

    Examples
    --------
    >>> import numpy as np
    >>> from privlearn import Ridge
    >>> X = np.linspace(0, 1, 10_000)[:, None]
    >>> y = 3 * X[:, 0] + 1
    >>> model = Ridge(alpha=10, epsilon=1, bounds_X=(0, 1), bounds_y=(0, 5)).fit(X, y)
    >>> model.privacy_.adjacency
    'zero_out'
    """

    alpha: float = 1.0
    positive: bool = False
    coef_bounds: Any = None  # a pair of array-likes

    def _penalty(self) -> Penalty:
        return Penalty(l2=weight("alpha", self.alpha))
