"""The objective of Damaskinos et al. 2021 and its optimum without privacy.

F(theta) = mean loss(x'theta, y) + lambda / 2 |theta|^2 without an intercept; the squared loss has a
half. Labels of two classes are -1 and 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from benchmarks.papers.damaskinos.steps import HINGE, LOGISTIC, SQUARED

__all__ = ["GAP", "Objective"]

GAP = 1e-8  # largest distance of F at a reference optimum from the smallest F


@dataclass(frozen=True, eq=False)
class Objective:
    """Data, loss and penalty."""

    X: np.ndarray
    y: np.ndarray
    loss: int
    penalty: float

    def at(self, theta: np.ndarray) -> float:
        """F."""
        return self._mean_loss(theta) + self.penalty / 2.0 * float(theta @ theta)

    def _mean_loss(self, theta: np.ndarray) -> float:
        with np.errstate(over="ignore"):  # a model that diverged has an infinite loss
            scores = self.X @ theta
            if self.loss == SQUARED:
                return float(np.mean((scores - self.y) ** 2)) / 2.0
            if self.loss == LOGISTIC:
                return float(np.mean(np.logaddexp(0.0, -self.y * scores)))
            return float(np.mean(np.maximum(0.0, 1.0 - self.y * scores)))

    def score(self, theta: np.ndarray) -> float:
        """Mean squared error, or the share of right signs."""
        scores = self.X @ theta
        if self.loss == SQUARED:
            with np.errstate(over="ignore"):
                return float(np.mean((scores - self.y) ** 2))
        return float(np.mean(np.where(scores > 0.0, 1.0, -1.0) == self.y))

    def at_zero(self) -> float:
        """F of the model that is 0 everywhere."""
        return self.at(np.zeros(self.X.shape[1]))

    def slope_at_zero(self) -> float:
        """Length of a (sub)gradient of F at 0."""
        weights = {SQUARED: self.y, LOGISTIC: self.y / 2.0, HINGE: self.y}[self.loss]
        return float(np.linalg.norm(self.X.T @ weights)) / len(self.y)

    def solution(self) -> np.ndarray:
        """theta without privacy, F within `GAP` of the smallest."""
        return {SQUARED: _ridge, LOGISTIC: _logistic, HINGE: _hinge}[self.loss](self)


def _ridge(objective: Objective) -> np.ndarray:
    X, n = objective.X, len(objective.y)
    curvature = X.T @ X / n + objective.penalty * np.eye(X.shape[1])
    return np.linalg.solve(curvature, X.T @ objective.y / n)


def _logistic(objective: Objective) -> np.ndarray:
    """Newton's method; F falls by less than twice its decrement after that (self-concordance)."""
    X, y, n = objective.X, objective.y, len(objective.y)
    theta = np.zeros(X.shape[1])
    for _ in range(200):
        share = special.expit(-y * (X @ theta))
        gradient = objective.penalty * theta - X.T @ (y * share) / n
        curvature = X.T @ (X * (share * (1.0 - share))[:, None]) / n
        step = np.linalg.solve(curvature + objective.penalty * np.eye(len(theta)), gradient)
        decrement, length = float(gradient @ step), 1.0
        if decrement <= GAP / 100.0:
            return theta
        start = objective.at(theta)
        while objective.at(theta - length * step) > start - 1e-4 * length * decrement:
            length /= 2.0
        theta = theta - length * step
    raise RuntimeError("Newton's method did not reach the logistic optimum")


def _hinge(objective: Objective) -> np.ndarray:
    """Interior-point method for the dual, a quadratic problem over the box [0, 1]^n.

    min a'Qa / 2 - sum(a) with Q = ZZ' / (lambda n), Z = y x. Q has rank p, so each Newton step is
    one system of p equations. Ends by the true duality gap.
    """
    Z = objective.y[:, None] * objective.X
    weight = objective.penalty * len(Z)
    a, low, high = (np.full(len(Z), value) for value in (0.5, 1.0, 1.0))
    for _ in range(300):
        theta = Z.T @ a / weight
        margins = Z @ theta
        dual = float(np.mean(a)) - objective.penalty / 2.0 * float(theta @ theta)
        if objective.at(theta) - dual <= GAP / 10.0:
            return theta
        mu = 0.1 * float(np.mean(a * low + (1.0 - a) * high)) / 2.0
        change = _box_step(Z, weight, a, low, high, 1.0 - margins, mu)
        change_low = (mu - low * change) / a - low
        change_high = (mu + high * change) / (1.0 - a) - high
        length = min(
            1.0,
            0.995 * _room(a, change),
            0.995 * _room(1.0 - a, -change),
            0.995 * _room(low, change_low),
            0.995 * _room(high, change_high),
        )
        a, low, high = (
            a + length * change,
            low + length * change_low,
            high + length * change_high,
        )
    raise RuntimeError("the interior-point method did not reach the optimum of the hinge loss")


def _box_step(Z, weight, a, low, high, ascent, mu) -> np.ndarray:
    """(Q + D)^-1 (1 - Qa + mu / a - mu / (1 - a)), D = low / a + high / (1 - a), by Woodbury."""
    inverse = 1.0 / (low / a + high / (1.0 - a))
    right = ascent + mu / a - mu / (1.0 - a)
    small = weight * np.eye(Z.shape[1]) + Z.T @ (Z * inverse[:, None])
    return inverse * (right - Z @ np.linalg.solve(small, Z.T @ (inverse * right)))


def _room(values: np.ndarray, change: np.ndarray) -> float:
    """The longest step that keeps values positive."""
    falling = change < 0.0
    return float(np.min(-values[falling] / change[falling], initial=np.inf))
