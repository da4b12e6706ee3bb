"""Numbers of `CoordinateDescent`'s rule, on generated data.

The score is what a private fit loses, of the way from the zero model to the optimum. The table has
the geometric mean, over problems and seeds, of the ratio to the rule as it is, and the ratio on
each problem. Below 1 is better. Problems are raw (scales from 0.01 to 100, far from centred, with
heavy tails) or balanced; bounds are twice or twenty times the largest entries.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import minimize
from scipy.stats import gmean as middle

from benchmarks.datasets.generated import members
from benchmarks.derive.harness import Candidate, ratios
from privlearn import Lasso, LogisticRegression, Ridge
from privlearn.solvers import CoordinateDescent
from privlearn.solvers._common import histograms
from privlearn.solvers.coordinate_descent import rules as cd_rule

SEEDS = 4
# kind, loss, rows, features, epsilon, bounds over the largest entry
PROBLEMS = [
    ("raw", "logistic", 30_000, 8, 1.0, 2.0),
    ("raw", "lasso", 20_000, 8, 1.0, 20.0),
    ("balanced", "logistic", 20_000, 20, 0.5, 2.0),
    ("balanced", "lasso", 10_000, 8, 1.0, 2.0),
    ("raw", "lasso", 20_000, 30, 1.0, 2.0),
    ("raw", "ridge", 5_000, 6, 0.5, 2.0),
    ("raw", "logistic", 10_000, 8, 0.3, 2.0),
    ("balanced", "ridge", 5_000, 10, 0.3, 2.0),
    ("raw", "logistic", 20_000, 60, 1.0, 2.0),
    ("balanced", "lasso", 20_000, 100, 1.0, 2.0),
    ("outliers", "lasso", 20_000, 8, 1.0, 2.0),
    ("outliers", "logistic", 30_000, 8, 1.0, 2.0),
    ("outliers", "ridge", 10_000, 12, 1.0, 2.0),
    ("heavy", "lasso", 20_000, 8, 1.0, 2.0),
    ("heavy", "logistic", 30_000, 8, 1.0, 2.0),
    ("heavy", "ridge", 10_000, 6, 1.0, 2.0),
    ("one-hot", "logistic", 20_000, 40, 1.0, 1.0),
    ("one-hot", "ridge", 20_000, 60, 0.3, 1.0),
]
VARIANTS = {
    "20 steps": {"ALL_STEPS": 20},
    "80 steps": {"ALL_STEPS": 80},
    "first weight 3": {"AHEAD": 3.0},
    "first weight 8": {"AHEAD": 8.0},
    "damping 0.1": {"DAMPING": 0.1},
    "damping 1": {"DAMPING": 1.0},
    "longest row 0.7": {"LONGEST_ROW": 0.7},
    "longest row 1.5": {"LONGEST_ROW": 1.5},
    "magnitudes 4 %": {"MAGNITUDES": 0.04},
    "magnitudes 15 %": {"MAGNITUDES": 0.15},
    "curvature 6 %": {"CURVATURE": 0.06},
    "curvature 25 %": {"CURVATURE": 0.25},
    "lengths 2 %": {"LENGTHS": 0.02},
    "lengths 8 %": {"LENGTHS": 0.08},
    "warm-up 0.05": {"WARM_UP": 0.05},
    "warm-up 0.2": {"WARM_UP": 0.2},
    "3 outer loops": {"OUTER": 3},
    "1 outer loop": {"OUTER": 1},
    "aligned 0.1": {"ALIGNED": 0.1},
    "aligned 0.4": {"ALIGNED": 0.4},
    "aligned 0.8": {"ALIGNED": 0.8},
    "hidden 0": {"HIDDEN": 0.0},
    "hidden 2": {"HIDDEN": 2.0},
    "hidden 4": {"HIDDEN": 4.0},
    "hidden 8": {"HIDDEN": 8.0},
    "hidden 4 thin": {"HIDDEN": 4.0, "THINNING": 0.5},
    "hidden 16 thin": {"HIDDEN": 16.0, "THINNING": 0.5},
    "unseen 0": {"UNSEEN": 0.0},
    "unseen 0.25": {"UNSEEN": 0.25},
    "unseen 1": {"UNSEEN": 1.0},
    "unseen 2": {"UNSEEN": 2.0},
    "largest 0": {"LARGEST": 0.0},
    "largest 1": {"LARGEST": 1.0},
}


def homes(given):
    return cd_rule, histograms


def candidates(given):
    return {name: Candidate(constants) for name, constants in VARIANTS.items()}


def problems(given):
    return ((" ".join(map(str, setting)), setting) for setting in PROBLEMS)


def _sizes(p, rng):
    sizes = [2]
    while sum(sizes) < p:
        sizes.append(int(rng.integers(2, 12)))
    return sizes


def features(kind, n, p, rng):
    """Correlated features; raw ones are skewed, far from zero, and of all scales."""
    if kind == "one-hot":
        X = np.hstack([members(rng, n, size, 0.7) for size in _sizes(p, rng)])[:, :p]
        return X, X
    common = rng.standard_normal((p, max(2, p // 3)))
    Z = rng.standard_normal((n, common.shape[1])) @ common.T / math.sqrt(common.shape[1])
    Z = 0.8 * Z + 0.6 * rng.standard_normal((n, p))
    if kind == "outliers":  # a row or two at 100 deviations in half of the features
        X = Z.copy()
        for j in range(0, p, 2):
            X[rng.integers(0, n, 2), j] = rng.choice([-1, 1]) * rng.uniform(30, 150, 2)
        return (X - X.mean(axis=0)) / X.std(axis=0), Z
    if kind == "heavy":  # standardised, with most of the variance in few rows of some features
        X = np.where(np.arange(p) % 2, Z, np.exp(rng.uniform(1.2, 2.0, p) * Z))
        return (X - X.mean(axis=0)) / X.std(axis=0), Z
    if kind == "balanced":
        return (Z - Z.mean(axis=0)) / Z.std(axis=0), Z
    X = np.empty((n, p))
    for j in range(p):
        shape = rng.integers(4)
        if shape == 0:
            X[:, j] = Z[:, j]
        elif shape == 1:
            X[:, j] = np.clip(2.5 + Z[:, j], 0, 6)
        elif shape == 2:
            X[:, j] = np.exp(rng.uniform(0.5, 1.3) * Z[:, j])
        else:
            X[:, j] = rng.uniform(0, 1, n)
    return X * 10.0 ** rng.uniform(-2, 2, p), Z


def problem(kind, loss, n, p, epsilon, wide, seed):
    """Data, a model without solver, and its objective as a function of the coefficients."""
    rng = np.random.default_rng([seed, n, p])
    X, Z = features(kind, n, p, rng)
    signal = Z @ (rng.standard_normal(p) * (rng.random(p) < 0.7))
    signal /= signal.std() + 1e-12
    size = np.sqrt(np.mean(X**2, axis=0))
    middle = float(np.exp(np.log(size).mean()))
    box = wide * np.abs(X).max(axis=0)
    common = {
        "epsilon": epsilon,
        "delta": 1 / n**2,
        "adjacency": "replace_one",
        "bounds_X": (-box, box),
        "fit_intercept": False,
    }
    if loss == "logistic":
        y = np.where(rng.random(n) < 1 / (1 + np.exp(0.3 - 1.5 * signal)), 1.0, -1.0)
        model = LogisticRegression(C=1 / middle**2, classes=[-1, 1], **common)

        def objective(w):
            return np.logaddexp(0, -y * (X @ w)).mean() + middle**2 / (2 * n) * (w @ w)
    else:
        y = 1.0 + signal + rng.standard_normal(n)
        common["bounds_y"] = (-wide * np.abs(y).max(), wide * np.abs(y).max())
        l1 = 0.02 * middle if loss == "lasso" else 0.0
        model = Lasso(alpha=l1, **common) if l1 else Ridge(alpha=middle**2, **common)
        l2 = 0.0 if l1 else middle**2 / n

        def objective(w):
            penalty = l1 * np.abs(w).sum() + l2 / 2 * (w @ w)
            return 0.5 * np.mean((X @ w - y) ** 2) + penalty

    return X, y, model, objective, size


def optimum(X, y, model, objective, size):
    """Least objective, by scikit-learn where there is an l1 penalty and by L-BFGS where not."""
    if isinstance(model, Lasso):
        from sklearn.linear_model import Lasso as Reference

        reference = Reference(alpha=model.alpha, fit_intercept=False, tol=1e-8, max_iter=100_000)
        return objective(reference.fit(X, y).coef_)
    U, n = X / size, len(y)
    logistic = isinstance(model, LogisticRegression)
    l2 = (1 / model.C if logistic else model.alpha) / n / size**2

    def slope(v):
        z = U @ v
        s = -y / (1 + np.exp(y * z)) if logistic else z - y
        return U.T @ s / n + l2 * v

    found = minimize(
        lambda v: objective(v / size), np.zeros(len(size)), jac=slope, options={"maxiter": 5000}
    )
    return float(found.fun)


def data(setting, seed, given):
    X, y, model, objective, size = problem(*setting, seed)
    least = optimum(X, y, model, objective, size)
    return X, y, model, objective, least, objective(np.zeros(len(size))) - least


def score(found, choice, seed, given):
    X, y, model, objective, least, way = found
    model.set_params(solver=CoordinateDescent(), random_state=seed)
    coef = np.ravel(model.fit(X, y).coef_)
    return max(objective(coef) - least, 1e-12) / way


def summary(found, usual):
    return ratios(found, usual, middle)
