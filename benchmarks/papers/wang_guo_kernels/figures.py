"""Figures of the page on kernels, from stored values alone."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from benchmarks.harness.figures import COLOURS, MARKERS, legend_below, panels

__all__ = ["figures"]

NAMES = {"n": "rows n", "features": "random features M", "epsilon": "epsilon"}


def figures(results: dict) -> dict[str, Figure]:
    """One for each of the two problems."""
    return {"": _sweeps(results["california"]), "smooth": _sweeps(results["smooth"])}


def _sweeps(found: dict) -> Figure:
    """One panel for each sweep: the median over seeds, and a band from the least to the most."""
    figure, (all_axes,) = panels(1, len(found["sweeps"]), 10.5, 4.6, sharey=True)
    for axes, (sweep, values) in zip(all_axes, found["sweeps"].items(), strict=True):
        _panel(axes, values, found["losses"][sweep], labelled=sweep == "n")
        axes.set_yscale("linear" if found["loss"] == "1 - R^2" else "log")
        axes.set_xlabel(NAMES[sweep])
        axes.set_title(_title(found, sweep), fontsize=9, loc="left")
    all_axes[0].set_ylabel(found["loss"])
    figure.suptitle(f"{found['name'].capitalize()}, delta = {found['delta']:g}", fontsize=11)
    legend_below(figure, columns=3)
    return figure


def _panel(axes, values: list, losses: dict, *, labelled: bool) -> None:
    for index, (method, points) in enumerate(losses.items()):
        middle = [np.median(seeds) for seeds in points]
        low, high = [min(seeds) for seeds in points], [max(seeds) for seeds in points]
        without = "without privacy" in method
        axes.plot(
            values,
            middle,
            color=COLOURS[index],
            marker=MARKERS[index],
            linestyle="--" if without else "-",
            label=method if labelled else None,
        )
        axes.fill_between(values, low, high, color=COLOURS[index], alpha=0.15, linewidth=0)
    axes.set_xscale("log")
    axes.set_xticks(values, labels=[_tick(value) for value in values])
    axes.set_xticks([], minor=True)


def _tick(value: float) -> str:
    return f"{value:g}" if value < 1_000 else f"{value:,}"


def _title(found: dict, sweep: str) -> str:
    """What is held where the sweep leaves it."""
    held = {"n": f"n = {found['rows']:,}", "features": "M by rule", "epsilon": "epsilon = 1"}
    return ", ".join(text for name, text in held.items() if name != sweep)
