"""Logistic regression with a privacy guarantee."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from privlearn._core.docstrings import documented
from privlearn._objective.losses import Logistic, Loss, Softmax
from privlearn._objective.penalties import Penalty
from privlearn.linear_model.classifier import PrivateLinearClassifier
from privlearn.linear_model.intervals import IntervalsMixin
from privlearn.linear_model.penalty_parameters import inverse_weight, weight
from privlearn.linear_model.probabilities import ProbabilityMixin
from privlearn.linear_model.streaming import StreamingMixin

__all__ = ["LogisticRegression"]


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class LogisticRegression(IntervalsMixin, StreamingMixin, ProbabilityMixin, PrivateLinearClassifier):
    """Logistic regression for two or more classes, as in scikit-learn.

    The objective is C times the sum of losses plus (1 - l1_ratio) / 2 |w|^2 + l1_ratio |w|_1. Two
    classes have one row of coefficients, more have one per class (multinomial).

    Parameters
    ----------
    l1_ratio : float
        Share of the L1 penalty, between 0 (L2 alone) and 1 (L1 alone).

    See Also
    --------
    LinearSVC : Margins instead of probabilities.
    KernelClassifier : Curved borders between classes.

    Examples
    --------
    >>> import numpy as np
    >>> from privlearn import LogisticRegression
    >>> X = np.linspace(0, 1, 20_000)[:, None]
    >>> y = np.where(X[:, 0] > 0.5, "yes", "no")
    >>> model = LogisticRegression(epsilon=1, bounds_X=(0, 1), classes=["no", "yes"]).fit(X, y)
    >>> model.predict([[0.1], [0.9]])
    array(['no', 'yes'], dtype='<U3')
    """

    C: float = 1.0
    l1_ratio: float = 0.0
    coef_bounds: Any = None  # a pair of array-likes

    def _loss(self, n_classes: int) -> Loss:
        return Logistic() if n_classes == 2 else Softmax(n_classes)

    def _penalty(self) -> Penalty:
        whole, share = inverse_weight("C", self.C), weight("l1_ratio", self.l1_ratio)
        return Penalty(l1=whole * share, l2=whole * (1.0 - share))
