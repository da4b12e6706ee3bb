"""Kernel logistic regression with a privacy guarantee, by random features."""

from __future__ import annotations

from dataclasses import dataclass

from privlearn._core.docstrings import documented
from privlearn._objective.losses import Logistic, Loss, Softmax
from privlearn._objective.penalties import Penalty
from privlearn.kernel_model.base import KernelMixin
from privlearn.linear_model.classifier import PrivateLinearClassifier
from privlearn.linear_model.logistic_regression import LogisticRegression
from privlearn.linear_model.penalty_parameters import inverse_weight
from privlearn.linear_model.probabilities import ProbabilityMixin

__all__ = ["KernelClassifier"]


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class KernelClassifier(KernelMixin, ProbabilityMixin, PrivateLinearClassifier):
    """Kernel logistic regression for two or more classes: curved borders.

    The objective is C times the sum of losses plus |w|^2 / 2, for scores w'phi(x), phi random
    features of the kernel. Two classes have one row of coefficients, more have one per class.

    Parameters
    ----------
    C : float or None
        Inverse weight of the penalty; infinity for none. None takes what the noise of the budget
        asks for.
    solver : str or solver
        Any linear solver. "auto" takes "scd" for two classes, and "sgd" for more or where features
        of all rows would not fit into memory; "one-pass" with ``delta=0`` or own epsilons.

    Attributes
    ----------
    coef_ : array of shape (1, n_features_out) or (n_classes, n_features_out)
        Coefficients of the random features: of the second class, or of each of several. After
        them those of the columns, where a line was fitted first or alone.

    See Also
    --------
    LogisticRegression : Straight borders between classes.
    privlearn.kernel_approximation.RandomFourierFeatures : The features alone.

    Examples
    --------
    >>> import numpy as np
    >>> from privlearn import KernelClassifier
    >>> X = np.random.default_rng(0).uniform(-1, 1, (20_000, 2))
    >>> y = (X[:, 0] * X[:, 1] > 0).astype(int)
    >>> model = KernelClassifier(epsilon=1, bounds_X=(-1, 1), classes=[0, 1]).fit(X, y)
    >>> model.predict([[0.5, 0.5], [0.5, -0.5]])
    array([1, 0])
    """

    C: float | None = None

    def _loss(self, n_classes: int) -> Loss:
        return Logistic() if n_classes == 2 else Softmax(n_classes)

    def _weight(self) -> float | None:
        return None if self.C is None else inverse_weight("C", self.C)

    def _line_penalty(self) -> Penalty:
        return Penalty(l2=inverse_weight("C", LogisticRegression().C))
