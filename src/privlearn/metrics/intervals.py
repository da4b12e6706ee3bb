"""Intervals from estimates whose noise and sampling variances are known or estimated."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["LEVEL", "Z", "around", "ratio_interval", "share_interval"]

LEVEL = 0.95
Z = 1.959963984540054  # of a standard normal variable, 95 % are within +- Z
Covariance = NDArray[np.float64]


def around(value: float, variance: float, low: float, high: float) -> tuple[float, float]:
    """Value plus and minus Z standard errors, within the ends that the number can have.

    Examples
    --------
    >>> around(0.5, 0.0, 0.0, 1.0)
    (0.5, 0.5)
    """
    half = Z * math.sqrt(max(variance, 0.0))
    return min(max(value - half, low), high), max(min(value + half, high), low)


def ratio_interval(top: float, bottom: float, covariance: Covariance) -> tuple[float, float]:
    """Fieller's interval (1954) of top / bottom: all r with |top - r bottom| <= Z of its errors.

    It holds however noisy the bottom is: where that could be zero, every r is possible.

    Parameters
    ----------
    top, bottom : float
        Estimates, nearly normal.
    covariance : array of shape (2, 2)
        Of their errors.

    Examples
    --------
    >>> ratio_interval(1.0, 2.0, np.zeros((2, 2)))
    (0.5, 0.5)
    >>> ratio_interval(1.0, 2.0, np.eye(2) * 4.0)
    (-inf, inf)
    """
    (tt, tb), (_, bb) = covariance * Z**2
    square = bottom**2 - bb
    if not (square > 0.0 and bottom > 0.0):
        return -math.inf, math.inf
    middle = top * bottom - tb
    half = math.sqrt(max(middle**2 - square * (top**2 - tt), 0.0))
    return float((middle - half) / square), float((middle + half) / square)


def share_interval(share: float, rows: float, noise: float) -> tuple[float, float]:
    """Wilson's interval (1927) of a share of rows, with the noise's variance beside sampling's.

    Examples
    --------
    >>> low, high = share_interval(0.5, 100, 0.0)
    >>> round(low, 3), round(high, 3)
    (0.404, 0.596)
    """
    of_rows = Z**2 / max(rows, 1.0)
    square, middle = 1.0 + of_rows, share + of_rows / 2.0
    half = math.sqrt(max(middle**2 - square * (share**2 - Z**2 * noise), 0.0))
    low, high = (middle - half) / square, (middle + half) / square
    return min(max(low, 0.0), 1.0), max(min(high, 1.0), 0.0)
