"""Private scores: do 95 % intervals cover what they should, and how wide are they?

Every simulation draws 10,000 rows, scores a fixed, public model on them with `evaluate` (all
metrics, delta = 1e-6, zero_out), and asks whether the interval holds the value of the population.
Classes: log-odds are normal with standard deviation 1.2 around what gives the second class its
share, and labels come with the probabilities that the model tells. Numbers: prediction and target
are normal, the range of the target is 8 of its standard deviations wide ("line", correlation 0.85;
"weak line", 0.3), or both are exponentials of such ("skewed", within 0 to 12).

Asked for, before the first run: AUC and R^2 are covered in at least 93 % of the simulations, and in
at most 97 % where intervals are narrower than 0.2. "Noise" is the median of the standard error that
the evaluation tells; for AUC also that of the plan with exact counts in the place of noisy ones,
which says how far off an estimate is where the evaluation says that noise hides it.
"""

from __future__ import annotations

import zlib

import numpy as np
from scipy.special import expit

from benchmarks.harness import report

NEEDS = ()
ROWS, DELTA, SPREAD = 10_000, 1e-6, 1.2
EPSILONS = (0.1, 1.0, 3.0)
SHARES = (0.3, 0.02)
LINES = {
    "line": (0.85, (-4.0, 4.0)),
    "weak line": (0.3, (-4.0, 4.0)),
    "skewed": (0.85, (0.0, 12.0)),
}
FLOOR = 1e-3  # of log loss
LARGE = 4_000_000  # rows that stand for the population of numbers
WANTED, NARROW = (0.93, 0.97), 0.2
MAIN = ("auc", "r2")


def measure(options):
    simulations = options.repeats(usual=1_000, quick=20)
    found = []
    for epsilon in EPSILONS:
        for share in SHARES:
            found += classes(share, epsilon, simulations)
        for kind in LINES:
            found += numbers(kind, epsilon, simulations)
    return {"simulations": simulations, "cells": found}


def generator(*cell):
    """Seeds of a cell: they follow from its name alone."""
    return np.random.default_rng(zlib.crc32(" ".join(map(str, cell)).encode()))


def classes(share, epsilon, simulations):
    from benchmarks.datasets.scored import Probabilities, log_odds

    rng, true = generator("classes", share, epsilon), population_of_classes(share)
    results, planned = [], []
    for k in range(simulations):
        odds, y = log_odds(rng, ROWS, share, SPREAD)
        results.append(scored(Probabilities(), expit(odds), y, epsilon, rng))
        if k < 20:
            planned.append(planned_noise(expit(odds), y, epsilon))
    return [
        told(f"{share:.0%}", epsilon, name, value, results)
        | ({"planned": float(np.median(planned))} if name == "auc" else {})
        for name, value in true.items()
    ]


def numbers(kind, epsilon, simulations):
    from benchmarks.datasets.scored import Values

    rng, (correlation, bounds) = generator("numbers", kind, epsilon), LINES[kind]
    true, results = population_of_numbers(kind), []
    for _ in range(simulations):
        x, y = drawn(kind, rng, ROWS, correlation)
        results.append(scored(Values(), x, y, epsilon, rng, bounds_y=bounds))
    return [told(kind, epsilon, name, value, results) for name, value in true.items()]


def drawn(kind, rng, n, correlation):
    from benchmarks.datasets.scored import two_normals

    x, y = two_normals(rng, n, correlation)
    return (np.exp(0.6 * x), np.exp(0.6 * y)) if kind == "skewed" else (x, y)


def scored(model, answers, y, epsilon, rng, **known):
    from privlearn.metrics import evaluate

    seed = int(rng.integers(2**31))
    X = answers[:, None]
    return evaluate(model, X, y, epsilon=epsilon, delta=DELTA, random_state=seed, **known)


def told(cell, epsilon, name, value, results):
    """Coverage, width and noise of one metric."""
    scores = [getattr(one, name) for one in results]
    widths = [score.high - score.low for score in scores]
    return {
        "cell": cell,
        "epsilon": epsilon,
        "metric": name,
        "true": float(value),
        "covered": float(np.mean([score.low <= value <= score.high for score in scores])),
        "width": finite(np.median(widths)),
        "noise": finite(np.median([score.noise for score in scores])),
        "hidden": float(np.mean([bool(score.note) for score in scores])),
    }


def finite(number):
    return float(number) if np.isfinite(number) else None


