"""Linear support vector classification with a privacy guarantee."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sklearn.utils._param_validation import StrOptions

from privlearn._core.docstrings import documented
from privlearn._objective.losses import Hinge, Loss, SquaredHinge
from privlearn._objective.penalties import Penalty
from privlearn.linear_model.classifier import PrivateLinearClassifier
from privlearn.linear_model.penalty_parameters import inverse_weight
from privlearn.linear_model.streaming import StreamingMixin

__all__ = ["LinearSVC"]

LOSS_CALLED = {"hinge": Hinge, "squared_hinge": SquaredHinge}


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class LinearSVC(StreamingMixin, PrivateLinearClassifier):
    """Linear support vector classification for two or more classes.

    The objective is |w|^2 / 2 plus C times the sum of losses, as in scikit-learn, except that the
    intercept is not penalised; scikit-learn penalises it as if it were a coefficient. Two classes
    have one row of coefficients, more have one per class, each against the rest. All classes are
    learned in one fit: a release holds the gradients of all of them, shortened together, so that
    epsilon is not split among classes.

    Parameters
    ----------
    loss : {"squared_hinge", "hinge"}
        The loss max(0, 1 - margin)^2, or max(0, 1 - margin).

    See Also
    --------
    LogisticRegression : Probabilities instead of margins.

    Notes
    -----
    There is no `predict_proba`: a margin is no probability. `LogisticRegression` has one.

    Examples
    --------
    >>> import numpy as np
    >>> from privlearn import LinearSVC
    >>> X = np.linspace(0, 1, 20_000)[:, None]
    >>> y = np.where(X[:, 0] > 0.5, "yes", "no")
    >>> model = LinearSVC(epsilon=1, bounds_X=(0, 1), classes=["no", "yes"]).fit(X, y)
    >>> model.predict([[0.1], [0.9]])
    array(['no', 'yes'], dtype='<U3')
    """

    C: float = 1.0
    loss: str = "squared_hinge"
    coef_bounds: Any = None  # a pair of array-likes

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PrivateLinearClassifier._parameter_constraints,
        "loss": [StrOptions(set(LOSS_CALLED))],
    }

    def _loss(self, n_classes: int) -> Loss:
        return LOSS_CALLED[self.loss](1 if n_classes == 2 else n_classes)

    def _penalty(self) -> Penalty:
        return Penalty(l2=inverse_weight("C", self.C))
