"""Figures that look alike, are readable without colour and come out the same each time."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

__all__ = ["COLOURS", "MARKERS", "blank", "legend_below", "log_seconds", "plain_ticks", "save"]

# Okabe and Ito 2008: told apart with any of the common kinds of colour blindness.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
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
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        return figure, figure.subplots()


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


def legend_below(figure: Figure, columns: int) -> None:
    """A legend under the axes, where it covers nothing."""
    figure.legend(loc="outside lower center", ncols=columns, frameon=False)


def save(figure: Figure, stem: Path) -> None:
    """Write `stem`.png and `stem`.svg without a date, so that equal results give equal files."""
    with mpl.rc_context(STYLE):
        figure.savefig(f"{stem}.png", dpi=150, metadata={"Software": None})
        figure.savefig(f"{stem}.svg", metadata={"Date": None})
