"""Generated problems over rows, columns, budget and imbalance; every fact is known by design."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator

from benchmarks.datasets.generated import members

__all__ = ["KINDS", "LOSSES", "Sample", "draw"]

LOSSES = ("least squares", "logistic")
FRESH = 10_000
REACH = 3.0  # of standard normal features, which are clipped there
TOO_WIDE = 5.0
DECADES = 4.0
LARGEST_Y = 5.0


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows to learn from, fresh ones to judge with, and what an estimator is told."""

    X: np.ndarray
    y: np.ndarray
    fresh_X: np.ndarray
    fresh_y: np.ndarray
    facts: dict = field(default_factory=dict)


def balanced(rng: Generator, n: int, p: int) -> tuple[np.ndarray, np.ndarray, dict]:
    """Independent features that fill their bounds."""
    X = rng.uniform(-1.0, 1.0, (n, p))
    return X, X, {"bounds_X": (-1.0, 1.0)}


def raw(rng: Generator, n: int, p: int) -> tuple[np.ndarray, np.ndarray, dict]:
    """Scales over four orders of magnitude, every second far from zero, bounds far too wide."""
    scales = 10.0 ** (np.linspace(0.0, DECADES, p) - 1.0)
    centres = np.where(np.arange(p) % 2, 0.0, 2.0)
    Z = np.clip(rng.standard_normal((n, p)), -REACH, REACH)
    box = TOO_WIDE * (REACH + centres) * scales
    return (Z + centres) * scales, Z, {"bounds_X": (-box, box)}


def one_hot(rng: Generator, n: int, p: int) -> tuple[np.ndarray, np.ndarray, dict]:
    """Groups of uneven sizes, up to ten members each, with the norm that every row has."""
    groups = max(1, p // 10 if p > 10 else p // 5)
    size = p // groups
    X = np.hstack([members(rng, n, size, 1.0) for _ in range(groups)])
    return X, X, {"bounds_X": (0.0, 1.0), "data_norm": float(np.sqrt(groups + 1.0))}


KINDS: dict[str, Callable] = {
    "balanced, tight bounds": balanced,
    "raw scales, wide bounds": raw,
    "one-hot, declared norm": one_hot,
}


def draw(kind: str, loss: str, n: int, p: int, seed: int) -> Sample:
    """A problem whose signal explains half of y, or whose log odds have deviation 2."""
    rng = np.random.default_rng([seed, n, p, list(KINDS).index(kind)])
    X, parts, facts = KINDS[kind](rng, n + FRESH, p)
    signal = parts @ rng.standard_normal(p)
    signal = (signal - signal.mean()) / max(float(signal.std()), 1e-12)
    if loss == "logistic":
        y = np.where(rng.random(len(signal)) < 1.0 / (1.0 + np.exp(-0.5 - 2.0 * signal)), 1, 0)
        facts = facts | {"classes": [0, 1]}
    else:
        y = 1.0 + signal + rng.standard_normal(len(signal))
        largest = LARGEST_Y * (TOO_WIDE if kind.startswith("raw") else 1.0)
        y = np.clip(y, -LARGEST_Y, LARGEST_Y)
        facts = facts | {"bounds_y": (-largest, largest)}
    return Sample(X[:n], y[:n], X[n:], y[n:], facts)
