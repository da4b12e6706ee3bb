"""K-Tukey at k = 5 as the authors' program has it, and with repairs; BAS with AdaSSP's own ridge.

All variants of a split have the same columns, which privlearn's KendallSelector chose, and the same
number of models, so that what differs is the mechanism.
"""

from __future__ import annotations

import numpy as np

from benchmarks.papers.dick import as_published as published
from benchmarks.papers.dick.data import Rows
from benchmarks.papers.dick.methods import SHARE, Budget, count_below, r_squared, select

__all__ = ["COUNTED", "SMALLER", "VARIANTS", "K", "fewest_models", "mended_scores", "ridge_scores"]

K = 5
SMALLER = 2  # times fewer models
VARIANTS = {
    "as published": (),
    "Laplace of the right scale": ("laplace",),
    "a model replaced": ("replaced",),
    "rows dealt one by one": ("dealing",),
    "all three": published.REPAIRS,
    f"all three, {SMALLER} times the rows a model": published.REPAIRS,
}
COUNTED = {"as published": (), "all three": published.REPAIRS}
FEWEST, GROWTH = 32, 2.0**0.25


def mended_scores(rows: Rows, seed: int) -> dict[str, dict]:
    """R^2 of every variant on one split; for Tukey with the distance that the test found."""
    budget = Budget()
    A, A_test, count = _chosen(rows, seed, budget)
    generator = np.random.default_rng([seed, K])
    found = {}
    for variant, repairs in VARIANTS.items():
        models = count // ((K + 1) * (SMALLER if str(SMALLER) in variant else 1))
        found[variant] = _tukey(A, A_test, rows, models, repairs, budget, generator)
    return found


def ridge_scores(rows: Rows, seed: int) -> dict[str, float]:
    """BAS and K-BAS as published, and with the ridge and the symmetry that AdaSSP has."""
    budget = Budget()
    everything = [np.column_stack([X, np.ones(len(X))]) for X in (rows.X, rows.X_test)]
    chosen = _chosen(rows, seed, budget)[:2]
    found = {}
    for method, (A, A_test), shares in (("BAS", everything, 0), ("K-BAS", chosen, 1)):
        for label, adassp in (("as published", False), ("AdaSSP's ridge", True)):
            generator = np.random.default_rng([seed, shares])
            promise = budget.without(shares)
            coef = published.boosted(A, rows.y, **promise, generator=generator, adassp=adassp)
            predicted = published.clipped(A_test) @ coef
            found[f"{method}, {label}"] = r_squared(predicted, rows.y_test)
    return found


def _tukey(A, A_test, rows, models, repairs, budget, generator):
    made = published.block_models(A, rows.y, models, generator, dealt="dealing" in repairs)
    verdict = published.tukey(made, **budget.without(2), generator=generator, repairs=repairs)
    score = None
    if verdict.coef is not None:
        score = r_squared(A_test @ verdict.coef, rows.y_test)
    return {
        "score": score,
        "models": models,
        "distance": int(verdict.distance),
        "needed": float(verdict.needed),
    }


def _chosen(rows: Rows, seed: int, budget: Budget) -> tuple[np.ndarray, np.ndarray, int]:
    """The columns that were selected and the intercept's, to learn and to score; rows counted."""
    share = SHARE * budget.epsilon
    count = count_below(len(rows.y), share, seed)
    chosen = select("K", rows, K, count, share, seed)
    learn, score = (np.column_stack([X[:, chosen], np.ones(len(X))]) for X in (rows.X, rows.X_test))
    return learn, score, count


def fewest_models(rows: Rows, seed: int) -> dict[str, int | None]:
    """From how many models on the test is passed with noise 0, and rows enough for them or not."""
    budget = Budget()
    A, _, count = _chosen(rows, seed, budget)
    return {name: _fewest(A, rows.y, count, repairs, budget) for name, repairs in COUNTED.items()}


def _fewest(A, y, count, repairs, budget):
    models = float(FEWEST)
    while models <= count // (K + 1):
        generator = np.random.default_rng(int(models))
        made = published.block_models(A, y, int(models), generator, dealt="dealing" in repairs)
        verdict = published.tukey(made, **budget.without(2), generator=generator, repairs=repairs)
        if verdict.distance > verdict.needed:
            return int(models)
        models *= GROWTH
    return None
