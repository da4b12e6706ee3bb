"""Who takes part: least squares, the paper's six private methods, and privlearn by itself.

The paper's methods are privlearn's selectors and solvers with the paper's settings, each with its
share of the budget, all under `add_remove`. A failed test of the Tukey mechanism scores None.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np

from benchmarks.papers.dick.data import Rows

__all__ = [
    "BY_RULE",
    "DELTA",
    "EPSILON",
    "KS",
    "SHARE",
    "Budget",
    "automatic",
    "boosted_scores",
    "count_below",
    "least_squares",
    "r_squared",
    "select",
    "tukey_scores",
]

EPSILON, DELTA = math.log(3.0), 1e-5
SHARE, ETA = 0.05, 1e-4
KS = (5, 10)
BY_RULE = " (models by rule)"
SMALLEST = 10  # the paper leaves out k = 10 where d, with the intercept, is below


@dataclass(frozen=True)
class Budget:
    """A promise, and parts of it."""

    epsilon: float = EPSILON
    delta: float = DELTA

    def without(self, shares: int) -> dict[str, float]:
        """What is left for a regression when so many shares of 5 % went elsewhere."""
        return {"epsilon": self.epsilon * (1.0 - SHARE * shares), "delta": self.delta}


def r_squared(predicted: np.ndarray, truth: np.ndarray) -> float:
    """1 is perfect, 0 is the mean of the test rows."""
    return float(1.0 - np.sum((predicted - truth) ** 2) / np.sum((truth - truth.mean()) ** 2))


def least_squares(rows: Rows) -> float:
    """Ordinary least squares; of smallest norm, since columns of categories sum to one."""
    A = np.column_stack([rows.X, np.ones(len(rows.y))])
    coef = np.linalg.lstsq(A, rows.y, rcond=None)[0]
    return r_squared(rows.X_test @ coef[:-1] + coef[-1], rows.y_test)


def count_below(n: int, epsilon: float, seed: int) -> int:
    """The paper's private lower bound on the number of rows."""
    noise = np.random.default_rng([seed, n]).laplace(scale=1.0 / epsilon)
    return max(1, int(n + noise - math.log(1.0 / (2.0 * ETA)) / epsilon))


def boosted_scores(rows: Rows, seed: int, budget: Budget | None = None) -> dict[str, float]:
    """Least squares without privacy, and the paper's methods that end in boosted AdaSSP."""
    budget = budget or Budget()
    everything = np.arange(rows.X.shape[1])
    found = {
        "NonDP": least_squares(rows),
        "BAS": _boosted(rows, everything, budget.without(0), seed),
    }
    for label, chosen, shares, _ in _selections(rows, seed, budget):
        kind, k = label
        found[f"{kind}-BAS, k = {k}"] = _boosted(rows, chosen, budget.without(shares), seed)
    return found


def tukey_scores(rows: Rows, seed: int, budget: Budget | None = None) -> dict[str, float | None]:
    """The paper's methods that end in the Tukey mechanism, and these with our own number of models.

    By default privlearn estimates the number of rows itself, with the same share.
    """
    budget = budget or Budget()
    everything = np.arange(rows.X.shape[1])
    count = count_below(len(rows.y), SHARE * budget.epsilon, seed)
    found = {
        "Tukey": _tukey(rows, everything, count, budget.without(1), seed),
        f"Tukey{BY_RULE}": _tukey(rows, everything, None, budget.without(0), seed),
    }
    for label, chosen, _, own_count in _selections(rows, seed, budget):
        (kind, k), left = label, budget.without(1 if label[0] == "K" else 2)
        found[f"{kind}-Tukey, k = {k}"] = _tukey(rows, chosen, own_count, budget.without(2), seed)
        found[f"{kind}-Tukey{BY_RULE}, k = {k}"] = _tukey(rows, chosen, None, left, seed)
    return found


def _selections(rows: Rows, seed: int, budget: Budget):
    """Every selection of the paper: (kind, k), its columns, shares of 5 % that it took, count."""
    width, share = rows.X.shape[1], SHARE * budget.epsilon
    count = count_below(len(rows.y), share, seed)
    for k in KS:
        if k > width or (k >= SMALLEST and width + 1 < SMALLEST):
            continue
        for kind, shares in (("L", 2), ("K", 1)):
            yield (kind, k), select(kind, rows, k, count, share, seed), shares, count


def select(kind: str, rows: Rows, k: int, count: int, epsilon: float, seed: int) -> np.ndarray:
    """Columns chosen by SubLasso ("L") or DPKendall ("K")."""
    from privlearn import feature_selection

    given = {"epsilon": epsilon, "delta": 0.0, "adjacency": "add_remove"}
    given["random_state"] = 2 * seed + 1
    if kind == "K":
        selector = feature_selection.KendallSelector(k, **given)
    else:
        models = max(1, count // (rows.X.shape[1] + 1))
        selector = feature_selection.SubLassoSelector(k, models=models, **given)
    return np.asarray(selector.fit(rows.X, rows.y).selected_)


def _boosted(rows: Rows, chosen: np.ndarray, promise: dict, seed: int) -> float | None:
    from privlearn.solvers import BoostedStatistics

    return _private(rows, chosen, promise, seed, BoostedStatistics(rounds=100, clip=1.0))


def _tukey(
    rows: Rows, chosen: np.ndarray, count: int | None, promise: dict, seed: int
) -> float | None:
    """With as many models as the paper has for a count of rows, else by privlearn's rule."""
    from privlearn.solvers import Tukey

    models = None if count is None else max(1, count // (len(chosen) + 1))
    return _private(rows, chosen, promise, seed, Tukey(models=models))


def _private(rows, chosen, promise, seed, solver):
    """R^2 of one fit under add_remove, or None where the test fails."""
    from privlearn.exceptions import PrivacyTestFailedError

    own = Rows(rows.X[:, chosen], rows.y, rows.X_test[:, chosen], rows.y_test)
    try:
        return automatic(own, seed, **promise, adjacency="add_remove", solver=solver)
    except PrivacyTestFailedError:
        return None


def automatic(
    rows: Rows, seed: int, *, epsilon: float = EPSILON, delta: float = DELTA, **more
) -> float:
    """privlearn's LinearRegression with nothing declared but what `more` says."""
    from privlearn import LinearRegression

    model = LinearRegression(epsilon=epsilon, delta=delta, random_state=2 * seed, **more)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return r_squared(model.fit(rows.X, rows.y).predict(rows.X_test), rows.y_test)
