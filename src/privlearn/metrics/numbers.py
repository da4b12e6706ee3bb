"""R^2, mean squared and mean absolute error from one noisy vector of moments."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privlearn._core.norms import UNIT_BOX
from privlearn._core.plan import Release
from privlearn.metrics.intervals import ratio_interval
from privlearn.metrics.moments import Moments
from privlearn.metrics.parts import Released
from privlearn.metrics.predictions import Predicted
from privlearn.metrics.result import Found, Score
from privlearn.metrics.task import Task

__all__ = ["Errors", "r_squared_from"]

Array = NDArray[np.float64]
SUMS = "errors and targets"
# Moments of a row: e is the error and d the target's distance from the middle of its range, in
# units of the range and of half of it. Those that serve sampling variances alone weigh little.
MEAN, FOURTH = 0.7, 0.25
MOMENTS = ("e2", "abs", "d2", "d", "e4", "d4", "d3", "e2d2", "e2d")
NEEDED = {
    "r2": ("e2", "d2", "d", "e4", "d4", "d3", "e2d2", "e2d"),
    "mse": ("e2", "e4"),
    "mae": ("abs", "e2"),
}


@dataclass(frozen=True, eq=False)
class Errors:
    """One vector per row, in a box; all metrics are functions of the sums."""

    task: Task

    def _names(self) -> list[str]:
        needed = {name for metric in self.task.metrics for name in NEEDED[metric]}
        return [name for name in MOMENTS if name in needed]

    def _weights(self) -> Array:
        weights = {"e2": 1.0, "d2": 1.0, "abs": MEAN, "d": MEAN}
        return np.array([weights.get(name, FOURTH) for name in self._names()])

    def releases(self) -> list[tuple[Release, float]]:
        """The sum of the vectors, whose entries lie between 0 and their weights."""
        weights = self._weights()
        clip = float(np.linalg.norm(weights))
        return [(Release(SUMS, weights.shape, clip=clip, norm=UNIT_BOX), 1.0)]

    def sums(self, rows: Predicted) -> dict[str, Array]:
        """The sum over a block of rows."""
        error, d = rows.target - rows.answers[:, 0], 2.0 * rows.target - 1.0
        e2, d2 = error**2, d**2
        every = {
            "e2": e2,
            "abs": np.abs(error),
            "d2": d2,
            "d": (1.0 + d) / 2.0,
            "e4": e2**2,
            "d4": d2**2,
            "d3": (1.0 + d * d2) / 2.0,
            "e2d2": e2 * d2,
            "e2d": e2 * (1.0 + d) / 2.0,
        }
        entries = np.stack([every[name] for name in self._names()], axis=1)
        return {SUMS: rows.present.astype(np.float64) @ (entries * self._weights())}

    def tell(self, released: Released) -> list[Found]:
        """The metrics that were asked for."""
        moments, names = Moments.of(released, SUMS, self._weights()), self._names()
        assert self.task.bounds is not None
        width = self.task.bounds[1] - self.task.bounds[0]
        found: list[Found] = []
        for metric in self.task.metrics:
            if metric == "r2":
                found.append(r_squared_from(moments, names))
            elif metric == "mse":
                found.append(moments.score("mse", names.index("e2"), names.index("e4"), width**2))
            else:
                found.append(moments.score("mae", names.index("abs"), names.index("e2"), width))
        return found


def r_squared_from(moments: Moments, names: list[str]) -> Score:
    """One minus the mean squared error over the variance of the target, by Fieller's interval."""
    mean = dict(zip(names, moments.means.tolist(), strict=True))
    middle = 2.0 * mean["d"] - 1.0
    slopes = np.zeros((2, len(names)))  # of the squared error and of the variance
    slopes[0, names.index("e2")] = 1.0
    slopes[1, names.index("d2")], slopes[1, names.index("d")] = 1.0, -4.0 * middle
    noise = slopes @ moments.noise @ slopes.T
    of_middle = 4.0 * float(moments.noise[names.index("d"), names.index("d")])
    error, variance = max(mean["e2"], 0.0), mean["d2"] - middle**2 + of_middle
    if not variance > 0.0:
        return Score("r2", math.nan, -math.inf, 1.0, math.inf, (-math.inf, 1.0))
    ratio = error / variance
    both = noise.copy()
    both[0, 0] += _sampling(mean, middle, ratio) / moments.rows
    # d is in units of half the range, so its variance is four times that of the target.
    low, high = (1.0 - 4.0 * end for end in reversed(ratio_interval(error, variance, both)))
    slope = np.array([1.0, -ratio])
    se = 4.0 * math.sqrt(max(float(slope @ noise @ slope), 0.0)) / variance
    return Score("r2", 1.0 - 4.0 * ratio, low, min(high, 1.0), se, (-math.inf, 1.0))


def _sampling(mean: dict[str, float], m: float, ratio: float) -> float:
    """Variance over rows of e^2 - ratio (d - m)^2, whose mean is zero; noise must not make it < 0.

    It is that of the ratio, times the square of its bottom (delta method).
    """
    e2d, d3 = 2.0 * mean["e2d"] - mean["e2"], 2.0 * mean["d3"] - 1.0
    fourth = mean["d4"] - 4.0 * m * d3 + 6.0 * m**2 * mean["d2"] - 3.0 * m**4
    both = mean["e2d2"] - 2.0 * m * e2d + m**2 * mean["e2"]
    return max(mean["e4"] - 2.0 * ratio * both + ratio**2 * fourth, 0.0)
