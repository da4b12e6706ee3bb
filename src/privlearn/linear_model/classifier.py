"""What every private linear classifier shares: labels, scores, predictions."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from privlearn._core.docstrings import documented
from privlearn._core.forecast import Forecast, checked_share
from privlearn._core.plan import Plan
from privlearn._core.problem import Problem
from privlearn._core.users_line import users_line
from privlearn._data.bounded import Table
from privlearn._data.labels import (
    DECLARED,
    OF_ALL,
    OF_Y,
    declared_classes,
    encode_labels,
    encode_signs,
    sorted_otherwise,
)
from privlearn._data.named_cells import with_target
from privlearn._data.tables import read_table
from privlearn.exceptions import FactWarning, UnsupportedCombinationError
from privlearn.linear_model.base import PrivateEstimator
from privlearn.linear_model.scoring import accuracy
from privlearn.solvers import Solution

__all__ = ["PrivateLinearClassifier"]


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateLinearClassifier(ClassifierMixin, PrivateEstimator):
    """Base of linear classifiers; subclasses name loss and penalty.

    Parameters
    ----------
    on_invalid : {"raise", "drop"}
        What happens to rows with NaN or infinity, or with a label that is not in `classes`: an
        error before anything is spent, or they count as empty rows, and the guarantee covers them.

    Attributes
    ----------
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        Coefficients, in the units of the X that was given: of the second class, or of each of
        several.
    intercept_ : array of shape (1,) or (n_classes,)
        The constants in the scores; zeros with ``fit_intercept=False``.
    """

    classes: Any = "from_y"  # array-like, or "from_y"

    classes_: NDArray[Any] = field(init=False)

    @documented
    def plan(
        self,
        n: int | None = None,
        *,
        n_features: int | None = None,
        n_classes: int = 2,
        sample_epsilon: object = None,
        share_of_rarer_class: float | None = None,
    ) -> Plan:
        """What a fit would release and cost, before any data.

        Returns
        -------
        Plan
            `str()` it, or ask `.epsilon(delta)`, `.releases`, `.forecast()`,
            `.for_accuracy(error)`. A `FewRowsWarning` says where `n` is too small.
        """
        declared = self.classes if not isinstance(self.classes, str) else np.arange(n_classes)
        labels = declared_classes(declared, None)
        if share_of_rarer_class is None:
            return self._planned(n, n_features, len(labels), sample_epsilon)
        if not hasattr(self, "predict_proba"):
            raise UnsupportedCombinationError(
                f"share_of_rarer_class is for models of probabilities, but {type(self).__name__} "
                "tells margins, of which no share makes anything; leave it out"
            )
        share = checked_share(share_of_rarer_class, len(labels))
        plan = self._planned(n, n_features, len(labels), sample_epsilon)
        return _beside(plan, share)

    @documented
    def decision_function(self, X: object) -> NDArray[np.float64]:
        """Scores: one per row for two classes, one per row and class for more.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_classes)
            The class of the largest score is predicted; of two, the second where it is above 0.
        """
        scores = self._scores(X)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    @documented
    def predict(self, X: object) -> NDArray[Any]:
        """Predict labels.

        Returns
        -------
        array of shape (n_samples,)
            Labels, as in `classes_`.
        """
        scores = self.decision_function(X)
        best = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[best])

    @documented
    def score(self, X: object, y: object, sample_weight: object = None) -> float:
        """Share of labels that are predicted; labels are compared by value.

        It looks at the data without noise, so what it returns is not covered by the certificate.

        Returns
        -------
        float
            Accuracy, between 0 and 1.
        """
        X, y = with_target(X, y)
        return accuracy(self.predict(X), y, self.classes_, sample_weight)

    def _read(self, X: object, y: object, labels: object = None, *, reset: bool = True) -> Table:
        declared = self.classes if labels is None else labels
        table = read_table(self, X, y, reset=reset, encode=partial(self._encode, declared))
        if reset:
            self._warn_of_order(declared)
        return table

    def _warn_of_order(self, declared: object) -> None:
        """Say of which label the model is, where two were declared the other way round."""
        given = sorted_otherwise(declared)
        if given is None:
            return
        second, first = given
        tell = "are log-odds of" if hasattr(self, "predict_proba") else "speak for"
        warnings.warn(
            f"classes=[{second!r}, {first!r}] (--classes) are kept in sorted order, as "
            f"scikit-learn does: {first!r}, then {second!r}. So coefficients {tell} {second!r}. If "
            f"those of {first!r} are wanted, rename or recode the labels, for example as 0 and 1 "
            f"with 1 for {first!r}",
            FactWarning,
            stacklevel=users_line(),
        )

    def _encode(self, declared: object, y: object) -> NDArray[Any]:
        """-1 and 1 for two classes, in single bytes unless some may be missing; or positions."""
        self.classes_ = declared_classes(declared, y, self.on_invalid)
        found = OF_Y if isinstance(declared, str) else OF_ALL
        name = getattr(self, "_target_name", None)
        whence = found if isinstance(self.classes, str) else DECLARED
        if len(self.classes_) == 2 and self.on_invalid == "raise":
            return encode_signs(y, self.classes_, whence, name)
        codes = encode_labels(y, self.classes_, self.on_invalid, whence, name)
        return 2.0 * codes - 1.0 if len(self.classes_) == 2 else codes

    def _problem(self, n: int | None, n_features: int, n_classes: int) -> Problem:
        assumed = "classes was chosen without looking at the data"
        if isinstance(self.classes, str):
            assumed = "the set of class labels in y is public"
        return replace(super()._problem(n, n_features, n_classes), assumed=(assumed,))

    def _publish(self, solution: Solution) -> None:
        self.coef_, self.intercept_ = solution.coef, solution.intercept
        if solution.clip_bounds is not None:
            self._clip_bounds = solution.clip_bounds


def _beside(plan: Plan, share: float) -> Plan:
    """The plan, whose forecasts are relative to what a class of this share leaves to tell."""
    if plan.outlook is None:
        return plan
    outlook, at = plan.outlook.beside(share), plan.forecast_at
    again = None if at is None else partial(_forecast_beside, at, share)
    return replace(plan, outlook=outlook, forecast_at=again)


def _forecast_beside(at: Callable[[float], Forecast], share: float, epsilon: float) -> Forecast:
    """For another epsilon; a plan may be stored and sent."""
    return at(epsilon).beside(share)
