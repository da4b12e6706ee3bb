"""The three problems of Song et al. 2013: rows of length at most 1, labels -1 and 1."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.datasets import standins
from benchmarks.harness.objectives import Logistic

__all__ = [
    "ALPHA",
    "KDD",
    "MNIST",
    "PENALTY",
    "SYNTHETIC",
    "Problem",
    "load",
    "prepare",
    "projected",
    "sphere",
]

ALPHA = 1.0
PENALTY = 1e-4
KDD, MNIST, SYNTHETIC = "KDDCup99", "MNIST, 1 against all", "Synthetic sphere"
KDD_ROWS = 50_000
SEED = 2013  # of the subsample, of the projections and of the synthetic rows
MARGIN = 1e-3


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows and labels with the paper's objective.

    `clipped` is the share of rows that are longer than 1 after the projection and were shortened,
    `longest` the length of the longest of them before.
    """

    name: str
    objective: Logistic
    clipped: float = 0.0
    longest: float = 1.0

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.objective.X.shape

    def values(self, weights: np.ndarray) -> np.ndarray:
        """The objective over all rows at each row of `weights`."""
        return np.array([self.objective.at(w) for w in weights])


def load(name: str, *, quick: bool = False) -> Problem:
    """One problem; a short run has stand-ins in place of the two data sets, and other points."""
    if name == SYNTHETIC:
        X, y = sphere(standins.CLUSTERED, seed=standins.SEED) if quick else sphere(10_000)
        return Problem(name, Logistic(X, y, PENALTY))
    return next(projected(name, [SEED], quick=quick))


def projected(name: str, seeds: Iterable[int], *, quick: bool = False) -> Iterator[Problem]:
    """KDDCup99 or MNIST, once per seed of a random projection."""
    read = {KDD: _kdd, MNIST: _mnist}[name]
    X, y, dimension = standins.clustered(name == KDD) if quick else read()
    for seed in seeds:
        rows, *lengths = prepare(X, dimension, seed=seed)
        yield Problem(name, Logistic(rows, y, PENALTY), *lengths)


def prepare(X: np.ndarray, dimension: int, *, seed: int = SEED) -> tuple[np.ndarray, float, float]:
    """Rows into the unit ball, a random projection, and into the ball again.

    The paper stops after the projection, which keeps lengths on average only. Without the second
    step gradients would be longer than 1, and the noise of eq. (5) too small for them. Also returns
    the share of rows that it shortens, and the largest length before.
    """
    generator = np.random.default_rng(seed)
    projection = generator.normal(size=(X.shape[1], dimension)) / np.sqrt(dimension)
    X = _into_ball(X) @ projection
    lengths = np.linalg.norm(X, axis=1)
    return np.ascontiguousarray(_into_ball(X)), float(np.mean(lengths > 1.0)), float(lengths.max())


def _into_ball(X: np.ndarray) -> np.ndarray:
    return X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1.0)


def sphere(n: int, p: int = 5, *, seed: int = SEED) -> tuple[np.ndarray, np.ndarray]:
    """Points uniform on the unit sphere of p dimensions, less those near a plane through 0."""
    generator = np.random.default_rng(seed)
    normal = generator.normal(size=p)
    normal /= np.linalg.norm(normal)
    X = generator.normal(size=(n + n // 10 + 100, p))  # 0.15 % of them are too near
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    margins = X @ normal
    kept = np.flatnonzero(np.abs(margins) >= MARGIN)[:n]
    return X[kept], np.sign(margins[kept])


def _kdd() -> tuple[np.ndarray, np.ndarray, int]:
    from benchmarks.datasets import kddcup99, manifest

    table = manifest.load("kddcup99_10pct")
    drawn = np.random.default_rng(SEED).choice(len(table.target), KDD_ROWS, replace=False)
    X = kddcup99.features(table.features.iloc[drawn])
    return X, kddcup99.labels(table.target[drawn]), 9


def _mnist() -> tuple[np.ndarray, np.ndarray, int]:
    from benchmarks.datasets import manifest, mnist

    table = manifest.load("mnist").part("train")
    return mnist.features(table.features), np.where(table.target.astype(int) == 1, 1.0, -1.0), 15
