"""Do declared facts hurt? The same rows with bounds declared, and with nothing.

`LinearRegression` and `LogisticRegression` with defaults (`zero_out`, delta = 1e-5) on the data of
`papers/dick` and the real ones of `choice/classes`. What is declared is what a codebook would say:
for each column, and for a number y, the smallest and the largest value of the whole file, moved
outwards to one significant digit. Three quarters of the rows, 20,000 at most, are learned from, the
rest is for the score: R^2, or the share of labels that are right.

Paired over 30 splits, each with its own noise: the score with bounds less the score without. A cell
fails where the 95 % interval of the mean lies wholly below -0.005.
"""

from __future__ import annotations

import math
import warnings

import numpy as np

from benchmarks.choice import classes
from benchmarks.harness import report
from benchmarks.harness.needs import dataset, estimator
from benchmarks.papers.dick import data

NEEDS = (
    *(dataset(name) for name in dict.fromkeys((*data.NAMES, *classes.REAL))),
    *(estimator(name) for name in ("LinearRegression", "LogisticRegression")),
)
EPSILONS = (0.1, 1.0)
DELTA = 1e-5
MOST = 20_000  # rows to learn from
ALLOWED = -0.005
T_QUANTILE = 0.975


def measure(options):
    seeds = options.repeats(usual=30, quick=2)
    epsilons = EPSILONS[1:] if options.quick else EPSILONS
    found = []
    few = (("wine_quality",), ("wine, 2",)) if options.quick else ()
    for name, load in problems(*few).items():
        X, y, labels = load()
        facts = {"bounds_X": outwards(X)} | ({} if labels else {"bounds_y": outwards(y)})
        for epsilon in epsilons:
            runs = [one_run(X, y, labels, facts, epsilon, seed) for seed in range(seeds)]
            nothing, bounds = np.transpose(runs).tolist()
            found.append({"name": name, "epsilon": epsilon, "nothing": nothing, "bounds": bounds})
        print(f"choice/declared: {name}", flush=True)
    return {"seeds": seeds, "cells": found}


def problems(numbers=data.NAMES, labels=None):
    """How to load X, y and whether y is a label, by name; all data sets unless some are named."""
    real = classes.real_problems()
    found = {name: lambda name=name: (*data.load(name), False) for name in numbers}
    for name in real if labels is None else labels:
        found[f"{name} (labels)"] = lambda load=real[name]: (*load(), True)
    return found


def outwards(values):
    """Ends of each column, moved outwards to one significant digit; of y, two numbers."""
    low, high = (
        np.vectorize(_one_digit)(end, up)
        for end, up in ((values.min(axis=0), False), (values.max(axis=0), True))
    )
    high = np.where(low == high, low + 1.0, high)
    return (low, high) if values.ndim > 1 else (float(low), float(high))


def _one_digit(value, up):
    if value == 0.0:
        return 0.0
    unit = 10.0 ** math.floor(math.log10(abs(value)))
    return float((math.ceil if up else math.floor)(value / unit) * unit)


def one_run(X, y, labels, facts, epsilon, seed):
    """Scores with nothing and with bounds declared."""
    name = "LogisticRegression" if labels else "LinearRegression"
    models = [(name, {}), (name, facts)]
    return scores(models, X, y, MOST, epsilon=epsilon, delta=DELTA, random_state=seed)


def scores(models, X, y, most, *, random_state, **budget):
    """Of estimators, given by name and parameters, on the same quarter of the rows."""
    import privlearn

    order = np.random.default_rng(random_state).permutation(len(y))
    first = 3 * len(y) // 4
    old, fresh = order[:first][:most], order[first:]
    found = []
    for name, facts in models:
        model = getattr(privlearn, name)(random_state=random_state, **budget, **facts)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found.append(float(model.fit(X[old], y[old]).score(X[fresh], y[fresh])))
    return found


def interval(cell):
    """Mean of the paired differences, and the ends of its 95 % interval."""
    from scipy.stats import t

    change = np.subtract(cell["bounds"], cell["nothing"])
    mean, error = change.mean(), change.std(ddof=1) / math.sqrt(len(change))
    reach = float(t.ppf(T_QUANTILE, len(change) - 1)) * error
    return float(mean), float(mean - reach), float(mean + reach)


def hurts(cell):
    return interval(cell)[2] < ALLOWED


def tables(results):
    rows = []
    for one in results["cells"]:
        change = np.subtract(one["bounds"], one["nothing"])
        mean, low, high = interval(one)
        rows.append(
            [
                one["name"],
                f"{one['epsilon']:g}",
                *(f"{np.median(one[key]):.4f}" for key in ("nothing", "bounds")),
                *(f"{min(one[key]):.4f}" for key in ("nothing", "bounds")),
                f"{mean:+.4f} ({low:+.4f} to {high:+.4f})",
                f"{change.min():+.4f}",
                "hurts" if hurts(one) else "",
            ]
        )
    header = ["data", "epsilon", "median, nothing", "median, bounds"]
    header += ["worst, nothing", "worst, bounds", "mean difference (95 %)", "lowest", ""]
    count = sum(map(hurts, results["cells"]))
    note = f"{results['seeds']} splits per row; {count} of {len(rows)} rows below the limit."
    return report.table(header, rows) + "\n\n" + note


def figures(results):
    """Every difference as a dot, the mean's interval as a bar."""
    from benchmarks.harness.figures import COLOURS, panels

    names = list(dict.fromkeys(one["name"] for one in results["cells"]))
    epsilons = list(dict.fromkeys(one["epsilon"] for one in results["cells"]))
    plot, axes = panels(1, len(epsilons), 9.0, 0.24 * len(names) + 1.2, sharey=True)
    for place, epsilon in zip(np.ravel(axes), epsilons, strict=True):
        for one in results["cells"]:
            if one["epsilon"] == epsilon:
                row = names.index(one["name"])
                change = np.subtract(one["bounds"], one["nothing"])
                place.plot(change, [row] * len(change), ".", color=COLOURS[0], alpha=0.4)
                place.plot(interval(one)[1:], [row, row], color=COLOURS[1], linewidth=3)
        place.axvline(0.0, color="0.5", linewidth=0.8)
        place.set_xscale("symlog", linthresh=0.02)
        place.set_title(f"epsilon {epsilon:g}")
        place.set_xlabel("score with bounds, less that with nothing")
        place.set_yticks(range(len(names)), labels=names)
    return {"": plot}
