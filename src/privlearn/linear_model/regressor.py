"""What every private linear regressor shares."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from privlearn.data import Table, validate
from privlearn.linear_model.base import PrivateEstimator
from privlearn.problem import Neighbors
from privlearn.solvers import Solution, Solver

__all__ = ["PrivateLinearRegressor"]


class PrivateLinearRegressor(RegressorMixin, PrivateEstimator):
    """Base of linear regressors; subclasses name loss and penalty."""

    intercept_: float

    def __init__(
        self,
        *,
        epsilon: float,
        delta: float,
        neighbors: str,
        solver: str | Solver,
        data_norm: float | None,
        bounds_X: Any,  # noqa: ANN401 (a pair of array-likes)
        bounds_y: tuple[float, float] | None,
        fit_intercept: bool,
        on_invalid: str,
        ledger: Any,  # noqa: ANN401 (a path, or anything with charge(plan, dataset))
        dataset: str | None,
        random_state: Any,  # noqa: ANN401 (as in scikit-learn)
    ) -> None:
        super().__init__(
            epsilon=epsilon,
            delta=delta,
            neighbors=neighbors,
            solver=solver,
            data_norm=data_norm,
            bounds_X=bounds_X,
            fit_intercept=fit_intercept,
            on_invalid=on_invalid,
            ledger=ledger,
            dataset=dataset,
            random_state=random_state,
        )
        self.bounds_y = bounds_y

    def predict(self, X: Any) -> NDArray[np.float64]:  # noqa: ANN401
        """Predict the target; X is not clipped.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows to predict.
        """
        return self._scores(X)

    def _read(self, X: Any, y: Any) -> Table:  # noqa: ANN401
        public = Neighbors(self.neighbors).n_is_public
        return validate(self, X, y, n_is_public=public, on_invalid=self.on_invalid)

    def _publish(self, solution: Solution) -> None:
        self.coef_ = solution.coef[0]
        self.intercept_ = float(solution.intercept[0])
