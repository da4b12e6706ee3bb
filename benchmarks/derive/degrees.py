"""Degrees of freedom of standard errors, and how far eigenvalues of the curvature are moved back.

Generated tables with small n and epsilon, whose second column has no effect but correlates with the
first by up to 0.9: so noise hides both in up to three quarters of the fits. Errors of one size, or
growing or falling with a column; normal and uniform columns, rare flags; least squares, two
classes, counts, overdispersed ones, too; four tables have nothing declared. What intervals are
about is the minimiser over 40,000 rows of the same law, clipped as the fit did.

Beside each table stands how many of the 95 % intervals that are told cover. The numbers are, over
tables that tell the column without effect in less than half of the fits ("hidden") and the others
("told"), the worst share of any coefficient that is covered, and the largest share of p-values
below 0.05 of that column; then tables that a page as `peers/p_values` would not pass for too many
small p-values or for p-values that are not uniform, and half the length of the intervals over 1.96
times the estimates' spread, of the worst table and in the mean.
"""

from __future__ import annotations

import warnings
import zlib

import numpy as np
from scipy.special import expit
from scipy.stats import kstest

from benchmarks.peers.intervals import means
from privlearn import LinearRegression, LogisticRegression, PoissonRegressor
from privlearn.solvers._common import standard_errors
from privlearn.solvers.coordinate_descent import sandwich

SEEDS = 300
FIRST = 11
POPULATION, REACH = 40_000, 1.959964
LOW, HIGH, MOST_COUNTED = -5.0, 5.0, 40
SMALL, MOST_SMALL, LEAST_UNIFORM = 0.05, 0.08, 0.001  # as asked for in peers/p_values
# Kind, rows, columns, correlation, epsilon; then what is not as usual.
TABLES = (
    ("linear", 1_500, 3, 0.7, 0.35, {}),
    ("linear", 2_500, 5, 0.7, 0.3, {"flag": 0.1}),
    ("linear", 4_000, 6, 0.8, 0.4, {}),
    ("linear", 2_000, 4, 0.0, 0.3, {}),
    ("linear", 2_500, 3, 0.9, 0.8, {}),
    ("linear", 2_500, 4, 0.7, 0.5, {"growing": 1.0}),
    ("linear", 4_000, 5, 0.7, 0.3, {"flag": 0.05}),
    ("linear", 1_200, 4, 0.7, 0.7, {}),
    ("linear", 2_200, 5, 0.6, 0.35, {"growing": -1.0}),
    ("linear", 2_000, 5, 0.5, 0.35, {"uniform": True}),
    ("linear", 10_000, 4, 0.9, 0.3, {}),
    ("counts", 2_000, 3, 0.6, 0.4, {}),
    ("counts", 4_000, 5, 0.7, 0.3, {}),
    ("counts", 5_000, 2, 0.9, 0.5, {}),
    ("counts", 2_500, 4, 0.0, 0.35, {}),
    ("counts", 6_000, 5, 0.8, 0.6, {"flag": 0.2}),
    ("counts", 4_000, 4, 0.6, 0.4, {"spread": 2.0}),
    ("logistic", 3_500, 4, 0.8, 0.25, {}),
    ("logistic", 2_000, 5, 0.7, 0.4, {}),
    ("logistic", 5_000, 3, 0.9, 0.3, {"flag": 0.3}),
    ("logistic", 1_500, 3, 0.7, 0.35, {}),
    ("linear", 3_500, 3, 0.0, 0.3, {"nothing": True}),
    ("linear", 3_000, 5, 0.5, 0.4, {"nothing": True, "flag": 0.3}),
    ("linear", 2_000, 4, 0.8, 0.6, {"nothing": True}),
    ("linear", 4_000, 4, 0.3, 0.3, {"nothing": True, "growing": 1.0}),
)


def arguments(parser):
    parser.add_argument("--first", type=int, default=FIRST, help="seed of the tables")


def homes(given):
    return standard_errors, sandwich


def problems(given):
    for table in TABLES:
        kind, n, columns, correlation, epsilon, other = table
        own = ", ".join([f"r {correlation}", f"epsilon {epsilon}", *other])
        yield f"{kind}, {n:,} x {columns}, {own}", Law(table)


