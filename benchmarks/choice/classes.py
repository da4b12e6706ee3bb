"""How far private classification is from scikit-learn's, class by class of problems.

`LogisticRegression` with nothing declared but its classes against scikit-learn's on standardised
columns, the same rows, the same C = 1, delta = 1e-5; 20 splits or tables, each with its own noise.
What is measured is accuracy in points; where one class is rare, the area under the ROC curve (AUC).

- **Generated** (`datasets/classes.py`): raw columns of all kinds with labels of a logistic model,
  or classes in clusters. The rules of coordinate descent for labels were derived on tables of the
  same make and other sizes (`python -m benchmarks.derive classes`).
- **Real**: three quarters of the rows to learn from. Electricity, Adult (indicators and numbers of
  `datasets/adult.py`), phishing, wine (quality of at least 6; and three grades), California (above
  200,000 dollars), diamonds (the cut, five grades, from size and price).

A cell fails where a fit is further below than its limit. Limits of the median: two classes 0.5
points at epsilon 10 (1 below 5,000 rows) and 1 at epsilon 1 (from 10,000 rows); several classes,
with r = n mu / (classes x columns) and mu the budget as one Gaussian release: 1 at epsilon 10 where
r >= 25, else 1.5; 3 at epsilon 1 where r >= 10; a rare class 0.05 of AUC, and 0.1 in the worst run.
Other cells have no limit.

AUC is about the order of people alone. So for every problem a second table has the mean prediction
for the rarest class on the rows that were learned from, over its share of them: 1 where as many are
predicted as there are. scikit-learn's is 1 to the last digits, since the intercept is free.
"""

from __future__ import annotations

import numpy as np

from benchmarks.datasets import adult, manifest
from benchmarks.datasets.classes import clusters, scored
from benchmarks.harness import report
from benchmarks.harness.needs import dataset, estimator
from privlearn.accounting.gaussian import equivalent_mu

REAL = ("electricity", "adult", "phishing", "wine_quality", "california_housing", "diamonds")
NEEDS = (*(dataset(name) for name in REAL), estimator("LogisticRegression"))
EPSILONS = (1.0, 10.0)
DELTA = 1e-5
FRESH = 5_000  # rows that a generated fit is scored on
# maker, rows, columns, classes, how
GENERATED = {
    "scores, 3,500 x 10": (scored, 3_500, 10, 2, {"strength": 3.0}),
    "scores, 6,000 x 15": (scored, 6_000, 15, 2, {"strength": 2.0}),
    "scores, 12,000 x 12": (scored, 12_000, 12, 2, {"strength": 4.0}),
    "scores, 40,000 x 25": (scored, 40_000, 25, 2, {"strength": 3.0}),
    "clusters, 12,000 x 20": (clusters, 12_000, 20, 2, {"apart": 1.2}),
    "5 % in 3,000 x 8": (scored, 3_000, 8, 2, {"strength": 3.0, "minority": 0.05}),
    "5 % in 10,000 x 15": (scored, 10_000, 15, 2, {"strength": 3.0, "minority": 0.05}),
    "2 % in 40,000 x 15": (scored, 40_000, 15, 2, {"strength": 3.0, "minority": 0.02}),
    "4 classes, 8,000 x 10": (scored, 8_000, 10, 4, {"strength": 3.0}),
    "10 classes, 12,000 x 16": (clusters, 12_000, 16, 10, {"apart": 2.2}),
    "26 classes, 20,000 x 16": (clusters, 20_000, 16, 26, {"apart": 2.4}),
    "7 classes, 2,500 x 18": (clusters, 2_500, 18, 7, {"apart": 2.0}),
    "6 classes, 40,000 x 25": (clusters, 40_000, 25, 6, {"apart": 1.6}),
}
NEAR = 1.1  # factor between what is predicted and what is
RARE = 0.1  # share of a class below which AUC is measured


