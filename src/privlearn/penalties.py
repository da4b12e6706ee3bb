"""Separable penalties on the coefficients, with their proximal maps.

Each is a frozen value with a `name`; `PENALTIES` lists an instance of every one, and the
conformance tests check whatever is in it. The intercept is never penalised.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["L2", "PENALTIES", "NoPenalty", "Penalty"]

Array = NDArray[np.float64]


class Penalty(Protocol):
    """A convex function of the coefficients that is a sum over coordinates."""

    @property
    def name(self) -> str:
        """How tables and errors call it."""

    @property
    def curvature(self) -> float:
        """The modulus of strong convexity; all of it when the penalty is quadratic."""

    def value(self, coef: Array) -> float:
        """Penalty at `coef`."""

    def prox(self, coef: Array, step: float) -> Array:
        """Minimiser w of |w - coef|^2 / (2 step) + penalty(w)."""


@dataclass(frozen=True)
class NoPenalty:
    """Nothing at all."""

    name: str = "none"
    curvature: float = 0.0

    def value(self, coef: Array) -> float:
        """Penalty at `coef`."""
        return 0.0

    def prox(self, coef: Array, step: float) -> Array:
        """Minimiser w of |w - coef|^2 / (2 step) + penalty(w)."""
        return coef


@dataclass(frozen=True)
class L2:
    """alpha / 2 times the squared norm, so that with `Squared` the objective is half of Ridge's.

    Examples
    --------
    >>> float(L2(2.0).prox(np.array([3.0]), 1.0)[0])
    1.0
    """

    alpha: float = 1.0
    name: str = "l2"

    @property
    def curvature(self) -> float:
        """The modulus of strong convexity; all of it, since the penalty is quadratic."""
        return self.alpha

    def value(self, coef: Array) -> float:
        """Penalty at `coef`."""
        return 0.5 * self.alpha * float(coef @ coef)

    def prox(self, coef: Array, step: float) -> Array:
        """Minimiser w of |w - coef|^2 / (2 step) + penalty(w)."""
        return coef / (1.0 + step * self.alpha)


PENALTIES: tuple[Penalty, ...] = (NoPenalty(), L2())
