"""Settings of SGD's rule, on generated problems (sgd/proof.md, "The rule").

The score is what privacy costs against scikit-learn without privacy on 20,000 fresh rows: excess
log-loss and lost accuracy. The table has their means over problems and seeds, and the accuracy lost
on the worst problem.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from benchmarks.datasets.generated import members
from privlearn import LogisticRegression
from privlearn.solvers._common import batches
from privlearn.solvers.sgd import rules as sgd_rule

SEEDS = 2
SIZES = [(3_000, 10), (10_000, 40), (40_000, 100)]
EPSILONS = [0.1, 1.0, 3.0]
STRENGTHS = [1.5, 4.0]  # standard deviation of the true log-odds
FRESH = 20_000


def even(rng, n, p):
    """Independent features that fill their box."""
    X = rng.uniform(-1, 1, (n, p))
    return X, X @ rng.standard_normal(p), {"bounds_X": (-1, 1)}


def narrow(rng, n, p):
    """Features of very different spread, most far narrower than their box."""
    spread = np.geomspace(1, 0.1, p)
    rotation = np.linalg.qr(rng.standard_normal((p, p)))[0]
    X = np.clip(rng.standard_normal((n, p)) @ rotation * spread / 3, -1, 1)
    return X, X @ (rng.standard_normal(p) / np.sqrt(spread)), {"bounds_X": (-1, 1)}


def people(rng, n, p):
    """One-hot groups of uneven sizes beside four numbers in [0, 1], with a declared row norm."""
    groups = max(2, p // 12)
    columns = [rng.beta(a, b, (n, 1)) for a, b in [(2, 3), (5, 2), (0.2, 4), (4, 4)]]
    for _ in range(groups):
        size = max(2, int(rng.integers(2, 2 * (p - 4) // groups)))
        columns.append(members(rng, n, size, 0.5))
    X = np.hstack(columns)
    coef = rng.standard_normal(X.shape[1]) * np.where(np.arange(X.shape[1]) < 4, 3, 1)
    return X, X @ coef, {"bounds_X": (0, 1), "data_norm": float(np.sqrt(3 + groups))}


def standard(rng, n, p):
    """Standard normal features with only a row norm declared."""
    X = rng.standard_normal((n, p))
    return X, X @ rng.standard_normal(p), {"data_norm": 1.1 * float(np.sqrt(p + 1))}


FAMILIES = (even, narrow, people, standard)


def homes(given):
    return (sgd_rule, batches)


def problems(given):
    for setting in product(FAMILIES, SIZES, STRENGTHS):
        rows, fresh, facts, baseline = _drawn(*setting)
        family, (n, p), strength = setting
        for epsilon in EPSILONS:
            label = f"{family.__name__} {n} {p} {strength} {epsilon}"
            yield label, (rows, fresh, facts | {"epsilon": epsilon}, baseline)


def _drawn(family, size, strength):
    """Training rows, fresh rows, the facts to learn with, and what is reached without privacy."""
    from sklearn.linear_model import LogisticRegression as NonPrivate

    n, p = size
    rng = np.random.default_rng(1)
    X, score, facts = family(rng, n + FRESH, p)
    score = (score - score.mean()) / score.std() * strength - 0.5 * strength
    y = (rng.random(len(score)) < 1 / (1 + np.exp(-score))).astype(int)
    rows, fresh = (X[:n], y[:n]), (X[n:], y[n:])
    return rows, fresh, facts, _reached(NonPrivate(max_iter=500).fit(*rows), *fresh)


def _reached(model, X, y):
    """Log-loss and accuracy, the second with its sign turned so that less is better."""
    from sklearn.metrics import log_loss

    return np.array([log_loss(y, model.predict_proba(X)), -model.score(X, y)])


def data(problem, seed, given):
    return problem


def score(found, choice, seed, given):
    rows, fresh, parameters, baseline = found
    model = LogisticRegression(random_state=seed, **parameters).fit(*rows)
    return _reached(model, *fresh) - baseline


def summary(found, usual):
    loss, accuracy = found.mean(axis=(0, 1))
    worst = found[..., 1].mean(axis=1).max()
    return {"log-loss": loss, "accuracy": accuracy, "worst": worst}
