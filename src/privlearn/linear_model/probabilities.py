"""Probabilities of classes from log-odds: what logistic models share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, log_softmax, softmax

from privlearn._core.docstrings import documented

__all__ = ["ProbabilityMixin"]


class ProbabilityMixin:
    """Adds `predict_proba` and `predict_log_proba` to a classifier whose scores are log-odds."""

    @documented
    def predict_proba(self, X: object) -> NDArray[np.float64]:
        """Probability of each class.

        Returns
        -------
        array of shape (n_samples, n_classes)
            In the order of `classes_`.
        """
        scores = self.decision_function(X)  # type: ignore[attr-defined]
        if scores.ndim == 1:
            return np.column_stack([expit(-scores), expit(scores)])
        return np.asarray(softmax(scores, axis=1))

    @documented
    def predict_log_proba(self, X: object) -> NDArray[np.float64]:
        """Logarithm of the probability of each class.

        Returns
        -------
        array of shape (n_samples, n_classes)
            In the order of `classes_`.
        """
        scores = self.decision_function(X)  # type: ignore[attr-defined]
        if scores.ndim == 1:
            return np.column_stack([log_expit(-scores), log_expit(scores)])
        return np.asarray(log_softmax(scores, axis=1))
