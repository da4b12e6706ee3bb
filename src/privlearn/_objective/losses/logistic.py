"""The logistic loss of two classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privlearn._core.jit import ANY_ORDER, jit
from privlearn._objective.losses.base import Array, Loss, Target, between, exponential

__all__ = ["LOGISTIC", "RAREST", "Logistic", "fade", "rare_slope"]

LOGISTIC = 2
RAREST = 1e-6  # share of a class that an intercept is chosen for before there are features
KEPT = 0.7  # of a rare class's slopes (benchmarks/derive/classes.py)
FLAT = 40.0  # margins beyond it change the slope by less than 2^-57


@dataclass(frozen=True)
class Logistic(Loss):
    """log(1 + exp(-y z)) for y = -1 or 1.

    Examples
    --------
    >>> float(Logistic().derivative(np.array(1.0), np.array(0.0)))
    -0.5
    """

    name = "logistic"
    code = LOGISTIC
    target = Target.SIGN
    smoothness = 0.25
    lipschitz = 1.0
    scores = "log-odds"
    bends = True

    def value(self, y: Array, z: Array) -> Array:
        """Loss of predicting z where the truth is y."""
        return np.asarray(np.logaddexp(0.0, -y * z))

    def derivative(self, y: Array, z: Array) -> Array:
        """Derivative of the loss in z."""
        return np.asarray(-y * 0.5 * (1.0 - np.tanh(0.5 * y * z)))

    def constant_score(self, slope: Array, noise: float) -> Array:
        """Log-odds of the classes' shares; the rarer one has at least what noise would hide."""
        least = min(max(noise, RAREST), 0.5)
        share = np.clip(0.5 - slope, least, 1.0 - least)
        return np.asarray(np.log(share) - np.log1p(-share))

    def slope_to_keep(self, score: Array) -> float:
        """Rows of a rare class have slopes of about 1; to clip them is to make it rarer."""
        return rare_slope(1.0 / (1.0 + np.exp(-np.abs(score[0]))), self.lipschitz, 2)

    def second_derivative(self, z: Array) -> Array:
        """Of the loss in z: p (1 - p), whatever y is."""
        return np.asarray(0.25 / np.cosh(0.5 * np.clip(z, -FLAT, FLAT)) ** 2)

    def mean_second_derivative(self, z: Array) -> Array:
        """The same for a column of scores, and its mean."""
        return np.asarray(self.second_derivative(z).mean(keepdims=True))

    def mean_shares(self, z: Array) -> Array:
        """Mean probability of -1 and of 1."""
        share = float(np.mean(0.5 * (1.0 + np.tanh(0.5 * z))))
        return np.array([1.0 - share, share])


def rare_slope(largest: float, steepest: float, classes: int) -> float:
    """Part of the steepest slope to keep: none where classes are alike, most where one has all.

    Parameters
    ----------
    largest : float
        Share of the largest class.
    steepest : float
        Norm of the steepest slope.
    classes : int
        How many there are.
    """
    return KEPT * steepest * (float(largest) - 1.0 / classes) / (1.0 - 1.0 / classes)


@jit(fastmath=ANY_ORDER, error_model="numpy")
def fade(margin):
    """1 / (1 + exp(margin))."""
    return 1.0 / (1.0 + exponential(between(margin, FLAT)))


@jit(error_model="numpy")
def slope(y, z):
    """The derivative, of numbers or of arrays: the same bits either way.

    As `fade`, but in an order of its own, and whole: arrays are no business of a compiler.
    """
    x = np.minimum(np.maximum(y * z, -FLAT), FLAT) * 0.00390625
    e = 1.0 / 24.0 + x * (1.0 / 120.0 + x * (1.0 / 720.0 + x * (1.0 / 5040.0)))
    e = 1.0 + x * (1.0 + x * (1.0 / 2.0 + x * (1.0 / 6.0 + x * e)))
    e = e * e  # 2
    e = e * e  # 4
    e = e * e  # 8
    e = e * e  # 16
    e = e * e  # 32
    e = e * e  # 64
    e = e * e  # 128
    return -y / (1.0 + e * e)


@jit(fastmath=ANY_ORDER, error_model="numpy")
def write_gradients(targets, scores, slopes):
    for b in range(targets.size):
        slopes[b, 0] = -targets[b] * fade(targets[b] * scores[b, 0])


@jit(fastmath=ANY_ORDER, error_model="numpy")
def write_dual_updates(targets, scores, dual, stiffness, updates):
    """Between b and 1 / (1 + exp(margin)), so b never leaves [0, 1] and needs no logarithm.

    With f the latter, log(t / (1 - t)) + margin + s (t - b) has value s (f - b) and slope
    1 / (f (1 - f)) + s at t = f: Newton's step from where the stiffness is zero.
    """
    for i in range(targets.size):
        y = targets[i]
        f = fade(y * scores[i, 0])
        updates[i, 0] = (y * f - dual[i, 0]) / (1.0 + stiffness[i] * f * (1.0 - f))


@jit(fastmath=ANY_ORDER, error_model="numpy")
def column_sum(own, before, change, limit, targets, scores):
    total = 0.0
    for i in range(scores.size):
        scores[i] += change * before[i]
        total += between(-targets[i] * fade(targets[i] * scores[i]) * own[i], limit)
    return total
