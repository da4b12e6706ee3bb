"""What every loss says about itself, and what their files share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from privlearn._core.jit import ANY_ORDER, jit

__all__ = ["Array", "Auxiliary", "Loss", "Target", "between", "signs", "sum_over_classes"]

Array = NDArray[np.float64]


class Target(StrEnum):
    """What y is, as a loss sees it."""

    NUMBER = "number"
    SIGN = "sign"  # -1 or +1
    CLASS = "class"  # 0, 1, ..., outputs - 1


@dataclass(frozen=True)
class Auxiliary:
    """A weight that a loss learns beside the coefficients, for y in [-1, 1].

    Steps of all weights are in proportion to it.

    Attributes
    ----------
    count : int
        0 where there is none, else 1.
    start, low, high : float
        Where it starts, and its limits.
    slope_limit : float
        Largest derivative of the loss in it.
    curvature : float
        What a quadratic model of the loss takes for its second derivative in it.
    unit, dual_unit : float
        How much of it one unit of its weight is, for primal and for dual steps: small, so that it
        takes little of a row's clipped contribution.
    dual_share : float
        That part, relative to a row of length 1, for dual steps.
    """

    count: int = 0
    start: float = 0.0
    low: float = -math.inf
    high: float = math.inf
    slope_limit: float = math.inf
    curvature: float = 0.0
    unit: float = 1.0
    dual_unit: float = 1.0
    dual_share: float = 0.0


NO_AUXILIARY = Auxiliary()


class Loss:
    """A convex loss of one prediction, or of one score per class.

    Compiled forms stand in the same file, and in the tables of compiled.py.
    """

    @property
    def name(self) -> str:
        """How tables and errors call it."""
        raise NotImplementedError

    @property
    def code(self) -> int:
        """How compiled loops call it."""
        raise NotImplementedError

    @property
    def target(self) -> Target:
        """What y is."""
        return Target.NUMBER

    @property
    def outputs(self) -> int:
        """Number of scores z that a row has."""
        return 1

    @property
    def threshold(self) -> float:
        """Where a loss with two regimes changes over; 0 for the others."""
        return 0.0

    @property
    def degree(self) -> int:
        """Power of y's unit that the loss has; 0 for classes and counts, which have none."""
        return 0

    @property
    def has_unit(self) -> bool:
        """Whether y has a unit; solvers then bring it to [-1, 1]."""
        return self.degree > 0

    @property
    def smoothness(self) -> float:
        """Largest second derivative in z; infinite where the slope jumps."""
        return math.inf

    @property
    def lipschitz(self) -> float:
        """Largest norm of the derivative in z; infinite when there is none."""
        return math.inf

    @property
    def longest_step(self) -> float:
        """Largest step of gradient descent with momentum, per inverse of the smoothness."""
        return 2.0

    @property
    def auxiliary(self) -> Auxiliary:
        """What is learned beside the coefficients."""
        return NO_AUXILIARY

    @property
    def of_residual(self) -> bool:
        """Whether it depends on z - y alone."""
        return False

    @property
    def log_odds(self) -> bool:
        """Whether scores are logarithms of odds."""
        return False

    @property
    def coupled(self) -> bool:
        """Whether the derivative in one score depends on the other scores."""
        return False

    def value(self, y: Array, z: Array) -> Array:
        """Loss of predicting z where the truth is y."""
        raise NotImplementedError

    def derivative(self, y: Array, z: Array) -> Array:
        """Derivative of the loss in z."""
        raise NotImplementedError


def signs(y: Array, z: Array, outputs: int) -> Array:
    """Y itself, or one column per class: 1 for the row's own class, -1 for the others."""
    if outputs == 1:
        return y
    found = np.full(z.shape, -1.0)
    found[np.arange(len(z)), y.astype(int)] = 1.0
    return found


def sum_over_classes(losses: Array, outputs: int) -> Array:
    """One loss per row."""
    return losses if outputs == 1 else np.asarray(losses.sum(axis=1))


@jit(fastmath=ANY_ORDER)
def between(value, limit):
    """`value` within [-limit, limit]; what is not a number counts as the limit."""
    value = value if value < limit else limit
    return value if value > -limit else -limit


@jit(error_model="numpy")
def sign_of(targets, i, k, outputs):
    """The same as `signs`, for class k of row i."""
    if outputs == 1:
        return targets[i]
    return 1.0 if int(targets[i]) == k else -1.0
