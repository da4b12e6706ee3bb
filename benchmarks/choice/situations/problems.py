"""Generated problems by what is known about the rows: nothing, bounds, or a norm."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.random import Generator

from benchmarks.choice.solvers.problems import Sample
from benchmarks.datasets.generated import members
from benchmarks.datasets.tables import table

__all__ = ["KNOWN", "LOSSES", "draw"]

LOSSES = ("least squares", "logistic")
FRESH = 10_000
WIDE = 0.5  # of its range, by which declared bounds exceed a column's range on either side
GROUP = 5


def nothing(X: np.ndarray, y: np.ndarray) -> dict:
    """No facts: ranges are estimated."""
    return {}


def bounds(X: np.ndarray, y: np.ndarray) -> dict:
    """Limits that hold for every row, twice as wide as what the rows fill."""
    return {"bounds_X": _wider(X), "bounds_y": _wider(y)}


def norm(X: np.ndarray, y: np.ndarray) -> dict:
    """Rows of length 1, and the intercept's 1."""
    return {"data_norm": float(np.sqrt(2.0) + 1e-9), "bounds_y": _wider(y)}


def _wider(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    low, high = values.min(axis=0), values.max(axis=0)
    more = WIDE * (high - low)
    return low - more, high + more


KNOWN: dict[str, Callable] = {
    "nothing declared": nothing,
    "bounds declared": bounds,
    "a norm declared": norm,
}


def draw(known: str, loss: str, n: int, p: int, seed: int) -> Sample:
    """Rows to learn from and fresh ones, with the facts that are declared."""
    X, y = (
        short_rows(n + FRESH, p, seed) if known == "a norm declared" else table(seed, n + FRESH, p)
    )
    facts = KNOWN[known](X, y)
    if loss == "logistic":
        y = (y > y.mean()).astype(int)
        facts = {name: fact for name, fact in facts.items() if name != "bounds_y"}
        facts["classes"] = [0, 1]
    return Sample(X[:n], y[:n], X[n:], y[n:], facts)


def short_rows(n: int, p: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of length 1 (directions, uneven columns, or indicators) and a noisy linear target."""
    rng = np.random.default_rng([seed, n, p])
    kind = (_directions, _uneven, _groups)[seed % 3]
    X = kind(rng, n, p)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    signal = X @ rng.standard_normal(p)
    return X, 1.0 + signal / signal.std() + 0.7 * rng.standard_normal(n)


def _directions(rng: Generator, n: int, p: int) -> np.ndarray:
    return rng.standard_normal((n, p))


def _uneven(rng: Generator, n: int, p: int) -> np.ndarray:
    return rng.standard_normal((n, p)) * np.geomspace(1.0, 0.1, p)


def _groups(rng: Generator, n: int, p: int) -> np.ndarray:
    return np.hstack([members(rng, n, GROUP, 0.6) for _ in range(p // GROUP)])
