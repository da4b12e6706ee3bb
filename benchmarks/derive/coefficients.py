"""What `coef_noise()` tells over the spread of coefficients from fit to fit, on generated tables.

Tables are as people have them, with columns that nearly repeat each other, and hostile ones (heavy
tails, zero-inflated amounts, one-hot groups, rare flags, offsets); nothing is declared. Of each
table the numbers are the shares of coefficients for which told / seen is below 0.5, between 0.5 and
2, above 2 and withheld, and the median of told / seen. Told is the root mean square over fits.
"""

from __future__ import annotations

import warnings

import numpy as np

from benchmarks.choice.coefficients import ratios
from benchmarks.datasets import hostile
from benchmarks.datasets.tables import table
from benchmarks.derive.forecast import collinear
from privlearn import LinearRegression, LogisticRegression
from privlearn.private_bounds import steady
from privlearn.solvers.coordinate_descent import coef_noise, long_rows, range_noise

SEEDS = 6
FIRST = 30_000  # of hostile tables: pages use seeds from 0 on, derive/hostile.py from 20,000 on
HOSTILE = ("heavy tails", "zero-inflated", "one-hot", "rare flags", "offsets")
KINDS = ("plain", "collinear", *HOSTILE)


def arguments(parser):
    parser.add_argument("--epsilon", type=float, default=3.0)
    parser.add_argument("--fits", type=int, default=12, help="per table")


def homes(given):
    return range_noise, coef_noise, long_rows, steady


def problems(given):
    return ((kind, kind) for kind in KINDS)


def data(kind, seed, given):
    """Rows, and a target: a number for even seeds, two classes for odd ones."""
    if kind in HOSTILE:
        one = hostile.table(kind, FIRST + seed)
        return one.X[: one.n], one.y[: one.n], one.task != "number"
    rng = np.random.default_rng([31, seed, KINDS.index(kind)])
    n, p = int(10 ** rng.uniform(3.7, 4.5)), int(rng.integers(3, 15))
    X, y = collinear(rng, n, p) if kind == "collinear" else table(int(rng.integers(2**31)), n, p)
    if seed % 2:
        middle = np.quantile(y, rng.uniform(0.3, 0.7))
        y = (y > min(middle, np.unique(y)[-2])).astype(float)  # targets may pile up at their end
    return X, y, bool(seed % 2)


def score(found, choice, seed, given):
    X, y, classes = found
    cls = LogisticRegression if classes else LinearRegression
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        told = ratios(cls(epsilon=given.epsilon), X, y, given.fits)
    known = told[np.isfinite(told)]
    if not len(known):
        return np.array([0.0, 0.0, 0.0, 1.0, np.nan])
    low, high = np.mean(known < 0.5), np.mean(known > 2.0)
    return np.array([low, 1.0 - low - high, high, 1.0 - len(known) / len(told), np.median(known)])


def middle(scores):
    return float(np.nanmean(scores))


def summary(found, usual):
    low, good, high, withheld, half = np.nanmean(found.reshape(-1, 5), axis=0)
    return {"below": low, "within 2": good, "above": high, "withheld": withheld, "median": half}
