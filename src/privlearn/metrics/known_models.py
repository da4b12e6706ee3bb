"""Models of which it is proved how far answers about a row among others may be off (proof.md, 1).

A list of exact types: a subclass may answer in any way it likes.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from privlearn.metrics.task import Task

__all__ = ["NEAR", "is_known", "too_large"]

Array = NDArray[np.float64]
NEAR = 2.0**-32  # how far apart answers about one row may be, alone and among others
LARGE = 2.0**20  # entries of a row: beyond, it is predicted alone
ROUNDING = 2.0**-51  # of a product of two numbers in a sum, twice
OF_EXP = 16.0  # rounding of an exponential and a product, in terms of a sum
COUNTS = "PoissonRegressor"
KNOWN = {
    "sklearn.linear_model": (
        "ElasticNet",
        "Lasso",
        "LinearRegression",
        "LogisticRegression",
        "Ridge",
        "RidgeClassifier",
        COUNTS,
    ),
    "sklearn.svm": ("LinearSVC", "LinearSVR"),
    "privlearn.linear_model": (
        "ElasticNet",
        "HuberRegressor",
        "Lasso",
        "LinearRegression",
        "LinearSVC",
        "LogisticRegression",
        "Ridge",
        COUNTS,
    ),
}
METHODS = {"predict", "predict_proba", "decision_function"}


def is_known(model: Any) -> bool:  # noqa: ANN401
    """Whether answers are a known function of sums of weights times features, with no jumps."""
    kind, coef = type(model), getattr(model, "coef_", None)
    listed = any(
        kind.__name__ in names and getattr(sys.modules.get(home), kind.__name__, None) is kind
        for home, names in KNOWN.items()
    )
    if not listed or METHODS & {*vars(model)}:
        return False
    plain = isinstance(coef, np.ndarray) and coef.dtype == np.float64
    return plain and not _divides(model) and _norm(model) is None


def _divides(model: Any) -> bool:  # noqa: ANN401
    """Whether one-against-rest probabilities are divided by their sum, which may vanish."""
    if type(model).__name__ != "LogisticRegression" or len(model.classes_) == 2:
        return False
    one_by_one = getattr(model, "multi_class", "auto") == "ovr"
    return one_by_one or getattr(model, "solver", "") == "liblinear"


def _norm(model: Any) -> float | None:  # noqa: ANN401
    """What rows are shortened to before they are predicted: lengths are sums of their own."""
    clip = getattr(model, "_clip_bounds", None)
    return None if clip is None else clip.row_norm


def too_large(task: Task, n_features: int) -> Callable[[Array], NDArray[np.bool_]]:
    """Which rows have entries so large that the order of a sum could show in the answer.

    Of a known model sums of products may be off by so much of their absolute terms; others are
    taken at their word, up to a size.
    """
    model = task.model
    if not is_known(model):
        return lambda X: np.asarray(~(np.abs(X).max(axis=1, initial=0.0) <= LARGE))
    weights = np.abs(np.atleast_2d(model.coef_)).max(axis=0)
    constant = float(np.abs(np.asarray(model.intercept_, dtype=np.float64)).max())
    most = NEAR / (ROUNDING * (n_features + 1))
    if task.bounds is not None:
        most *= task.bounds[1] - task.bounds[0]
        if type(model).__name__ == COUNTS:  # exp(s), cut off at the largest, is that steep
            most /= max(map(abs, task.bounds))
            _, largest = getattr(model, "bounds_y_", task.bounds)
            constant += OF_EXP + (abs(math.log(largest)) if largest > 0.0 else 0.0)
    clip = getattr(model, "_clip_bounds", None)
    low, high = (None, None) if clip is None else (clip.low, clip.high)

    def large(X: Array) -> NDArray[np.bool_]:
        sizes = np.abs(X)
        if low is not None:  # what is small may be clipped to what is not
            sizes = np.maximum(sizes, np.abs(np.clip(X, low, high)))
        inside = (sizes.max(axis=1, initial=0.0) <= LARGE) & (sizes @ weights + constant <= most)
        return np.asarray(~inside)

    return large
