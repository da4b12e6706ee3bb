"""Scores of new rows by a fitted model: they are read, and clipped as in the fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from privlearn._core.docstrings import documented
from privlearn._data.clipping import within
from privlearn._data.reading import Features
from privlearn._data.tables import NO_GAPS, read_features, refuse_gaps
from privlearn.solvers import Solution

if TYPE_CHECKING:
    from privlearn.linear_model.base import PrivateEstimator

__all__ = ["Predicting"]


class Predicting:
    """Adds what predictions of every kind start from; kernels have another form of it."""

    coef_: NDArray[np.float64]
    intercept_: Any
    fit_intercept: bool

    @documented
    def can_predict(self, X: object) -> NDArray[np.bool_]:
        """Which rows `predict` can read: the others have a cell that is missing or unknown.

        `predict` refuses X as a whole where one row cannot be read. So
        ``model.predict(X[model.can_predict(X)])`` predicts all others. What a cell means is said by
        the schema of the fit, if there was one; without one every cell must be a number.

        Returns
        -------
        array of shape (n_samples,)
            True where a row can be predicted.

        Examples
        --------
        >>> from privlearn import LinearRegression
        >>> X = np.linspace(0, 1, 2_000).reshape(-1, 2)
        >>> model = LinearRegression(bounds_X=(0, 1), bounds_y=(0, 1)).fit(X, X[:, 0])
        >>> model.can_predict([[0.5, 0.5], [None, 0.5]]).tolist()
        [True, False]
        """
        check_is_fitted(self)
        features = read_features(self, X, reset=False, strict=False, predicts=True)
        if isinstance(features, np.ndarray):
            return np.asarray(np.isfinite(features).all(axis=1))
        found = np.ones(features.shape[0], dtype=bool)
        rows = np.repeat(np.arange(len(found)), np.diff(features.indptr))
        found[rows[~np.isfinite(features.data)]] = False
        return found

    def _read_solution(self, content: Mapping[str, Any], solution: Solution) -> Solution:
        """What `to_dict` told beside coefficients and limits, added to them."""
        return solution

    def _input_width(self, solution: Solution) -> int:
        """How many numbers a row has that a solution predicts from."""
        return int(solution.coef.shape[1])

    def _scores(self, X: object) -> NDArray[np.float64]:
        """Rows times coefficients plus intercept; X is clipped where the model learned so."""
        features = self._features(X)
        return np.asarray(safe_sparse_dot(features, self.coef_.T)) + self.intercept_

    def _features(self, X: object) -> Features:
        """X to predict from, within the limits that the model was learned with, if any."""
        check_is_fitted(self)
        features = read_features(self, X, reset=False, predicts=True)
        refuse_gaps(self, features, NO_GAPS)
        return self._within_limits(features)

    def _within_limits(self, features: Features) -> Features:
        """The same, clipped as in the fit."""
        if not hasattr(self, "_encoding"):
            return within(features, getattr(self, "_clip_bounds", None), self.fit_intercept)
        from privlearn.linear_model.tabular import within_limits

        return within_limits(cast("PrivateEstimator", self), features)
