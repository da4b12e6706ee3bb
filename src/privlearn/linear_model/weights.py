"""Parameters of a model that are numbers: plain floats of a size that arithmetic survives."""

from __future__ import annotations

import math
from numbers import Real

import numpy as np

__all__ = ["inverse_weight", "weight"]

LEAST, LARGEST = 1e-100, 1e100


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
