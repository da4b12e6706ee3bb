"""Losses as scalars in (y, z), z the prediction, with the constants that solvers need.

Each loss is a frozen value with a `name`; `LOSSES` lists them all, and the conformance tests check
whatever is in it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["LOSSES", "Loss", "Squared"]

Array = NDArray[np.float64]


class Loss(Protocol):
    """A convex loss of one prediction."""

    @property
    def name(self) -> str:
        """How tables and errors call it."""

    @property
    def smoothness(self) -> float:
        """Largest second derivative in z."""

    @property
    def lipschitz(self) -> float:
        """Largest absolute derivative in z; infinite when there is none."""

    def value(self, y: Array, z: Array) -> Array:
        """Loss of predicting z where the truth is y."""

    def derivative(self, y: Array, z: Array) -> Array:
        """Derivative of the loss in z."""


@dataclass(frozen=True)
class Squared:
    """Half the squared error, (y - z)^2 / 2.

    Examples
    --------
    >>> float(Squared().value(np.array(1.0), np.array(3.0)))
    2.0
    """

    name: str = "squared"
    smoothness: float = 1.0
    lipschitz: float = math.inf

    def value(self, y: Array, z: Array) -> Array:
        """Loss of predicting z where the truth is y."""
        return 0.5 * (y - z) ** 2

    def derivative(self, y: Array, z: Array) -> Array:
        """Derivative of the loss in z."""
        return z - y


LOSSES: tuple[Loss, ...] = (Squared(),)
