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


def figure(
    found: Curves, *, title: str, score: str, floor: dict[str, float] | None = None
) -> Figure:
    """One line per method with its quartiles, dashed lines for what does not depend on epsilon.

    With `floor`, scores of models that have learned nothing or failed, by name, a panel to the left
    shows the whole way from there, and the one to the right its upper end.
    """
    from benchmarks.harness.figures import legend_below, panels

    count = 1 if floor is None else 2
    plot, (every,) = panels(1, count, 6.4 if count == 1 else 9.6, 4.6)
    for axes in every:
        _draw_all(axes, found)
        axes.set_ylabel(score)
    every[0].set_title(title, loc="left")
    if floor is not None:
        _draw_floor(every[0], floor)
        every[1].set_title("the upper end, from close up", loc="left")
    legend_below(plot, 2, every[:1], "line: median of fits; shaded: quartiles; dot: the worst fit")
    return plot


def _draw_all(axes: Axes, found: Curves) -> None:
    from benchmarks.harness.figures import plain_ticks

    axes.set_xscale("log")
    for index, (method, curve) in enumerate(found["curves"].items()):
        _draw_curve(axes, index, method, found["epsilons"], curve)
    for index, (name, value) in enumerate(found["references"].items()):
        axes.axhline(value, color="#444444", linestyle=("--", ":", "-.")[index % 3], label=name)
    plain_ticks(axes.xaxis, found["epsilons"])
    axes.set_xlabel("epsilon: less privacy to the right")


def _draw_floor(axes: Axes, floor: dict[str, float]) -> None:
    """Lines with their names on them, not in the legend."""
    for name, value in floor.items():
        axes.axhline(value, color="#999999", linewidth=1.0, zorder=1)
        place = (0.99, value)
        axes.annotate(name, place, (0, 3), axes.get_yaxis_transform(), "offset points", ha="right")


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
