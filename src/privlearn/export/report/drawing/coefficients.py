"""Coefficients as points, with intervals or with the privacy noise where they are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privlearn.export.report.drawing.canvas import (
    COLOURS,
    Scale,
    figure,
    fitting,
    number,
    svg_text,
    ticks,
)
from privlearn.export.report.markup import Markup, tag

__all__ = ["MOST", "MOST_OUTPUTS", "NOT_TOLD", "Effects", "drawn_effects", "standing_out"]

MOST = 30  # coefficients that are drawn
MOST_OUTPUTS = len(COLOURS)
TOP, BOTTOM, LABELS, VALUES = 8.0, 40.0, 210.0, 64.0
NOT_TOLD, WORDS = "not told", 56.0  # and how wide that is
GREY = "#5b6775"

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Effects:
    """What is drawn: a row for each name, a mark for each output.

    Attributes
    ----------
    names : sequence of str
        Of the rows.
    values, low, high : arrays of shape (n_outputs, n_rows)
        Estimates and the ends of their bars; NaN where nothing is known.
    bars : bool
        Whether there are bars: marks without one are then hollow, lest they look like the surest.
    outputs : sequence of str
        Labels of the classes, where there are several.
    unit : str
        What is along the axis.
    """

    names: Sequence[str]
    values: Array
    low: Array
    high: Array
    bars: bool
    outputs: Sequence[str]
    unit: str

    def told(self, k: int, j: int) -> bool:
        """Whether a mark has a bar."""
        return bool(np.isfinite(self.low[k, j]) and np.isfinite(self.high[k, j]))

    def hollow(self, k: int, j: int) -> bool:
        """Whether it has none where others might."""
        return self.bars and not self.told(k, j)


def standing_out(sizes: Array, most: int = MOST) -> NDArray[np.int64]:
    """Places of the largest, in their own order.

    Examples
    --------
    >>> standing_out(np.array([1.0, 5.0, 3.0]), 2).tolist()
    [1, 2]
    """
    return np.sort(np.argsort(-sizes, kind="stable")[:most])


def drawn_effects(effects: Effects, caption: Sequence[str]) -> Markup:
    """The figure; its description tells every number that it shows."""
    told = "; ".join(_told(effects, j) for j in range(len(effects.names)))
    return figure("coefficients", "Coefficients", told, lambda w: _drawn(effects, w), caption)


def _told(effects: Effects, j: int) -> str:
    parts = []
    for k in range(len(effects.values)):
        ends = effects.low[k, j], effects.high[k, j]
        bar = f" ({number(ends[0])} to {number(ends[1])})" if effects.told(k, j) else ""
        bar = f" (interval {NOT_TOLD})" if effects.hollow(k, j) else bar
        whose = f" of {effects.outputs[k]}" if len(effects.outputs) > 1 else ""
        parts.append(f"{number(effects.values[k, j])}{bar}{whose}")
    return f"{effects.names[j]}: {', '.join(parts)}"


def _across(effects: Effects, start: float, end: float) -> Scale:
    """From the lowest to the highest of what is drawn, 0 included."""
    parts = (effects.values, effects.low, effects.high, np.zeros((1, 1)))
    every = np.concatenate([np.ravel(part) for part in parts])
    low, high = float(np.nanmin(every)), float(np.nanmax(every))
    space = 0.04 * (high - low) or 1.0
    return Scale(low - space, high + space, start, end)


def _drawn(effects: Effects, width: float) -> tuple[list[Markup], float]:
    wide, outputs = width > 500.0, len(effects.values)
    row = (16.0 if wide else 34.0) + 10.0 * outputs
    key, top = _key(effects, width)
    across = _across(effects, *((LABELS, width - VALUES) if wide else (6.0, width - 6.0)))
    bottom = top + row * len(effects.names) + 6.0
    found = [*key, *_axis(effects, across, top, bottom, 7 if wide else 4)]
    for j, label in enumerate(effects.names):
        y = top + row * j
        middle = y + row / 2.0 + (0.0 if wide else 9.0)
        if wide:
            found.append(
                svg_text(LABELS - 14.0, middle + 4.0, fitting(label, LABELS - 20.0), "end")
            )
        else:
            found.append(svg_text(0.0, y + 15.0, fitting(label, width - 70.0)))
        if outputs == 1:
            place = (width, middle + 4.0) if wide else (width, y + 15.0)
            found.append(svg_text(*place, number(effects.values[0, j]), "end"))
        for k in range(outputs):
            at = middle + 10.0 * (k - (outputs - 1) / 2.0)
            found += _mark(effects, across, k, j, at)
    return found, bottom + BOTTOM


def _axis(effects: Effects, across: Scale, top: float, bottom: float, most: int) -> list[Markup]:
    found = []
    for value in ticks(across.low, across.high, most):
        x = across(value)
        found.append(tag("line", x1=x, x2=x, y1=top, y2=bottom, class_="grid"))
        found.append(svg_text(x, bottom + 16.0, number(value), "middle"))
    zero = across(0.0)
    middle = (across.start + across.end) / 2.0
    return [
        *found,
        tag("line", x1=zero, x2=zero, y1=top, y2=bottom, class_="axis"),
        svg_text(middle, bottom + 34.0, effects.unit, "middle head"),
    ]


def _mark(effects: Effects, across: Scale, k: int, j: int, y: float) -> list[Markup]:
    colour, found = COLOURS[k % MOST_OUTPUTS], []
    low, high, x = effects.low[k, j], effects.high[k, j], across(effects.values[k, j])
    if effects.hollow(k, j):
        return [_shape(k, x, y, GREY, hollow=True), *_not_told(across, x, y, len(effects.values))]
    if effects.told(k, j):
        ends: dict[str, str | float] = {
            "stroke": colour,
            "stroke_width": 2.5,
            "stroke_linecap": "round",
        }
        found.append(tag("line", x1=across(low), x2=across(high), y1=y, y2=y, **ends))
    return [*found, _shape(k, x, y, colour)]


def _not_told(across: Scale, x: float, y: float, outputs: int) -> list[Markup]:
    """The words beside a hollow mark, on the side that has room; of several classes, none."""
    if outputs > 1:
        return []
    right = x + 10.0 + WORDS <= across.end
    return [svg_text(x + (10.0 if right else -10.0), y + 4.0, NOT_TOLD, "" if right else "end")]


def _shape(k: int, x: float, y: float, colour: str, *, hollow: bool = False) -> Markup:
    """Told apart without colour, too: the number of corners differs."""
    filled: dict[str, str | float] = {"fill": colour}
    if hollow:
        filled = {"fill": "#ffffff", "stroke": colour, "stroke_width": 1.5}
    if k % MOST_OUTPUTS == 0:
        return tag("circle", cx=x, cy=y, r=5, **filled)
    corners = 2 + k % MOST_OUTPUTS
    angles = 2.0 * np.pi * np.arange(corners) / corners - np.pi / 2.0
    points = zip(x + 6.0 * np.cos(angles), y + 6.0 * np.sin(angles), strict=True)
    return tag("polygon", points=" ".join(f"{a:.1f},{b:.1f}" for a, b in points), **filled)


def _key(effects: Effects, width: float) -> tuple[list[Markup], float]:
    """Which mark is whose, where there are several; and where the rows begin."""
    if len(effects.outputs) < 2:
        return [], TOP
    each = 180.0 if width > 500.0 else width
    columns = int(width // each)
    found = []
    for k, label in enumerate(effects.outputs):
        x, y = each * (k % columns) + 8.0, 16.0 + 20.0 * (k // columns)
        found.append(_shape(k, x, y - 4.0, COLOURS[k % MOST_OUTPUTS]))
        found.append(svg_text(x + 14.0, y, fitting(label, each - 40.0)))
    return found, 20.0 * (-(-len(effects.outputs) // columns)) + 14.0
