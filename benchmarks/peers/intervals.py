"""Intervals of coefficients: do 95 % of them cover what they are about, and how wide are they?

Every simulation draws n rows with replacement from 50,000 generated ones, which are the population:
so the minimiser over the population is known exactly, whatever ranges a fit has estimated. Four
columns: two that correlate by 0.6, one that has no effect, and a flag; errors of the numbers are
twice as large where the flag is set. `delta = 1e-6`, `zero_out`, all else as it is by default.

Asked for, before the first run: each cell covers at least 92 %, all together 93 to 97 %, and
intervals are at most 1.5 times as wide as those of somebody who knows how far these estimates
spread. Estimates of which a fit says that noise hides them count as covered, and how many they are
is shown. "Unclipped" is the coverage of the minimiser without any clipping, which is asked for only
where declared bounds hold all rows and n = 30,000. p-values have a page of their own, p_values.md:
in a finite population no coefficient is 0.

CPS 1988: 100 fits to all rows, bounds declared. Intervals of the privacy noise alone should cover
the estimates without privacy, of rows clipped as the fit did, in 92 to 98 % of all cases.
"""

from __future__ import annotations

import zlib

import numpy as np
from scipy.special import expit

from benchmarks.harness import report

NEEDS = ()
POPULATION, DELTA = 50_000, 1e-6
SIZES, EPSILONS = (3_000, 30_000), (0.3, 1.0, 3.0)
EFFECTS, CONSTANT = np.array([0.5, -0.3, 0.0, 0.4]), -0.2
NO_EFFECT = 2
ALPHA = 100.0  # of ridge
LOW, HIGH = np.array([-5.0, -5.0, -5.0, 0.0]), np.array([5.0, 5.0, 5.0, 1.0])
KINDS = ("linear, bounds", "linear, nothing", "logistic", "Poisson", "ridge")
LEAST, AVERAGE, WIDEST, OF_CPS = 0.92, (0.93, 0.97), 1.5, (0.92, 0.98)
REACH = 1.959964


def measure(options):
    simulations = options.repeats(usual=1_000, quick=6)
    sizes, epsilons = ((3_000,), (3.0,)) if options.quick else (SIZES, EPSILONS)
    cells = [
        simulated(kind, n, epsilon, simulations)
        for kind in KINDS
        for n in sizes
        for epsilon in epsilons
    ]
    fits = options.repeats(usual=100, quick=3)
    return {"simulations": simulations, "cells": cells, "cps": on_cps(fits), "cps_fits": fits}


def population(kind):
    """Rows of one kind; the same ones in every cell."""
    return drawn(kind, POPULATION, np.random.default_rng(zlib.crc32(kind.split(",")[0].encode())))


def drawn(kind, n, rng, correlation=0.0):
    """New rows of one kind; the column without effect correlates with the first by so much."""
    X = rng.standard_normal((n, 4))
    X[:, 1] = 0.6 * X[:, 0] + 0.8 * X[:, 1]
    X[:, NO_EFFECT] *= np.sqrt(1.0 - correlation**2)
    X[:, NO_EFFECT] += correlation * X[:, 0]
    X[:, 3] = X[:, 3] > 0.5
    X = np.clip(X, LOW, HIGH)
    score = X @ EFFECTS + CONSTANT
    if kind == "logistic":
        return X, (rng.random(n) < expit(score)).astype(int)
    if kind == "Poisson":
        return X, np.minimum(rng.poisson(np.exp(score)), 40)
    return X, np.clip(score + 0.5 * (1.0 + X[:, 3]) * rng.standard_normal(n), -10, 10)


def model_of(kind, epsilon, seed):
    from privlearn import LinearRegression, LogisticRegression, PoissonRegressor, Ridge

    known = {"epsilon": epsilon, "delta": DELTA, "intervals": True, "random_state": seed}
    box = {"bounds_X": (LOW, HIGH)}
    if kind == "linear, nothing":
        return LinearRegression(**known)
    if kind == "logistic":
        return LogisticRegression(C=np.inf, classes=[0, 1], **box, **known)
    if kind == "Poisson":
        return PoissonRegressor(alpha=0, bounds_y=(0, 40), **box, **known)
    numbers = {"bounds_y": (-10, 10), **box, **known}
    return Ridge(alpha=ALPHA, **numbers) if kind == "ridge" else LinearRegression(**numbers)


def simulated(kind, n, epsilon, simulations):
    X, y = population(kind)
    rng = np.random.default_rng(zlib.crc32(f"{kind} {n} {epsilon}".encode()))
    plain = minimiser(kind, X, y, n)
    found = []
    for _ in range(simulations):
        own = rng.integers(POPULATION, size=n)
        model = model_of(kind, epsilon, int(rng.integers(2**31))).fit(X[own], y[own])
        found.append(compared(kind, model, n, plain, X, y))
    return cell(kind, n, epsilon, found)


def compared(kind, model, n, plain, X, y):
    """One fit: what it says, and what would have been right."""
    table, clip = model.summary(), getattr(model, "_clip_bounds", None)
    within = X if clip is None or clip.low is None else np.clip(X, clip.low, clip.high)
    target = y if clip is None or clip.target is None else np.clip(y, *clip.target)
    right = minimiser(kind, within, target, n, plain)
    told = np.isfinite(table.std_err)
    with np.errstate(invalid="ignore"):
        return {
            "covers": ((table.low <= right) & (right <= table.high)) | ~told,
            "covers_plain": ((table.low <= plain) & (plain <= table.high)) | ~told,
            "told": told,
            "off": np.where(told, table.coef - right, np.nan),
            "std_err": table.std_err,
        }


