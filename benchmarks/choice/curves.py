"""A line or a curve: kernel models beside linear ones on real data, few rows and many.

`KernelRegressor` and `LinearRegression`, `KernelClassifier` and `LogisticRegression`, defaults and
nothing declared (`zero_out`, delta = 1e-5), on the same rows with the same seed: 4,000 of them, and
three quarters of all, at most 20,000. Scores on the rest: R^2, or the share of right labels. The
rule that says when to leave the curve out was derived on generated tables alone
(`python -m benchmarks.derive kernel`). That many columns need more rows each was looked for there
after two cells of cpu_act had lost; all else was made before the first run.

A cell fails where the median of the kernel's score is over 0.01 below that of the line.
"""

from __future__ import annotations

import numpy as np

from benchmarks.choice import classes
from benchmarks.choice.declared import problems, scores
from benchmarks.harness import report
from benchmarks.harness.needs import dataset, estimator

REGRESSIONS = ("wine_quality", "california_housing", "elevators", "sulfur", "cpu_act", "houses")
LABELS = ("wine, 2", "electricity", "California")
NEEDS = (
    *(dataset(name) for name in dict.fromkeys((*REGRESSIONS, *classes.REAL))),
    *(estimator(name) for name in ("KernelRegressor", "KernelClassifier")),
)
EPSILONS = (0.3, 1.0, 3.0)
DELTA = 1e-5
FEW, MOST = 4_000, 20_000
ALLOWED = -0.01


def measure(options):
    seeds = options.repeats(usual=10, quick=2)
    epsilons = EPSILONS[1:2] if options.quick else EPSILONS
    found = []
    few = (REGRESSIONS[:1], ()) if options.quick else (REGRESSIONS, LABELS)
    for name, load in problems(*few).items():
        X, y, labels = load()
        for rows in (FEW, MOST):
            for epsilon in epsilons:
                runs = [one_run(X, y, labels, rows, epsilon, seed) for seed in range(seeds)]
                line, curve = np.transpose(runs).tolist()
                n = min(rows, 3 * len(y) // 4)
                cell = {"name": name, "rows": n, "columns": X.shape[1], "epsilon": epsilon}
                found.append(cell | {"line": line, "curve": curve})
        print(f"choice/curves: {name}", flush=True)
    return {"seeds": seeds, "cells": found}


def one_run(X, y, labels, rows, epsilon, seed):
    """Scores of the line and of the kernel."""
    line, curve = ("Logistic", "Classifier") if labels else ("Linear", "Regressor")
    models = [(f"{line}Regression", {}), (f"Kernel{curve}", {})]
    return scores(models, X, y, rows, epsilon=epsilon, delta=DELTA, random_state=seed)


def loses(cell):
    return float(np.median(cell["curve"]) - np.median(cell["line"])) < ALLOWED


def tables(results):
    rows = [
        [
            one["name"],
            f"{one['rows']:,} x {one['columns']}",
            f"{one['epsilon']:g}",
            *(
                f"{np.median(one[key]):.4f} (worst {min(one[key]):.4f})"
                for key in ("line", "curve")
            ),
            f"{np.subtract(one['curve'], one['line']).min():+.4f}",
            "loses" if loses(one) else "",
        ]
        for one in results["cells"]
    ]
    header = ["data", "rows", "epsilon", "line, median", "kernel, median", "lowest difference", ""]
    count = sum(map(loses, results["cells"]))
    note = f"{results['seeds']} splits per row; the kernel loses in {count} of {len(rows)} rows."
    return report.table(header, rows) + "\n\n" + note


def figures(results):
    """The kernel's score less the line's, one mark per split."""
    from benchmarks.harness.figures import COLOURS, panels

    labels = [f"{c['name']}, {c['rows']:,}, {c['epsilon']:g}" for c in results["cells"]]
    plot, axes = panels(1, 1, 7.0, 0.2 * len(labels) + 1.2)
    place = np.ravel(axes)[0]
    for row, one in enumerate(results["cells"]):
        change = np.subtract(one["curve"], one["line"])
        place.plot(change, [row] * len(change), ".", color=COLOURS[0], alpha=0.5)
        place.plot([np.median(change)], [row], "|", color=COLOURS[1], markersize=9)
    place.axvline(0.0, color="0.5", linewidth=0.8)
    place.set_xlabel("score of the kernel model less the line's\n(the bar is the median)")
    place.set_yticks(range(len(labels)), labels=labels)
    return {"": plot}
