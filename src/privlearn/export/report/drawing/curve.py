"""Delta over epsilon: everything that is promised, of which a pair is one point."""

from __future__ import annotations

import math
from collections.abc import Sequence

from privlearn.export.report.drawing.canvas import COLOURS, Scale, figure, number, svg_text, ticks
from privlearn.export.report.markup import Markup, tag

__all__ = ["privacy_curve"]

LEAST = 1e-12  # deltas that are drawn
HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 310.0, 52.0, 14.0, 28.0, 46.0
RAISED = "\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"
POWERS = str.maketrans("-0123456789", RAISED)

Points = Sequence[tuple[float, float]]


def privacy_curve(points: Points, epsilon: float, delta: float) -> Markup:
    """The curve through pairs of epsilon and delta, with the promised pair marked."""
    told = ", ".join(f"delta {d:.2g} at epsilon {e:.3g}" for e, d in points[:: len(points) // 8])
    caption = (
        "The privacy curve: every pair of epsilon and delta on it or above it holds. The promised "
        f"pair is marked (epsilon = {epsilon:g}, delta = {delta:g})."
    )
    draw = lambda width: _drawn(points, epsilon, delta, width)  # noqa: E731
    return figure("curve", "Privacy curve, delta over epsilon", f"{told}.", draw, [caption])


def _drawn(
    points: Points, epsilon: float, delta: float, width: float
) -> tuple[list[Markup], float]:
    across = Scale(0.0, points[-1][0], LEFT, width - RIGHT)
    lowest = min([math.log10(d) for _, d in points if d > LEAST], default=-1.0)
    bottom = min(math.floor(lowest), -1.0)
    up = Scale(bottom, 0.0, HEIGHT - BOTTOM, TOP)
    seen = [(across(e), up(math.log10(d))) for e, d in points if d > LEAST]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in seen)
    return [
        *_axes(across, up, width),
        tag("polyline", points=line, fill="none", stroke=COLOURS[0], stroke_width=2.5),
        *_promised(across, up, epsilon, delta),
    ], HEIGHT


def _axes(across: Scale, up: Scale, width: float) -> list[Markup]:
    found, below = [], HEIGHT - BOTTOM
    for power in ticks(up.low, 0.0, 6):
        y = up(power)
        found.append(tag("line", x1=LEFT, x2=width - RIGHT, y1=y, y2=y, class_="grid"))
        label = f"{power:.0f}".translate(POWERS)
        found.append(svg_text(LEFT - 8.0, y + 4.0, f"10{label}" if power else "1", "end"))
    for value in ticks(0.0, across.high, 4 if width < 500.0 else 8):
        found.append(svg_text(across(value), below + 18.0, number(value), "middle"))
    axis: dict[str, str | float] = {"y1": below, "y2": below, "class_": "axis"}
    return [
        *found,
        tag("line", x1=LEFT, x2=width - RIGHT, **axis),
        svg_text((LEFT + width) / 2.0, HEIGHT - 6.0, "epsilon", "middle head"),
        svg_text(0.0, 12.0, "delta", "head"),
    ]


def _promised(across: Scale, up: Scale, epsilon: float, delta: float) -> list[Markup]:
    x, y = across(epsilon), up(math.log10(max(delta, LEAST)))
    below = HEIGHT - BOTTOM
    text = f"epsilon = {epsilon:g}, delta = {delta:g}"
    return [
        tag("line", x1=x, x2=x, y1=y, y2=below, class_="drop"),
        tag("line", x1=LEFT, x2=x, y1=y, y2=y, class_="drop"),
        tag("rect", x=x - 5.0, y=y - 5.0, width=10, height=10, fill=COLOURS[1]),
        svg_text(x + 10.0, y - 8.0, text if x < 400.0 and across.end > 500.0 else "promised"),
    ]
