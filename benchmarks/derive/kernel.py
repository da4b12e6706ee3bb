"""Numbers of the kernel models' rule, on generated data.

The score is that on fresh rows: R^2, or accuracy with --classes. The table has its mean.
"""

from __future__ import annotations

import warnings

import numpy as np

from benchmarks.derive.harness import Candidate
from privlearn import KernelClassifier, KernelRegressor, LinearRegression, LogisticRegression
from privlearn.kernel_model import base, feature_map, on_features, ranks

SEEDS = 2
KINDS = ("additive", "bumps", "smooth", "interact", "linear")
SIZES = [(2, 20_000, 1.0), (8, 20_000, 1.0), (8, 3_000, 1.0), (5, 20_000, 0.3), (20, 50_000, 1.0)]
FRESH = 5_000
LINEAR = "linear model"


def arguments(parser):
    parser.add_argument("--classes", action="store_true")


def homes(given):
    return base, feature_map, on_features, ranks


def candidates(given):
    return {LINEAR: Candidate(choice=LINEAR)}


def problems(given):
    return (
        (f"{kind} {p} {n} {epsilon}", (kind, p, n, epsilon))
        for kind in KINDS
        for p, n, epsilon in SIZES
    )


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


def data(setting, seed, given):
    """Rows to learn from and fresh ones; the function explains some 70 % of y."""
    kind, p, n, epsilon = setting
    rng = np.random.default_rng([seed, n, p, KINDS.index(kind)])
    U = rng.uniform(-1, 1, (n + FRESH, p))
    f = target(kind, U, rng)
    y = np.clip(0.3 * (f - f.mean()) / f.std() + 0.2 * rng.standard_normal(len(f)), -1, 1)
    y = (y > 0.0).astype(int) if given.classes else y
    return (U[:n], y[:n]), (U[n:], y[n:]), epsilon


def score(found, choice, seed, given):
    rows, fresh, epsilon = found
    facts = {"classes": [0, 1]} if given.classes else {"bounds_y": (-1, 1)}
    line, curve = (
        (LogisticRegression, KernelClassifier)
        if given.classes
        else (LinearRegression, KernelRegressor)
    )
    model = (line if choice == LINEAR else curve)(
        bounds_X=(-1, 1), epsilon=epsilon, random_state=seed, **facts
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(*rows).score(*fresh)


def summary(found, usual):
    return {"mean": found.mean()}
