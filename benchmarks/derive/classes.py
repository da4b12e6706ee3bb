"""Numbers of coordinate descent's rule for labels, of two and of several classes.

The score is the accuracy of `LogisticRegression` with nothing declared on fresh rows, less that of
scikit-learn's on standardised columns, in points; where one class is rare, 100 times the difference
of the areas under the ROC curve. With ``--measure loss`` it is the part of the way from a constant
to scikit-learn's fit that the log-loss keeps, less 1, in hundredths: probabilities must be right,
too. With ``--measure rate`` it is how far the mean prediction for the rarest class is from its
share, as a logarithm, in hundredths. The table has the mean over problems of their medians, the
worst run of all, and the share of runs that lose more than 3 points.
"""

from __future__ import annotations

import numpy as np

from benchmarks.datasets.classes import clusters, scored
from privlearn import LogisticRegression
from privlearn._objective.losses import logistic
from privlearn.solvers import auto
from privlearn.solvers._common import histograms
from privlearn.solvers.coordinate_descent import quadratic_model, rules

SEEDS = 4
middle = np.median
FRESH = 5_000
MAKERS = {"scores": scored, "clusters": clusters}
# make, rows, columns, classes, how
PROBLEMS = [
    ("scores", 4_000, 8, 2, {"strength": 2.0}),
    ("scores", 4_000, 20, 2, {"strength": 6.0}),
    ("scores", 20_000, 10, 2, {"strength": 3.0}),
    ("scores", 20_000, 40, 2, {"strength": 8.0}),
    ("clusters", 5_000, 12, 2, {"apart": 1.0}),
    ("clusters", 15_000, 16, 2, {"apart": 1.5}),
    ("scores", 50_000, 30, 2, {"strength": 4.0}),
    ("scores", 4_000, 8, 2, {"strength": 3.0, "minority": 0.05}),
    ("scores", 10_000, 20, 2, {"strength": 2.0, "minority": 0.03}),
    ("scores", 30_000, 15, 2, {"strength": 4.0, "minority": 0.02}),
    ("scores", 3_000, 6, 2, {"strength": 4.0, "minority": 0.06}),
    ("scores", 50_000, 10, 2, {"strength": 3.0, "minority": 0.015}),
    ("scores", 5_000, 5, 2, {"strength": 1.0, "minority": 0.04}),
    ("scores", 10_000, 8, 2, {"strength": 0.7, "minority": 0.03}),
    ("clusters", 11_000, 16, 10, {"apart": 2.5}),
    ("clusters", 20_000, 16, 26, {"apart": 2.0}),
    ("clusters", 2_300, 19, 7, {"apart": 2.5}),
    ("scores", 10_000, 10, 5, {"strength": 3.0}),
    ("scores", 20_000, 30, 3, {"strength": 4.0}),
    ("clusters", 5_600, 64, 10, {"apart": 1.5}),
    ("clusters", 50_000, 20, 8, {"apart": 2.0}),
]


def arguments(parser):
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--solver", default="auto")
    parser.add_argument("--measure", choices=("rows", "loss", "rate"), default="rows")


def homes(given):
    return rules, quadratic_model, histograms, auto, logistic


def problems(given):
    for problem in PROBLEMS:
        make, n, p, classes, how = problem
        yield f"{make} {n} x {p}, {classes} classes, {how}", problem


def data(problem, seed, given):
    from sklearn.linear_model import LogisticRegression as Plain
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    make, n, p, classes, how = problem
    X, y = MAKERS[make](n + FRESH, p, classes, seed=seed, **how)
    old, fresh = (X[:n], y[:n]), (X[n:], y[n:])
    plain = make_pipeline(StandardScaler(), Plain(max_iter=2_000)).fit(*old)
    if given.measure == "rate":
        return old, fresh, classes, None
    if given.measure == "loss":
        shares = np.unique(old[1], return_counts=True)[1] / n
        constant = _log_loss(fresh[1], np.tile(shares, (FRESH, 1)), classes)
        optimum = _log_loss(fresh[1], plain.predict_proba(fresh[0]), classes)
        return old, fresh, classes, (constant, optimum)
    return old, fresh, "minority" in how, _score(plain, fresh, "minority" in how)


def _score(model, fresh, rare):
    from sklearn.metrics import roc_auc_score

    if not rare:
        return model.score(*fresh)
    return roc_auc_score(fresh[1], model.decision_function(fresh[0]))


def _log_rate(model, X, y):
    """Of what is predicted for the rarest class on these rows, over its share of them."""
    shares = np.bincount(y)
    rarest = int(shares.argmin())
    return np.log(model.predict_proba(X)[:, rarest].mean() * len(y) / shares[rarest])


def _log_loss(y, probabilities, classes):
    from sklearn.metrics import log_loss

    return log_loss(y, probabilities, labels=np.arange(classes))


def score(found, choice, seed, given):
    old, fresh, how, reference = found
    told = {"epsilon": given.epsilon, "delta": 1e-5, "random_state": seed}
    model = LogisticRegression(solver=given.solver, **told).fit(*old)
    if given.measure == "rows":
        return 100.0 * (_score(model, fresh, how) - reference)
    if given.measure == "rate":
        return -100.0 * abs(_log_rate(model, *old))
    constant, optimum = reference
    reached = _log_loss(fresh[1], model.predict_proba(fresh[0]), how)
    return 100.0 * (optimum - reached) / (constant - optimum)


def summary(found, usual):
    return {
        "mean": float(np.median(found[..., 0], axis=1).mean()),
        "worst": float(found.min()),
        "below -3": float(np.mean(found < -3.0)),
    }
