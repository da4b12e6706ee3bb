"""Separable penalties on the coefficients, with their proximal maps.

One value says it all: weights of |w|_1 and |w|^2 / 2, and a box for w. With `Squared` and l2 alone
the objective is half of Ridge's. `PENALTIES` lists one of
every kind, and the conformance tests check whatever is in it. The objective is the *sum* of losses
over rows plus the penalty; the intercept is never penalised. Weights of an objective that is the
*mean* of losses are per row: the number of rows may be private, and a solver that has it, public or
released, asks for the `total`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from privlearn._objective.prox import WeightPenalty

__all__ = ["PENALTIES", "Penalty"]

Array = NDArray[np.float64]
HEAVIEST = 1e100  # of a penalty, in a solver's units
_NAMES = {
    (False, False): "none",
    (True, False): "l1",
    (False, True): "l2",
    (True, True): "elastic net",
}


@dataclass(frozen=True)
class Penalty:
    """l1 |w|_1 + l2 / 2 |w|^2, with low <= w <= high in every coordinate.

    Attributes
    ----------
    l1, l2 : float
        Weights; `l2` is the modulus of strong convexity.
    low, high : tuple of float
        The box: one number for all coefficients, or one per coefficient.
    per_row : bool
        Whether the weights count once for every row, as where a mean of losses is penalised.

    Examples
    --------
    >>> Penalty(l1=1.0).prox(np.array([3.0, 0.5]), 1.0)
    array([2., 0.])
    >>> Penalty(l2=1.0, low=(0.0,)).name
    'l2 in a box'
    """

    l1: float = 0.0
    l2: float = 0.0
    low: tuple[float, ...] = (-math.inf,)
    high: tuple[float, ...] = (math.inf,)
    per_row: bool = False

    @property
    def name(self) -> str:
        """How tables and errors call it."""
        boxed = max(self.low) > -math.inf or min(self.high) < math.inf
        smooth = _NAMES[self.l1 > 0, self.l2 > 0]
        if not boxed:
            return smooth
        return "box" if smooth == "none" else f"{smooth} in a box"

    @property
    def curvature(self) -> float:
        """The modulus of strong convexity; all of it when the penalty is quadratic."""
        return self.l2

    @property
    def sparse(self) -> bool:
        """Whether it makes coefficients exactly 0."""
        return self.l1 > 0

    @property
    def smooth(self) -> bool:
        """Whether there are neither absolute values nor limits."""
        return self.name in ("none", "l2")

    def total(self, rows: float) -> Penalty:
        """The penalty beside a sum of losses over `rows` rows.

        Parameters
        ----------
        rows : float
            The number of rows, public or released; never a private one.

        Examples
        --------
        >>> Penalty(l1=0.5, per_row=True).total(100).l1
        50.0
        >>> Penalty(l1=0.5).total(100).l1
        0.5
        """
        if not self.per_row:
            return self
        return replace(self, l1=self.l1 * rows, l2=self.l2 * rows, per_row=False)

    def value(self, coef: Array) -> float:
        """Penalty at `coef`; infinite outside the box."""
        if (coef < np.asarray(self.low)).any() or (coef > np.asarray(self.high)).any():
            return math.inf
        return self.l1 * float(np.abs(coef).sum()) + 0.5 * self.l2 * float(np.sum(coef * coef))

    def prox(self, coef: Array, step: float) -> Array:
        """Minimiser w of |w - coef|^2 / (2 step) + penalty(w)."""
        sides = (np.asarray(side) for side in (self.l1, self.l2, self.low, self.high))
        return WeightPenalty(*sides).prox(coef, step)

    def per_weight(
        self, unit: Array, share: float, penalised: Array | None = None
    ) -> WeightPenalty:
        """`share` of the same, of weights of which one is `unit` of a coefficient.

        Where the unit is 0 there is no coefficient, and the weight is free.

        Parameters
        ----------
        unit : array
            Of the coefficients that the box limits.
        share : float
            Of the penalty.
        penalised : array or None, default=None
            What one weight is of the coefficients that are penalised; None takes the same.
        """
        constant = unit == 0.0
        each = unit if penalised is None else np.where(constant, 0.0, penalised)
        some = np.where(constant, 1.0, unit)
        with np.errstate(over="ignore", invalid="ignore"):
            l1, l2 = self.l1 * share * each, self.l2 * share * each**2
            low, high = np.asarray(self.low) / some, np.asarray(self.high) / some
        low, high = np.where(constant, -np.inf, low), np.where(constant, np.inf, high)
        return WeightPenalty(_limited(l1), _limited(l2), low, high)

    def per_scaled_weight(
        self, scale: Array, target_scale: float, penalised: Array | None = None
    ) -> WeightPenalty:
        """The same beside squared errors of x / scale and y / target_scale, by division.

        Where the scale is 0 weights are held at 0, if limits are looked at.

        Parameters
        ----------
        scale : array
            Of the features, whose coefficients the box limits.
        target_scale : float
            Of y.
        penalised : array or None, default=None
            Scale over the unit of the features whose coefficients are penalised; None takes their
            own, 1.
        """
        nonconstant = scale > 0
        some = np.where(nonconstant, scale, 1.0)
        with np.errstate(over="ignore", invalid="ignore"):
            each = some if penalised is None else penalised
            l1, l2 = self.l1 / (each * target_scale), self.l2 / each**2
            low = np.asarray(self.low) * some / target_scale
            high = np.asarray(self.high) * some / target_scale
        limit = np.inf if self.smooth else 0.0
        low, high = np.where(nonconstant, low, -limit), np.where(nonconstant, high, limit)
        l1, l2 = np.where(nonconstant, l1, 0.0), np.where(nonconstant, l2, 0.0)
        return WeightPenalty(_limited(l1), _limited(l2), low, high)


def _limited(weights: Array) -> Array:
    """Weights at most so large that their squares are numbers."""
    return np.minimum(np.nan_to_num(weights, nan=0.0, posinf=HEAVIEST), HEAVIEST)


PENALTIES: tuple[Penalty, ...] = (
    Penalty(),
    Penalty(l1=1.0),
    Penalty(l2=1.0),
    Penalty(l1=0.5, l2=0.5),
    Penalty(low=(-0.5,), high=(1.0,)),
    Penalty(l1=1.0, low=(-0.5,), high=(1.0,)),
    Penalty(l2=1.0, low=(-0.5,), high=(1.0,)),
    Penalty(l1=0.5, l2=0.5, low=(0.0,)),
)
