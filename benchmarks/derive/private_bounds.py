"""Numbers of the rules for estimated ranges, on generated tables.

The score is the R^2 on fresh rows of `LinearRegression` with nothing declared, and that of ordinary
least squares. The table has the part of the second that the first keeps, by table (each within -1
and 1.2): the mean, the share of tables with at least 0.9, the mean of the worst tenth, and the
smallest R^2 of all runs.
"""

from __future__ import annotations

import math

import numpy as np

from benchmarks.datasets.tables import table
from privlearn import LinearRegression
from privlearn.private_bounds import declared, powers, ranges, selection, steady
from privlearn.private_bounds import solver as purchase
from privlearn.solvers.coordinate_descent import rules

SEEDS = 2
FEWEST_TABLES = 10  # of which a tenth is one


def arguments(parser):
    parser.add_argument("--tables", type=int, default=36)
    parser.add_argument("--epsilon", type=float, default=math.log(3))
    parser.add_argument("--rows", type=int, default=None)


def homes(given):
    return purchase, powers, ranges, steady, declared, selection, rules


def problems(given):
    return ((f"table {k}", k) for k in range(given.tables))


def data(number, seed, given):
    """Nine tenths of a table to learn from, the rest for the score, and least squares' score."""
    from sklearn.linear_model import LinearRegression as LeastSquares
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y = table(number, n=given.rows)
    order = np.random.default_rng([number, seed]).permutation(len(y))
    fresh, old = order[: len(y) // 10], order[len(y) // 10 :]
    reference = make_pipeline(StandardScaler(), LeastSquares()).fit(X[old], y[old])
    return (X[old], y[old]), (X[fresh], y[fresh]), reference.score(X[fresh], y[fresh])


def score(found, choice, seed, given):
    old, fresh, reference = found
    model = LinearRegression(epsilon=given.epsilon, delta=1e-5, random_state=seed)
    return model.fit(*old).score(*fresh), reference


def summary(found, usual):
    reached, reference = np.median(found[..., 0], axis=1), np.mean(found[..., 1], axis=1)
    kept = np.clip(reached / np.maximum(reference, 0.05), -1.0, 1.2)
    worst = np.sort(kept)[: max(1, len(kept) // FEWEST_TABLES)]
    return {
        "mean": kept.mean(),
        ">= 0.9": np.mean(kept >= 0.9),
        "worst": worst.mean(),
        "least R^2": found[..., 0].min(),
    }