class Law:
    """Rows of one kind, and what fits of them are about."""

    def __init__(self, table):
        self.kind, self.n, self.columns, self.correlation, self.epsilon, self.other = table
        rng = np.random.default_rng(zlib.crc32(repr(table).encode()))
        self.effects = rng.uniform(-0.5, 0.5, self.columns)
        self.effects[:2] = 0.2 + 0.3 * rng.random(), 0.0
        self.constant = rng.uniform(-0.4, 0.3)
        self.population = self.drawn(POPULATION, rng)
        plain = np.append(self.effects, self.constant)
        self.own = minimiser(self.kind, *self.population, plain)
        self.finite = plain - self.own  # the population's own distance from its law

    def drawn(self, n, rng):
        X = rng.standard_normal((n, self.columns))
        if "uniform" in self.other:
            X = rng.uniform(-1.7, 1.7, X.shape)
        X[:, 1] *= np.sqrt(1.0 - self.correlation**2)
        X[:, 1] += self.correlation * X[:, 0]
        if "flag" in self.other:
            X[:, -1] = rng.random(n) < self.other["flag"]
        X = np.clip(X, LOW, HIGH)
        score = X @ self.effects + self.constant
        if self.kind == "logistic":
            return X, (rng.random(n) < expit(score)).astype(int)
        if self.kind == "counts":
            shape = self.other.get("spread")
            mean = np.exp(score) * (rng.gamma(shape, 1.0 / shape, n) if shape else 1.0)
            return X, np.minimum(rng.poisson(mean), MOST_COUNTED)
        grows = self.other.get("growing", 0.0)
        size = 0.6 * np.exp(0.5 * grows * X[:, 0] - 0.125 * grows**2)
        return X, np.clip(score + size * rng.standard_normal(n), -10.0, 10.0)

    def model(self, seed):
        low, high = np.full(self.columns, LOW), np.full(self.columns, HIGH)
        if "flag" in self.other:
            low[-1], high[-1] = 0.0, 1.0
        known = {"intervals": True, "delta": 1e-6, "random_state": seed, "bounds_X": (low, high)}
        known["epsilon"] = self.epsilon
        if "nothing" in self.other:
            return LinearRegression(**{**known, "bounds_X": None})
        if self.kind == "logistic":
            return LogisticRegression(C=np.inf, classes=[0, 1], **known)
        if self.kind == "counts":
            return PoissonRegressor(alpha=0, bounds_y=(0, MOST_COUNTED), **known)
        return LinearRegression(bounds_y=(-10, 10), **known)

    def right(self, model):
        X, y = self.population
        clip = getattr(model, "_clip_bounds", None)
        if clip is not None and clip.low is not None:
            X = np.clip(X, clip.low, clip.high)
        if clip is not None and clip.target is not None:
            y = np.clip(y, *clip.target)
        return minimiser(self.kind, X, y, self.own) + self.finite


def minimiser(kind, X, y, start):
    """Of the mean loss, by Newton's method."""
    Z, w = np.column_stack([X, np.ones(len(X))]), start
    for _ in range(30):
        mean, bend = means("Poisson" if kind == "counts" else kind, Z @ w)
        step = np.linalg.solve((Z * bend[:, None]).T @ Z, Z.T @ (mean - y))
        w = w - step
        if np.abs(step).max() < 1e-7:
            return w
    raise RuntimeError("Newton's method did not converge")


def data(law, seed, given):
    rng = np.random.default_rng([given.first, seed])
    return law, *law.drawn(law.n, rng), int(rng.integers(2**31)), {}


def score(found, choice, seed, given):
    """Of the coefficients, the intercept left out: distance, half the interval; then the p-value.

    Numbers of rules move no coefficient, so what fits are about is looked up once.
    """
    law, X, y, own, known = found
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = law.model(own).fit(X, y)
        table = model.summary()
    if "right" not in known:
        known["right"] = law.right(model)
    off, half = table.coef - known["right"], (table.high - table.low) / 2.0
    numbers = np.full((3, max(one[2] for one in TABLES)), np.nan)
    numbers[:2, : law.columns] = off[:-1], half[:-1]
    numbers[2, 0] = table.p_value[1]
    return np.append(covered(numbers[None])[0], numbers.ravel())


def covered(numbers):
    """Share of the told intervals that cover, fit by fit."""
    told = np.isfinite(numbers[:, 1])
    covers = told & (np.abs(numbers[:, 0]) <= np.where(told, numbers[:, 1], 0.0))
    return covers.sum(axis=1) / np.where(told.any(axis=1), told.sum(axis=1), np.nan)


middle = np.nanmean


def summary(found, usual):
    every = [of_table(scores[:, 1:].reshape(len(scores), 3, -1)) for scores in found]
    told, worst, small, uneven, width = (np.array(one) for one in zip(*every, strict=True))
    hidden = told < 0.5
    return {
        "hidden": worst[hidden].min(initial=1.0),
        "small": small[hidden].max(initial=0.0),
        "told": worst[~hidden].min(initial=1.0),
        "its small": small[~hidden].max(initial=0.0),
        "too small": np.sum(small > MOST_SMALL),
        "uneven": np.sum(uneven < LEAST_UNIFORM),
        "widest": width.max(),
        "mean width": width.mean(),
    }


def of_table(numbers):
    """Told, worst coverage, small p-values, whether all are uniform, and width, of one table."""
    off, half, p_value = numbers[:, 0], numbers[:, 1], numbers[:, 2, 0]
    worst, width = [], []
    for j in range(np.isfinite(off).any(axis=0).sum()):
        told = np.isfinite(half[:, j])
        worst.append(np.mean(np.abs(off[told, j]) <= half[told, j]))
        width.append(np.sqrt(np.mean(half[told, j] ** 2) / np.mean(off[told, j] ** 2)) / REACH)
    told = p_value[np.isfinite(p_value)]
    small, uniform = np.mean(told < SMALL), kstest(told, "uniform").pvalue
    return len(told) / len(p_value), min(worst), small, uniform, max(width)