def minimiser(kind, X, y, n, start=None):
    """Of the objective over all rows, by Newton's method; the penalty is that of n rows."""
    Z = np.column_stack([X, np.ones(len(X))])
    w = np.zeros(5) if start is None else start
    penalty = np.append(np.full(4, ALPHA / n if kind == "ridge" else 0.0), 0.0)
    for _ in range(30):
        mean, bend = means(kind, Z @ w)
        slope = Z.T @ (mean - y) / len(y) + penalty * w
        step = np.linalg.solve((Z * bend[:, None]).T @ Z / len(y) + np.diag(penalty), slope)
        w = w - step
        if np.abs(step).max() < 1e-7:
            return w
    raise RuntimeError("Newton's method did not converge")


def means(kind, score):
    if kind == "logistic":
        return expit(score), expit(score) * expit(-score)
    if kind == "Poisson":
        return np.exp(score), np.exp(score)
    return score, np.ones_like(score)


def cell(kind, n, epsilon, found):
    """Of all coefficients of a cell: the worst of them, and all together."""
    each = {name: np.array([one[name] for one in found]) for name in found[0]}
    spread = np.sqrt(np.nanmean(each["off"] ** 2, axis=0))
    width = np.sqrt(np.nanmean(each["std_err"] ** 2, axis=0)) / spread
    return {
        "kind": kind,
        "n": n,
        "epsilon": epsilon,
        "covered": float(each["covers"].mean()),
        "worst": float(each["covers"].mean(axis=0).min()),
        "unclipped": float(each["covers_plain"].mean()),
        "told": float(each["told"].mean()),
        "width": float(width.max()),
        "noise": float(np.nanmedian(each["std_err"])),
    }


def on_cps(fits):
    """How often intervals of the noise alone hold the estimates of least squares."""
    from privlearn import LinearRegression
    from privlearn.datasets import load_cps1988

    cps, covers = load_cps1988(), []
    X, y = np.asarray(cps.data, dtype=float), np.asarray(cps.target, dtype=float)
    known = {"delta": DELTA, "intervals": True, "bounds_X": cps.bounds_X, "bounds_y": cps.bounds_y}
    for seed in range(fits):
        model = LinearRegression(epsilon=1.0, random_state=seed, **known).fit(X, y)
        table, clip = model.summary(), getattr(model, "_clip_bounds", None)
        within, target = X, y
        if clip is not None and clip.low is not None:
            within = np.clip(X, clip.low, clip.high)
        if clip is not None and clip.target is not None:
            target = np.clip(y, *clip.target)
        Z = np.column_stack([within, np.ones(len(within))])
        right = np.linalg.lstsq(Z, target, rcond=None)[0]
        covers.append(np.abs(table.coef - right) <= REACH * table.noise)
    return {"covered": float(np.mean(covers)), "each": np.mean(covers, axis=0).tolist()}


def verdict(one):
    good = one["worst"] >= LEAST and one["width"] <= WIDEST
    return "yes" if good else "NO"


def tables(results):
    header = ["model", "n", "epsilon", "covered", "worst coefficient", "unclipped", "told"]
    header += ["width over known spread", "as asked for"]
    rows = [
        [
            one["kind"],
            f"{one['n']:,}",
            f"{one['epsilon']:g}",
            f"{one['covered']:.1%}",
            f"{one['worst']:.1%}",
            f"{one['unclipped']:.1%}",
            f"{one['told']:.0%}",
            f"{one['width']:.2f}",
            verdict(one),
        ]
        for one in results["cells"]
    ]
    mean = np.mean([one["covered"] for one in results["cells"]])
    low, high = AVERAGE
    whole = "as asked for" if low <= mean <= high else "NOT as asked for"
    cps = results["cps"]
    each = ", ".join(f"{share:.0%}" for share in cps["each"])
    return "\n\n".join(
        [
            report.table(header, rows),
            f"{results['simulations']:,} simulations per line. All together {mean:.1%} ({whole}).",
            f"CPS 1988, {results['cps_fits']} fits: intervals of the noise cover least squares in "
            f"{cps['covered']:.1%} of all cases (asked for: 92 to 98 %); by coefficient {each}.",
        ]
    )


def figures(results):
    """Coverage of every cell: of the worst coefficient, and of all."""
    lines = ("covered", "all coefficients"), ("worst", "the worst one")
    return {"": coverage(results["cells"], lines, LEAST)}


def coverage(cells, lines, least):
    """A figure with a line for each cell, of shares by name; and what is asked for."""
    from benchmarks.harness.figures import COLOURS, MARKERS, legend_below, panels

    figure, found = panels(1, 1, 7.0, 0.22 * len(cells) + 1.4)
    axes = np.ravel(found)[0]
    labels = [f"{one['kind']}, {one['n']:,}, {one['epsilon']:g}" for one in cells]
    places = np.arange(len(labels))
    for k, (name, text) in enumerate(lines):
        shares = [100 * one[name] for one in cells]
        axes.plot(shares, places, MARKERS[k], color=COLOURS[k], label=text)
    axes.axvline(95, color="black", linewidth=0.8)
    axes.axvline(100 * least, color="grey", linewidth=0.8, linestyle="--")
    axes.set_yticks(places, labels, fontsize=6)
    axes.invert_yaxis()
    axes.set_xlabel("intervals that cover, in %")
    legend_below(figure, columns=len(lines))
    return figure
