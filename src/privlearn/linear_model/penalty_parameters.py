"""Parameters of a penalty, weights and limits: plain floats of a size that arithmetic survives."""

from __future__ import annotations

import math
from dataclasses import replace
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from privlearn._core.problem import refuse_pairs
from privlearn._data.cells import numbers_in
from privlearn._objective.penalties import Penalty

__all__ = ["in_a_box", "inverse_weight", "weight"]

LEAST, LARGEST = 1e-100, 1e100
Sides = tuple[ArrayLike, ArrayLike]  # low and high


def weight(name: str, value: object) -> float:
    """A penalty's weight, 0 or a number above it of ordinary size, as a float; or a refusal.

    Examples
    --------
    >>> from fractions import Fraction
    >>> weight("alpha", Fraction(1, 2))
    0.5
    """
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(f"{name} is a {type(value).__name__}, but a number is needed")
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if not (found == 0.0 or LEAST <= abs(found) <= LARGEST):
        raise ValueError(
            f"{name}={found:g}, but 0 or a number of size {LEAST:g} to {LARGEST:g} is needed: "
            "smaller or larger ones overflow on the way"
        )
    if found < 0.0:
        raise ValueError(f"{name}={found:g}, but a number of at least 0 is needed")
    return found


def inverse_weight(name: str, value: object) -> float:
    """The weight of a penalty from its inverse, for which infinity means none.

    Examples
    --------
    >>> inverse_weight("C", 4.0), inverse_weight("C", math.inf)
    (0.25, 0.0)
    """
    if isinstance(value, Real) and not isinstance(value, bool) and value == math.inf:
        return 0.0
    found = weight(name, value)
    if found == 0.0:
        raise ValueError(f"{name}=0, but a number above 0 is needed")
    return 1.0 / found


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
    refuse_pairs(pair, "coef_bounds")
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