def planned_noise(answers, y, epsilon):
    """Standard error of AUC's noise to first order, from counts without noise."""
    from benchmarks.datasets.scored import Probabilities
    from privlearn import metrics
    from privlearn.metrics import ranking, score_tree
    from privlearn.metrics.parts import Count, Released
    from privlearn.metrics.predictions import Predicted

    plan = metrics.plan(Probabilities(), ROWS, epsilon=epsilon, delta=DELTA)
    noise = {release.name: plan.noise_scale(release) for release in plan.releases}
    rows = Predicted(answers[:, None], y.astype(float), np.full(len(y), True))
    leaves = score_tree.Leaves(Released(score_tree.tree_sums(rows), noise, Count(ROWS)))
    minus, plus = leaves.counts
    below, above = ranking._below(minus), ranking._above(plus)
    pairs = plus.sum() * minus.sum()
    slope = np.array([1.0, -(plus @ below) / pairs])
    return float(np.sqrt(slope @ ranking.linear_noise(leaves, below, above) @ slope) / pairs)


def population_of_classes(share):
    """By sums over a fine grid of log-odds."""
    from benchmarks.datasets.scored import middle_for

    nodes = np.linspace(-9, 9, 40_001)
    odds, mass = middle_for(share, SPREAD) + SPREAD * nodes, np.exp(-(nodes**2) / 2)
    p, mass = expit(odds), mass / mass.sum()
    plus, minus = mass * p, mass * (1.0 - p)
    below = np.cumsum(minus) - minus / 2
    logs = plus @ np.log(np.maximum(p, FLOOR)) + minus @ np.log(np.maximum(1.0 - p, FLOOR))
    return {
        "auc": plus @ below / (plus.sum() * minus.sum()),
        "accuracy": plus[p > 0.5].sum() + minus[p <= 0.5].sum(),
        "log_loss": -logs,
        "brier": mass @ (p * (1.0 - p)),
    }


def population_of_numbers(kind):
    correlation, bounds = LINES[kind]
    drawn_rows = drawn(kind, np.random.default_rng(2024), LARGE, correlation)
    x, y = (np.clip(one, *bounds) for one in drawn_rows)
    squared = np.mean((x - y) ** 2)
    return {"r2": 1.0 - squared / y.var(), "mse": squared, "mae": np.abs(x - y).mean()}


def verdict(one):
    """Whether a main metric keeps what was asked for."""
    if one["metric"] not in MAIN:
        return ""
    low, high = WANTED
    narrow = one["width"] is not None and one["width"] < NARROW
    return "yes" if low <= one["covered"] <= (high if narrow else 1.0) else "NO"


def tables(results):
    header = ["rows", "epsilon", "metric", "population", "covered", "median width", "noise"]
    header += ["noise by plan", "hidden by noise", "as asked for"]
    rows = [
        [
            one["cell"],
            f"{one['epsilon']:g}",
            one["metric"],
            f"{one['true']:.4f}",
            f"{one['covered']:.1%}",
            number(one["width"]),
            number(one["noise"]),
            number(one["planned"]) if "planned" in one else "",
            f"{one['hidden']:.0%}",
            verdict(one),
        ]
        for one in results["cells"]
    ]
    return report.table(header, rows) + f"\n\n{results['simulations']:,} simulations per line."


def number(value):
    return "none" if value is None else f"{value:.4f}"


def figures(results):
    """Coverage of every cell, main metrics apart."""
    from benchmarks.harness.figures import COLOURS, MARKERS, legend_below, panels

    cells = results["cells"]
    names = list(dict.fromkeys((one["cell"], one["metric"]) for one in cells))
    plot, axes = panels(1, 1, 7.0, 0.3 * len(names) + 1.4)
    place = np.ravel(axes)[0]
    for k, epsilon in enumerate(EPSILONS):
        own = [one for one in cells if one["epsilon"] == epsilon]
        at = [names.index((one["cell"], one["metric"])) + 0.2 * k for one in own]
        share = [100.0 * one["covered"] for one in own]
        place.plot(share, at, MARKERS[k], color=COLOURS[k], label=f"epsilon {epsilon:g}")
    for end in (*WANTED, 0.95):
        place.axvline(100.0 * end, color="0.5", linewidth=0.8)
    place.set_yticks(range(len(names)), labels=[f"{cell}: {name}" for cell, name in names])
    place.set_xlabel("simulations whose interval covers the population's value, in %")
    legend_below(plot, columns=3)
    return {"": plot}
