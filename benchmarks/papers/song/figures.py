"""Figures 1 to 3 of Song et al. 2013 with privlearn in the second, from stored values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.harness.figures import (
    COLOURS,
    MARKERS,
    few_log_ticks,
    legend_below,
    panels,
    plain_ticks,
)
from benchmarks.papers.song import findings
from benchmarks.papers.song.loops import SCHEDULES
from benchmarks.papers.song.pages import OURS
from benchmarks.papers.song.problems import SYNTHETIC
from benchmarks.papers.song.study import BATCHES, NOISES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["figures"]

LABELS = {
    "none": "SGD, no privacy",
    "replace_one": "private SGD, the paper's noise (replace_one)",
    "zero_out": "private SGD, half that noise (zero_out)",
}
CENTRAL = "optimum (all rows, no privacy)"


def figures(results: dict) -> dict[str, Figure]:
    """The second of the paper's three first."""
    return {"": batches(results), "convergence": convergence(results), "steps": steps(results)}


def batches(results: dict) -> Figure:
    """Figure 2: objective after one pass by batch size; a row per step, a column per problem."""
    problems = results["problems"]
    figure, every = panels(2, len(problems), 3.9 * len(problems), 7.9)
    for axes_of_step, schedule in zip(every, SCHEDULES[:2], strict=True):
        for axes, (name, problem) in zip(axes_of_step, problems.items(), strict=True):
            _batch_panel(axes, name, problem, schedule)
        axes_of_step[0].set_ylabel("objective (mean, one deviation)")
    for axes in every[-1]:
        axes.set_xlabel("batch size b")
    legend_below(figure, 2, every.ravel())
    return figure


def _batch_panel(axes: Axes, name: str, problem: dict, schedule: str) -> None:
    for index, noise in enumerate(NOISES):
        found = [findings.find(problem, schedule, noise, batch) for batch in BATCHES]
        axes.errorbar(
            np.array(BATCHES) * (1.0 + 0.03 * index),  # else bars would hide each other
            [values.mean() for values in found],
            yerr=[_deviation(values) for values in found],
            color=COLOURS[index],
            marker=MARKERS[index],
            markersize=5,
            capsize=2,
            linewidth=1.3,
            label=LABELS[noise],
        )
    axes.axhline(problem["optimum"], color="#444444", linestyle=":", label=CENTRAL)
    for index, row in enumerate(problem["ours"]):
        values = np.array(row["objectives"])
        style = {"color": COLOURS[3 + index], "linestyle": ("--", "-.")[index]}
        axes.axhline(values.mean(), label=f"{OURS} ({row['adjacency']})", **style)
        band = values.mean() + np.array([-1.0, 1.0]) * _deviation(values)
        axes.axhspan(*band, color=style["color"], alpha=0.15, linewidth=0)
    axes.set_xscale("log")
    plain_ticks(axes.xaxis, list(BATCHES))
    few_log_ticks(axes, 3, "{x:,g}")
    axes.set_title(f"{name}\nstep {schedule}", loc="left", fontsize=10)


def convergence(results: dict) -> Figure:
    """Figure 1: objective by rows seen, at a batch size of 1 and at one that the paper praises."""
    figure, every = panels(2, 2, 9.6, 7.5)
    for across, (name, batch) in enumerate(findings.MATCHING.items()):
        problem = results["problems"][name]
        for axes, size in zip(every[:, across], (1, batch), strict=True):
            _curves(axes, problem, SCHEDULES[0], size)
            axes.axhline(problem["optimum"], color="#444444", linestyle=":", label=CENTRAL)
            few_log_ticks(axes, 3, "{x:,g}")
            axes.set_title(f"{name}, b = {size}", loc="left", fontsize=10)
    for axes in every[-1]:
        axes.set_xlabel("rows seen")
    for axes in every[:, 0]:
        axes.set_ylabel("objective (mean, one deviation)")
    legend_below(figure, 2, every.ravel())
    return figure


def steps(results: dict) -> Figure:
    """Figure 3: objective by rows seen for two step sizes on the synthetic rows."""
    figure, every = panels(1, 2, 9.6, 4.4)
    problem = results["problems"][SYNTHETIC]
    for axes, schedule in zip(every[0], (SCHEDULES[0], SCHEDULES[2]), strict=True):
        _curves(axes, problem, schedule, 5)
        axes.axhline(problem["optimum"], color="#444444", linestyle=":", label=CENTRAL)
        axes.set_ylim(0.05, 1e4)
        few_log_ticks(axes, 3, "{x:,g}")
        axes.set_title(f"{SYNTHETIC}, b = 5, step {schedule}", loc="left", fontsize=10)
        axes.set_xlabel("rows seen")
    every[0, 0].set_ylabel("objective (mean, one deviation)")
    legend_below(figure, 2, every.ravel())
    return figure


def _curves(axes: Axes, problem: dict, schedule: str, batch: int) -> None:
    for curve in problem["curves"]:
        if (curve["schedule"], curve["batch"]) != (schedule, batch):
            continue
        index = list(NOISES).index(curve["noise"])
        means, deviations = np.array(curve["means"]), np.array(curve["deviations"])
        style = {"color": COLOURS[index], "linestyle": ("-", "--", "-.")[index]}
        axes.plot(curve["rows"], means, label=LABELS[curve["noise"]], linewidth=1.5, **style)
        low = np.maximum(means - deviations, problem["optimum"])  # nothing is below
        axes.fill_between(
            curve["rows"], low, means + deviations, color=COLOURS[index], alpha=0.2, linewidth=0
        )
    axes.xaxis.set_major_formatter("{x:,.0f}")


def _deviation(values: np.ndarray) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else 0.0
