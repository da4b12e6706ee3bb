"""Losses as functions of (y, z), z the prediction, with the constants that solvers need.

Each loss is a frozen value with a `name`; `LOSSES` lists them all (with three classes where several
outputs are possible), and the conformance tests check whatever is in it. `code` is what compiled
loops know a loss by.
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
    "SQUARED_HINGE",
    "Hinge",
    "Huber",
    "Logistic",
    "Loss",
    "Softmax",
    "Squared",
    "SquaredHinge",
    "Target",
]

Array = NDArray[np.float64]
SQUARED, HUBER, LOGISTIC, HINGE, SOFTMAX, SQUARED_HINGE = range(6)


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

    With several outputs, one against the rest: the sum over classes k, with score z_k and sign 1
    for the row's own class and -1 for the others.

    Examples
    --------
    >>> float(Hinge().value(np.array(-1.0), np.array(0.5)))
    1.5
    >>> Hinge(3).derivative(np.array([1.0]), np.array([[0.0, 0.0, -2.0]]))
    array([[ 1., -1.,  0.]])
    """

    outputs: int = 1
    name: str = "hinge"
    code: int = HINGE
    degree: int = 0
    threshold: float = 0.0
    smoothness: float = math.inf

    @property
    def target(self) -> Target:
        """A sign, or a class where there are several outputs."""
        return Target.SIGN if self.outputs == 1 else Target.CLASS

    @property
    def lipschitz(self) -> float:
        """Largest norm of the derivative in z: every class's margin may be violated at once."""
        return math.sqrt(self.outputs)

    def value(self, y: Array, z: Array) -> Array:
        """Loss of predicting z where the truth is y."""
        signs = _signs(y, z, self.outputs)
        return _over_classes(np.maximum(0.0, 1.0 - signs * z), self.outputs)

    def derivative(self, y: Array, z: Array) -> Array:
        """Derivative of the loss in z, one column per class where there are several."""
        signs = _signs(y, z, self.outputs)
        return np.where(signs * z < 1.0, -signs, 0.0)


@dataclass(frozen=True)
class SquaredHinge:
    """max(0, 1 - y z)^2 for y = -1 or 1, or its sum over classes as in `Hinge`.

    Its slope grows without limit as a row goes to the wrong side, so it is smooth but not
    Lipschitz.

    Examples
    --------
    >>> float(SquaredHinge().value(np.array(-1.0), np.array(0.5)))
    2.25
    >>> SquaredHinge(3).derivative(np.array([1.0]), np.array([[0.0, 0.0, -2.0]]))
    array([[ 2., -2.,  0.]])
    """

    outputs: int = 1
    name: str = "squared hinge"
    code: int = SQUARED_HINGE
    degree: int = 0
    threshold: float = 0.0
    smoothness: float = 2.0
    lipschitz: float = math.inf

    @property
    def target(self) -> Target:
        """A sign, or a class where there are several outputs."""
        return Target.SIGN if self.outputs == 1 else Target.CLASS

    def value(self, y: Array, z: Array) -> Array:
        """Loss of predicting z where the truth is y."""
        signs = _signs(y, z, self.outputs)
        return _over_classes(np.maximum(0.0, 1.0 - signs * z) ** 2, self.outputs)

    def derivative(self, y: Array, z: Array) -> Array:
        """Derivative of the loss in z, one column per class where there are several."""
        signs = _signs(y, z, self.outputs)
        return np.where(signs * z < 1.0, 2.0 * (z - signs), 0.0)


def _signs(y: Array, z: Array, outputs: int) -> Array:
    """Y itself, or one column per class: 1 for the row's own class, -1 for the others."""
    if outputs == 1:
        return y
    signs = np.full(z.shape, -1.0)
    signs[np.arange(len(z)), y.astype(int)] = 1.0
    return signs


def _over_classes(losses: Array, outputs: int) -> Array:
    return losses if outputs == 1 else np.asarray(losses.sum(axis=1))


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


LOSSES: tuple[Loss, ...] = (
    Squared(),
    Huber(),
    Logistic(),
    Hinge(),
    Hinge(3),
    Softmax(),
    SquaredHinge(),
    SquaredHinge(3),
)
