"""Kernel ridge regression with a privacy guarantee, by random features."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval

from privlearn._objective.losses import Loss, Squared
from privlearn.kernel_model.base import KernelMixin
from privlearn.linear_model.regressor import PrivateLinearRegressor
from privlearn.linear_model.weights import weight

__all__ = ["KernelRegressor"]


@dataclass(kw_only=True, eq=False, repr=False)
class KernelRegressor(KernelMixin, PrivateLinearRegressor):
    """Kernel ridge regression: a curve instead of a line.

    The objective is |y - f(X)|^2 + alpha |w|^2 with f(x) = w'phi(x), phi random features of the
    kernel, as in scikit-learn's `KernelRidge`, with an intercept that is not penalised.

    Parameters
    ----------
    alpha : float or None, default=None
        Weight of the penalty. None takes what the noise of the budget asks for.
    kernel : {"gaussian", "laplacian", "matern12", "matern32", "matern52"}, default="gaussian"
        As in `RandomFourierFeatures`.
    bandwidth : float, array-like of shape (n_features,) or None, default=None
        Length of the kernel in units of X, from public knowledge. None buys ranks of the features'
        values with 5 % of the budget; the kernel then sees ranks, for which a length is known, and
        ranks are among the features themselves. Nothing is ever read off the data without noise.
    n_components : int or None, default=None
        Number of random features, rounded up to an even one. None takes what the budget can tell
        apart.
    orthogonal : bool, default=False
        Whether frequencies are orthogonal, as in `RandomFourierFeatures`.
    feature_seed : int, default=0
        Seed of the frequencies. They do not depend on the data, so it is no secret.
    solver : str or solver, default="auto"
        Any linear solver. "output" is Wang and Guo's (2024); "auto" takes "scd", and "sgd", which
        computes features in blocks, where those of all rows would not fit into memory.
    epsilon, delta, adjacency, data_norm, bounds_X, bounds_y, fit_intercept, on_invalid, ledger, \
dataset, random_state
        As in `LinearRegression`. `scale_X` is not used.

    Attributes
    ----------
    coef_ : array of shape (n_features_out,)
        Of the features.
    intercept_ : float
    feature_map_ : FeatureMap
        `feature_map_.transform(X)` are the features.
    privacy_ : Certificate
    n_features_in_ : int
    feature_names_in_ : array of str
        Only when X has column names.

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PrivateLinearRegressor._parameter_constraints,
        **KernelMixin._kernel_constraints,
        "alpha": [None, Interval(Real, 0, None, closed="left")],
    }

    def _loss(self, n_classes: int) -> Loss:
        return Squared()

    def _weight(self) -> float | None:
        return None if self.alpha is None else weight("alpha", self.alpha)
