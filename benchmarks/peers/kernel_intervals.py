"""Intervals of curves: do 95 % of them cover what they are about, and 95 % of rows?

Every simulation draws n rows with replacement from 20,000 generated ones, which are the population:
so the penalised curve over the population, in the random features and beside the line of each fit,
is known exactly. y is cos(2.5 x_1), with three columns + |x_2| - x_3 / 2, plus normal errors of
deviation 0.4, or, in the cells "two sizes", of 0.25 and 0.55 on either side of 0. Intervals are
looked at in 100 places, the same for all fits, and rows are new ones. `delta = 1e-6`, `zero_out`,
bounds declared, all else as it is by default.

Asked for, before the first run: every cell covers at least 92 % of penalised curves and at least
93 % of rows, and intervals are at most twice as wide as those of somebody who knows how far these
predictions spread. Errors of two sizes are shown and not judged: intervals assume one. "Mean of y"
is how often intervals hold the mean of y itself, which they are not about; R^2 is of that mean, of
the same fits, and of five plain fits without intervals. Intervals that are not told (nan) count as
covering, and how many are told is shown.
"""

from __future__ import annotations

import warnings
import zlib

import numpy as np

from benchmarks.harness import report
from benchmarks.peers.intervals import coverage

NEEDS = ()
POPULATION, PLACES, DELTA, PLAIN = 20_000, 100, 1e-6, 5
SIZES, EPSILONS = (3_000, 30_000), (1.0, 3.0)
KINDS = ("1 column", "3 columns", "3 columns, two sizes")
LEAST, LEAST_OF_ROWS, WIDEST = 0.92, 0.93, 2.0
REACH = 1.959964


def measure(options):
    simulations = options.repeats(usual=300, quick=3)
    sizes, epsilons = ((3_000,), (3.0,)) if options.quick else (SIZES, EPSILONS)
    cells = [
        simulated(kind, n, epsilon, simulations)
        for kind in KINDS
        for n in sizes
        for epsilon in epsilons
    ]
    return {"simulations": simulations, "cells": cells}


def drawn(kind, n, rng):
    """Rows, the means of their targets and targets."""
    X = rng.uniform(-1, 1, (n, int(kind[0])))
    mean = np.cos(2.5 * X[:, 0])
    if X.shape[1] > 1:
        mean = mean + np.abs(X[:, 1]) - X[:, 2] / 2
    sizes = np.where(X[:, 0] > 0, 0.55, 0.25) if "two" in kind else 0.4
    return X, mean, np.clip(mean + sizes * rng.standard_normal(n), -4, 4)


def model_of(epsilon, seed, *, intervals):
    from privlearn import KernelRegressor

    known = {"bounds_X": (-1, 1), "bounds_y": (-4, 4), "random_state": seed}
    return KernelRegressor(epsilon=epsilon, delta=DELTA, intervals=intervals, **known)


def simulated(kind, n, epsilon, simulations):
    rng = np.random.default_rng(zlib.crc32(f"{kind} {n} {epsilon}".encode()))
    X, _, y = drawn(kind, POPULATION, rng)
    at, mean, _ = drawn(kind, PLACES, rng)
    found, plain = [], []
    for k in range(simulations):
        own, seed = rng.integers(POPULATION, size=n), int(rng.integers(2**31))
        model = model_of(epsilon, seed, intervals=True).fit(X[own], y[own])
        right = curve_of(model, X, y, n, at)
        found.append(compared(model, at, mean, right, drawn(kind, PLACES, rng)))
        if k < PLAIN:
            plain.append(model_of(epsilon, seed, intervals=False).fit(X[own], y[own]))
    cell = summed(found)
    cell["plain"] = float(np.mean([one.score(at, mean) for one in plain]))
    return {"kind": kind, "n": n, "epsilon": epsilon, **cell}


def curve_of(model, X, y, n, at):
    """The minimiser over the population, clipped as a fit did, in its features beside its line."""
    X, at, clip = *map(model._within_limits, (X, at)), getattr(model, "_clip_bounds", None)
    y = y if clip is None or clip.target is None else np.clip(y, *clip.target)
    size, p = model.feature_map_.n_features_out, X.shape[1]
    line = model.coef_[size:] if len(model.coef_) > size else np.zeros(p)
    solver = model._prepare(n, p, 0, None).solver
    solver = getattr(solver, "inner", solver)  # the same within ranges that it estimates
    penalty = np.append(np.full(size, solver.penalty.l2 / n), 0.0)
    Z = regressors(model, X)
    steep = Z.T @ Z / len(X) + np.diag(penalty)
    weights = np.linalg.solve(steep, Z.T @ (y - X @ line) / len(X))
    return regressors(model, at) @ weights + at @ line


def regressors(model, X):
    return np.column_stack([model.feature_map_.transform(X), np.ones(len(X))])


def compared(model, at, mean, right, new):
    """One fit: what it says in all places, and what would have been right."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        low, high = model.predict_interval(at)
        of_row = model.predict_interval(new[0], of="row")
    told = np.isfinite(low)
    return {
        "covers": ~told | ((low <= right) & (right <= high)),
        "covers_mean": ~told | ((low <= mean) & (mean <= high)),
        "covers_row": ~np.isfinite(of_row[0]) | ((of_row[0] <= new[2]) & (new[2] <= of_row[1])),
        "told": told,
        "off": model.predict(at) - right,
        "half": (high - low) / 2,
        "r2": model.score(at, mean),
    }


def summed(found):
    each = {name: np.array([one[name] for one in found]) for name in found[0]}
    spread = np.sqrt(np.mean(each["off"] ** 2))
    width = np.sqrt(np.nanmean(each["half"] ** 2)) / (REACH * spread)
    return {
        "covered": float(each["covers"].mean()),
        "worst": float(each["covers"].mean(axis=0).min()),
        "rows": float(each["covers_row"].mean()),
        "mean": float(each["covers_mean"].mean()),
        "told": float(each["told"].mean()),
        "width": float(width),
        "half": float(np.nanmedian(each["half"])),
        "r2": float(each["r2"].mean()),
        "worst_r2": float(each["r2"].min()),
    }


def verdict(one):
    if "two sizes" in one["kind"]:
        return "not judged"
    good = one["covered"] >= LEAST and one["rows"] >= LEAST_OF_ROWS and one["width"] <= WIDEST
    return "yes" if good else "NO"


def tables(results):
    header = ["columns", "n", "epsilon", "covered", "worst place", "rows", "mean of y", "told"]
    header += ["half width", "over known spread", "R^2 (worst)", "R^2 plain", "as asked for"]
    rows = [
        [
            one["kind"],
            f"{one['n']:,}",
            f"{one['epsilon']:g}",
            f"{one['covered']:.1%}",
            f"{one['worst']:.1%}",
            f"{one['rows']:.1%}",
            f"{one['mean']:.1%}",
            f"{one['told']:.0%}",
            f"{one['half']:.2f}",
            f"{one['width']:.2f}",
            f"{one['r2']:.3f} ({one['worst_r2']:.3f})",
            f"{one['plain']:.3f}",
            verdict(one),
        ]
        for one in results["cells"]
    ]
    return "\n\n".join(
        [report.table(header, rows), f"{results['simulations']:,} simulations per line."]
    )


def figures(results):
    """Coverage of every cell: of penalised curves, of rows, and of what intervals are not about."""
    lines = ("covered", "penalised curve"), ("rows", "rows"), ("mean", "mean of y")
    return {"": coverage(results["cells"], lines, LEAST)}
