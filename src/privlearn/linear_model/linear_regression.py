"""Ordinary least squares with a privacy guarantee."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from privlearn._objective.losses import Loss, Squared
from privlearn._objective.penalties import Penalty
from privlearn.linear_model.boxes import in_a_box
from privlearn.linear_model.regressor import PrivateLinearRegressor

__all__ = ["LinearRegression"]


@dataclass(kw_only=True, eq=False, repr=False)
class LinearRegression(PrivateLinearRegressor):
    """Least squares, as in scikit-learn, on data about people.

    Parameters
    ----------
    positive : bool, default=False
        Whether coefficients must be at least 0.
    coef_bounds : pair (low, high) or None, default=None
        Limits of the coefficients: scalars, or arrays of shape (n_features,).
    epsilon : float, default=1.0
        Promised in total for this fit.
    delta : float, default=1e-6
        Promised; well below 1/n.
    adjacency : {"zero_out", "add_remove", "replace_one"}, default="zero_out"
        Which data sets the guarantee makes hard to tell apart.
    solver : str or object from `privlearn.solvers`, default="auto"
        The algorithm.
    data_norm : float or None, default=None
        Enforced L2 norm of a row, the intercept's 1 included.
    bounds_X : pair (low, high) or None, default=None
        Enforced box of the features: scalars, or arrays of shape (n_features,). It must come from
        public knowledge, never from the data. With neither `bounds_X` nor `data_norm` ranges are
        bought with 15 % of the budget; predictions then clip X to them.
    bounds_y : pair (low, high) or None, default=None
        Enforced range of the target. None buys it, with 10 % of the budget and up to 30 % where
        there are few rows; predictions are then clipped to it.
    scale_X : float or array of shape (n_features,) or None, default=None
        Root mean square of the features, where public knowledge gives it, for example because they
        were standardised with a census's figures. Solvers that need scales buy them otherwise.
        Nothing enforces it: a wrong scale costs accuracy, never privacy.
    fit_intercept : bool, default=True
        Whether to fit an intercept; it is never penalised.
    on_invalid : {"raise", "drop"}, default="raise"
        What happens to rows with NaN or infinity: an error before anything is spent, or they count
        as empty rows and the guarantee covers them.
    ledger, dataset : Ledger or its path, and str, default=None
        What is charged before anything is released, and the name the charge is booked under.
    random_state : int, RandomState, Generator or None, default=None
        For tests only: a reproducible run is not private, and the certificate says so.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : float
    privacy_ : Certificate
    bounds_X_, bounds_y_ : pairs (low, high)
        Only where they were estimated: released, like the coefficients.
    n_features_in_ : int
    feature_names_in_ : array of str
        Only when X has column names.

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

    With nothing declared ranges are estimated:

    >>> model = LinearRegression(epsilon=1, delta=1e-6).fit(1e6 * X, y)
    >>> bool(abs(model.predict([[5e5]])[0] - 2.5) < 0.2)
    True
    """

    positive: bool = False
    coef_bounds: Any = None  # a pair of array-likes

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PrivateLinearRegressor._parameter_constraints,
        "positive": ["boolean"],
    }

    def _loss(self, n_classes: int) -> Loss:
        return Squared()

    def _penalty(self, n_features: int) -> Penalty:
        return in_a_box(Penalty(), n_features, coef_bounds=self.coef_bounds, positive=self.positive)
