"""Counts: what `PoissonRegressor` loses, by solver, on generated data with hostile tables among it.

The score is what a private fit loses of the way from a constant mean to scikit-learn's optimum, by
the objective; more than 1 is worse than a constant. The number beside a problem is the median over
seeds. The table has, for each solver, the median and the worst over problems and seeds, the share
of runs that lose more than 1, and the geometric mean of the ratio to "auto".
"""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import PoissonRegressor as Reference

from benchmarks.datasets.generated import members
from benchmarks.derive.harness import Candidate
from privlearn import PoissonRegressor
from privlearn.solvers import CoordinateDescent
from privlearn.solvers._common import histograms
from privlearn.solvers.coordinate_descent import rules as cd_rule

SEEDS = 5
ALPHA = 1e-3
EPSILONS = (0.1, 0.3, 1.0, 3.0)
# kind: rows, features, mean or None, upper end of y or None for the next power of two
KINDS = {
    "plain": (20_000, 3, 1.6, 12),
    "nothing declared": (20_000, 3, 1.6, 12),
    "few rows": (1_000, 3, 1.6, 12),
    "hardly any rows": (100, 3, 1.6, 12),
    "many features": (20_000, 20, 1.6, None),
    "strong effects": (20_000, 3, 0.4, None),
    "no intercept": (20_000, 4, 1.0, None),
    "one-hot": (20_000, 18, 1.0, None),
    "skewed features": (20_000, 4, 1.3, None),
    "far from zero": (20_000, 3, 1.3, None),
    "large counts": (5_000, 5, 400.0, None),
    "wide bounds": (20_000, 4, 1.6, 200),
    "heavy tails": (20_000, 4, 3.0, 100),
    "rare": (50_000, 4, 0.01, 3),
    "rarer": (20_000, 3, 0.01, 3),
    "one huge count": (20_000, 4, 1.6, 1e5),
}
SOLVERS = {
    "cd": "cd",
    "cd, cyclic": CoordinateDescent(selection="cyclic"),
    "sgd": "sgd",
    "one-pass": "one-pass",
}
middle = np.median


def homes(given):
    return histograms, cd_rule


def candidates(given):
    return {name: Candidate(choice=solver) for name, solver in SOLVERS.items()}


def problems(given):
    return ((f"{kind}, epsilon {eps:g}", (kind, eps)) for eps in EPSILONS for kind in KINDS)


def features(kind, n, p, rng):
    """X, its box, and the part of the score that it explains."""
    if kind == "one-hot":
        X = np.hstack([members(rng, n, 6, 0.7) for _ in range(p // 6)])
        return X, (0, 1), X @ (0.5 * rng.standard_normal(p))
    weights = rng.standard_normal(p)
    weights *= (1.5 if kind == "strong effects" else 0.6) / np.linalg.norm(weights)
    Z = np.clip(rng.standard_normal((n, p)), -4, 4)
    if kind == "skewed features":
        return np.exp(1.5 * Z).clip(0, 100), (0, 100), Z @ weights
    if kind == "far from zero":
        return 50 + 10 * Z, (0, 100), Z @ weights
    return Z, (-4, 4), Z @ weights


def data(setting, seed, given):
    kind, epsilon = setting
    n, p, mean, high = KINDS[kind]
    rng = np.random.default_rng([seed, n, p])
    X, box, score = features(kind, n, p, rng)
    means = mean * np.exp(np.minimum(score, 10.0))
    if kind == "heavy tails":
        means *= rng.gamma(0.3, 1 / 0.3, n)
    y = rng.poisson(means).astype(float)
    high = float(2 ** np.ceil(np.log2(max(y.max(), 1.0)))) if high is None else high
    y = np.minimum(y, high)
    facts = {} if kind == "nothing declared" else {"bounds_X": box, "bounds_y": (0, high)}
    common = {"alpha": ALPHA, "fit_intercept": kind != "no intercept"}
    best = Reference(**common, max_iter=1000).fit(X, y)
    least = objective(y, best.predict(X), best.coef_)
    constant = y.mean() if common["fit_intercept"] else 1.0
    way = objective(y, np.full(n, constant), 0 * best.coef_) - least
    model = PoissonRegressor(epsilon=epsilon, **common, **facts)
    seen = y.copy()
    if kind == "one huge count":
        seen[0] = high
    return X, seen, y, model, least, way


def objective(y, mean, coef):
    return float(np.mean(mean - y * np.log(mean)) + ALPHA / 2 * coef @ coef)


def score(found, choice, seed, given):
    X, seen, y, model, least, way = found
    fitted = model.set_params(solver=choice or "auto", random_state=seed).fit(X, seen)
    return (objective(y, fitted.predict(X), fitted.coef_) - least) / way


def summary(found, usual):
    lost, other = found[..., 0], usual[..., 0]
    ratio = np.log((np.abs(lost) + 1e-4) / (np.abs(other) + 1e-4))
    return {
        "median": float(np.median(lost)),
        "worst": float(lost.max()),
        "above 1": float(np.mean(lost > 1.0)),
        "ratio": float(np.exp(ratio.mean())),
    }
