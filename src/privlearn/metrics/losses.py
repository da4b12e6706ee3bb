"""Means of bounded losses of probabilities: log loss and Brier score."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privlearn._core.norms import UNIT_BOX
from privlearn._core.plan import Release
from privlearn.metrics.moments import Moments
from privlearn.metrics.parts import Released
from privlearn.metrics.predictions import Predicted
from privlearn.metrics.result import Found
from privlearn.metrics.task import Task

__all__ = ["FLOOR", "Losses"]

Array = NDArray[np.float64]
SUMS = "losses of probabilities"
FLOOR = 1e-3  # a smaller probability of the truth counts as this
SQUARES = 0.25  # weight of the squares, from which sampling variances come, beside their means


@dataclass(frozen=True, eq=False)
class Losses:
    """One vector per row, of losses in [0, 1] and their squares."""

    task: Task

    def _asked(self) -> list[tuple[str, float]]:
        """Names, with the largest value of each."""
        largest = {"log_loss": -math.log(FLOOR), "brier": 1.0 if self.task.n_classes == 2 else 2.0}
        return [(name, most) for name, most in largest.items() if name in self.task.metrics]

    def _weights(self) -> Array:
        return np.tile([1.0, SQUARES], len(self._asked()))

    def releases(self) -> list[tuple[Release, float]]:
        """The sum of the vectors, whose entries lie between 0 and their weights."""
        weights = self._weights()
        clip = float(np.linalg.norm(weights))
        return [(Release(SUMS, weights.shape, clip=clip, norm=UNIT_BOX), 1.0)]

    def sums(self, rows: Predicted) -> dict[str, Array]:
        """The sum over a block of rows."""
        answers, truth = rows.answers, rows.target.astype(np.int64)
        both = np.hstack([1.0 - answers, answers]) if answers.shape[1] == 1 else answers
        of_truth = both[np.arange(len(truth)), truth]
        units = {
            "log_loss": np.minimum(np.log(np.maximum(of_truth, FLOOR)) / math.log(FLOOR), 1.0),
            "brier": _brier(both, truth),
        }
        columns = [units[name] for name, _ in self._asked()]
        entries = np.stack([entry for unit in columns for entry in (unit, unit**2)], axis=1)
        return {SUMS: rows.present.astype(np.float64) @ (entries * self._weights())}

    def tell(self, released: Released) -> list[Found]:
        """Means with their intervals, in the losses' own units."""
        moments = Moments.of(released, SUMS, self._weights())
        return [
            moments.score(name, 2 * k, 2 * k + 1, unit)
            for k, (name, unit) in enumerate(self._asked())
        ]


def _brier(probabilities: Array, truth: NDArray[np.int64]) -> Array:
    """Squared distance to the true class's corner over its largest value, in [0, 1]."""
    errors = probabilities.copy()
    errors[np.arange(len(truth)), truth] -= 1.0
    return np.minimum((errors**2).sum(axis=1) / 2.0, 1.0)
