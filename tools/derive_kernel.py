# ruff: noqa: ANN001, ANN201
"""Compare numbers of the kernel models' rule on generated data, never on a benchmark's.

    python tools/derive_kernel.py [--seeds K] [--only PART] [--classes] [NAME=VALUE ...]

Each NAME is a constant of a module of `privlearn.kernel_model`; commas join changes. For every
problem it prints the score on fresh rows (R^2, or accuracy with --classes) by the rule as it is and
with each change alone, and at the end their means. The first column is the linear model.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

from privlearn import KernelClassifier, KernelRegressor, LinearRegression, LogisticRegression
from privlearn.kernel_model import base, feature_map, on_features, ranks

KINDS = ("additive", "bumps", "smooth", "interact", "linear")
SIZES = [(2, 20_000, 1.0), (8, 20_000, 1.0), (8, 3_000, 1.0), (5, 20_000, 0.3), (20, 50_000, 1.0)]
FRESH = 5_000
HOMES = (base, feature_map, on_features, ranks)


def target(kind, U, rng):
    """A function of features that are uniform on [-1, 1]."""
    p = U.shape[1]
    if kind == "additive":
        return sum(np.sin((1 + k % 3) * U[:, k] * 2 + k) / (1 + k) for k in range(p))
    if kind == "bumps":  # local structure in two features, linear in the others
        centres, heights = rng.uniform(-1, 1, (12, 2)), rng.standard_normal(12)
        distances = ((U[:, None, :2] - centres) ** 2).sum(axis=2)
        f = np.exp(-distances / (2 * 0.3**2)) @ heights
        rest = U[:, 2:] @ rng.standard_normal(p - 2) * np.sqrt(3 / max(p - 2, 1))
        return f / f.std() + rest
    if kind == "smooth":
        W, phases = rng.standard_normal((p, 40)) / (0.7 * np.sqrt(p)), rng.uniform(0, 2 * np.pi, 40)
        return np.cos(2 * (U @ W) + phases) @ rng.standard_normal(40)
    if kind == "interact":
        bent = 0.7 * U[:, 0] * U[:, 1] + 0.5 * np.abs(U[:, -1]) + 0.3 * (U[:, 1] > 0)
        return U[:, 0] + bent
    return U @ rng.standard_normal(p)


def problem(kind, p, n, seed):
    """Rows to learn from and fresh ones; the function explains some 70 % of y."""
    rng = np.random.default_rng([seed, n, p, KINDS.index(kind)])
    U = rng.uniform(-1, 1, (n + FRESH, p))
    f = target(kind, U, rng)
    y = np.clip(0.3 * (f - f.mean()) / f.std() + 0.2 * rng.standard_normal(len(f)), -1, 1)
    return U[:n], y[:n], U[n:], y[n:]


def score(model, data, classes):
    """On fresh rows."""
    X, y, fresh_X, fresh_y = data
    if classes:
        middle = 0.0
        y, fresh_y = (y > middle).astype(int), (fresh_y > middle).astype(int)
    return model.fit(X, y).score(fresh_X, fresh_y)


def changed(change, fit):
    """The result of `fit` while constants have other values."""
    before = []
    for name, value in change.items():
        homes = [home for home in HOMES if hasattr(home, name)]
        before += [(home, name, getattr(home, name)) for home in homes]
        for home in homes:
            setattr(home, name, value)
    try:
        return fit()
    finally:
        for home, name, value in before:
            setattr(home, name, value)


def main():
    """Print the table."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("changes", nargs="*")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--classes", action="store_true")
    given = parser.parse_args()
    changes = {"as it is": {}}
    for text in given.changes:
        pairs = (part.split("=") for part in text.split(","))
        changes[text] = {name: float(value) for name, value in pairs}
    print("columns: linear,", ", ".join(changes))
    facts = {"bounds_X": (-1, 1)} | (
        {"classes": [0, 1]} if given.classes else {"bounds_y": (-1, 1)}
    )
    line, curve = (
        (LogisticRegression, KernelClassifier)
        if given.classes
        else (LinearRegression, KernelRegressor)
    )
    rows = []
    for kind in KINDS:
        for p, n, epsilon in SIZES:
            if given.only not in f"{kind} {p} {n} {epsilon}":
                continue
            found = np.zeros(1 + len(changes))
            for seed in range(given.seeds):
                data = problem(kind, p, n, seed)
                common = facts | {"epsilon": epsilon, "random_state": seed}
                found[0] += score(line(**common), data, given.classes)
                for k, change in enumerate(changes.values()):
                    fit = lambda: score(curve(**common), data, given.classes)  # noqa: B023, E731
                    found[k + 1] += changed(change, fit)
            rows.append(found / given.seeds)
            print(kind, p, n, epsilon, " ".join(f"{x:.3f}" for x in rows[-1]), flush=True)
    print("mean", " ".join(f"{x:.4f}" for x in np.mean(rows, axis=0)))


if __name__ == "__main__":
    main()
