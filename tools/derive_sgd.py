"""Compare settings of SGD's rule on generated problems only (sgd/proof.md, "The rule").

    python tools/derive_sgd.py [NAME=VALUE ...]

Each NAME is a constant of `privlearn.solvers.sgd.rules`, for example REACH=5. Prints, for the rule
as it is and with each change alone, what privacy costs against scikit-learn without privacy on
20,000 fresh rows: excess log-loss and lost accuracy, averaged over problems and seeds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
from numpy.random import Generator
from sklearn.linear_model import LogisticRegression as NonPrivate
from sklearn.metrics import log_loss

from privlearn import LogisticRegression
from privlearn.solvers.sgd import rules as sgd_rule

SIZES = [(3_000, 10), (10_000, 40), (40_000, 100)]
EPSILONS = [0.1, 1.0, 3.0]
STRENGTHS = [1.5, 4.0]  # standard deviation of the true log-odds
SEEDS, FRESH = 2, 20_000
Family = Callable[[Generator, int, int], tuple[np.ndarray, np.ndarray, dict]]


def even(rng: Generator, n: int, p: int) -> tuple[np.ndarray, np.ndarray, dict]:
    """Independent features that fill their box."""
    X = rng.uniform(-1, 1, (n, p))
    return X, X @ rng.standard_normal(p), {"bounds_X": (-1, 1)}


def narrow(rng: Generator, n: int, p: int) -> tuple[np.ndarray, np.ndarray, dict]:
    """Features of very different spread, most far narrower than their box."""
    spread = np.geomspace(1, 0.1, p)
    rotation = np.linalg.qr(rng.standard_normal((p, p)))[0]
    X = np.clip(rng.standard_normal((n, p)) @ rotation * spread / 3, -1, 1)
    return X, X @ (rng.standard_normal(p) / np.sqrt(spread)), {"bounds_X": (-1, 1)}


def people(rng: Generator, n: int, p: int) -> tuple[np.ndarray, np.ndarray, dict]:
    """One-hot groups of uneven sizes beside four numbers in [0, 1], with a declared row norm."""
    groups = max(2, p // 12)
    columns = [rng.beta(a, b, (n, 1)) for a, b in [(2, 3), (5, 2), (0.2, 4), (4, 4)]]
    for _ in range(groups):
        size = max(2, int(rng.integers(2, 2 * (p - 4) // groups)))
        columns.append(np.eye(size)[rng.choice(size, n, p=rng.dirichlet(np.full(size, 0.5)))])
    X = np.hstack(columns)
    coef = rng.standard_normal(X.shape[1]) * np.where(np.arange(X.shape[1]) < 4, 3, 1)
    return X, X @ coef, {"bounds_X": (0, 1), "data_norm": float(np.sqrt(3 + groups))}


def standard(rng: Generator, n: int, p: int) -> tuple[np.ndarray, np.ndarray, dict]:
    """Standard normal features with only a row norm declared."""
    X = rng.standard_normal((n, p))
    return X, X @ rng.standard_normal(p), {"data_norm": 1.1 * float(np.sqrt(p + 1))}


FAMILIES: list[Family] = [even, narrow, people, standard]


def problems() -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict]]:
    """Training rows, fresh rows, and the facts and budget to learn with."""
    for family, (n, p), strength in product(FAMILIES, SIZES, STRENGTHS):
        rng = np.random.default_rng(1)
        X, score, facts = family(rng, n + FRESH, p)
        score = (score - score.mean()) / score.std() * strength - 0.5 * strength
        y = (rng.random(len(score)) < 1 / (1 + np.exp(-score))).astype(int)
        for epsilon in EPSILONS:
            yield X[:n], y[:n], X[n:], y[n:], facts | {"epsilon": epsilon}


def costs(X, y, fresh_X, fresh_y, parameters: dict) -> tuple[float, float]:  # noqa: ANN001
    """Excess log-loss and lost accuracy against no privacy."""
    other = NonPrivate(max_iter=500).fit(X, y)
    found = []
    for seed in range(SEEDS):
        model = LogisticRegression(random_state=seed, **parameters).fit(X, y)
        loss = log_loss(fresh_y, model.predict_proba(fresh_X))
        found.append((loss, -model.score(fresh_X, fresh_y)))
    baseline = log_loss(fresh_y, other.predict_proba(fresh_X)), -other.score(fresh_X, fresh_y)
    return tuple(np.mean(found, axis=0) - baseline)


def report(label: str) -> None:
    """One line for the rule as it is set now."""
    found = np.array([costs(*problem) for problem in problems()])
    loss, accuracy = found.mean(axis=0)
    worst = found[:, 1].max()
    print(f"{label:24} {loss:10.4f} {accuracy:14.4f} {worst:12.4f}", flush=True)


def main(changes: list[str]) -> None:
    """The rule as it is, then with each change alone."""
    print(f"{'rule':24} {'log-loss':>10} {'lost accuracy':>14} {'worst':>12}")
    report("as it is")
    for change in changes:
        name, value = change.split("=")
        before = getattr(sgd_rule, name)
        setattr(sgd_rule, name, type(before)(float(value)))
        report(change)
        setattr(sgd_rule, name, before)


if __name__ == "__main__":
    main(sys.argv[1:])