def measure(options):
    seeds = options.repeats(usual=20, quick=2)
    epsilons = EPSILONS[:1] if options.quick else EPSILONS
    names = list(GENERATED)[:2] if options.quick else [*GENERATED, *real_problems()]
    found = []
    for name in names:
        for epsilon in epsilons:
            found.append({"name": name, **cell(name, epsilon, seeds)})
            print(f"choice/classes: {name}, epsilon {epsilon:g}", flush=True)
    return {"seeds": seeds, "cells": found}


def cell(name, epsilon, seeds):
    """Gaps of all runs, in points of accuracy or in AUC, and what they may be."""
    runs = [one_run(name, epsilon, seed) for seed in range(seeds)]
    n, p, classes, rare, *_ = runs[0]
    per_weight = n * equivalent_mu(epsilon, DELTA) / (classes * p)
    median, worst = limits(n, classes, epsilon, per_weight, rare)
    return {
        "epsilon": epsilon,
        "rows": n,
        "columns": p,
        "classes": classes,
        "per_weight": per_weight,
        "measure": "AUC" if rare else "points",
        "reference": float(np.median([run[4] for run in runs])),
        "gaps": [run[5] for run in runs],
        "rates": [run[6] for run in runs],
        "limit": median,
        "worst_limit": worst,
    }


def limits(n, classes, epsilon, per_weight, rare):
    """Of the median and of the worst run; None where nothing is promised."""
    if rare:
        return (-0.05, -0.1) if epsilon >= 1.0 and n >= 3_000 else (None, None)
    if classes > 2:
        if epsilon >= 10.0:
            return (-1.0 if per_weight >= 25.0 else -1.5), None
        return (-3.0 if per_weight >= 10.0 else None), None
    if epsilon >= 10.0:
        return (-0.5 if n >= 5_000 else -1.0), None
    return (-1.0 if n >= 10_000 else None), None


def one_run(name, epsilon, seed):
    """Rows, columns, classes, whether one is rare, scikit-learn's score, ours less that; a rate."""
    from sklearn.linear_model import LogisticRegression as Plain
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from privlearn import LogisticRegression

    train, test = generated(name, seed) if name in GENERATED else split(name, seed)
    classes, counts = np.unique(train[1], return_counts=True)
    rare = len(classes) == 2 and counts.min() < RARE * counts.sum()
    theirs = make_pipeline(StandardScaler(), Plain(max_iter=2_000)).fit(*train)
    ours = LogisticRegression(epsilon=epsilon, delta=DELTA, random_state=seed).fit(*train)
    scores = [score(model, test, rare) for model in (theirs, ours)]
    gap = (scores[1] - scores[0]) * (1.0 if rare else 100.0)
    rarest = int(counts.argmin())
    rate = ours.predict_proba(train[0])[:, rarest].mean() * counts.sum() / counts[rarest]
    return *train[0].shape, len(classes), bool(rare), scores[0], float(gap), float(rate)


def score(model, test, rare):
    """Accuracy, or AUC where a class is rare."""
    from sklearn.metrics import roc_auc_score

    if not rare:
        return float(model.score(*test))
    return float(roc_auc_score(test[1], model.decision_function(test[0])))


def generated(name, seed):
    make, n, p, classes, how = GENERATED[name]
    X, y = make(n + FRESH, p, classes, seed=1_000 + seed, **how)
    return (X[:n], y[:n]), (X[n:], y[n:])


def split(name, seed):
    """Three quarters of a real data set, and the rest."""
    X, y = real_problems()[name]()
    order = np.random.default_rng(seed).permutation(len(y))
    first = 3 * len(y) // 4
    return [(X[rows], y[rows]) for rows in (order[:first], order[first:])]


def real_problems():
    """X and labels by name."""
    return {
        "electricity": lambda: numbers("electricity", lambda y: (y == "UP").astype(int)),
        "adult": people,
        "phishing": lambda: numbers("phishing", lambda y: y.astype(int)),
        "wine, 2": lambda: numbers("wine_quality", lambda y: (y >= 6).astype(int)),
        "wine, 3": lambda: numbers("wine_quality", lambda y: np.digitize(y, [6, 7])),
        "California": lambda: numbers("california_housing", lambda y: (y > 2.0).astype(int)),
        "diamonds, 5": stones,
    }


