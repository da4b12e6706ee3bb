"""Song, Chaudhuri, Sarwate 2013: one pass of private mini-batch SGD as published, compiled.

Nothing here is private: noise comes from numpy, with a seed, in floating point.
"""

from __future__ import annotations

import math

import numba
import numpy as np

__all__ = ["SCHEDULES", "one_pass", "spherical"]

SCHEDULES = ("1/sqrt(t)", "10/sqrt(t)", "1/(lambda t)")


def spherical(
    generator: np.random.Generator, count: int, p: int, sensitivity: float, alpha: float
) -> np.ndarray:
    """Draw from the density proportional to exp(-alpha |z| / sensitivity), one per row.

    Eq. (5) is the case of a sensitivity of 2. In polar coordinates the length has the density of
    Gamma(p, sensitivity / alpha), and the direction is uniform.
    """
    directions = generator.normal(size=(count, p))
    lengths = generator.gamma(p, sensitivity / alpha, size=count)
    return directions * (lengths / np.linalg.norm(directions, axis=1))[:, None]


@numba.njit(cache=True, error_model="numpy")
def one_pass(X, y, order, batch, schedule, penalty, noise, at):
    """Eq. (6) over the rows in `order`, then projection onto the ball of radius 1 / lambda.

    `schedule` is an index of `SCHEDULES`; `noise` holds one row per batch, or none at all without
    privacy. Rows that do not fill a last batch are not used. Returns w after each of the numbers of
    batches `at`, which must increase; w is 0 at first.
    """
    p, seen = X.shape[1], 0
    w, total = np.zeros(p), np.zeros(p)
    trace = np.empty((len(at), p))
    for t in range(1, len(order) // batch + 1):
        total[:] = 0.0
        for i in order[(t - 1) * batch : t * batch]:
            margin = 0.0
            for j in range(p):
                margin += X[i, j] * w[j]
            slope = -y[i] / (1.0 + math.exp(min(y[i] * margin, 700.0)))
            for j in range(p):
                total[j] += slope * X[i, j]
        if len(noise):
            total += noise[t - 1]
        rate = _rate(schedule, penalty, t)
        w -= rate * (penalty * w + total / batch)
        length = math.sqrt(np.sum(w * w))
        if length * penalty > 1.0:
            w /= length * penalty
        while seen < len(at) and at[seen] == t:
            trace[seen] = w
            seen += 1
    return trace


@numba.njit(cache=True)
def _rate(schedule, penalty, t):
    if schedule == 2:
        return 1.0 / (penalty * t)
    return (10.0 if schedule == 1 else 1.0) / math.sqrt(t)
