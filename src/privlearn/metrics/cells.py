"""Accuracy and the confusion matrix from noisy counts of (true, predicted) cells."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privlearn._core.plan import ONE_BIN, Release
from privlearn.metrics.intervals import share_interval
from privlearn.metrics.parts import Count, Released
from privlearn.metrics.predictions import Predicted
from privlearn.metrics.result import ConfusionMatrix, Found, Score
from privlearn.metrics.task import Task

__all__ = ["Cells", "accuracy_from", "confusion_of", "predicted_class"]

Array = NDArray[np.float64]
CELLS = "true and predicted classes"
HITS = "right and wrong predictions"


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
        return cells_tell(self.task, counts, right, variance * np.eye(counts.size), released.count)


def cells_tell(
    task: Task, counts: Array, right: Array, covariance: Array, count: Count
) -> list[Found]:
    """What counts of cells say about the metrics that were asked for.

    Parameters
    ----------
    task : Task
        With the metrics.
    counts, right : arrays of one shape
        Noisy counts, and 1 where a cell's predictions are right.
    covariance : array of shape (cells, cells)
        Of the noise on the counts.
    count : Count
        How many rows there are in all; what the cells' sum says of it is used as well.
    """
    found: list[Found] = []
    fitted, noise = _summing_up(counts.ravel(), covariance, count)
    if "accuracy" in task.metrics:
        found.append(accuracy_from(fitted, noise, right.ravel(), count))
    if "confusion" in task.metrics:
        error = math.sqrt(max(float(np.diag(noise).mean()), 0.0))
        found.append(confusion_of(task, fitted.reshape(counts.shape), error))
    return found


def _summing_up(counts: Array, covariance: Array, count: Count) -> tuple[Array, Array]:
    """Least squares: counts whose sum is the number of rows, where that is known or less noisy."""
    toward = covariance.sum(axis=1)
    total = float(toward.sum()) + count.noise**2
    gain = toward / total if total > 0.0 else np.zeros_like(toward)
    fitted = counts + gain * (count.rows - counts.sum())
    return fitted, covariance - np.outer(gain, toward)


def accuracy_from(counts: Array, covariance: Array, right: Array, count: Count) -> Score:
    """The share of right predictions."""
    rows = max(count.rows, 1.0)
    share = float(counts @ right) / rows
    slope = (right - share) / rows if count.noise > 0.0 else right / rows
    noise = max(float(slope @ covariance @ slope), 0.0)
    value = min(max(share, 0.0), 1.0)
    return Score("accuracy", value, *share_interval(share, rows, noise), math.sqrt(noise))


def confusion_of(task: Task, counts: Array, noise: float) -> ConfusionMatrix:
    """The matrix with the labels as text."""
    assert task.classes is not None
    lines = tuple(tuple(float(cell) for cell in line) for line in counts)
    return ConfusionMatrix(tuple(map(str, task.classes.tolist())), lines, noise)
