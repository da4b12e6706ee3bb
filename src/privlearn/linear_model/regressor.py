"""What every private linear regressor shares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from privlearn._core.docstrings import documented
from privlearn._core.problem import Adjacency
from privlearn._data.bounded import Table, validate
from privlearn.linear_model.base import PrivateEstimator
from privlearn.linear_model.scoring import r_squared
from privlearn.solvers import Solution

__all__ = ["PrivateLinearRegressor"]


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateLinearRegressor(RegressorMixin, PrivateEstimator):
    """Base of linear regressors; subclasses name loss and penalty.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Coefficients, in the units of the X and y that were given.
    intercept_ : float
        The constant in every prediction; 0.0 with ``fit_intercept=False``.
    """

    bounds_y: tuple[float, float] | None = None

    @documented
    def predict(self, X: Any) -> NDArray[np.float64]:  # noqa: ANN401
        """Predict the target.

        Nothing is clipped where bounds were declared. A model that was learned on clipped rows, to
        ranges estimated privately or to a norm of its own, clips X, and its predictions, likewise.

        Returns
        -------
        array of shape (n_samples,)
            Predicted targets.
        """
        scores = self._scores(X)
        reach = getattr(self, "_clip_bounds", None)
        return scores if reach is None or reach.target is None else np.clip(scores, *reach.target)

    @documented
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:  # noqa: ANN401
        """Coefficient of determination of the predictions: 1 is perfect.

        It looks at the data without noise, so what it returns is not covered by the certificate.

        Returns
        -------
        float
            R^2, as in scikit-learn.
        """
        return r_squared(self.predict(X), y, sample_weight)

    @property
    def bounds_y_(self) -> tuple[float, float]:
        """Ends to which predictions are clipped; only where they were estimated."""
        reach = getattr(self, "_clip_bounds", None)
        if reach is None or reach.target is None:
            raise AttributeError("bounds_y_ is only there after a fit that estimated it privately")
        low, high = reach.target
        return low, high

    def _read(self, X: Any, y: Any, labels: Any = None) -> Table:  # noqa: ANN401
        public = Adjacency(self.adjacency).n_is_public
        return validate(self, X, y, n_is_public=public, on_invalid=self.on_invalid)

    def _publish(self, solution: Solution) -> None:
        self.coef_ = solution.coef[0]
        self.intercept_ = float(solution.intercept[0])
