"""Relative error over passes: Figures 1 and 2 of Mangold et al. 2022 in one, from stored values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.papers.mangold.pages import counts, find
from benchmarks.papers.mangold.problems import PASSES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["figures"]

OURS = {"cd": 'privlearn "cd", passes set', "sgd": 'privlearn "sgd", passes set'}
PAPER = {"cd": "paper's DP-CD, tuned", "sgd": "paper's DP-SGD, tuned"}
DEFAULT = 'privlearn, defaults ("auto")'
PAID = "the same, bounds public and scales estimated"
ZERO = "the zero model"


def figures(results: dict) -> dict[str, Figure]:
    """One panel per problem; lines are means, bands reach from the smallest to the largest."""
    from benchmarks.harness.figures import panels

    figure, every = panels(2, 3, 10.5, 7.0, sharex=True)
    every = every.ravel()
    for axes, (name, problem) in zip(every, results["problems"].items(), strict=False):
        _panel(axes, name, problem)
    for axes in every[[0, 3]]:
        axes.set_ylabel("relative error to the optimum\n(mean; smallest to largest shaded)")
    for axes in every[2:5]:
        axes.set_xlabel("passes over the data")
        axes.tick_params(labelbottom=True)
    _legend(every[5], every[:5])
    return {"": figure}


def _legend(empty: Axes, panels: np.ndarray) -> None:
    """In the panel that has no problem; some lines are in some panels only."""
    empty.set_axis_off()
    found = {}
    for axes in panels:
        found |= {
            label: handle for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
        }
    order = [label for label in (*_pairs(), DEFAULT, PAID, ZERO) if label in found]
    empty.legend([found[label] for label in order], order, loc="center", frameon=False)


def _pairs() -> list[str]:
    return [label for method in OURS for label in (OURS[method], PAPER[method])]


def _panel(axes: Axes, name: str, problem: dict) -> None:
    from benchmarks.harness.figures import COLOURS, MARKERS, few_log_ticks, plain_ticks

    for index, (method, found) in enumerate(problem["curves"].items()):
        colour, marker = COLOURS[index], MARKERS[index]
        low, middle, high = (pick(found["errors"], axis=1) for pick in (np.min, np.mean, np.max))
        at = found["passes"]
        axes.plot(at, middle, color=colour, marker=marker, label=OURS[method], zorder=3)
        axes.fill_between(at, low, high, color=colour, alpha=0.2, linewidth=0)
        axes.plot(
            PASSES,
            problem[f"paper_{method}"],
            color=colour,
            marker=marker,
            markerfacecolor="white",
            linestyle="none",
            label=PAPER[method],
            zorder=4,
        )
    _default(axes, problem, COLOURS[2], COLOURS[3])
    axes.axhline(problem["zero"], color="#444444", linestyle=":", label=ZERO)
    axes.set_xscale("log")
    plain_ticks(axes.xaxis, list(PASSES))
    few_log_ticks(axes, 2, lambda x, _: np.format_float_positional(x, 6, trim="-"))
    taken = "2 max and scales free" if problem["standardised"] else "nothing free"
    axes.set_title(name, loc="left", pad=18)
    axes.text(0.0, 1.02, taken, transform=axes.transAxes, fontsize=9, color="#444444")


def _default(axes: Axes, problem: dict, colour: str, other: str) -> None:
    """What a user gets who names no solver: it has no passes to choose, so it is level."""
    errors = counts(problem)["errors"]
    axes.axhline(float(np.mean(errors)), color=colour, linestyle="--", label=DEFAULT)
    axes.axhspan(min(errors), max(errors), color=colour, alpha=0.15, linewidth=0)
    if problem["standardised"]:
        paid = float(np.mean(find(problem, "auto")["errors"]))
        axes.axhline(paid, color=other, linestyle="-.", label=PAID)
