"""What every private linear regressor shares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from privlearn._core.docstrings import documented
from privlearn._data.bounded import Table
from privlearn._data.named_cells import with_target
from privlearn._data.tables import read_table
from privlearn._objective.losses import Loss, Squared
from privlearn.linear_model.base import PrivateEstimator
from privlearn.solvers import Solution

__all__ = ["PrivateLinearRegressor"]


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateLinearRegressor(RegressorMixin, PrivateEstimator):
    """Base of linear regressors; subclasses name the penalty, and the loss if it is no square.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Coefficients, in the units of the X and y that were given.
    intercept_ : float
        The constant in every prediction; 0.0 with ``fit_intercept=False``.
    """

    bounds_y: tuple[float, float] | None = None

    @documented
    def predict(self, X: object) -> NDArray[np.float64]:
        """Predict the target.

        Nothing is clipped where bounds were declared. A model that was learned on clipped rows, to
        ranges estimated privately or to a norm of its own, clips X, and its predictions, likewise.

        Returns
        -------
        array of shape (n_samples,)
            Predicted targets.
        """
        scores, clip = self._scores(X), getattr(self, "_clip_bounds", None)
        return scores if clip is None or clip.target is None else np.clip(scores, *clip.target)

    @documented
    def score(self, X: object, y: object, sample_weight: object = None) -> float:
        """Coefficient of determination of the predictions: 1 is perfect.

        It looks at the data without noise, so what it returns is not covered by the certificate.

        Returns
        -------
        float
            R^2, as in scikit-learn.
        """
        from privlearn.linear_model.scoring import r_squared

        X, y = with_target(X, y)
        return r_squared(self.predict(X), y, sample_weight)

    @property
    def bounds_y_(self) -> tuple[float, float]:
        """Ends to which predictions are clipped; only where they were estimated."""
        clip = getattr(self, "_clip_bounds", None)
        if clip is None or clip.target is None:
            raise AttributeError("bounds_y_ is only there after a fit that estimated it privately")
        return clip.target

    def _loss(self, n_classes: int) -> Loss:
        return Squared()

    def _read(self, X: object, y: object, labels: object = None, *, reset: bool = True) -> Table:
        return read_table(self, X, y, reset=reset)

    def _publish(self, solution: Solution) -> None:
        if solution.clip_bounds is not None:
            self._clip_bounds = solution.clip_bounds
        self.coef_ = solution.coef[0]
        self.intercept_ = float(solution.intercept[0])
