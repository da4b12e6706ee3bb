"""p-values of a column without effect: are they uniform?

Every simulation draws new rows as `peers/intervals` does, with a column that has no effect, alone
or correlating by 0.7 with one that has: so its coefficient in the population is 0, to the last
digit, and the share of p-values below 0.05 should be 5 %. (Rows that are drawn from a finite
population are no test of that: its own coefficient is not 0, and many rows find out.) A penalty
moves coefficients of correlated columns, so ridge has the column that is alone.

Asked for, before the first run: at most 8 % below 0.05 in every cell (5 % and 2.4 deviations of 300
simulations), and no p-value below 0.001 of Kolmogorov and Smirnov's test that they are uniform.
Where intervals are wider than they need be, p-values are too large rather than too small: such
cells fail the second, and that is shown. Fits that say that noise hides the column have no p-value.

The first runs missed in two cells, then in others by one each. What the last one led to (nothing
declared, one column alone, n = 3,000, epsilon 0.3: p-values too large, uniform p 0.0004) was mended
on generated tables, four of them with nothing declared, and looked at on other draws of six of
these cells, before this run (solvers/coordinate_descent/proof.md).
"""

from __future__ import annotations

import zlib

import numpy as np

from benchmarks.harness import report
from benchmarks.peers.intervals import EPSILONS, KINDS, NO_EFFECT, SIZES, drawn, model_of

NEEDS = ()
CORRELATIONS = (0.0, 0.7)
SMALL, MOST_SMALL, LEAST_UNIFORM = 0.05, 0.08, 0.001


def measure(options):
    simulations = options.repeats(usual=300, quick=8)
    sizes, epsilons = ((3_000,), (3.0,)) if options.quick else (SIZES, EPSILONS)
    cells = [
        simulated(kind, correlation, n, epsilon, simulations)
        for kind in KINDS
        for correlation in CORRELATIONS[: 1 if kind == "ridge" else 2]
        for n in sizes
        for epsilon in epsilons
    ]
    return {"simulations": simulations, "cells": cells}


def simulated(kind, correlation, n, epsilon, simulations):
    from scipy.stats import kstest

    rng = np.random.default_rng(zlib.crc32(f"p {kind} {correlation} {n} {epsilon}".encode()))
    found = np.empty(simulations)
    for k in range(simulations):
        X, y = drawn(kind, n, rng, correlation)
        model = model_of(kind, epsilon, int(rng.integers(2**31))).fit(X, y)
        found[k] = model.summary().p_value[NO_EFFECT]
    told = found[np.isfinite(found)]
    return {
        "kind": kind,
        "correlation": correlation,
        "n": n,
        "epsilon": epsilon,
        "told": len(told) / simulations,
        "small": float(np.mean(told < SMALL)),
        "uniform": float(kstest(told, "uniform").pvalue),
        "counts": np.histogram(told, bins=20, range=(0.0, 1.0))[0].tolist(),
    }


def verdict(one):
    return "yes" if one["small"] <= MOST_SMALL and one["uniform"] >= LEAST_UNIFORM else "NO"


def tables(results):
    header = ["model", "correlation", "n", "epsilon", "told", "p < 0.05", "uniform p"]
    rows = [
        [
            one["kind"],
            f"{one['correlation']:g}",
            f"{one['n']:,}",
            f"{one['epsilon']:g}",
            f"{one['told']:.0%}",
            f"{one['small']:.1%}",
            f"{one['uniform']:.3f}",
            verdict(one),
        ]
        for one in results["cells"]
    ]
    good = sum(verdict(one) == "yes" for one in results["cells"])
    mean = np.mean([one["small"] for one in results["cells"]])
    return "\n\n".join(
        [
            report.table([*header, "as asked for"], rows),
            f"{results['simulations']:,} simulations per line; {good} of {len(rows)} lines as "
            f"asked for. In the mean of all lines {mean:.1%} of the p-values are below 0.05.",
        ]
    )


def figures(results):
    """How many p-values lie where, all cells of a kind together."""
    from benchmarks.harness.figures import COLOURS, MARKERS, legend_below, panels

    figure, found = panels(1, 1, 7.0, 3.2)
    axes = np.ravel(found)[0]
    places = (np.arange(20) + 0.5) / 20
    for k, kind in enumerate(KINDS):
        counts = np.sum([c["counts"] for c in results["cells"] if c["kind"] == kind], axis=0)
        shares = 100 * counts / max(counts.sum(), 1)
        axes.plot(places, shares, MARKERS[k], color=COLOURS[k], linestyle="-", label=kind)
    axes.axhline(5, color="black", linewidth=0.8)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("p-value of a column without effect")
    axes.set_ylabel("share of the fits, in %")
    legend_below(figure, columns=3)
    return {"": figure}
