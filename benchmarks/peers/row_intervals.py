"""Intervals of one more row: how often do they cover, over fits, and what do intervals cost?

Every simulation draws new rows: four columns, two that correlate by 0.6, one without effect, and a
flag; errors are Gaussian of one size, which `predict_interval(of="row")` assumes, and in the last
lines of two sizes, 1 and 2 to 1. 1,000 more rows are then covered, or not. Their y is clipped to
the range of the fit, as predictions are; "beyond" is the coverage of y as it is. `delta = 1e-6`.

Asked for, before the first run, of errors of one size: at least 94 % covered in every cell, and at
most 1 fit of 100 that covers less than 90 %. "As released" are intervals of the same fits that take
the released mean square of errors as it is, or 0 where noise brought it below: what
`predict_interval` did before. Width is that of the median interval, over that of somebody who knows
the model. Rows of which a fit says that noise hides them (nan) do not count.

What intervals cost: 3 tables as people have them (`benchmarks/datasets/tables.py`) of each size,
bounds declared, 12 fits with `intervals=True` and 12 without; the median over coefficients of the
ratio of their deviations, and of their distances to least squares.

The first run had one line of 18 that was not as asked for (bounds, n = 1,000, epsilon 1: 2 % of the
fits below 90 %, the worst 73 %). Gradients were clipped too short there, and with them the errors;
that was seen on other seeds, and is now taken back (`solvers/_common/residuals.py`).
"""

from __future__ import annotations

import warnings
import zlib

import numpy as np

from benchmarks.harness import report

NEEDS = ()
DELTA = 1e-6
SIZES, EPSILONS = (1_000, 4_000, 30_000), (0.3, 1.0, 3.0)
KINDS = ("bounds", "nothing", "two sizes of errors")
EFFECTS, CONSTANT = np.array([0.5, -0.3, 0.0, 0.4]), -0.2
FLAGS = 0.3085  # how many rows have the flag
NEW, REACH = 1_000, 1.959964
LEAST, LOW, MOST_LOW = 0.94, 0.90, 0.01
COLUMNS, TABLES, FIRST = (4, 26), 3, 70_000


