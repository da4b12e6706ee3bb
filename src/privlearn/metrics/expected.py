"""How noisy each metric will be, before any rows: what `evaluate` would say of usual rows.

The rows are made up here, from public facts alone: the kind of task, the number of rows and the
planned noise. They go the way that people's rows go, but for the noise itself, and what is told of
them is the standard error of the noise (`Score.noise`). Means of bounded losses have the same noise
whatever the rows are; that of AUC depends on the classes, that of R^2 on how far y spreads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtri

from privlearn._core.plan import Plan
from privlearn.metrics.parts import Count, Part, Released
from privlearn.metrics.predictions import Predicted
from privlearn.metrics.result import CalibrationTable, ConfusionMatrix, Score
from privlearn.metrics.task import Task
from privlearn.solvers._common.row_count import COUNT

__all__ = ["ScoreNoise", "with_expected_noise"]

Array = NDArray[np.float64]
ROWS = 4_096  # that are made up; whole squares of them, and whole classes
APART = 1.0  # between the mean scores of two classes, in their deviations: an AUC of 0.76
RIGHT, SURE = 0.75, 0.6  # of several classes: predictions that are right; probability of the chosen
SPREAD, EXPLAINED = 0.125, 0.5  # of y, in its range (as in forecasts of fits); R^2
CLASSES = "if classes are equally frequent and two of them are told apart with an AUC of 0.76"
NUMBERS = f"if y has a standard deviation of {SPREAD:g} of its range, of which half is explained"
FIXED = frozenset({"mse", "mae", "log_loss", "brier"})  # whose noise no row changes


@dataclass(frozen=True, eq=False)
class ScoreNoise:
    """What noise the metrics of a planned evaluation will have.

    Attributes
    ----------
    noise : dict
        Standard deviation of the noise by metric, in the metric's own unit; of "confusion" that of
        one count, of "calibration" that of the median line. Infinite where noise hides the metric.
    n : int
        Number of rows that it speaks of.
    assumes : str
        The rows that it speaks of; empty where all rows have that noise.
    """

    noise: dict[str, float]
    n: int
    assumes: str

    def __str__(self) -> str:
        told = ", ".join(f"{_words(name)} {_told(value)}" for name, value in self.noise.items())
        lines = [f"with n = {self.n:,} the privacy noise has these standard deviations:", told]
        return "\n".join([*lines, self.assumes] if self.assumes else lines)


def _words(name: str) -> str:
    more = {"confusion": "a count of the confusion matrix", "calibration": "a line of calibration"}
    return more.get(name, name)


def _told(noise: float) -> str:
    return f"{noise:.2g}" if math.isfinite(noise) else "hidden by it"


def with_expected_noise(plan: Plan, task: Task, parts: Sequence[Part], n: int | None) -> Plan:
    """The plan, with what is to be expected where a number of rows was given."""
    if n is None:
        return plan
    scales = {one.name: plan.noise_scale(one) for one in plan.releases}
    count = Count(float(n), scales.get(COUNT, 0.0))
    rows, found = _usual_rows(task), dict[str, float]()
    for part in parts:
        sums = {name: total * (n / ROWS) for name, total in part.sums(rows).items()}
        for each in part.tell(Released(sums, scales, count)):
            found[_name(each)] = _noise(each)
    noise = {name: found[name] for name in task.metrics}
    fixed = FIXED.issuperset(noise) and not count.noise
    assumes = "" if fixed else NUMBERS if task.classes is None else CLASSES
    return replace(plan, outlook=ScoreNoise(noise, n, assumes))


def _name(found: object) -> str:
    if isinstance(found, Score):
        return found.name
    return "confusion" if isinstance(found, ConfusionMatrix) else "calibration"


def _noise(found: Score | ConfusionMatrix | CalibrationTable) -> float:
    if isinstance(found, CalibrationTable):
        return float(np.median([row.observed.noise for row in found.bins]))
    return found.noise if math.isfinite(found.noise) else math.inf


def _usual_rows(task: Task) -> Predicted:
    """So many rows, as different as draws from usual laws would be."""
    side = math.isqrt(ROWS)
    level = ndtri((np.arange(side) + 0.5) / side)  # of a normal variable
    if task.classes is None:
        told, rest = (one.ravel() for one in np.meshgrid(level, level))
        answers = 0.5 + SPREAD * math.sqrt(EXPLAINED) * told
        target = answers + SPREAD * math.sqrt(1.0 - EXPLAINED) * rest
        return _rows(np.clip(answers, 0.0, 1.0)[:, None], np.clip(target, 0.0, 1.0))
    places = np.arange(ROWS)
    target = places % task.n_classes
    if task.n_classes == 2:
        level = ndtri((places // 2 + 0.5) / (ROWS // 2))
        return _rows(expit(APART * (level + APART * (target - 0.5)))[:, None], target)
    chosen = np.where(
        places // task.n_classes % 4 < 4 * RIGHT, target, (target + 1) % task.n_classes
    )
    answers = np.full((ROWS, task.n_classes), (1.0 - SURE) / (task.n_classes - 1))
    answers[places, chosen] = SURE
    return _rows(answers, target)


def _rows(answers: Array, target: NDArray[np.generic]) -> Predicted:
    return Predicted(answers, target.astype(np.float64), np.ones(len(target), dtype=bool))
