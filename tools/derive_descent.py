# ruff: noqa: ANN001, ANN201, ANN202
"""Compare numbers of a solver's rule on generated data, never on a benchmark's.

    python tools/derive_descent.py [--solver NAME] [--delta D] [--seeds K] [--only PART]
                                   [--also SOLVER ...] [NAME=VALUE ...]

Each NAME is a constant of the solver's module of rules. For every problem it prints what a private
fit loses of the way from the zero model to the optimum of its objective (median over seeds), by the
rule as it is; then, for each change alone and for other solvers, the geometric mean of the ratio to
that, and the ratio for each problem. Below 1 is better.
"""

from __future__ import annotations

import argparse
import math

import numpy as np
from scipy.optimize import minimize

from privlearn import HuberRegressor, LinearSVC, LogisticRegression, Ridge
from privlearn._objective.losses import Hinge, Logistic, Squared, SquaredHinge
from privlearn.exceptions import UnsupportedCombinationError
from privlearn.solvers.dual_coordinate_descent import rules as scd_rule
from privlearn.solvers.one_pass import rules as one_pass_rule
from privlearn.solvers.output_perturbation import rules as output_rule
from privlearn.solvers.sgd import rules as sgd_rule

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


def features(kind, n, p, rng):
    """Rows of length 1, or in a box with an intercept."""
    if kind == "box":
        return rng.standard_normal((n, p)) * np.geomspace(1.0, 0.3, p) + rng.uniform(-1, 1, p)
    if kind == "groups":
        sizes = [6] * (p // 6)
        X = np.hstack(
            [np.eye(k)[rng.choice(k, n, p=rng.dirichlet(np.full(k, 0.6)))] for k in sizes]
        )
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


def lost(settings, solvers, seeds, rule, delta):
    """Share of the way to the optimum that is lost, (problems, solvers)."""
    found = np.empty((len(settings), len(solvers)))
    for k, setting in enumerate(settings):
        shares = np.empty((seeds, len(solvers)))
        for seed in range(seeds):
            X, y, model = problem(*setting, seed)
            loss, penalty = LOSSES[setting[1]], setting[4]
            least = optimum(loss, penalty, X, y, model.fit_intercept)
            way = objective(loss, penalty, X, y, np.zeros(X.shape[1]), 0.0) - least
            for s, (solver, change) in enumerate(solvers):
                before = {name: getattr(rule, name) for name in change}
                vars(rule).update(change)
                model.set_params(solver=solver, random_state=seed)
                if delta is not None:
                    model.set_params(delta=delta)
                try:
                    model.fit(X, y)
                except UnsupportedCombinationError:
                    shares[seed, s] = np.nan
                    continue
                finally:
                    vars(rule).update(before)
                coef, level = np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])
                shares[seed, s] = (objective(loss, penalty, X, y, coef, level) - least) / way
        found[k] = np.median(shares, axis=0)
        print(*setting, " ".join(f"{share:.5f}" for share in found[k]), flush=True)
    return found


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("changes", nargs="*")
    parser.add_argument("--solver", choices=sorted(RULES), default="scd")
    parser.add_argument("--delta", type=float, default=None)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--also", nargs="*", default=[])
    given = parser.parse_args()
    solvers = {"as it is": (given.solver, {})}
    for change in given.changes:
        pairs = (part.split("=") for part in change.split(","))
        solvers[change] = (given.solver, {name: float(value) for name, value in pairs})
    solvers |= {name: (name, {}) for name in given.also}
    settings = [s for s in PROBLEMS if given.only in " ".join(map(str, s))]
    print("columns:", ", ".join(solvers))
    rule = RULES[given.solver]
    found = lost(settings, list(solvers.values()), given.seeds, rule, given.delta)
    for name, column in zip(solvers, found.T, strict=True):
        ratios = (column + 1e-5) / (found[:, 0] + 1e-5)
        mean = math.exp(float(np.nanmean(np.log(ratios))))
        print(f"{name:18s} {mean:5.2f}  " + " ".join(f"{ratio:5.2f}" for ratio in ratios))


if __name__ == "__main__":
    main()
