"""Numbers of coordinate descent's rule and of estimated ranges, on hostile tables.

The score is what `Ridge` or `LogisticRegression` with nothing declared keeps of the way from the
best constant to scikit-learn's fit, as in `choice/failures`, on tables of `datasets/hostile.py`
with seeds that no page uses, and on one kind more: amounts that most people have none of and a few
have as much of as the form allows, beside one-hot groups. The table has the mean of what is kept
(each within -1 and 1.2), its 10th percentile, the worst, and the share of fits below one half.
"""

from __future__ import annotations

import warnings

import numpy as np

from benchmarks.choice import failures
from benchmarks.datasets import hostile
from privlearn import LogisticRegression, Ridge
from privlearn.private_bounds import declared, powers, ranges, steady
from privlearn.private_bounds import solver as bounds
from privlearn.solvers._common import histograms
from privlearn.solvers.coordinate_descent import rules

SEEDS = 8
FIRST = 20_000  # pages use seeds from 0 on
CAPPED = "capped amounts"


def arguments(parser):
    parser.add_argument("--epsilon", type=float, default=3.0)
    parser.add_argument("--fits", type=int, default=2, help="per table")


def homes(given):
    return rules, histograms, bounds, powers, ranges, steady, declared


def problems(given):
    return ((kind, kind) for kind in (*hostile.KINDS, CAPPED))


def data(kind, seed, given):
    """A table, and losses of the best constant and of scikit-learn's fit; None if those agree."""
    one = capped_amounts(FIRST + seed) if kind == CAPPED else hostile.table(kind, FIRST + seed)
    constant, optimum = failures.of_constant(one), failures.loss(one, failures.Reference(one).model)
    worth = optimum <= (1.0 - failures.WORTH_LEARNING) * constant
    return (one, constant, optimum) if worth else None


def capped_amounts(seed):
    """One-hot groups that get rarer, numbers, and rare amounts with a pile at their end."""
    rng = np.random.default_rng([7, seed])
    plain = hostile.one_hot(rng)
    n, p = len(plain.signal), int(rng.integers(1, 4))
    there = rng.random((n, p)) < rng.uniform(0.02, 0.2, p)
    amounts = np.where(there, np.exp(rng.normal(8.0, 1.0, (n, p))), 0.0)
    capped = there & (rng.random((n, p)) < rng.uniform(0.0, 0.1, p))
    X = np.where(capped, 99_999.0, np.minimum(amounts, 99_999.0))
    signal = plain.signal + (X > 5_000.0) @ rng.uniform(0.5, 2.0, p)
    signal = signal + 0.7 * signal.std() * rng.standard_normal(n)
    y = signal if seed % 2 == 0 else (signal > np.quantile(signal, 0.75)).astype(float)
    return hostile.Table(np.hstack([plain.X, X]), y, "number" if seed % 2 == 0 else "two classes")


def score(found, choice, seed, given):
    if found is None:
        return np.full(given.fits, np.nan)
    one, constant, optimum = found
    cls = Ridge if one.task == "number" else LogisticRegression
    kept = []
    for repeat in range(given.fits):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = cls(epsilon=given.epsilon, random_state=1_000 * seed + repeat)
            model.fit(one.X[: one.n], one.y[: one.n])
        kept.append((constant - failures.loss(one, model)) / (constant - optimum))
    return np.array(kept)


middle = np.nanmean


def summary(found, usual):
    kept = np.clip(found[np.isfinite(found)], -1.0, 1.2)
    return {
        "mean": kept.mean(),
        "10 %": np.quantile(kept, 0.1),
        "worst": kept.min(),
        "below 0.5": np.mean(kept < failures.HALF),
    }
