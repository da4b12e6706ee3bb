"""Minimisers of the subproblem (8) of Damaskinos et al. 2021, one row at a time, compiled.

With margin = x'v / (lambda N) and curvature = L |x|^2 / (lambda N), N times (8) is, up to a
constant, conj(-alpha - zeta) + margin zeta + curvature zeta^2 / 2.
"""

from __future__ import annotations

import math

import numba

__all__ = ["BOX", "HINGE", "LOGISTIC", "SQUARED", "conjugate", "dual_step", "slope"]

SQUARED, LOGISTIC, HINGE = 0, 1, 2
BOX = 1e-4  # y alpha stays this far inside of (0, 1) for logarithms: the published program's value


@numba.njit(cache=True)
def dual_step(loss: int, alpha: float, y: float, margin: float, curvature: float) -> float:
    """The zeta of one row, not yet clipped; for the logistic loss one Newton step."""
    if loss == SQUARED:
        return (y - alpha - margin) / (1.0 + curvature)
    if loss == HINGE:
        if curvature == 0.0:  # an empty row
            return y - alpha
        best = y * alpha + (1.0 - y * margin) / curvature
        return y * min(max(best, 0.0), 1.0) - alpha
    share = min(max(y * alpha, BOX), 1.0 - BOX)
    gradient = y * math.log(share / (1.0 - share)) + margin
    moved = share - y * gradient / (1.0 / (share * (1.0 - share)) + curvature)
    return y * (min(max(moved, BOX), 1.0 - BOX) - share)


@numba.njit(cache=True)
def slope(loss: int, score: float, y: float) -> float:
    """Derivative of a row's loss by its score x'theta."""
    if loss == SQUARED:
        return score - y
    if loss == HINGE:
        return -y if y * score < 1.0 else 0.0
    return -y / (1.0 + math.exp(min(y * score, 700.0)))


def conjugate(loss: int, alpha: float, y: float) -> float:
    """The conjugate of a row's loss at -alpha; infinite outside of its domain."""
    if loss == SQUARED:
        return alpha * alpha / 2.0 - alpha * y
    share = y * alpha
    if not 0.0 <= share <= 1.0:
        return math.inf
    if loss == HINGE:
        return -share
    return sum(x * math.log(x) for x in (share, 1.0 - share) if x > 0.0)