def numbers(name, label):
    table = manifest.load(name)
    X = table.features.astype(float).to_numpy()
    return X, label(np.asarray(table.target))


def people():
    table = manifest.load("adult")
    return adult.features(table.features), adult.labels(table.target)


def stones():
    table = manifest.load("diamonds")
    frame = table.features
    X = frame.drop(columns=["cut", "color", "clarity"]).astype(float)
    return np.column_stack([X, np.asarray(table.target, dtype=float)]), frame["cut"].to_numpy()


def tables(results):
    rows = []
    for one in results["cells"]:
        gaps = np.asarray(one["gaps"])
        digits = 3 if one["measure"] == "AUC" else 2
        limit = one["limit"]
        beyond = "" if limit is None else f"{np.mean(gaps < limit):.0%}"
        met = "" if limit is None else ("yes" if np.median(gaps) >= limit else "no")
        rows.append(
            [
                one["name"],
                f"{one['epsilon']:g}",
                f"{one['per_weight']:.0f}",
                f"{one['reference']:.3f}",
                one["measure"],
                f"{np.median(gaps):+.{digits}f}",
                f"{gaps.min():+.{digits}f}",
                "" if limit is None else f"{limit:g}",
                beyond,
                met,
            ]
        )
    header = ["problem", "epsilon", "r", "no privacy", "gap in", "median", "worst"]
    header += ["limit", "runs beyond it", "median within"]
    shown = report.table(header, rows) + f"\n\n{results['seeds']} splits or tables per row."
    return f"{shown}\n\n{_rates(results)}"


def _rates(results):
    """Of the rarest class: mean prediction over its share."""
    rows = []
    for one in results["cells"]:
        rates = np.asarray(one["rates"])
        near = np.mean(np.abs(np.log(rates)) <= np.log(NEAR))
        ends = [f"{value:.3f}" for value in (rates.min(), np.median(rates), rates.max())]
        rows.append([one["name"], f"{one['epsilon']:g}", *ends, f"{near:.0%}"])
    header = ["problem", "epsilon", "least", "median", "most", f"within a factor of {NEAR:g}"]
    title = (
        "Mean prediction for the rarest class, over its share of the rows that were learned from:"
    )
    return f"{title}\n\n{report.table(header, rows)}"


def figures(results):
    """Every run as a dot, medians as bars: nothing is cut off."""
    from benchmarks.harness.figures import COLOURS, legend_below, panels

    by_measure = {
        "points": ("accuracy, in points", lambda one: one["measure"] == "points"),
        "AUC": ("AUC", lambda one: one["measure"] == "AUC"),
    }
    shown = {key: [c for c in results["cells"] if keep(c)] for key, (_, keep) in by_measure.items()}
    shown = {key: cells for key, cells in shown.items() if cells}
    plot, axes = panels(1, len(shown), 10.0, 0.26 * max(map(len, shown.values())) + 1.6)
    for place, (key, cells) in zip(np.ravel(axes), shown.items(), strict=True):
        labels = [f"{one['name']}, {one['epsilon']:g}" for one in cells]
        for row, one in enumerate(cells):
            first = row == 0
            place.plot(
                one["gaps"],
                [row] * len(one["gaps"]),
                ".",
                color=COLOURS[0],
                alpha=0.5,
                label="a run" if first else None,
            )
            middle = float(np.median(one["gaps"]))
            place.plot(middle, row, "|", ms=12, color=COLOURS[1], label="median" if first else None)
            if one["limit"] is not None:
                place.plot(
                    one["limit"],
                    row,
                    "x",
                    color="#444444",
                    label="limit of the median" if first else None,
                )
        place.set_yticks(range(len(labels)), labels)
        place.invert_yaxis()
        place.axvline(0.0, color="#444444", linewidth=0.8)
        place.set_xlabel(f"ours less scikit-learn's {by_measure[key][0]}")
    legend_below(plot, columns=3, axes=np.ravel(axes))
    return {"": plot}
