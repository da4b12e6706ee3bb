"""Limits on the coefficients: `positive` and `coef_bounds`."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from privlearn._core.problem import numbers_in
from privlearn._objective.penalties import Penalty
from privlearn.linear_model.weights import LARGEST

__all__ = ["in_a_box"]

Sides = tuple[ArrayLike, ArrayLike]  # low and high


def in_a_box(
    penalty: Penalty, n_features: int, coef_bounds: Sides | None, positive: bool = False
) -> Penalty:
    """The same penalty with coefficients between the declared limits.

    Examples
    --------
    >>> in_a_box(Penalty(), 2, coef_bounds=(0, [1, 2])).high
    (1.0, 2.0)
    """
    if coef_bounds is None and not positive:
        return penalty
    low, high = _sides((-math.inf, math.inf) if coef_bounds is None else coef_bounds, n_features)
    if positive:
        low = np.maximum(low, 0.0)
    if not (low <= high).all():
        raise ValueError(
            "coef_bounds leave no value for some coefficient: low <= high is needed, and high >= 0 "
            "with positive=True"
        )
    return replace(penalty, low=tuple(low.tolist()), high=tuple(high.tolist()))


def _sides(pair: Sides, n_features: int) -> list[np.ndarray]:
    try:
        sides = [numbers_in(side) for side in pair]
        sizes = [np.abs(side[~np.isinf(side)]) for side in sides]
        if len(sides) != 2 or not all((size <= LARGEST).all() for size in sizes):  # NaN is not
            raise ValueError
        return [np.broadcast_to(side, (n_features,)) for side in sides]
    except (TypeError, ValueError):
        raise ValueError(
            f"coef_bounds must be a pair (low, high) of numbers or of arrays with {n_features} "
            f"numbers of size at most {LARGEST:g}; infinity stands for no limit"
        ) from None
