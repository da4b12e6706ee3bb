"""Relative error over passes: Figures 1 and 2 of Mangold et al. 2022 in one, from stored values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.papers._mangold_pages import find

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw"]

OURS = {"cd": 'privlearn "cd"', "sgd": 'privlearn "sgd"'}
PAPER = {"cd": "paper, tuned DP-CD", "sgd": "paper, tuned DP-SGD"}


def draw(results: dict, passes: tuple[int, ...]) -> Figure:
    """One panel per problem; lines are means, bands reach from the smallest to the largest."""
    import matplotlib as mpl

    from benchmarks.figures import STYLE

    with mpl.rc_context(STYLE):
        figure = mpl.figure.Figure(figsize=(10.0, 6.8), layout="constrained")
        panels = figure.subplots(2, 3, sharex=True).ravel()
    for axes, (name, problem) in zip(panels, results["problems"].items(), strict=False):
        _panel(axes, name, problem, passes)
    for axes in panels[[0, 3]]:
        axes.set_ylabel("relative error to the optimum\n(mean; smallest to largest shaded)")
    for axes in panels[2:5]:
        axes.set_xlabel("passes over the data")
        axes.tick_params(labelbottom=True)
    panels[5].set_axis_off()
    panels[5].legend(*panels[0].get_legend_handles_labels(), loc="center", frameon=False)
    return figure


def _panel(axes: Axes, name: str, problem: dict, passes: tuple[int, ...]) -> None:
    from benchmarks.figures import COLOURS, MARKERS, plain_ticks

    for index, (method, found) in enumerate(problem["curves"].items()):
        colour, marker = COLOURS[index], MARKERS[index]
        low, middle, high = (pick(found["errors"], axis=1) for pick in (np.min, np.mean, np.max))
        at = found["passes"]
        axes.plot(at, middle, color=colour, marker=marker, label=OURS[method], zorder=3)
        axes.fill_between(at, low, high, color=colour, alpha=0.2, linewidth=0)
        axes.plot(
            passes,
            problem[f"paper_{method}"],
            color=colour,
            marker=marker,
            markerfacecolor="none",
            linestyle="none",
            label=PAPER[method],
        )
    _default(axes, find(problem, "auto")["errors"], COLOURS[2])
    axes.axhline(problem["zero"], color="#444444", linestyle=":", label="the zero model")
    axes.set_xscale("log")
    plain_ticks(axes.xaxis, list(passes))
    _plain_errors(axes)
    axes.set_title(name, loc="left")


def _default(axes: Axes, errors: list[float], colour: str) -> None:
    """What a user gets who names no solver: it has no passes to choose, so it is level."""
    axes.axhline(float(np.mean(errors)), color=colour, linestyle="--", label='privlearn "auto"')
    axes.axhspan(min(errors), max(errors), color=colour, alpha=0.15, linewidth=0)


def _plain_errors(axes: Axes) -> None:
    """A logarithmic axis with few ticks, written as people write numbers."""
    from matplotlib.ticker import LogLocator, NullLocator

    axes.set_yscale("log")
    low, high = axes.get_ylim()
    steps = (1.0,) if high > 100 * low else (1.0, 2.0, 5.0)
    axes.yaxis.set_major_locator(LogLocator(subs=steps))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_locator(NullLocator())