def measure(options):
    simulations, fits = options.repeats(usual=300, quick=4), options.repeats(usual=12, quick=2)
    sizes, epsilons = ((1_000,), (1.0,)) if options.quick else (SIZES, EPSILONS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few rows, and of what noise hides
        cells = [
            simulated(kind, n, epsilon, simulations)
            for kind in KINDS
            for n in sizes
            for epsilon in epsilons
        ]
        costs = [
            cost(n, epsilon, columns, fits)
            for n in sizes
            for epsilon in epsilons
            for columns in COLUMNS
        ]
    return {"simulations": simulations, "cells": cells, "costs": costs, "fits": fits}


def drawn(kind, n, rng):
    X = rng.standard_normal((n, 4))
    X[:, 1] = 0.6 * X[:, 0] + 0.8 * X[:, 1]
    X[:, 3] = X[:, 3] > 0.5
    size = 0.5 * (1.0 + X[:, 3]) if kind == KINDS[2] else 1.0
    return X, X @ EFFECTS + CONSTANT + size * rng.standard_normal(n)


def simulated(kind, n, epsilon, simulations):
    from privlearn import LinearRegression

    rng = np.random.default_rng(zlib.crc32(f"rows {kind} {n} {epsilon}".encode()))
    known = {"bounds_X": ([-5, -5, -5, 0], [5, 5, 5, 1]), "bounds_y": (-10, 10)}
    known = {} if kind == "nothing" else known
    found = []
    for _ in range(simulations):
        rows, seed = drawn(kind, n, rng), int(rng.integers(2**31))
        model = LinearRegression(
            epsilon=epsilon, delta=DELTA, intervals=True, random_state=seed, **known
        )
        found.append(covered(model.fit(*rows), drawn(kind, NEW, rng)))
    return cell(kind, n, epsilon, found)


def covered(model, rows):
    """One fit: shares of new rows that intervals hold, and what was released."""
    X, y = rows
    (low, high), (down, up) = model.predict_interval(X, of="row"), model.predict_interval(X)
    within, told = np.clip(y, *model._clip_bounds.target), np.isfinite(low)
    square = max(model._errors.residual.square, 0.0)
    middle, half = (down + up) / 2, (up - down) / 2
    before = REACH * np.sqrt((half / REACH) ** 2 + square)
    shares = [np.nan] * 3
    if told.any():
        holds = (low <= within) & (within <= high), np.abs(within - middle) <= before
        shares = [np.mean(one[told]) for one in (*holds, (low <= y) & (y <= high))]
    return {
        "told": told.mean(),
        "covers": shares[0],
        "before": shares[1],
        "beyond": shares[2],
        "none": float(square == 0.0),
        "width": np.nanmedian(high - low) / (2 * REACH) if told.any() else np.nan,
    }


def cell(kind, n, epsilon, found):
    each = {name: np.array([one[name] for one in found]) for name in found[0]}
    known = np.isfinite(each["covers"])
    covers, before = each["covers"][known], each["before"][known]
    size = np.sqrt(0.25 + 0.75 * FLAGS) if kind == KINDS[2] else 1.0
    return {
        "kind": kind,
        "n": n,
        "epsilon": epsilon,
        "told": float(each["told"].mean()),
        "covered": float(covers.mean()),
        "worst": float(covers.min()),
        "low": float(np.mean(covers < LOW)),
        "beyond": float(np.nanmean(each["beyond"])),
        "width": float(np.nanmedian(each["width"]) / size),
        "before": float(before.mean()),
        "before_worst": float(before.min()),
        "before_low": float(np.mean(before < LOW)),
        "none": float(each["none"].mean()),
    }


def cost(n, epsilon, columns, fits):
    """How much farther coefficients spread with intervals than without."""
    from benchmarks.datasets.tables import table
    from privlearn import LinearRegression

    spreads, errors, told = [], [], []
    for seed in range(TABLES):
        X, y = table(FIRST + seed, n, columns)
        known = {"bounds_X": (X.min(axis=0), X.max(axis=0)), "bounds_y": (y.min(), y.max())}
        right = np.linalg.lstsq(X - X.mean(axis=0), y - y.mean(), rcond=None)[0]
        coef = []
        for intervals in (False, True):
            model = LinearRegression(epsilon=epsilon, delta=DELTA, intervals=intervals, **known)
            models = [model.set_params(random_state=k).fit(X, y).coef_ for k in range(fits)]
            coef.append(np.array(models))
        told.append(np.isfinite(model.summary().std_err).mean())
        plain, wide = (one.std(axis=0, ddof=1) for one in coef)
        spreads.append(wide / plain)
        off = [np.sqrt(np.mean((one - right) ** 2, axis=0)) for one in coef]
        errors.append(off[1] / off[0])
    return {
        "n": n,
        "epsilon": epsilon,
        "columns": columns,
        "spread": float(np.median(np.concatenate(spreads))),
        "error": float(np.median(np.concatenate(errors))),
        "told": float(np.mean(told)),
    }


def verdict(one):
    if one["kind"] == KINDS[2]:
        return "not asked for"
    return "yes" if one["covered"] >= LEAST and one["low"] <= MOST_LOW else "NO"


def tables(results):
    header = ["declared", "n", "epsilon", "told", "covered", "worst fit", "fits below 90 %"]
    header += ["beyond", "width", "as released: covered", "worst", "below 90 %", "taken for 0"]
    rows = [
        [
            one["kind"],
            f"{one['n']:,}",
            f"{one['epsilon']:g}",
            f"{one['told']:.0%}",
            *(f"{one[name]:.1%}" for name in ("covered", "worst", "low", "beyond")),
            f"{one['width']:.2f}",
            *(f"{one[name]:.1%}" for name in ("before", "before_worst", "before_low", "none")),
            verdict(one),
        ]
        for one in results["cells"]
    ]
    costs = [
        [
            f"{one['n']:,}",
            f"{one['epsilon']:g}",
            str(one["columns"]),
            f"{one['spread']:.1f}",
            f"{one['error']:.1f}",
            f"{one['told']:.0%}",
        ]
        for one in results["costs"]
    ]
    names = ["n", "epsilon", "columns", "spread, times", "error, times", "standard errors told"]
    return "\n\n".join(
        [
            report.table([*header, "as asked for"], rows),
            f"{results['simulations']:,} simulations per line.",
            "What intervals cost:",
            report.table(names, costs),
        ]
    )


def figures(results):
    """Coverage of the mean and of the worst fit, now and as released."""
    from benchmarks.harness.figures import COLOURS, MARKERS, legend_below, panels

    figure, found = panels(1, 1, 7.0, 0.22 * len(results["cells"]) + 1.4)
    axes = np.ravel(found)[0]
    labels = [f"{one['kind']}, {one['n']:,}, {one['epsilon']:g}" for one in results["cells"]]
    places = np.arange(len(labels))
    lines = (
        ("covered", "all fits"),
        ("worst", "the worst fit"),
        ("before", "all fits, as released"),
        ("before_worst", "the worst fit, as released"),
    )
    for k, (name, text) in enumerate(lines):
        shares = [100 * one[name] for one in results["cells"]]
        axes.plot(shares, places, MARKERS[k], color=COLOURS[k], linestyle="none", label=text)
    axes.axvline(95, color="black", linewidth=0.8)
    axes.set_yticks(places, labels, fontsize=6)
    axes.invert_yaxis()
    axes.set_xlabel("rows that intervals cover, in %")
    legend_below(figure, columns=2)
    return {"": figure}
