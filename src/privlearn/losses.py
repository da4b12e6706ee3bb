"""Losses as functions of (y, z), z the prediction, with the constants that solvers need.

Each loss is a frozen value with a `name`; `LOSSES` lists them all, and the conformance tests check
whatever is in it. `code` is what compiled loops know a loss by.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "HINGE",
    "HUBER",
    "LOGISTIC",
    "LOSSES",
    "SOFTMAX",
    "SQUARED",
    "Hinge",
    "Huber",
    "Logistic",
    "Loss",
    "Softmax",
    "Squared",
    "Target",
]

Array = NDArray[np.float64]
SQUARED, HUBER, LOGISTIC, HINGE, SOFTMAX = range(5)


class Target(StrEnum):
    """What y is, as a loss sees it."""

    NUMBER = "number"
    SIGN = "sign"  # -1 or +1
    CLASS = "class"  # 0, 1, ..., outputs - 1


class Loss(Protocol):
    """A convex loss of one prediction, or of one score per class."""

    @property
    def name(self) -> str:
        """How tables and errors call it."""

    @property
    def code(self) -> int:
        """How compiled loops call it."""

    @property
    def target(self) -> Target:
        """What y is."""

    @property
    def outputs(self) -> int:
        """Number of scores z that a row has."""

    @property
    def threshold(self) -> float:
        """Where a loss with two regimes changes over; 0 for the others."""

    @property
    def degree(self) -> int:
        """Power of y's unit that the loss has; 0 for classes, which have none."""

    @property
    def smoothness(self) -> float:
        """Largest second derivative in z; infinite where the slope jumps."""

    @property
    def lipschitz(self) -> float:
        """Largest norm of the derivative in z; infinite when there is none."""

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
    code: int = SQUARED
    degree: int = 2
    target: Target = Target.NUMBER
    outputs: int = 1
    threshold: float = 0.0
    smoothness: float = 1.0
    lipschitz: float = math.inf

    def value(self, y: Array, z: Array) -> Array:
        """Loss of predicting z where the truth is y."""
        return 0.5 * (y - z) ** 2

    def derivative(self, y: Array, z: Array) -> Array:
        """Derivative of the loss in z."""
        return z - y


@dataclass(frozen=True)
class Huber:
    """Half the squared error up to `threshold`, then a line (Huber 1964).

    `HuberRegressor` measures errors in units of a scale that is learned beside the coefficients, as
    scikit-learn does (Owen 2007, eq. 8); this is the loss at scale 1.

    Examples
    --------
    >>> float(Huber(1.0).derivative(np.array(0.0), np.array(5.0)))
    1.0
    """

    threshold: float = 1.35
    name: str = "huber"
    code: int = HUBER
    degree: int = 1  # with its scale learned, as `HuberRegressor` does
    target: Target = Target.NUMBER
    outputs: int = 1
    smoothness: float = 1.0

    @property
    def lipschitz(self) -> float:
        """Largest absolute derivative in z."""
        return self.threshold

    def value(self, y: Array, z: Array) -> Array:
        """Loss of predicting z where the truth is y."""
        error = np.abs(y - z)
        line = self.threshold * (error - 0.5 * self.threshold)
        return np.where(error <= self.threshold, 0.5 * error**2, line)

    def derivative(self, y: Array, z: Array) -> Array:
        """Derivative of the loss in z."""
        return np.clip(z - y, -self.threshold, self.threshold)


@dataclass(frozen=True)
class Logistic:
    """log(1 + exp(-y z)) for y = -1 or 1.

    Examples
    --------
    >>> float(Logistic().derivative(np.array(1.0), np.array(0.0)))
    -0.5
    """

    name: str = "logistic"
    code: int = LOGISTIC
    degree: int = 0
    target: Target = Target.SIGN
    outputs: int = 1
    threshold: float = 0.0
    smoothness: float = 0.25
    lipschitz: float = 1.0

    def value(self, y: Array, z: Array) -> Array:
        """Loss of predicting z where the truth is y."""
        return np.asarray(np.logaddexp(0.0, -y * z))

    def derivative(self, y: Array, z: Array) -> Array:
        """Derivative of the loss in z."""
        return np.asarray(-y * 0.5 * (1.0 - np.tanh(0.5 * y * z)))


@dataclass(frozen=True)
class Hinge:
    """max(0, 1 - y z) for y = -1 or 1; at the kink the derivative is 0.

    Examples
    --------
    >>> float(Hinge().value(np.array(-1.0), np.array(0.5)))
    1.5
    """

    name: str = "hinge"
    code: int = HINGE
    degree: int = 0
    target: Target = Target.SIGN
    outputs: int = 1
    threshold: float = 0.0
    smoothness: float = math.inf
    lipschitz: float = 1.0

    def value(self, y: Array, z: Array) -> Array:
        """Loss of predicting z where the truth is y."""
        return np.maximum(0.0, 1.0 - y * z)

    def derivative(self, y: Array, z: Array) -> Array:
        """Derivative of the loss in z."""
        return np.where(y * z < 1.0, -y, 0.0)


@dataclass(frozen=True)
class Softmax:
    """Cross-entropy of `outputs` classes: log sum_k exp(z_k) - z_y.

    |p - e_y|^2 <= 2, and the second derivative diag(p) - p p' is at most 1/2 (Boehning 1992).

    Examples
    --------
    >>> loss = Softmax(2).value(np.array([0.0]), np.array([[0.0, 0.0]]))
    >>> round(float(loss[0]), 4)
    0.6931
    """

    outputs: int = 3
    name: str = "softmax"
    code: int = SOFTMAX
    degree: int = 0
    target: Target = Target.CLASS
    threshold: float = 0.0
    smoothness: float = 0.5
    lipschitz: float = math.sqrt(2.0)

    def value(self, y: Array, z: Array) -> Array:
        """Loss of predicting z where the truth is y."""
        top = z.max(axis=1)
        rest = np.log(np.exp(z - top[:, None]).sum(axis=1))
        return np.asarray(top + rest - z[np.arange(len(z)), y.astype(int)])

    def derivative(self, y: Array, z: Array) -> Array:
        """Derivative of the loss in z, one column per class."""
        weight = np.exp(z - z.max(axis=1, keepdims=True))
        weight /= weight.sum(axis=1, keepdims=True)
        weight[np.arange(len(z)), y.astype(int)] -= 1.0
        return np.asarray(weight)


LOSSES: tuple[Loss, ...] = (Squared(), Huber(), Logistic(), Hinge(), Softmax())
