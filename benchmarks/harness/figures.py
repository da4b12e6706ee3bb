"""Figures that look alike, are readable without colour and come out the same each time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

__all__ = [
    "COLOURS",
    "MARKERS",
    "blank",
    "described",
    "few_log_ticks",
    "legend_below",
    "log_seconds",
    "panels",
    "plain_ticks",
    "ranges",
    "save",
]

# Okabe and Ito 2008: told apart with any of the common kinds of colour blindness.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
PANELS = 3  # of which a description gives the titles
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

STYLE = {
    "svg.hashsalt": "privlearn",  # else element names in SVG files change from run to run
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
}


def blank(width: float = 6.4, height: float = 4.2) -> tuple[Figure, Axes]:
    """A figure and its axes in the common style, without any global state of matplotlib."""
    figure, axes = panels(1, 1, width, height)
    return figure, axes[0, 0]


def panels(
    down: int, across: int, width: float, height: float, *, grid: bool = True, **subplots: object
) -> tuple[Figure, np.ndarray]:
    """A figure of that size and an array of axes, in the common style."""
    with mpl.rc_context(STYLE | {"axes.grid": grid}):
        figure = Figure(figsize=(width, height), layout="constrained")
        return figure, figure.subplots(down, across, squeeze=False, **subplots)


def plain_ticks(axis: object, values: list[float]) -> None:
    """Put ticks at these values of a logarithmic axis, written as people write them."""
    axis.set_ticks(values, labels=[f"{value:g}" for value in values])
    axis.set_ticks([], minor=True)


def log_seconds(axes: Axes) -> None:
    """A logarithmic horizontal axis with ticks at 1, 2 and 5 times the powers of ten."""
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_locator(NullLocator())


def few_log_ticks(axes: Axes, decades: float, formatter: str | Callable) -> None:
    """A logarithmic vertical axis: at powers of ten beyond so many decades, else at 1, 2 and 5."""
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    subs = (1.0,) if high > 10**decades * low else (1.0, 2.0, 5.0)
    axes.yaxis.set_major_locator(LogLocator(subs=subs))
    axes.yaxis.set_major_formatter(formatter)
    axes.yaxis.set_minor_locator(NullLocator())


def ranges(
    axes: Axes, places: object, spread: object, index: int, label: str | None, **style: object
) -> None:
    """Marks at the middle and bars from low to high: `spread` is (middle, low, high), by place."""
    middle, low, high = np.asarray(spread, dtype=float).T
    axes.errorbar(
        middle,
        places,
        xerr=[middle - low, high - middle],
        linestyle="none",
        marker=MARKERS[index],
        color=COLOURS[index],
        label=label,
        **({"capsize": 3} | style),
    )


def legend_below(
    figure: Figure, columns: int, axes: Iterable[Axes] = (), title: str | None = None
) -> None:
    """A legend under the axes, where it covers nothing; each label of some `axes` once."""
    found = {}
    for one in axes:
        handles, labels = one.get_legend_handles_labels()
        found |= dict(zip(labels, handles, strict=True))
    own = (found.values(), found.keys()) if found else ()
    figure.legend(*own, loc="outside lower center", ncols=columns, frameon=False, title=title)


def described(figure: Figure) -> str:
    """What a figure shows, for those who do not see it: titles, axes, and what is drawn."""
    titles = [one.get_title(loc) for one in figure.axes for loc in ("left", "center")]
    titles = [figure.get_suptitle(), *dict.fromkeys(titles)]
    titles = [title for title in titles if title]
    heading = "; ".join(titles[:PANELS])
    if len(titles) > PANELS:
        heading += f"; and {len(titles) - PANELS} panels more"
    up, across = figure.axes[0].get_ylabel(), figure.axes[-1].get_xlabel()
    listed = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    drawn = listed or figure.axes[0].get_legend_handles_labels()[1]
    axes = f"{up} by {across}" if up and across else up or across
    words = ". ".join(part for part in (heading, axes, ", ".join(dict.fromkeys(drawn))) if part)
    return " ".join(words.replace("[", "(").replace("]", ")").split())


def save(figure: Figure, stem: Path) -> None:
    """Write `stem`.png and `stem`.svg without a date, so that equal results give equal files."""
    with mpl.rc_context(STYLE):
        figure.savefig(f"{stem}.png", dpi=150, metadata={"Software": None})
        figure.savefig(f"{stem}.svg", metadata={"Date": None})
