"""The three problems of Damaskinos et al. 2021 (appendix E), by public facts and as published."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.datasets import adult, manifest, phishing, sgemm, standins
from benchmarks.papers.damaskinos.objective import Objective
from benchmarks.papers.damaskinos.steps import HINGE, LOGISTIC, SQUARED

__all__ = ["DELTA", "EPSILONS", "PEEKING", "PUBLIC", "Task", "load", "unit_rows"]

EPSILONS = (0.1, 0.5, 1.0, 2.0)
DELTA = 1e-3
SPLIT_SEED = 0


@dataclass(frozen=True, eq=False)
class Task:
    """One problem: rows to train on, to tune on and to test on, and what the paper sets.

    Attributes
    ----------
    train, validation, test : Objective
        The same loss and penalty on each part. F is that of the rows to train on.
    epochs : int
        Passes over the data, which the paper fixes.
    bounds_y : pair or None
        Public bounds of the target.
    """

    name: str
    train: Objective
    validation: Objective
    test: Objective
    epochs: int
    bounds_y: tuple[float, float] | None = None

    @property
    def loss(self) -> int:
        """Code of the loss."""
        return self.train.loss

    @property
    def n(self) -> int:
        """Rows to train on."""
        return len(self.train.y)

    @property
    def weight(self) -> float:
        """Lambda N: Ridge's alpha and the inverse of C."""
        return self.train.penalty * self.n

    @property
    def larger_is_better(self) -> bool:
        """Accuracy rather than a squared error."""
        return self.loss != SQUARED


@dataclass(frozen=True)
class Source:
    """How a problem is made: rows with their split, and the paper's settings."""

    loss: int
    penalty: float
    epochs: int
    rows: Callable[[], tuple]
    standin: Callable[[], tuple]
    bounds_y: Callable[[np.ndarray], tuple[float, float]] | None = None


def unit_rows(X: np.ndarray) -> np.ndarray:
    """Each row over its own length: a map of one row, which costs no privacy."""
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(lengths > 0.0, lengths, 1.0)


def _sgemm() -> tuple:
    table = manifest.load("sgemm_gpu_kernel_performance")
    return sgemm.features(table.features), sgemm.target(table.target), None


def _sgemm_peeking() -> tuple:
    """Maxima read off the data; `load` takes off the mean of the rows to train on."""
    table = manifest.load("sgemm_gpu_kernel_performance")
    X = table.features[list(sgemm.LARGEST)].to_numpy(dtype=np.float64)
    return X / np.abs(X).max(axis=0), sgemm.log_time(table.target), None


def _phishing() -> tuple:
    table = manifest.load("phishing_libsvm")
    return phishing.features(table.features), phishing.labels(table.target), None


def _adult() -> tuple:
    table = manifest.load("adult")
    signs = 2.0 * adult.labels(table.target) - 1.0
    return adult.features(table.features), signs, table.split == "test"


def _adult_peeking() -> tuple:
    """Maxima, categories and modes read off the data, all of its columns (Berk et al. 2017)."""
    import pandas as pd

    table = manifest.load("adult")
    frame = table.features.replace("?", pd.NA)
    frame = frame.fillna(frame.mode().iloc[0])
    X = pd.get_dummies(frame).to_numpy(dtype=np.float64)
    signs = 2.0 * adult.labels(table.target) - 1.0
    return X / np.abs(X).max(axis=0), signs, table.split == "test"


def _public_range(y: np.ndarray) -> tuple[float, float]:
    return sgemm.BOUNDS_Y


def _shifted_range(y: np.ndarray) -> tuple[float, float]:
    """The public range, less the mean that was taken off."""
    low, high = (sgemm.CENTRE + end - float(np.mean(y)) for end in sgemm.BOUNDS_Y)
    return low, high


PUBLIC = {
    "sgemm, ridge": Source(SQUARED, 1e-4, 50, _sgemm, standins.regression, _public_range),
    "Phishing, logistic": Source(LOGISTIC, 1e-4, 10, _phishing, standins.classification),
    "Adult, SVM": Source(HINGE, 1e-5, 10, _adult, standins.classification),
}
PEEKING = {
    "sgemm, ridge": Source(SQUARED, 1e-4, 50, _sgemm_peeking, standins.regression, _shifted_range),
    "Adult, SVM": Source(HINGE, 1e-5, 10, _adult_peeking, standins.classification),
}


def load(name: str, *, peeking: bool = False, quick: bool = False) -> Task:
    """The problem of that name; a quick one has generated rows."""
    source = (PEEKING if peeking else PUBLIC)[name]
    X, y, is_test = source.standin() if quick else source.rows()
    parts = split(len(y), is_test)
    bounds_y = None
    if source.bounds_y is not None:
        bounds_y = source.bounds_y(y[parts[0]])
        y = y - float(np.mean(y[parts[0]])) if peeking else y
    X = unit_rows(X)
    made = (Objective(X[rows], y[rows], source.loss, source.penalty) for rows in parts)
    return Task(name, *made, epochs=source.epochs, bounds_y=bounds_y)


def split(n: int, is_test: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows to train on, to tune on and to test on; a quarter of the rest is held out each time."""
    generator = np.random.default_rng(SPLIT_SEED)
    if is_test is None:
        order = generator.permutation(n)
        test, rest = order[: math.ceil(n / 4)], order[math.ceil(n / 4) :]
    else:
        test, rest = np.flatnonzero(is_test), generator.permutation(np.flatnonzero(~is_test))
    held = math.ceil(len(rest) / 4)
    return rest[held:], rest[:held], test
