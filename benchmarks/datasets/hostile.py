"""Generated tables of the kinds that break private fits, by kind and seed.

Medians over pleasant tables hide failures. Each kind here has one thing that a private fit may
stumble over, drawn anew for every seed: how many rows and columns, how rare, how far, how skewed.
All of them can be learned without privacy. `table(kind, seed)` has a number as its target for even
seeds and two classes for odd ones, except where the kind is about classes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

__all__ = ["FRESH", "KINDS", "Table", "table"]

FRESH = 4_000  # rows beyond those to learn from
FARTHEST = 6.0  # powers of ten by which columns are shifted, in deviations
WIDEST = 9.0  # powers of ten by which they are stretched or shrunk


class Table(NamedTuple):
    """Rows to learn from, then `FRESH` more of the same law."""

    X: np.ndarray
    y: np.ndarray
    task: str  # "number" or "two classes"

    @property
    def n(self) -> int:
        """How many rows are to learn from."""
        return len(self.y) - FRESH


class Draft(NamedTuple):
    """Columns and a signal with deviation about 1, before noise, units and classes."""

    X: np.ndarray
    signal: np.ndarray


def _rows(rng: np.random.Generator, least: float = 3.3, most: float = 4.5) -> int:
    return int(10.0 ** rng.uniform(least, most)) + FRESH


def _standard(signal: np.ndarray) -> np.ndarray:
    return (signal - signal.mean()) / (signal.std() or 1.0)


def _normal(rng: np.random.Generator, n: int, p: int) -> Draft:
    """Correlated normal columns with weights of one size or less."""
    shared = rng.standard_normal((n, 1)) * rng.uniform(0.0, 0.8)
    X = rng.standard_normal((n, p)) + shared
    return Draft(X, _standard(X @ rng.uniform(-1.0, 1.0, p)))


def rare_flags(rng: np.random.Generator) -> Draft:
    """A few common 0/1 columns, and many that are 1 for hardly anyone."""
    n, common = _rows(rng), int(rng.integers(4, 11))
    rare = int(10.0 ** rng.uniform(1.0, 2.0))
    shares = np.append(rng.uniform(0.1, 0.5, common), 10.0 ** rng.uniform(-4.0, -2.0, rare))
    X = (rng.random((n, common + rare)) < shares).astype(float)
    return Draft(X, _standard(X[:, :common] @ rng.uniform(0.5, 1.0, common)))


def one_hot(rng: np.random.Generator) -> Draft:
    """Groups of categories that get rarer and rarer, beside a few numbers."""
    n, numbers = _rows(rng), int(rng.integers(1, 4))
    plain, parts, effect = rng.standard_normal((n, numbers)), [], np.zeros(n)
    for _ in range(rng.integers(2, 7)):
        size = int(rng.integers(3, 25))
        shares = np.arange(1.0, size + 1) ** -rng.uniform(0.8, 2.5)
        chosen = rng.choice(size, n, p=shares / shares.sum())
        parts.append(np.eye(size)[chosen])
        effect += rng.standard_normal(size)[chosen]
    return Draft(np.hstack([plain, *parts]), _standard(effect + plain.sum(axis=1)))


def offsets(rng: np.random.Generator) -> Draft:
    """Columns up to a million deviations away from zero."""
    plain = _normal(rng, _rows(rng, 4.0), int(rng.integers(3, 15)))
    p = plain.X.shape[1]
    far = rng.choice([-1.0, 1.0], p) * 10.0 ** rng.uniform(0.0, FARTHEST, p)
    return Draft(plain.X + far, plain.signal)


def scales(rng: np.random.Generator) -> Draft:
    """Columns in units that differ by up to 18 powers of ten."""
    plain = _normal(rng, _rows(rng, 4.0), int(rng.integers(3, 15)))
    units = 10.0 ** rng.uniform(-WIDEST, WIDEST, plain.X.shape[1])
    return Draft(plain.X * units, plain.signal)


def imbalance(rng: np.random.Generator) -> Draft:
    """Normal columns; one class is rare."""
    return _normal(rng, _rows(rng, 3.6), int(rng.integers(4, 21)))


def heavy_tails(rng: np.random.Generator) -> Draft:
    """Columns without a variance, of which the target follows the bulk."""
    n, p = _rows(rng), int(rng.integers(3, 20))
    X = rng.standard_t(rng.uniform(1.0, 3.0, p), (n, p))
    skewed = rng.random(p) < 0.3
    X[:, skewed] = np.exp(2.0 * rng.standard_normal((n, int(skewed.sum()))))
    return Draft(X, _standard(np.clip(X, -3.0, 3.0) @ rng.uniform(-1.0, 1.0, p)))


def few_rows(rng: np.random.Generator) -> Draft:
    """Fifty to a thousand rows."""
    return _normal(rng, _rows(rng, 1.7, 3.0), int(rng.integers(2, 11)))


def many_columns(rng: np.random.Generator) -> Draft:
    """Hundreds of columns, of which ten matter."""
    n, p = _rows(rng, 3.3, 3.9), int(rng.integers(120, 400))
    X = rng.standard_normal((n, p)) * 10.0 ** rng.uniform(-2.0, 2.0, p)
    used = rng.permutation(p)[:10]
    return Draft(X, _standard((X[:, used] / X[:, used].std(axis=0)).sum(axis=1)))


def zero_inflated(rng: np.random.Generator) -> Draft:
    """Amounts in any unit that are zero for 60 to 99 of a hundred."""
    n, p = _rows(rng), int(rng.integers(3, 30))
    there = rng.random((n, p)) < rng.uniform(0.01, 0.4, p)
    X = np.where(there, rng.gamma(2.0, 1.0, (n, p)) + 0.2, 0.0)
    signal = _standard((X / X.std(axis=0)) @ rng.uniform(0.2, 1.0, p))
    return Draft(X * 10.0 ** rng.uniform(-6.0, 6.0, p), signal)


def rare_in_rare(rng: np.random.Generator) -> Draft:
    """Categories down to a hundredth, which hardly matter beside a number; one class is rare."""
    n, effect = _rows(rng, 3.6), np.zeros(1)
    number = rng.standard_normal((n, int(rng.integers(1, 3))))
    parts = [number]
    for _ in range(rng.integers(1, 4)):
        size, rare = int(rng.integers(6, 16)), int(rng.integers(2, 6))
        shares = np.append(np.ones(size), np.full(rare, rng.uniform(0.03, 0.2)))
        chosen = rng.choice(size + rare, n, p=shares / shares.sum())
        parts.append(np.eye(size + rare)[chosen])
        effect = effect + 0.2 * rng.standard_normal(size + rare)[chosen]
    return Draft(np.hstack(parts), _standard(effect + number.sum(axis=1)))


KINDS: dict[str, Callable[[np.random.Generator], Draft]] = {
    "rare flags": rare_flags,
    "one-hot": one_hot,
    "offsets": offsets,
    "scales": scales,
    "imbalance": imbalance,
    "heavy tails": heavy_tails,
    "few rows": few_rows,
    "many columns": many_columns,
    "zero-inflated": zero_inflated,
    "rare in rare": rare_in_rare,
}
OF_A_RARE_CLASS = ("imbalance", "rare in rare")


def table(kind: str, seed: int) -> Table:
    """A table of that kind.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    seed : int
        Even: the target is a number, in units and with an offset of the kind's own; odd: two
        classes. Where classes are out of balance it is always two.
    """
    rng = np.random.default_rng([seed, list(KINDS).index(kind), 16])
    X, signal = KINDS[kind](rng)
    noisy = signal + rng.uniform(0.2, 1.0) * rng.standard_normal(len(signal))
    rare = kind in OF_A_RARE_CLASS
    if rare or seed % 2:
        share = rng.uniform(0.02, 0.06) if rare else rng.uniform(0.25, 0.75)
        y = (noisy > np.quantile(noisy, 1.0 - share)).astype(float)
        return Table(X, y, "two classes")
    return Table(X, _units(kind, noisy, rng), "number")


def _units(kind: str, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The target as far out, as stretched or as skewed as the columns are."""
    if kind == "offsets":
        return y + rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(0.0, FARTHEST)
    if kind == "scales":
        return y * 10.0 ** rng.uniform(-WIDEST, WIDEST)
    if kind == "heavy tails":
        return y + 0.1 * rng.standard_t(1.5, len(y))
    if kind == "zero-inflated":
        return np.maximum(y, rng.uniform(-0.5, 0.5)) * 10.0 ** rng.uniform(-3.0, 3.0)
    return y
