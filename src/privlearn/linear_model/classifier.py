"""What every private linear classifier shares: labels, scores, predictions."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from privlearn._core.plan import Plan
from privlearn._core.problem import Adjacency
from privlearn._data.bounded import Table, validate
from privlearn._data.labels import declared_classes, encode_labels
from privlearn.linear_model.base import PrivateEstimator
from privlearn.linear_model.scoring import accuracy
from privlearn.solvers import Solution

__all__ = ["PrivateLinearClassifier"]


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateLinearClassifier(ClassifierMixin, PrivateEstimator):
    """Base of linear classifiers; subclasses name loss and penalty."""

    classes: Any = "from_y"  # array-like, or "from_y"

    classes_: NDArray[Any] = field(init=False)

    def plan(
        self,
        n: int | None = None,
        *,
        n_features: int,
        n_classes: int = 2,
        sample_epsilon: Any = None,  # noqa: ANN401
    ) -> Plan:
        """What a fit would release and cost, before any data.

        Parameters
        ----------
        n : int or None, default=None
            Number of rows. With ``adjacency="add_remove"`` it only serves the forecast.
        n_features : int
            Number of columns of X.
        n_classes : int, default=2
            Number of labels, where `classes` does not declare them.
        sample_epsilon : array-like of shape (n,) or None, default=None
            Everybody's own privacy level, as in `fit`.

        Returns
        -------
        Plan
            `str()` it, or ask `.epsilon(delta)`, `.releases`, `.forecast()`.
        """
        declared = self.classes if not isinstance(self.classes, str) else np.arange(n_classes)
        labels = declared_classes(declared, None)
        return self._planned(n, n_features, len(labels), sample_epsilon)

    def decision_function(self, X: Any) -> NDArray[np.float64]:  # noqa: ANN401
        """Scores: one per row for two classes, one per row and class for more.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows to score; clipped where ranges were estimated, otherwise as they are.
        """
        scores = self._scores(X)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: ANN401
        """Predict labels.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows to predict; clipped where ranges were estimated, otherwise as they are.
        """
        scores = self.decision_function(X)
        best = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[best])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:  # noqa: ANN401
        """Share of labels that are predicted; labels are compared by value.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows to predict.
        y : array-like of shape (n_samples,)
            True labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the rows.
        """
        return accuracy(self.predict(X), y, self.classes_, sample_weight)

    def _read(self, X: Any, y: Any, labels: Any = None) -> Table:  # noqa: ANN401
        if y is not None:
            declared = self.classes if labels is None else labels
            self.classes_ = declared_classes(declared, y, self.on_invalid)
        public = Adjacency(self.adjacency).n_is_public
        table = validate(
            self, X, y, n_is_public=public, on_invalid=self.on_invalid, encode=self._encode
        )
        return replace(table, classes=self.classes_)

    def _encode(self, y: Any) -> NDArray[np.float64]:  # noqa: ANN401
        """-1 and 1 for two classes, positions for more."""
        codes = encode_labels(y, self.classes_, self.on_invalid)
        return 2.0 * codes - 1.0 if len(self.classes_) == 2 else codes

    def _assumed(self) -> tuple[str, ...]:
        if isinstance(self.classes, str):
            return ("the set of class labels in y is public",)
        return ("classes was chosen without looking at the data",)

    def _publish(self, solution: Solution) -> None:
        self.coef_ = solution.coef
        self.intercept_ = solution.intercept
