"""Accuracy and the confusion matrix from noisy counts of (true, predicted) cells."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privlearn._core.norms import ONE_BIN
from privlearn._core.plan import Release
from privlearn.metrics.intervals import share_interval
from privlearn.metrics.parts import Count, Released
from privlearn.metrics.predictions import Predicted
from privlearn.metrics.result import ConfusionMatrix, Found, Score
from privlearn.metrics.task import Task

__all__ = ["CellNoise", "Cells", "cells_tell", "confusion_of", "predicted_class"]

Array = NDArray[np.float64]
CELLS = "true and predicted classes"
HITS = "right and wrong predictions"
LEAST = 1e-12  # of a variance


def predicted_class(answers: Array) -> NDArray[np.int64]:
    """The class with the largest answer; of two, the second one above 1/2. Ties go to the first."""
    if answers.shape[1] == 1:
        return (answers[:, 0] > 0.5).astype(np.int64)
    return np.asarray(answers.argmax(axis=1), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Cells:
    """Counts of all cells, or of right and wrong predictions where accuracy alone is asked for."""

    task: Task

    @property
    def _whole(self) -> bool:
        return "confusion" in self.task.metrics

    def releases(self) -> list[tuple[Release, float]]:
        """One histogram: a row is in one cell."""
        k = self.task.n_classes
        name, shape = (CELLS, (k, k)) if self._whole else (HITS, (2,))
        return [(Release(name, shape, clip=1.0, norm=ONE_BIN), 1.0)]

    def sums(self, rows: Predicted) -> dict[str, Array]:
        """Counts of a block of rows."""
        truth = rows.target[rows.present].astype(np.int64)
        guess = predicted_class(rows.answers[rows.present])
        if not self._whole:
            counts = np.bincount((truth != guess).astype(np.int64), minlength=2)
            return {HITS: counts.astype(np.float64)}
        k = self.task.n_classes
        counts = np.bincount(truth * k + guess, minlength=k * k)
        return {CELLS: counts.reshape(k, k).astype(np.float64)}

    def tell(self, released: Released) -> list[Found]:
        """Accuracy, and the matrix where it was asked for."""
        name = CELLS if self._whole else HITS
        counts, variance = released.sums[name], released.noise[name] ** 2
        right = np.eye(len(counts)) if self._whole else np.array([1.0, 0.0])
        noise = CellNoise(lambda weights: variance * weights, variance)
        return cells_tell(self.task, counts, right, noise, released.count)


@dataclass(frozen=True, eq=False)
class CellNoise:
    """Noise on counts: its covariance times some weights, and the mean variance of one count."""

    times: Callable[[Array], Array]
    variance: float

    def less(self, gain: Array, toward: Array) -> CellNoise:
        """After `gain` times the error of a sum, whose covariance with the counts is `toward`."""
        times = self.times
        return CellNoise(
            lambda weights: times(weights) - gain * float(toward @ weights),
            max(self.variance - float(np.mean(gain * toward)), 0.0),
        )


def cells_tell(
    task: Task, counts: Array, right: Array, noise: CellNoise, count: Count
) -> list[Found]:
    """What counts of cells say about the metrics that were asked for.

    Parameters
    ----------
    task : Task
        With the metrics.
    counts, right : arrays of one shape
        Noisy counts, and 1 where a cell's predictions are right.
    noise : CellNoise
        On the counts.
    count : Count
        How many rows there are in all, which the counts must add up to.
    """
    # Least squares: counts are moved so that their sum is as likely as the number of rows.
    toward = noise.times(np.ones(counts.size))
    gain = toward / max(float(toward.sum()) + count.noise**2, LEAST)
    fitted = counts.ravel() + gain * (count.rows - counts.sum())
    noise = noise.less(gain, toward)
    found: list[Found] = []
    if "accuracy" in task.metrics:
        found.append(_accuracy(fitted, noise, right.ravel()))
    if "confusion" in task.metrics:
        matrix = fitted.reshape(counts.shape)
        found.append(confusion_of(task, matrix, math.sqrt(noise.variance)))
    return found


def _accuracy(counts: Array, noise: CellNoise, right: Array) -> Score:
    """The share of right predictions."""
    rows = max(float(counts.sum()), 1.0)
    value = min(max(float(counts @ right) / rows, 0.0), 1.0)
    slope = (right - value) / rows
    variance = max(float(slope @ noise.times(slope)), 0.0)
    return Score("accuracy", value, *share_interval(value, rows, variance), math.sqrt(variance))


def confusion_of(task: Task, counts: Array, noise: float) -> ConfusionMatrix:
    """The matrix with the labels as text."""
    assert task.classes is not None
    lines = tuple(tuple(float(cell) for cell in line) for line in counts)
    return ConfusionMatrix(tuple(map(str, task.classes.tolist())), lines, noise)
