"""Kernel ridge regression with a privacy guarantee, by random features."""

from __future__ import annotations

from dataclasses import dataclass

from privlearn._core.docstrings import documented
from privlearn._objective.penalties import Penalty
from privlearn.kernel_model.base import KernelMixin
from privlearn.linear_model.intervals import PredictionIntervals
from privlearn.linear_model.penalty_parameters import weight
from privlearn.linear_model.regressor import PrivateLinearRegressor

__all__ = ["KernelRegressor"]


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class KernelRegressor(KernelMixin, PredictionIntervals, PrivateLinearRegressor):
    """Kernel ridge regression: a curve instead of a line.

    The objective is |y - f(X)|^2 + alpha |w|^2 with f(x) = w'phi(x), phi random features of the
    kernel, as in scikit-learn's `KernelRidge`, with an intercept that is not penalised.

    Parameters
    ----------
    alpha : float or None
        Weight of the penalty. None takes what the noise of the budget asks for.
    intervals : bool
        Whether the fit pays for `predict_interval`: second moments of the features and the size of
        errors are released, too, with about half of the budget. Features are then fewer and the
        curve is smoother than that of a plain fit. An interval is about that smoother curve, in the
        population of rows; how far it is from the mean of y, no interval tells.

    Attributes
    ----------
    coef_ : array of shape (n_features_out,) or (n_features_out + n_features,)
        Coefficients of the random features, then those of a line, where one was fitted first.

    See Also
    --------
    Ridge : A line instead of a curve.
    privlearn.kernel_approximation.RandomFourierFeatures : The features alone.

    Examples
    --------
    >>> import numpy as np
    >>> from privlearn import KernelRegressor
    >>> X = np.linspace(0, 1, 20_000)[:, None]
    >>> y = np.sin(6 * X[:, 0])
    >>> model = KernelRegressor(epsilon=1, bounds_X=(0, 1), bounds_y=(-1, 1)).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    alpha: float | None = None

    def _weight(self) -> float | None:
        return None if self.alpha is None else weight("alpha", self.alpha)

    def _line_penalty(self) -> Penalty:
        return Penalty()
