"""Figures of the comparison with Dick et al. 2023, from stored values alone."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from benchmarks.harness.figures import COLOURS, blank, legend_below, panels, ranges
from benchmarks.papers.dick import counts
from benchmarks.papers.dick.published import PRIVATE

__all__ = ["figures"]

EPSILONS = {"ours, epsilon = 0.3": "epsilon = 0.3", "ours": "ln 3", "ours, epsilon = 3": "3"}


def figures(results: dict) -> dict[str, Figure]:
    """The paper's two, and ours where it was measured."""
    found = {"": ours(results)} if "ours" in results["parts"] else {}
    return found | {"ranks": ranks(results), "positive": positive(results)}


def ours(results: dict) -> Figure:
    """One line per data set: least squares, and ours at three budgets with quartiles."""
    found = results["parts"]["ours"]["scores"]
    free = results["parts"]["boosted"]["scores"]
    plain = {name: counts.median(free[name]["NonDP"]) for name in found}
    names = sorted(found, key=plain.get)
    figure, axes = blank(width=8.0, height=1.6 + 0.42 * len(names))
    for index, (label, text) in enumerate(EPSILONS.items()):
        quartiles = np.array([counts.quartiles(found[name][label]) for name in names])
        places = np.arange(len(names)) + 0.24 * (1 - index)
        ranges(axes, places, quartiles[:, [1, 0, 2]], index, text, markersize=5, capsize=2)
    places = np.arange(len(names))
    best = [plain[name] for name in names]
    axes.vlines(best, places - 0.4, places + 0.4, color="black", label="least squares, no privacy")
    axes.axvline(0.0, color="#444444", linewidth=1.0)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(-0.7, len(names) - 0.3)
    axes.grid(visible=False, axis="y")
    for place in np.arange(0.5, len(names) - 1):
        axes.axhline(place, color="#eeeeee", linewidth=0.6, zorder=0)
    axes.set_xlabel("R^2 on test rows: median and quartiles of the splits")
    axes.set_title("LinearRegression(epsilon, delta=1e-5), nothing declared", loc="left")
    legend_below(figure, columns=4)
    return figure


def ranks(results: dict) -> Figure:
    """Figure 1 of the paper: how often each method is first or second, printed and measured."""
    both = _both(results)
    figure, every = panels(len(both), 2, 10.0, 6.4, sharey=True)
    for (k, tables), row in zip(both.items(), every, strict=True):
        for axes, (text, table) in zip(row, tables.items(), strict=True):
            found = counts.ranks(table)
            first, second = np.array([found[method] for method in PRIVATE]).T
            places = range(len(PRIVATE))
            known = k == next(iter(both)) and text == "as printed"
            axes.bar(places, first, color=COLOURS[0], label="first" if known else None)
            axes.bar(
                places,
                second,
                bottom=first,
                color=COLOURS[5],
                hatch="//",
                edgecolor="white",
                label="second" if known else None,
            )
            axes.set_xticks(places, PRIVATE)
            axes.set_title(f"k = {k}, {text}, {len(table)} data sets", loc="left", fontsize=10)
        row[0].set_ylabel("data sets")
        row[0].yaxis.set_major_locator(MaxNLocator(integer=True))
    figure.suptitle("The paper's Figure 1: which private method is first or second", fontsize=11)
    legend_below(figure, columns=2)
    return figure


def positive(results: dict) -> Figure:
    """Figure 2 of the paper: data sets with a positive median, printed and measured, and ours."""
    both = _both(results)
    own = results["parts"].get("ours", {"scores": {}})["scores"]
    figure, (every,) = panels(1, len(both), 10.0, 4.4, sharey=True)
    for axes, (k, tables) in zip(every, both.items(), strict=True):
        numbers = set(next(iter(tables.values())))
        places = np.arange(len(PRIVATE))
        for index, (text, table) in enumerate(tables.items()):
            found = counts.positive(table)
            bars = axes.bar(
                places + 0.4 * index - 0.2,
                [found[method] for method in PRIVATE],
                0.38,
                color=COLOURS[index],
                hatch=("", "//")[index],
                edgecolor="white",
                label=text if k == next(iter(both)) else None,
            )
            axes.bar_label(bars, fontsize=8)
        labels = list(PRIVATE)
        if own:
            good = _good(results, own, numbers)
            bars = axes.bar(
                len(PRIVATE), good, 0.6, color=COLOURS[2], label="ours" if k == 5 else None
            )
            axes.bar_label(bars, fontsize=8)
            labels.append("ours")
        axes.axhline(len(numbers), color="#444444", linestyle="--", linewidth=1.0)
        axes.set_xticks(range(len(labels)), labels, fontsize=9)
        axes.margins(y=0.1)
        axes.set_title(f"k = {k}: of {len(numbers)} data sets (dashed)", loc="left", fontsize=10)
    every[0].set_ylabel("data sets with median R^2 > 0")
    every[0].yaxis.set_major_locator(MaxNLocator(integer=True))
    figure.suptitle("The paper's Figure 2: where a private method beats the mean", fontsize=11)
    legend_below(figure, columns=3)
    return figure


def _both(results: dict) -> dict[int, dict[str, dict]]:
    """By k: the paper's table and ours, on the data sets that are here."""
    found = {}
    for k in (5, 10):
        here = counts.measured(results, k)
        if here:
            found[k] = {"as printed": counts.printed(k, set(here)), "as measured": here}
    return found


def _good(results: dict, own: dict, numbers: set[int]) -> int:
    return sum(
        counts.median(scores["ours"]) > 0.0
        for name, scores in own.items()
        if results["sets"][name]["number"] in numbers
    )
