"""What is public about an evaluation: the kind of model, its labels or range, which metrics."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.validation import check_is_fitted

from privlearn._core.problem import Bounds
from privlearn._data.reading import native
from privlearn.exceptions import MissingFactError, UnsupportedCombinationError
from privlearn.metrics.known_models import is_known
from privlearn.schema.encoding import Encoding

__all__ = ["ALONE", "CLASSES", "NUMBERS", "Task"]

NUMBERS = ("r2", "mse", "mae")
CLASSES = ("accuracy", "auc", "log_loss", "brier", "confusion", "calibration")
OF_PROBABILITIES = ("log_loss", "brier", "calibration")
OF_TWO_CLASSES = ("auc", "calibration")
# Their `predict` uses a threshold that scores do not tell.
WITH_THRESHOLDS = ("FixedThresholdClassifier", "TunedThresholdClassifierCV")

ALONE = "the model's prediction for a row depends on that row alone"
PUBLIC_MODEL = "the model is public; its own certificate covers the rows that it was fitted to"
ONE_ROW = "one row is one person here, though the model was fitted to several rows of a person"


@dataclass(frozen=True, eq=False)
class Task:
    """Public facts about what is scored.

    Attributes
    ----------
    model : object
        Fitted; it is public, and fixed before the rows are looked at.
    metrics : tuple of str
        Names, in the order of the table.
    classes : array or None
        The model's labels; None for numbers.
    likely : bool
        Whether the model tells probabilities.
    bounds : pair of floats or None
        Range of the target, to which targets and predictions are clipped.
    assumed : tuple of str
        What the guarantee takes for granted about the model and the range.
    estimated : bool
        Whether the model's fit released the range, with noise.
    """

    model: Any
    metrics: tuple[str, ...]
    classes: NDArray[Any] | None
    likely: bool
    bounds: tuple[float, float] | None
    assumed: tuple[str, ...]
    estimated: bool = False

    @property
    def n_classes(self) -> int:
        """Number of labels; 0 for numbers."""
        return 0 if self.classes is None else len(self.classes)

    def assumed_of(self, most: int | None) -> tuple[str, ...]:
        """The same where so many rows of a person count, or where every row is a person."""
        return tuple(line for line in self.assumed if most is None or line != ONE_ROW)

    @property
    def encoding(self) -> Encoding | None:
        """How the model reads a frame's columns, where it was fitted with a schema."""
        found = getattr(self.model, "_encoding", None)
        return found if isinstance(found, Encoding) else None

    @classmethod
    def of(cls, model: Any, metrics: object, bounds_y: object) -> Task:  # noqa: ANN401
        """The facts, or a refusal that says what is missing."""
        if isinstance(model, type) or not (is_classifier(model) or is_regressor(model)):
            raise TypeError(
                f"model is a {type(model).__name__}, but a fitted classifier or regressor of "
                "privlearn or scikit-learn is needed"
            )
        check_is_fitted(model)
        if native("privlearn.model_selection.search", model, "PrivateSearchCV"):
            model = model.best_estimator_  # which knows names and a schema, and is asked quickly
        if is_classifier(model):
            return cls._of_classes(model, metrics, bounds_y)
        bounds, assumed, estimated = _range(model, bounds_y)
        chosen = _chosen(metrics, NUMBERS, NUMBERS, model)
        return cls(model, chosen, None, False, bounds, (*_about(model), *assumed), estimated)

    @classmethod
    def _of_classes(cls, model: Any, metrics: object, bounds_y: object) -> Task:  # noqa: ANN401
        if bounds_y is not None:
            raise ValueError("bounds_y is the range of numbers, but the model predicts classes")
        likely, classes = hasattr(model, "predict_proba"), getattr(model, "classes_", None)
        if not isinstance(classes, np.ndarray) or classes.ndim != 1 or len(classes) < 2:
            raise UnsupportedCombinationError(
                f"{type(model).__name__} has no single list of two or more labels in classes_; "
                "models of several targets, or of one class, cannot be evaluated here"
            )
        if type(model).__name__ in WITH_THRESHOLDS:
            raise UnsupportedCombinationError(
                f"{type(model).__name__} predicts with a threshold that its scores do not tell; "
                "evaluate the classifier within it (model.estimator_)"
            )
        if not (likely or hasattr(model, "decision_function")):
            raise UnsupportedCombinationError(
                f"{type(model).__name__} has neither predict_proba nor decision_function, and one "
                "of them is needed"
            )
        able = [name for name in CLASSES if likely or name not in OF_PROBABILITIES]
        able = [name for name in able if len(classes) == 2 or name not in OF_TWO_CLASSES]
        return cls(
            model, _chosen(metrics, CLASSES, able, model), classes, likely, None, _about(model)
        )


def _chosen(
    metrics: object, known: Iterable[str], able: Iterable[str], model: object
) -> tuple[str, ...]:
    """The metrics that were asked for, in the order of the table, or all that there are."""
    if metrics is None:
        return tuple(able)
    asked = [metrics] if isinstance(metrics, str) else metrics
    if not isinstance(asked, Iterable) or not (asked := list(asked)):
        raise ValueError(f"metrics must be None or some of {', '.join(known)}")
    for name in asked:
        if name not in tuple(known):
            shown = repr(name) if isinstance(name, str) else f"a {type(name).__name__}"
            raise ValueError(
                f"metrics holds {shown}, but {type(model).__name__} has {', '.join(known)}"
            )
        if name not in tuple(able):
            raise UnsupportedCombinationError(
                f"{name!r} is not defined for this {type(model).__name__}: log_loss, brier and "
                "calibration need predict_proba, auc and calibration two classes; it has "
                f"{', '.join(able)}"
            )
    return tuple(name for name in known if name in asked)


def _range(model: object, bounds_y: object) -> tuple[tuple[float, float], tuple[str, ...], bool]:
    """The range of y: given here, released by the model's fit (then True), or declared for it."""
    declared = "bounds_y was chosen without looking at the data"
    if bounds_y is not None:
        found = Bounds.declared(1, bounds_y=bounds_y).need_target("evaluate")
        return found, (declared,), False
    released = getattr(model, "bounds_y_", None)
    if released is not None:
        return (float(released[0]), float(released[1])), (), True
    own = getattr(model, "bounds_y", None)
    if own is None:
        raise MissingFactError(
            "bounds_y is missing, and the model knows no range of its target; pass "
            "bounds_y=(low, high) from public knowledge, never from the data itself"
        )
    return Bounds.declared(1, bounds_y=own).need_target("evaluate"), (declared,), False


def _about(model: object) -> tuple[str, ...]:
    """What must hold of the model for the scores alone to be what is told about the rows."""
    if getattr(model, "privacy_", None) is not None:
        whose = PUBLIC_MODEL
    else:
        whose = "the model was trained without these rows, or elsewhere pays for what it tells"
    alone = () if is_known(model) else (ALONE,)
    person = getattr(getattr(model, "privacy_", None), "unit", "row") == "person"
    return (whose, *alone, *((ONE_ROW,) if person else ()))
