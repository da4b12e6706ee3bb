"""Tables and figures of timings: several cases, the same contestants in each."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from benchmarks.harness import report
from benchmarks.harness.timing import ratio_line, ratios, seconds_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["figure", "ranking", "ranking_figure", "table"]

LEGEND = 60  # letters of all names that fit into one line
Races = dict[str, dict[str, list[float]]]


def table(races: Races, ours: str, reference: str) -> str:
    """Time of each contestant in each case and the ratio of two of them within the rounds."""
    names = list(next(iter(races.values())))
    header = ["case", *names, f"{ours} / {reference}"]
    rows = [
        [case, *(seconds_line(times[name]) for name in names),
         ratio_line(ratios(times, ours, reference))]
        for case, times in races.items()
    ]  # fmt: skip
    rounds = len(next(iter(next(iter(races.values())).values())))
    note = f"Median of {rounds} interleaved rounds (smallest to largest); ratios within a round."
    return report.table(header, rows) + "\n\n" + note


def ranking(times: dict[str, list[float]], reference: str) -> str:
    """One case with many contestants: a row for each, and how often the reference fits into it."""
    rows = [
        [name, seconds_line(values), ratio_line(ratios(times, name, reference))]
        for name, values in times.items()
    ]
    note = f"Median of {len(times[reference])} interleaved rounds (smallest to largest)."
    return report.table(["", "time", f"times {reference}"], rows) + "\n\n" + note


def figure(races: Races, title: str) -> Figure:
    """Several cases: seconds on a logarithmic axis, a mark at the median, a line over the range."""
    from benchmarks.harness.figures import blank, legend_below, log_seconds

    names = list(next(iter(races.values())))
    pitch = len(names) + 1
    plot, axes = blank(width=7.2, height=1.4 + 0.28 * len(races) * pitch)
    for index, name in enumerate(names):
        places = [case * pitch + index for case in range(len(races))]
        _draw(axes, [race[name] for race in races.values()], places, index, name)
    axes.set_yticks([case * pitch + (len(names) - 1) / 2 for case in range(len(races))], [*races])
    log_seconds(axes)
    _finish(axes, title, "seconds (median and range of rounds)")
    legend_below(plot, columns=len(names) if sum(map(len, names)) < LEGEND else 2)
    return plot


def ranking_figure(times: dict[str, list[float]], title: str) -> Figure:
    """One case with many contestants: seconds on an axis from zero, one line for each."""
    from benchmarks.harness.figures import blank

    plot, axes = blank(width=7.2, height=1.2 + 0.36 * len(times))
    for place, values in enumerate(times.values()):
        _draw(axes, [values], [place], 0 if place == 0 else 1)
    axes.set_yticks(range(len(times)), [*times])
    axes.set_xlim(left=0.0)
    _finish(axes, title, "seconds, median and range of the rounds")
    return plot


def _draw(
    axes: Axes, times: list[list[float]], places: list[int], style: int, label: str | None = None
) -> None:
    from benchmarks.harness.figures import ranges

    spread = [(median(values), min(values), max(values)) for values in times]
    ranges(axes, places, spread, style, label)


def _finish(axes: Axes, title: str, label: str) -> None:
    axes.margins(y=0.15)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(label)
    axes.set_title(title, loc="left")
