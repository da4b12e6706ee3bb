"""What all figures share: two widths, text that fits, axes with round numbers."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from privlearn.export.report.markup import Markup, tag

__all__ = ["COLOURS", "NARROW", "WIDE", "Scale", "figure", "fitting", "number", "svg_text", "ticks"]

WIDE, NARROW = 720.0, 340.0  # a desk or a sheet of paper, and a phone; pixels of 12 point text
COLOURS = ("#0072B2", "#D55E00", "#00795A", "#A8508A", "#8A6100", "#2A7AA8", "#222222")
CHARACTER = 6.6  # pixels, on average, of a letter in figures

Draw = Callable[[float], tuple[list[Markup], float]]


@dataclass(frozen=True)
class Scale:
    """From numbers to pixels along a line.

    Examples
    --------
    >>> Scale(0.0, 10.0, 100.0, 200.0)(5.0)
    150.0
    """

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The pixel of a number; what is outside comes to an end."""
        part = (value - self.low) / (self.high - self.low)
        return self.start + min(max(part, 0.0), 1.0) * (self.end - self.start)


def ticks(low: float, high: float, most: int) -> list[float]:
    """At most so many round numbers between two.

    Examples
    --------
    >>> ticks(-3.0, 11.0, 5)
    [0.0, 5.0, 10.0]
    """
    rough = (high - low) / max(most, 1)
    if not (math.isfinite(rough) and rough > 0.0):
        return [low]
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * k for k in (1.0, 2.0, 5.0, 10.0) if size * k >= rough)
    first, last = math.ceil(low / step), math.floor(high / step)
    return [k * step + 0.0 for k in range(first, last + 1)]


def number(value: float) -> str:
    """A number as people read it.

    Examples
    --------
    >>> number(1234.5678), number(-0.00012345), number(1e9), number(float("nan"))
    ('1,235', '\u22120.0001234', '1e+09', '\u2013')
    """
    if math.isnan(value):
        return "\u2013"
    text = f"{value:,.0f}" if 1e3 <= abs(value) < 1e7 else f"{value:.4g}"
    return text.replace("-", "\u2212", 1) if value < 0 else text


def fitting(text: str, pixels: float) -> str:
    """As much of a text as a line of so many pixels takes.

    Examples
    --------
    >>> fitting("hours per week", 60.0)
    'hours pe\u2026'
    """
    room, kept = pixels / CHARACTER, 0
    if sum(map(_width, text)) <= room:
        return text
    while kept < len(text) and sum(map(_width, text[: kept + 1])) <= room - 1.0:
        kept += 1
    return text[:kept].rstrip() + "\u2026"


def _width(character: str) -> float:
    if unicodedata.east_asian_width(character) in "WF":
        return 2.0
    return 1.0 if character.isprintable() else 6.0  # which is spelled out


def svg_text(x: float, y: float, text: str, class_: str | None = None) -> Markup:
    """A line of text."""
    return tag("text", text, x=x, y=y, class_=class_)


def figure(key: str, title: str, description: str, draw: Draw, caption: Sequence[str]) -> Markup:
    """A figure in both widths; screens show one of them.

    Parameters
    ----------
    key : str
        Short name, for references within the page.
    title, description : str
        For those who cannot see it.
    draw : callable
        From a width to elements and the height that they take.
    caption : sequence of str
        Elements and texts below it.
    """
    drawn = []
    for kind, width in (("wide", WIDE), ("narrow", NARROW)):
        elements, height = draw(width)
        own = f"{key}-{kind}"
        named = tag("title", title, id=f"{own}-title")
        told = tag("desc", description, id=f"{own}-desc")
        labelled = {"aria_labelledby": f"{own}-title", "aria_describedby": f"{own}-desc"}
        view = f"0 0 {width:g} {height:g}"
        drawn.append(
            tag("svg", named, told, *elements, class_=kind, viewBox=view, role="img", **labelled)
        )
    return tag("figure", *drawn, tag("figcaption", *caption), id=key)
