"""What the budget was spent on, as bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from privlearn.export.report.drawing.canvas import COLOURS, figure, fitting, svg_text
from privlearn.export.report.markup import Markup, tag

__all__ = ["STAGES", "Share", "budget_shares"]

STAGES = {
    "bounds": "estimating ranges, kinds and lists of columns",
    "facts": "estimating scales that the method needs",
    "fit": "the model itself",
}
MOST = 24  # bars
ROW, BAR, HEAD = 34.0, 10.0, 26.0


@dataclass(frozen=True)
class Share:
    """One release: its name, what it serves, and its part of the budget."""

    name: str
    stage: str
    part: float


def budget_shares(shares: Sequence[Share]) -> Markup:
    """Bars under a heading for each stage, the largest first."""
    kept = _largest(shares)
    told = "; ".join(f"{one.name}: {one.part:.1%}" for one in kept)
    parts = {stage: sum(one.part for one in shares if one.stage == stage) for stage in STAGES}
    caption = "Shares of the privacy budget. In all: " + ", ".join(
        f"{part:.0%} for {STAGES[stage]}" for stage, part in parts.items() if part
    )
    return figure(
        "shares", "Shares of the privacy budget", told, lambda w: _drawn(kept, w), [caption, "."]
    )


def _largest(shares: Sequence[Share]) -> list[Share]:
    ordered = sorted(shares, key=lambda one: -one.part)
    kept, others = ordered[:MOST], ordered[MOST:]
    if others:
        rest = sum(one.part for one in others)
        kept.append(Share(f"{len(others)} others together", others[0].stage, rest))
    return [one for stage in STAGES for one in kept if one.stage == stage]


def _drawn(shares: Sequence[Share], width: float) -> tuple[list[Markup], float]:
    found: list[Markup] = []
    y, stage = 0.0, None
    for one in shares:
        if one.stage != stage:
            stage = one.stage
            y += HEAD
            found.append(svg_text(0.0, y - 6.0, fitting(STAGES[stage], width), "head"))
        colour = COLOURS[list(STAGES).index(one.stage)]
        size = max(one.part * width, 1.5)
        found += [
            svg_text(0.0, y + 13.0, fitting(one.name, width - 60.0)),
            svg_text(width, y + 13.0, f"{one.part:.1%}", "end"),
            tag("rect", x=0, y=y + 18.0, width=width, height=BAR, rx=2, fill="#eceff3"),
            tag("rect", x=0, y=y + 18.0, width=size, height=BAR, rx=2, fill=colour),
        ]
        y += ROW
    return found, y + 4.0
