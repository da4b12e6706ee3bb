"""Numbers of the rule of a solver that descends, on generated data.

The score is what a private fit loses of the way from the zero model to the optimum of its
objective; the number beside a problem is the median over seeds. The table has, for each change and
for other solvers, the geometric mean of the ratio to the rule as it is, and the ratio on each
problem. Below 1 is better.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from benchmarks.datasets.generated import members
from benchmarks.derive.harness import Candidate, ratios
from privlearn import HuberRegressor, LinearSVC, LogisticRegression, Ridge
from privlearn._objective.losses import Hinge, Logistic, Squared, SquaredHinge
from privlearn.exceptions import UnsupportedCombinationError
from privlearn.solvers.dual_coordinate_descent import rules as scd_rule
from privlearn.solvers.one_pass import rules as one_pass_rule
from privlearn.solvers.output_perturbation import rules as output_rule
from privlearn.solvers.sgd import rules as sgd_rule

SEEDS = 3
# features, loss, rows, features' number, penalty per row, epsilon, bounds over the largest entry
PROBLEMS = [
    ("directions", "logistic", 6_000, 20, 1e-4, 0.1, 1),
    ("directions", "hinge", 20_000, 50, 1e-4, 0.5, 1),
    ("directions", "squared", 10_000, 40, 1e-4, 0.5, 1),
    ("uneven", "logistic", 20_000, 30, 1e-5, 0.5, 1),
    ("uneven", "squared hinge", 20_000, 30, 1e-5, 1.0, 1),
    ("uneven", "squared", 20_000, 30, 1e-5, 0.1, 1),
    ("positive", "hinge", 20_000, 14, 1e-5, 0.1, 1),
    ("positive", "squared", 60_000, 14, 1e-4, 0.1, 1),
    ("positive", "logistic", 20_000, 40, 1e-5, 2.0, 1),
    ("groups", "logistic", 6_000, 60, 1e-4, 0.5, 1),
    ("groups", "hinge", 24_000, 100, 1e-5, 0.1, 1),
    ("groups", "hinge", 24_000, 100, 1e-5, 2.0, 1),
    ("box", "squared", 20_000, 10, 1e-4, 1.0, 1),
    ("box", "logistic", 20_000, 20, 1e-4, 0.3, 5),
    ("box", "squared", 10_000, 20, 1e-4, 0.5, 5),
    ("box", "squared hinge", 20_000, 20, 1e-4, 0.3, 5),
]
LOSSES = {loss.name: loss for loss in (Squared(), Logistic(), Hinge(), SquaredHinge())}
RULES = {"scd": scd_rule, "one-pass": one_pass_rule, "output": output_rule, "sgd": sgd_rule}
SMOOTHING = 1e-3  # of the hinge, for its optimum
middle = np.median


def arguments(parser):
    parser.add_argument("--solver", choices=sorted(RULES), default="scd")
    parser.add_argument("--delta", type=float, default=None)
    parser.add_argument("--also", nargs="*", default=[], help="solvers to compare with")


def homes(given):
    return (RULES[given.solver],)


def candidates(given):
    return {name: Candidate(choice=name) for name in given.also}


def problems(given):
    return ((" ".join(map(str, setting)), setting) for setting in PROBLEMS)


def features(kind, n, p, rng):
    """Rows of length 1, or in a box with an intercept."""
    if kind == "box":
        return rng.standard_normal((n, p)) * np.geomspace(1.0, 0.3, p) + rng.uniform(-1, 1, p)
    if kind == "groups":
        X = np.hstack([members(rng, n, 6, 0.6) for _ in range(p // 6)])
    elif kind == "positive":
        X = rng.choice([0.0, 0.25, 0.5, 1.0], (n, p)) + 1e-9
    else:
        X = rng.standard_normal((n, p)) * (np.geomspace(1, 0.1, p) if kind == "uneven" else 1.0)
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def problem(kind, loss, n, p, penalty, epsilon, wide, seed):
    """Data, a model without solver, and the facts it is given."""
    rng = np.random.default_rng([seed, n, p])
    X = features(kind, n, p, rng)
    score = X @ rng.standard_normal(X.shape[1])
    score = (score - (score.mean() if kind in ("positive", "groups") else 0.0)) / score.std()
    facts = {"epsilon": epsilon, "delta": 1e-3 if wide == 1 else 1e-6, "fit_intercept": False}
    facts["data_norm"] = 1.0 + 1e-9
    if kind == "box":
        reach = wide * np.abs(X).max(axis=0)
        facts |= {"data_norm": None, "bounds_X": (-reach, reach), "fit_intercept": True}
    if loss in ("squared", "huber"):
        y = np.clip(0.25 * score + 0.25 * rng.standard_normal(n), -1, 1)
        facts["bounds_y"] = (-wide, wide)
        if loss == "huber":
            return X, y, HuberRegressor(alpha=penalty * n, **facts)
        return X, y, Ridge(alpha=penalty * n, **facts)
    y = np.where(3 * score + rng.logistic(size=n) > 0, 1.0, -1.0)
    facts |= {"C": 1 / (penalty * n), "classes": [-1, 1]}
    if loss == "logistic":
        return X, y, LogisticRegression(**facts)
    return X, y, LinearSVC(loss=loss.replace(" ", "_"), **facts)


def objective(loss, penalty, X, y, coef, intercept):
    """Mean loss plus penalty."""
    return float(np.mean(loss.value(y, X @ coef + intercept)) + penalty / 2 * coef @ coef)


def optimum(loss, penalty, X, y, intercept):
    """Least objective, by L-BFGS; of a slightly smoothed hinge."""
    n = len(y)

    def smooth(w):
        z = X @ w[:-1] + w[-1]
        slope = loss.derivative(y, z)
        value = loss.value(y, z)
        if loss.name == "hinge":
            gap = 1 - y * z
            near = np.abs(gap) < SMOOTHING
            value = np.where(near, (gap + SMOOTHING) ** 2 / (4 * SMOOTHING), value)
            slope = np.where(near, -y * (gap + SMOOTHING) / (2 * SMOOTHING), slope)
        w_slope = np.append(X.T @ slope / n + penalty * w[:-1], slope.mean() * intercept)
        return value.mean() + penalty / 2 * w[:-1] @ w[:-1], w_slope

    found = minimize(smooth, np.zeros(X.shape[1] + 1), jac=True, options={"maxiter": 3000})
    return objective(loss, penalty, X, y, found.x[:-1], found.x[-1])


def data(setting, seed, given):
    X, y, model = problem(*setting, seed)
    facts = LOSSES[setting[1]], setting[4], X, y
    least = optimum(*facts, model.fit_intercept)
    return model, facts, least, objective(*facts, np.zeros(X.shape[1]), 0.0) - least


def score(found, solver, seed, given):
    model, facts, least, way = found
    model.set_params(solver=solver or given.solver, random_state=seed)
    if given.delta is not None:
        model.set_params(delta=given.delta)
    try:
        model.fit(*facts[2:])
    except UnsupportedCombinationError:
        return np.nan
    coef, level = np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])
    return (objective(*facts, coef, level) - least) / way


def summary(found, usual):
    return ratios(found, usual, middle, floor=1e-5)
