"""The forecast of fits that find out about columns first, over what fits of such tables show.

`plan()` of `schema="estimate"` has room for long lists in all columns; its forecast is of as many
features as are usually found (USUAL_FEATURES for each column). Tables have numbers, 0/1 columns and
lists of text, 5,000 or 20,000 rows, a number for even seeds and two classes for odd ones. For each
kind of table the numbers are the share of epsilons (0.1 to 10) for which told / seen is between 0.5
and 2, below that and above, and the median of told / seen.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd

from privlearn import LinearRegression, LogisticRegression
from privlearn.linear_model import discovered

SEEDS = 4
EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
DELTA = 1e-6
# Numbers, 0/1 columns, lists, and values of each list.
TABLES = {
    "numbers": (11, 0, 0, 0),
    "mixed": (5, 3, 3, 6),
    "lists": (3, 1, 7, 8),
    "few": (3, 0, 2, 4),
}


def arguments(parser):
    parser.add_argument("--fits", type=int, default=6, help="per table and epsilon")


def homes(given):
    return (discovered,)


def problems(given):
    return TABLES.items()


def data(kind, seed, given):
    n = (5_000, 20_000)[seed // 2 % 2]
    rng = np.random.default_rng([73, seed, *kind])
    columns, signal = {}, np.zeros(n)
    for name, (entries, effect) in drawn(rng, n, *kind).items():
        columns[name], signal = entries, signal + effect
    y = signal / signal.std() + rng.normal(size=n)
    return pd.DataFrame(columns), (y > np.median(y)).astype(int) if seed % 2 else y, bool(seed % 2)


def drawn(rng, n, numbers, flags, lists, values):
    """Entries of each column, and what they add to the target."""
    found = {}
    for k in range(numbers):
        x = rng.gamma(2.0, 1.0, n) if k % 2 else rng.normal(size=n)
        found[f"x{k}"] = np.round(x * 10.0 ** (k % 3), 3), rng.normal() * x
    for k in range(flags):
        there = rng.random(n) < rng.uniform(0.05, 0.5)
        found[f"f{k}"] = there.astype(int), rng.normal() * there
    for k in range(lists):
        chosen = rng.choice(values, n, p=rng.dirichlet(np.full(values, 2.0)))
        texts = np.array([f"v{j}" for j in range(values)])
        found[f"c{k}"] = texts[chosen], rng.normal(size=values)[chosen]
    return found


def score(found, choice, seed, given):
    X, y, classes = found
    cls, facts = (LogisticRegression, {"classes": [0, 1]}) if classes else (LinearRegression, {})
    ratios = []
    for epsilon in EPSILONS:
        model = cls(epsilon=epsilon, delta=DELTA, schema="estimate", **facts)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            told = model.plan(n=len(X), n_features=X.shape[1]).forecast().relative
            predicted = [predictions(model, seed, X, y, classes) for seed in range(given.fits)]
        seen = float(np.sqrt(np.var(predicted, axis=0, ddof=1).mean()))
        ratios.append(told / (seen if classes else seen / y.std()))
    known = np.array([one for one in ratios if np.isfinite(one)])
    low, high = np.mean(known < 0.5), np.mean(known > 2.0)
    return np.array([1.0 - low - high, low, high, np.median(known)])


def predictions(model, seed, X, y, classes):
    model.set_params(random_state=seed).fit(X, y)
    return model.predict_proba(X)[:, 1] if classes else model.predict(X)


def summary(found, usual):
    good, low, high, half = found.reshape(-1, 4).mean(axis=0)
    return {"below": low, "within 2": good, "above": high, "median": half}
