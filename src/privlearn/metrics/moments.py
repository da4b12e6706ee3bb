"""Means of numbers in [0, 1] from one noisy vector of sums."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privlearn.metrics.intervals import around
from privlearn.metrics.parts import Released
from privlearn.metrics.result import Score

__all__ = ["Moments"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Moments:
    """Means over the usable rows, the covariance of their privacy noise, and how many rows.

    A noisy number of rows moves all means together.
    """

    means: Array
    noise: Array
    rows: float

    @classmethod
    def of(cls, released: Released, name: str, weights: Array) -> Moments:
        """From sums of numbers in [0, 1] times weights."""
        rows = max(released.count.rows, 1.0)
        means = released.sums[name] / (weights * rows)
        own = np.diag((released.noise[name] / (weights * rows)) ** 2)
        return cls(means, own + np.outer(means, means) * (released.count.noise / rows) ** 2, rows)

    def score(self, name: str, mean: int, square: int, unit: float) -> Score:
        """The mean at a place, in units of `unit`; its square's mean gives the sampling variance.

        Noise must not take that beyond what numbers in [0, 1] of this mean can have.
        """
        value = float(self.means[mean])
        within = min(max(value, 0.0), 1.0)
        spread = float(self.means[square]) - within**2
        sampling = min(max(spread, 0.0), within * (1.0 - within)) / self.rows
        noise = float(self.noise[mean, mean])
        low, high = around(within, noise + sampling, 0.0, 1.0)
        error = unit * math.sqrt(noise)
        return Score(name, unit * within, unit * low, unit * high, error, (0.0, unit))
