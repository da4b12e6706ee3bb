"""Two classes: AUC, accuracy, confusion and calibration from one joint histogram of scores."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privlearn._core.plan import Release
from privlearn.metrics.cells import CellNoise, cells_tell
from privlearn.metrics.intervals import share_interval
from privlearn.metrics.parts import Released
from privlearn.metrics.predictions import Predicted
from privlearn.metrics.ranking import auc_from
from privlearn.metrics.result import CalibrationRow, CalibrationTable, Found, Score
from privlearn.metrics.score_tree import BINS, Leaves, edges, tree_releases, tree_sums
from privlearn.metrics.task import Task

__all__ = ["TwoClasses", "calibration_from"]

Array = NDArray[np.float64]
CALIBRATED = 1  # the level whose bins are lines of the table, or are joined to them
STANDS_OUT = 8.0  # rows of a line, in standard errors of their noise


@dataclass(frozen=True, eq=False)
class TwoClasses:
    """The histograms, and all that is read off them."""

    task: Task

    def releases(self) -> list[tuple[Release, float]]:
        """One histogram per level."""
        return tree_releases()

    def sums(self, rows: Predicted) -> dict[str, Array]:
        """Counts of a block of rows."""
        return tree_sums(rows)

    def tell(self, released: Released) -> list[Found]:
        """Scores and tables that were asked for."""
        leaves, asked = Leaves(released), self.task.metrics
        found: list[Found] = []
        if {"accuracy", "confusion"} & set(asked):
            counts = leaves.counts.reshape(2, 2, -1).sum(axis=2)
            found += cells_tell(self.task, counts, np.eye(2), _of_halves(leaves), released.count)
        if "auc" in asked:
            found.append(auc_from(leaves))
        if "calibration" in asked:
            found.append(calibration_from(leaves))
        return found


def _of_halves(leaves: Leaves) -> CellNoise:
    """Noise on the counts below and above 1/2, class by class."""
    lower = (np.arange(BINS[-1]) < BINS[-1] // 2).astype(np.float64)
    halves = (lower, 1.0 - lower)
    own = np.array([[leaves.covariance(a, b) for b in halves] for a in halves])
    return CellNoise(lambda w: (w.reshape(2, 2) @ own).ravel(), float(np.diag(own).mean()))


def calibration_from(leaves: Leaves) -> CalibrationTable:
    """Observed shares by predicted probability; neighbours are joined until rows stand out."""
    counts, width = leaves.at(CALIBRATED), BINS[-1] // BINS[CALIBRATED]
    ends = [0.0, *edges()[width - 1 :: width].tolist(), 1.0]
    lines: list[CalibrationRow] = []
    start, last = 0, BINS[CALIBRATED]
    for stop in range(1, last + 1):
        line = _line(leaves, counts, ends, start, stop)
        rest = counts[:, stop:].sum() if stop < last else 0.0
        if (_stands_out(leaves, line, start, stop) and rest > line.rows / 10) or stop == last:
            lines.append(line)
            start = stop
    return CalibrationTable(tuple(lines))


def _variance(leaves: Leaves, start: int, stop: int) -> float:
    """Of the noise on one class's count from bin `start` to before `stop`."""
    width = BINS[-1] // BINS[CALIBRATED]
    inside = np.zeros(BINS[-1])
    inside[start * width : stop * width] = 1.0
    return max(leaves.covariance(inside, inside), 0.0)


def _stands_out(leaves: Leaves, line: CalibrationRow, start: int, stop: int) -> bool:
    return line.rows > STANDS_OUT * math.sqrt(2.0 * _variance(leaves, start, stop))


def _line(
    leaves: Leaves, counts: Array, ends: list[float], start: int, stop: int
) -> CalibrationRow:
    minus, plus = counts[:, start:stop].sum(axis=1).tolist()
    rows, variance = minus + plus, _variance(leaves, start, stop)
    share = plus / rows if rows > 1.0 else math.nan
    value = min(max(share, 0.0), 1.0) if share == share else math.nan
    error = math.sqrt(variance * (share**2 + (1.0 - share) ** 2)) / rows if rows > 1.0 else math.inf
    # Noise on the rows themselves is small where a line stands out; the last may not.
    hidden = not (rows > 1.0 and rows > 2.0 * math.sqrt(2.0 * variance))
    low, high = (0.0, 1.0) if hidden else share_interval(value, rows, error**2)
    return CalibrationRow(ends[start], ends[stop], rows, Score("observed", value, low, high, error))
