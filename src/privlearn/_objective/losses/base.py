"""What every loss says about itself, and what their files share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privlearn._core.jit import ANY_ORDER, jit

__all__ = [
    "Array",
    "Auxiliary",
    "Loss",
    "Target",
    "Units",
    "between",
    "exponential",
    "signs",
    "sum_over_classes",
]

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


class Units(NamedTuple):
    """What is subtracted from targets and from scores in a solver, and what divides them then."""

    target_center: float = 0.0
    target_scale: float = 1.0
    score_center: float = 0.0
    score_scale: float = 1.0


class Loss:
    """A convex loss of one prediction, or of one score per class.

    Compiled forms stand in the same file, and in the tables of compiled.py.
    """

    name: str  # how tables and errors call it
    code: int  # how compiled loops call it
    target: Target = Target.NUMBER  # what y is
    outputs: int = 1  # scores z that a row has
    threshold: float = 0.0  # where a loss with two regimes changes over
    degree: int = 0  # power of y's unit that the loss has
    has_unit: bool = False  # whether y has one; solvers then bring it to [-1, 1]
    smoothness: float = math.inf  # largest second derivative in z
    lipschitz: float = math.inf  # largest norm of the derivative in z
    longest_step: float = 2.0  # of descent with momentum, per inverse of the smoothness
    auxiliary: Auxiliary = NO_AUXILIARY  # what is learned beside the coefficients
    of_residual: bool = False  # whether it depends on z - y alone
    scores: str = ""  # what they are called, where they are no predictions of y
    wants_moments: bool = False  # whether `with_moments` makes a difference
    least_slope: float = 0.0  # of slopes that clipping should leave alone
    bends: bool = False  # whether the curvature depends on the scores, and on them alone
    coupled: bool = False  # whether the derivative in one score depends on the others

    @property
    def largest_curvature(self) -> float:
        """The largest second derivative in z; 1 where the slope jumps."""
        return self.smoothness if math.isfinite(self.smoothness) else 1.0

    @property
    def typical_slope(self) -> float:
        """The steepest slope; of a loss without one, the slope at prediction 0, where |y| is 1."""
        if math.isfinite(self.lipschitz):
            return self.lipschitz
        truth = np.zeros(1) if self.target is Target.CLASS else np.ones(1)
        nothing = np.zeros((1, self.outputs)) if self.target is Target.CLASS else np.zeros(1)
        return float(np.linalg.norm(self.derivative(truth, nothing)))

    @property
    def largest_step(self) -> float:
        """For rows no longer than 1, whose mean loss is at most as curved as the loss itself."""
        return self.longest_step / self.largest_curvature

    def units(self, low: float, high: float, intercept: bool) -> Units:
        """A solver's units, for targets between these ends; scores are in those of the target."""
        if not self.has_unit:
            return Units()
        center = low / 2 + high / 2 if intercept else 0.0
        scale = max(high - center, center - low)
        return Units(center, scale, center, scale)

    @property
    def curvature(self) -> float:
        """What a quadratic model takes for the second derivative in z: mostly the largest one."""
        return self.smoothness

    def constant_score(self, slope: Array, noise: float) -> Array:
        """How far from 0 a score for all rows alike would be best, given the mean slope at 0.

        Parameters
        ----------
        slope : array of shape (outputs,)
            Noisy.
        noise : float
            Its standard deviation.
        """
        return np.asarray(-slope / self.curvature)

    def slope_to_keep(self, score: Array) -> float:
        """Least slope that clipping should leave alone, given the best score for all rows alike."""
        return self.least_slope

    def second_derivative(self, z: Array) -> Array:
        """Second derivative in the one score; where a loss bends, or tells standard errors."""
        raise NotImplementedError

    def mean_second_derivative(self, z: Array) -> Array:
        """Mean over the rows of z of the matrix of second derivatives in its columns."""
        raise NotImplementedError

    def mean_shares(self, z: Array) -> Array:
        """Mean probability of every class, over the rows of z."""
        raise NotImplementedError

    def with_moments(self, mean: float, mean_square: float) -> Loss:
        """The same loss, where targets in a solver's units are known to have about these."""
        return self

    def in_units(self, units: Units) -> Loss:
        """The same loss of targets and scores in these units, over `target_scale**degree`."""
        return self

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


@jit(fastmath=ANY_ORDER, error_model="numpy")
def exponential(x):
    """exp(x) for |x| up to 40, in additions and products alone, which vectorise.

    exp(x) = exp(x / 256)^256, with Taylor's polynomial of degree 7 for the inner one: it is off by
    256 (x / 256)^8 / 8! at most, relatively, and rounding adds about 256 units of the last place.
    """
    x = x * 0.00390625
    e = 1.0 / 24.0 + x * (1.0 / 120.0 + x * (1.0 / 720.0 + x * (1.0 / 5040.0)))
    e = 1.0 + x * (1.0 + x * (1.0 / 2.0 + x * (1.0 / 6.0 + x * e)))
    e *= e  # 2
    e *= e  # 4
    e *= e  # 8
    e *= e  # 16
    e *= e  # 32
    e *= e  # 64
    e *= e  # 128
    return e * e


@jit(error_model="numpy")
def sign_of(targets, i, k, outputs):
    """The same as `signs`, for class k of row i."""
    if outputs == 1:
        return targets[i]
    return 1.0 if int(targets[i]) == k else -1.0
