"""Scores of new rows by a fitted model: they are read, and clipped as in the fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

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
