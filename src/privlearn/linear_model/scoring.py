"""`score` on targets that are read as `fit` reads them: no error of a metric quotes a cell."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privlearn._data.labels import codes_to_score
from privlearn._data.reading import refuse_not_finite
from privlearn._data.targets import target_numbers

__all__ = ["accuracy", "d_squared", "r_squared"]

Array = NDArray[np.float64]


def r_squared(predicted: Array, y: object, sample_weight: object) -> float:
    """Coefficient of determination, as scikit-learn defines it."""
    from sklearn.metrics import r2_score

    target = target_numbers(y)
    refuse_not_finite("y", target, "for a score needs every target")
    weight = _as_long(predicted, target, sample_weight)
    return float(r2_score(target, predicted, sample_weight=weight))


def d_squared(predicted: Array, y: object, sample_weight: object) -> float:
    """Share of the Poisson deviance that is explained, as scikit-learn defines it."""
    from scipy.special import xlogy

    target = target_numbers(y)
    refuse_not_finite("y", target, "for a score needs every target")
    weight = _as_long(predicted, target, sample_weight)

    def deviance(mean: Array | float) -> float:
        safe = np.where(target > 0.0, mean, 1.0)
        return float(np.average(xlogy(target, target / safe) - target + mean, weights=weight))

    left, whole = deviance(predicted), deviance(np.average(target, weights=weight))
    return 1.0 - left / whole if whole > 0.0 else float(left == 0.0)


def accuracy(
    predicted: NDArray[Any], y: object, classes: NDArray[Any], sample_weight: object
) -> float:
    """Share of labels that were predicted; labels are compared by value."""
    from sklearn.metrics import accuracy_score

    target, found = codes_to_score(y, classes), codes_to_score(predicted, classes)
    weight = _as_long(found, target, sample_weight)
    return float(accuracy_score(target, found, sample_weight=weight))


def _as_long(predicted: Array, target: Array, sample_weight: object) -> Array | None:
    """Weights as numbers, where there are some; everything must be one per row."""
    weight = None if sample_weight is None else target_numbers(sample_weight, what="sample_weight")
    lengths = {len(predicted), len(target)} | ({len(weight)} if weight is not None else set())
    if len(lengths) > 1:
        raise ValueError("X and y have inconsistent numbers of samples; give one y per row")
    if weight is not None:
        refuse_not_finite("sample_weight", weight, "for a score needs every weight")
    return weight
