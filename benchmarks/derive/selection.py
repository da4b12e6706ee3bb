"""Many columns for a budget: from how many on to select some, and how many to keep.

Six kinds of generated tables: raw ones as people have them (`datasets/tables.py`), many columns
over few factors, independent columns of which a few or all matter, one-hot groups, and numbers
beside one-hot groups; numbers and two classes. Sizes are rows, columns and epsilon. The score is
R^2 on fresh rows (of classes the share of the way from a coin to 1 that the area under the ROC
curve goes), and the same of ridge or logistic regression without privacy. The table has the part of
the second that the first keeps: the mean over problems and seeds, the worst tenth, the worst, the
share below a quarter, and the mean less that of the rule as it is.
"""

from __future__ import annotations

import math
import warnings
import zlib
from functools import partial

import numpy as np

from benchmarks.datasets.tables import table
from benchmarks.derive.harness import Candidate
from privlearn import LinearRegression, LogisticRegression
from privlearn.private_bounds import selection

SEEDS, FRESH = 5, 2_000
LN_3 = math.log(3.0)
SIZES = (
    (2_500, 128, LN_3),
    (3_000, 100, LN_3),
    (4_000, 300, 0.3),
    (5_000, 300, 1.0),
    (7_000, 160, LN_3),
    (7_000, 250, LN_3),
    (7_000, 350, LN_3),
    (7_000, 600, LN_3),
    (10_000, 600, 1.0),
    (20_000, 300, 0.3),
    (20_000, 500, 1.0),
)
MODELS = {"number": LinearRegression, "classes": partial(LogisticRegression, classes=[0, 1])}
LEAST = 0.05  # of a reference, below which there is nothing to keep
RARE = 0.02  # share of a class, below which a table is passed over
NEVER = 1e9


def arguments(parser):
    parser.add_argument("--rows", type=int, default=0, help="sizes with so many rows alone")
    parser.add_argument("--first", type=int, default=100, help="seed of the tables")


def homes(given):
    return (selection,)


def candidates(given):
    """Nothing is selected; by the root of n mu alone, as it was; fewer and more than by rule."""
    by_root = {"PER_KEPT": NEVER, "PER_COLUMN": NEVER}
    found = {"all": {"TOO_MANY": NEVER, "PER_COLUMN": 1e-9}, "by root": by_root}
    found |= {f"{each} per kept": {"PER_KEPT": float(each)} for each in (10, 20)}
    return {name: Candidate(constants) for name, constants in found.items()}


def problems(given):
    for n, p, epsilon in SIZES:
        if given.rows in (0, n):
            for kind in KINDS:
                for task in MODELS:
                    label = f"{kind}, {task}, {n} x {p}, epsilon {epsilon:.2g}"
                    yield label, (kind, task, n, p, epsilon)


def raw(rng, n, p):
    return table(int(rng.integers(2**31)), n, p)


def few_factors(rng, n, p):
    factors = max(2, int(p ** rng.uniform(0.4, 0.7)))
    falls = np.arange(1, factors + 1)[:, None] ** -rng.uniform(0.0, 0.7)
    X = rng.standard_normal((n, factors)) @ (rng.standard_normal((factors, p)) * falls)
    X = X / X.std(axis=0) + rng.uniform(0.1, 0.8) * rng.standard_normal((n, p))
    weights = rng.standard_normal(p) * (rng.random(p) < rng.uniform(0.05, 1.0))
    return _in_units(X, rng), _noisy(X @ weights, rng)


def a_few_matter(rng, n, p):
    X = rng.standard_normal((n, p))
    used = rng.permutation(p)[: int(rng.integers(3, 30))]
    return _in_units(X, rng), _noisy(X[:, used] @ rng.choice([-1.0, 1.0], len(used)), rng)


def all_matter(rng, n, p):
    X = rng.standard_normal((n, p))
    return _in_units(X, rng), _noisy(X @ rng.standard_normal(p), rng)


def one_hot(rng, n, p):
    groups = max(2, p // 12)
    sizes = np.maximum(2, rng.multinomial(p, np.full(groups, 1.0 / groups)))
    parts, effect = [], np.zeros(n)
    for size in sizes:
        shares = np.arange(1.0, size + 1) ** -rng.uniform(0.5, 2.0)
        chosen = rng.choice(size, n, p=shares / shares.sum())
        parts.append(np.eye(size)[chosen])
        effect += rng.standard_normal(size)[chosen]
    return np.hstack(parts), _noisy(effect, rng)


def mixed(rng, n, p):
    """Raw numbers, and one-hot groups, each with a part of the signal."""
    numbers, first = table(int(rng.integers(2**31)), n, p // 2)
    flags, second = one_hot(rng, n, p - p // 2)
    signal = rng.uniform(0.5, 1.0) * _standard(first) + rng.uniform(0.5, 1.0) * _standard(second)
    return np.hstack([numbers, flags]), signal


KINDS = {
    "raw": raw,
    "few factors": few_factors,
    "a few matter": a_few_matter,
    "all matter": all_matter,
    "one-hot": one_hot,
    "mixed": mixed,
}


def _standard(values):
    return (values - values.mean()) / (values.std() or 1.0)


def _in_units(X, rng):
    return X * 10.0 ** rng.uniform(-2.0, 2.0, X.shape[1])


def _noisy(signal, rng):
    return _standard(signal) + rng.uniform(0.2, 1.0) * rng.standard_normal(len(signal))


def data(problem, seed, given):
    """Rows to learn from, fresh ones, and what is reached without privacy."""
    kind, task, n, p, epsilon = problem
    rng = np.random.default_rng([given.first + seed, zlib.crc32(repr(problem).encode())])
    X, y = KINDS[kind](rng, n + FRESH, p)
    if task == "classes":
        y = (y > np.quantile(y, 1.0 - rng.uniform(0.25, 0.5))).astype(int)
        if min(y[:n].mean(), 1.0 - y[:n].mean()) < RARE:
            return None  # many equal targets
    old, fresh = (X[:n], y[:n]), (X[n:], y[n:])
    reference = _reached(_without_privacy(task).fit(*old), fresh, task)
    return task, epsilon, old, fresh, reference


def _without_privacy(task):
    from sklearn.linear_model import LogisticRegression as Logistic
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    last = Logistic(C=0.1) if task == "classes" else RidgeCV(np.logspace(-2, 4, 7))
    return make_pipeline(StandardScaler(), last)


def _reached(model, rows, task):
    from sklearn.metrics import roc_auc_score

    X, y = rows
    if task == "number":
        return model.score(X, y)
    return 2.0 * roc_auc_score(y, model.decision_function(X)) - 1.0


def score(found, choice, seed, given):
    if found is None:
        return math.nan, math.nan
    task, epsilon, old, fresh, reference = found
    made = MODELS[task](epsilon=epsilon, delta=1e-5, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _reached(made.fit(*old), fresh, task), reference


def summary(found, usual):
    def kept(scores):
        return scores[..., 0] / np.maximum(scores[..., 1], LEAST)

    own = kept(found)
    worst = np.sort(own[np.isfinite(own)])[: max(1, own.size // 10)]
    return {
        "mean": np.nanmean(own),
        "worst 10%": worst.mean(),
        "worst": np.nanmin(own),
        "< 1/4": np.mean(own < 0.25),
        "gain": np.nanmean(own - kept(usual)),
    }
