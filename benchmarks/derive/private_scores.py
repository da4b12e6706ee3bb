"""Shares and weights of private scores, on generated data with hostile ones among it.

The score of a run is the geometric mean of the widths of its intervals, each over the range of its
metric, and beside it the share of intervals that cover the population's value. The table has the
geometric mean of the widths over those of the rule as it is, the same at its worst problem, and the
share that covers.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.special import expit
from sklearn.metrics import roc_auc_score

from benchmarks.datasets.scored import Probabilities, Values, log_odds, two_normals
from privlearn.metrics import evaluate, evaluation, losses, numbers, score_tree

SEEDS = 5
EPSILONS = (0.1, 1.0, 3.0)
POPULATION = 400_000
# rows, share of the second class, standard deviation of the log-odds, or what else is the matter
CLASSES = {
    "30 %": (10_000, 0.3, 1.2),
    "2 %": (10_000, 0.02, 1.2),
    "few rows": (1_000, 0.4, 1.0),
    "many rows": (100_000, 0.1, 1.5),
    "sharp": (10_000, 0.5, 5.0),
    "dull": (10_000, 0.3, 0.1),
    "seven leaves": (10_000, 0.3, 1.2),
    "too sure": (10_000, 0.3, 1.2),
}
# rows, correlation of target and prediction, width of the range in standard deviations
NUMBERS = {
    "line": (10_000, 0.85, 8.0),
    "weak line": (10_000, 0.3, 8.0),
    "wide range": (10_000, 0.85, 40.0),
    "many rows of a line": (100_000, 0.85, 8.0),
    "few rows of a line": (1_000, 0.85, 8.0),
    "skewed": (10_000, 0.85, 12.0),
    "two values": (10_000, 0.6, 2.0),
}


def homes(given):
    return evaluation, losses, numbers, score_tree


def problems(given):
    for epsilon in EPSILONS:
        for kind in (*CLASSES, *NUMBERS):
            yield f"{kind}, epsilon {epsilon:g}", (kind, epsilon)


def classes(kind, n, rng):
    """Predicted probabilities and labels."""
    odds, y = log_odds(rng, n, *CLASSES[kind][1:])
    if kind == "seven leaves":
        odds = np.round(odds)
    if kind == "too sure":
        odds *= 4.0
    return expit(odds), y


def values(kind, n, rng):
    """Predictions and targets."""
    x, y = two_normals(rng, n, NUMBERS[kind][1])
    if kind == "skewed":
        return np.exp(0.6 * x), np.exp(0.6 * y)
    if kind == "two values":
        return expit(2.5 * x), (y > 0).astype(float)
    return x, y


def bounds(kind):
    width = NUMBERS[kind][2]
    return {"skewed": (0.0, width), "two values": (0.0, 1.0)}.get(kind, (-width / 2, width / 2))


@cache
def truth(kind):
    """The population's value of each metric."""
    rng = np.random.default_rng(12345)
    if kind in CLASSES:
        p, y = classes(kind, POPULATION, rng)
        right = np.where(y == 1, p, 1.0 - p)
        return {
            "auc": roc_auc_score(y, p),
            "accuracy": np.mean((p > 0.5) == y),
            "log_loss": -np.log(np.maximum(right, losses.FLOOR)).mean(),
            "brier": np.mean((p - y) ** 2),
        }
    p, y = (np.clip(one, *bounds(kind)) for one in values(kind, POPULATION, rng))
    squared = np.mean((p - y) ** 2)
    return {"r2": 1.0 - squared / y.var(), "mse": squared, "mae": np.abs(p - y).mean()}


def data(setting, seed, given):
    kind, epsilon = setting
    rng = np.random.default_rng([seed, len(kind)])
    n = (CLASSES | NUMBERS)[kind][0]
    found = classes(kind, n, rng) if kind in CLASSES else values(kind, n, rng)
    return kind, epsilon, found, truth(kind)


def score(found, choice, seed, given):
    kind, epsilon, (answers, y), true = found
    numeric = kind in NUMBERS
    model, known = (Values(), {"bounds_y": bounds(kind)}) if numeric else (Probabilities(), {})
    result = evaluate(
        model, answers[:, None], y, epsilon=epsilon, delta=1e-6, random_state=seed, **known
    )
    widths, covered = [], []
    for name, value in true.items():
        one = getattr(result, name)
        low, high = one.ends
        span = 1.0 if not np.isfinite(low) else high - low
        widths.append(min((one.high - one.low) / span, 2.0) + 1e-4)
        covered.append(one.low <= value <= one.high)
    return float(np.exp(np.mean(np.log(widths)))), float(np.mean(covered))


def summary(found, usual):
    ratio = np.log(found[..., 0] / usual[..., 0])
    return {
        "width": float(np.exp(ratio.mean())),
        "worst": float(np.exp(ratio.mean(axis=1).max())),
        "covers": float(found[..., 1].mean()),
    }
