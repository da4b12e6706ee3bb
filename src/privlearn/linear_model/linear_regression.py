"""Ordinary least squares with a privacy guarantee."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from privlearn._core.docstrings import documented
from privlearn.linear_model.intervals import IntervalsMixin
from privlearn.linear_model.regressor import PrivateLinearRegressor

__all__ = ["LinearRegression"]


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class LinearRegression(IntervalsMixin, PrivateLinearRegressor):
    """Least squares, as in scikit-learn, on data about people.

    See Also
    --------
    Ridge : With an L2 penalty.
    Lasso : With an L1 penalty, which makes coefficients 0.
    HuberRegressor : For outliers in the target.
    KernelRegressor : A curve instead of a line.

    Examples
    --------
    >>> import numpy as np
    >>> from privlearn import LinearRegression
    >>> X = np.linspace(0, 1, 10_000)[:, None]
    >>> y = 3 * X[:, 0] + 1
    >>> model = LinearRegression(epsilon=1, bounds_X=(0, 1), bounds_y=(0, 5)).fit(X, y)
    >>> bool(abs(model.predict([[0.5]])[0] - 2.5) < 0.2)
    True
    >>> model.privacy_.epsilon
    1.0

    With nothing declared, ranges are estimated privately:

    >>> model = LinearRegression(epsilon=1, delta=1e-6).fit(1e6 * X, y)
    >>> bool(abs(model.predict([[5e5]])[0] - 2.5) < 0.2)
    True

    Where people have several rows, the promise is about people, of whom so many rows count:

    >>> model = LinearRegression(max_rows_per_person=2, bounds_X=(0, 1), bounds_y=(0, 5))
    >>> model.fit(X, y, groups=np.arange(10_000) // 3).privacy_.unit
    'person'
    """

    positive: bool = False
    coef_bounds: Any = None  # a pair of array-likes
