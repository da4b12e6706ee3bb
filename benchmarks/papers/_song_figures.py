"""Figures 1 to 3 of Song et al. 2013 with privlearn in the second, from stored values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.papers import _song_findings as findings
from benchmarks.papers._song_loops import SCHEDULES
from benchmarks.papers._song_pages import OURS
from benchmarks.papers._song_problems import SYNTHETIC
from benchmarks.papers._song_study import BATCHES, NOISES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["batches", "convergence", "steps"]

LABELS = {
    "none": "SGD, no privacy",
    "replace_one": "private SGD, the paper's noise (replace_one)",
    "zero_out": "private SGD, half that noise (zero_out)",
}
CENTRAL = "optimum (all rows, no privacy)"


def batches(results: dict) -> Figure:
    """Figure 2: objective after one pass by batch size; a row per step, a column per problem."""
    problems = results["problems"]
    figure, panels = _panels(2, len(problems), 3.9, 3.5)
    for axes_of_step, schedule in zip(panels, SCHEDULES[:2], strict=True):
        for axes, (name, problem) in zip(axes_of_step, problems.items(), strict=True):
            _batch_panel(axes, name, problem, schedule)
        axes_of_step[0].set_ylabel("objective (mean, one deviation)")
    for axes in panels[-1]:
        axes.set_xlabel("batch size b")
    _legend(figure, panels, columns=2)
    return figure


def _batch_panel(axes: Axes, name: str, problem: dict, schedule: str) -> None:
    from benchmarks.figures import COLOURS, MARKERS, plain_ticks

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
    _plain_values(axes)
    axes.set_title(f"{name}\nstep {schedule}", loc="left", fontsize=10)


def convergence(results: dict) -> Figure:
    """Figure 1: objective by rows seen, at a batch size of 1 and at one that the paper praises."""
    figure, panels = _panels(2, 2, 4.8, 3.3)
    for across, (name, batch) in enumerate(findings.MATCHING.items()):
        problem = results["problems"][name]
        for axes, size in zip(panels[:, across], (1, batch), strict=True):
            _curves(axes, problem, SCHEDULES[0], size)
            axes.axhline(problem["optimum"], color="#444444", linestyle=":", label=CENTRAL)
            _plain_values(axes)
            axes.set_title(f"{name}, b = {size}", loc="left", fontsize=10)
    for axes in panels[-1]:
        axes.set_xlabel("rows seen")
    for axes in panels[:, 0]:
        axes.set_ylabel("objective (mean, one deviation)")
    _legend(figure, panels, columns=2)
    return figure


def steps(results: dict) -> Figure:
    """Figure 3: objective by rows seen for two step sizes on the synthetic rows."""
    figure, panels = _panels(1, 2, 4.8, 3.5)
    problem = results["problems"][SYNTHETIC]
    for axes, schedule in zip(panels[0], (SCHEDULES[0], SCHEDULES[2]), strict=True):
        _curves(axes, problem, schedule, 5)
        axes.axhline(problem["optimum"], color="#444444", linestyle=":", label=CENTRAL)
        axes.set_ylim(0.05, 1e4)
        _plain_values(axes)
        axes.set_title(f"{SYNTHETIC}, b = 5, step {schedule}", loc="left", fontsize=10)
        axes.set_xlabel("rows seen")
    panels[0, 0].set_ylabel("objective (mean, one deviation)")
    _legend(figure, panels, columns=2)
    return figure


def _curves(axes: Axes, problem: dict, schedule: str, batch: int) -> None:
    from benchmarks.figures import COLOURS

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


def _panels(down: int, across: int, width: float, height: float) -> tuple[Figure, np.ndarray]:
    import matplotlib as mpl

    from benchmarks.figures import STYLE

    with mpl.rc_context(STYLE):
        size = (width * across, height * down + 0.9)
        figure = mpl.figure.Figure(figsize=size, layout="constrained")
        return figure, figure.subplots(down, across, squeeze=False)


def _legend(figure: Figure, panels: np.ndarray, columns: int) -> None:
    found = {}
    for axes in panels.ravel():
        handles, labels = axes.get_legend_handles_labels()
        found |= dict(zip(labels, handles, strict=True))
    figure.legend(
        found.values(), found.keys(), loc="outside lower center", ncols=columns, frameon=False
    )


def _deviation(values: np.ndarray) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else 0.0


def _plain_values(axes: Axes) -> None:
    """A logarithmic axis with few ticks, written as people write numbers."""
    from matplotlib.ticker import LogLocator, NullLocator

    axes.set_yscale("log")
    low, high = axes.get_ylim()
    subs = (1.0,) if high > 1000 * low else (1.0, 2.0, 5.0)
    axes.yaxis.set_major_locator(LogLocator(subs=subs))
    axes.yaxis.set_major_formatter("{x:,g}")
    axes.yaxis.set_minor_locator(NullLocator())
