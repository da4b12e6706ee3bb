"""Sizes of SubLasso's groups and penalties, on generated data.

The score is the share of the explainable variance that the selected features explain. The table has
its mean over all problems, and that on each.
"""

from __future__ import annotations

import numpy as np

from benchmarks.derive.harness import Candidate
from privlearn.feature_selection import KendallSelector, SubLassoSelector, sub_lasso_selector

SEEDS = 5
K = 5
# rows, features, correlation, noise over signal, whether features are log-normal
PROBLEMS = [
    (2_000, 20, 0.0, 0.5, False),
    (10_000, 20, 0.0, 0.5, False),
    (10_000, 50, 0.3, 1.0, False),
    (10_000, 20, 0.3, 1.0, True),
]
EPSILONS = (0.2, 1.0)
ROWS = (5, 10, 20, 50, 100, 200)
PENALTIES = (0.01, 0.05, 0.1, 0.2, 0.4)
KENDALL = "Kendall"


def homes(given):
    return (sub_lasso_selector,)


def candidates(given):
    groups = {
        f"{rows} rows, penalty {penalty}": Candidate({"PENALTY": penalty}, rows)
        for rows in ROWS
        for penalty in PENALTIES
    }
    return groups | {KENDALL: Candidate(choice=KENDALL)}


def problems(given):
    return (
        (f"{' '.join(map(str, shape))} {epsilon}", (shape, epsilon))
        for shape in PROBLEMS
        for epsilon in EPSILONS
    )


def data(setting, seed, given):
    shape, epsilon = setting
    return problem(*shape, seed), epsilon


def problem(n, p, correlation, noise, skewed, seed):
    """Rows, targets and the true weights, K of which are not 0."""
    rng = np.random.default_rng([seed, n, p])
    common = rng.standard_normal((n, 1))
    own = rng.standard_normal((n, p))
    X = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own
    X = np.exp(X) if skewed else X
    weights = np.zeros(p)
    weights[rng.permutation(p)[:K]] = rng.uniform(0.5, 1.5, K) * rng.choice([-1, 1], K)
    signal = X @ weights
    return X, signal + noise * signal.std() * rng.standard_normal(n), weights


def explained(selector, X, y, weights):
    """Share of the signal's variance that is linear in the selected features."""
    chosen = X[:, selector.fit(X, y).selected_]
    signal = X @ weights - (X @ weights).mean()
    centred = chosen - chosen.mean(axis=0)
    left = signal - centred @ np.linalg.lstsq(centred, signal, rcond=None)[0]
    return 1.0 - left.var() / signal.var()


def score(found, choice, seed, given):
    (X, y, weights), epsilon = found
    common = {"epsilon": epsilon, "random_state": seed}
    if choice == KENDALL:
        return explained(KendallSelector(K, **common), X, y, weights)
    models = {} if choice is None else {"models": len(y) // choice}
    return explained(SubLassoSelector(K, **models, **common), X, y, weights)


def summary(found, usual):
    each = found.mean(axis=(1, 2))
    return {"mean": each.mean()} | {f"problem {k + 1}": value for k, value in enumerate(each)}
