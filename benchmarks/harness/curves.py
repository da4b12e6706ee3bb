"""Scores over epsilon: one table and one figure for every component that measures them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.harness import report

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Curves", "cell", "figure", "over_epsilons", "summary", "table"]

# {"epsilons": [...], "curves": {method: [[score per seed] per epsilon]}, "references": {method: x}}
Curves = dict


def summary(scores: list[float]) -> tuple[float, float, float]:
    """Median, first and third quartile of the seeds."""
    low, middle, high = np.percentile(scores, [25, 50, 75])
    return float(middle), float(low), float(high)


def over_epsilons(
    estimator: str,
    train: tuple,
    test: tuple,
    epsilons: Sequence[float],
    seeds: int,
    **facts: object,
) -> list[list[float]]:
    """Test scores of an estimator of privlearn, per epsilon and seed."""
    import privlearn

    make = getattr(privlearn, estimator)
    return [
        [
            make(epsilon=epsilon, random_state=seed, **facts).fit(*train).score(*test)
            for seed in range(seeds)
        ]
        for epsilon in epsilons
    ]


def table(found: Curves) -> str:
    """Median (quartiles, worst) of each method at each epsilon, and the references below."""
    header = ["method", *(f"epsilon = {epsilon:g}" for epsilon in found["epsilons"])]
    rows = [
        [method, *(cell(scores) for scores in curve)] for method, curve in found["curves"].items()
    ]
    blanks = [""] * (len(header) - 2)
    rows += [[name, f"{score:.4f}", *blanks] for name, score in found["references"].items()]
    seeds = len(next(iter(found["curves"].values()))[0])
    note = f"\n\nMedian of {seeds} seeds (first to third quartile; the worst of all)."
    return report.table(header, rows) + note


def cell(scores: list[float], digits: int = 4) -> str:
    """Median (quartiles; worst), with so many digits after the point."""
    shown = (*summary(scores), min(scores))
    middle, low, high, worst = (f"{value:.{digits}f}" for value in shown)
    return f"{middle} ({low} to {high}; {worst})"


def figure(found: Curves, *, title: str, score: str) -> Figure:
    """One line per method with its quartiles, dashed lines for what does not depend on epsilon."""
    from benchmarks.harness.figures import blank, legend_below, plain_ticks

    plot, axes = blank()
    axes.set_xscale("log")
    for index, (method, curve) in enumerate(found["curves"].items()):
        _draw_curve(axes, index, method, found["epsilons"], curve)
    for index, (name, value) in enumerate(found["references"].items()):
        axes.axhline(value, color="#444444", linestyle=("--", ":")[index % 2], label=name)
    plain_ticks(axes.xaxis, found["epsilons"])
    axes.set_xlabel("epsilon (logarithmic): less privacy to the right")
    axes.set_ylabel(f"{score}\n(median; quartiles shaded; dot: worst)")
    axes.set_title(title, loc="left")
    legend_below(plot, columns=2)
    return plot


def _draw_curve(
    axes: Axes, index: int, method: str, epsilons: list[float], curve: list[list[float]]
) -> None:
    from benchmarks.harness.figures import COLOURS, MARKERS

    middle, low, high = np.array([summary(scores) for scores in curve]).T
    colour = COLOURS[index]
    axes.plot(epsilons, middle, color=colour, marker=MARKERS[index], label=method, zorder=3)
    axes.fill_between(epsilons, low, high, color=colour, alpha=0.2, linewidth=0)
    worst = [min(scores) for scores in curve]
    axes.plot(epsilons, worst, color=colour, marker=".", markersize=5, linestyle="none", zorder=2)
