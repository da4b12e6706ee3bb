"""Huber regression with a privacy guarantee."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval

from privlearn._core.docstrings import documented
from privlearn._objective.losses import Huber, Loss
from privlearn._objective.penalties import Penalty
from privlearn.linear_model.penalty_parameters import weight
from privlearn.linear_model.regressor import PrivateLinearRegressor
from privlearn.linear_model.streaming import StreamingMixin

__all__ = ["HuberRegressor"]


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class HuberRegressor(StreamingMixin, PrivateLinearRegressor):
    """Linear regression that outliers in y cannot carry away, as in scikit-learn.

    Errors up to `epsilon_huber` times a scale count by their square, larger ones by their size; the
    scale is learned beside the coefficients (Owen 2007), and is not published.

    Parameters
    ----------
    epsilon_huber : float
        Where squares give way to absolute errors, in units of the scale; greater than 1. It is
        scikit-learn's `epsilon`, a name that privacy needs here.
    alpha : float
        Weight of the squared L2 penalty. Where ranges are estimated privately, it is that of
        features divided by their root mean squares, as after scikit-learn's `StandardScaler`.

    See Also
    --------
    LinearRegression : Least squares, for targets without outliers.

    Examples
    --------
    >>> import numpy as np
    >>> from privlearn import HuberRegressor
    >>> X = np.linspace(0, 1, 20_000)[:, None]
    >>> y = 3 * X[:, 0] + 1
    >>> y[::10] = 20.0
    >>> model = HuberRegressor(epsilon=1, bounds_X=(0, 1), bounds_y=(0, 20)).fit(X, y)
    >>> bool(abs(model.predict([[0.5]])[0] - 2.5) < 0.5)
    True
    """

    epsilon_huber: float = 1.35
    alpha: float = 0.0001
    coef_bounds: Any = None  # a pair of array-likes

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PrivateLinearRegressor._parameter_constraints,
        "epsilon_huber": [Interval(Real, 1.0, None, closed="neither")],
    }

    def _loss(self, n_classes: int) -> Loss:
        return Huber(weight("epsilon_huber", self.epsilon_huber))

    def _penalty(self) -> Penalty:
        return Penalty(l2=weight("alpha", self.alpha))
