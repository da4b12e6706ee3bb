"""What an evaluation found, as a statistician's table: value, interval, noise."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from privlearn._core.harmless import harmless
from privlearn.metrics.intervals import LEVEL

if TYPE_CHECKING:
    from privlearn._core.certificate import Certificate

__all__ = ["CalibrationRow", "CalibrationTable", "ConfusionMatrix", "Evaluation", "Found", "Score"]

HIDDEN = 0.75  # of all values that a metric can have: an interval that covers more says nothing
LABEL = 16  # characters of a label that are printed


@dataclass(frozen=True)
class Score:
    """One metric with its 95 % interval.

    Attributes
    ----------
    name : str
        Of the metric.
    value : float
        The estimate; NaN where noise leaves none.
    low, high : float
        Ends of the interval: privacy noise, sampling of the rows, and binning where there is any.
    noise : float
        Standard error of the privacy noise alone.
    ends : pair of floats
        Lowest and highest value that there can be.
    """

    name: str
    value: float
    low: float
    high: float
    noise: float
    ends: tuple[float, float] = (0.0, 1.0)

    @property
    def note(self) -> str:
        """In words, where noise hides the metric; else empty."""
        low, high = self.ends
        lowest = low if math.isfinite(low) else high - 1.0  # of R^2: below 0 a constant is better
        covered = min(self.high, high) - max(self.low, lowest)
        if self.value == self.value and not covered >= HIDDEN * (high - lowest):
            return ""
        return f"noise hides it: the interval covers {_number(self.low)} to {_number(self.high)}"

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values; null stands for what is not finite."""
        numbers = {name: getattr(self, name) for name in ("value", "low", "high", "noise")}
        plain = {name: x if math.isfinite(x) else None for name, x in numbers.items()}
        return plain | ({"note": self.note} if self.note else {})

    def cells(self) -> list[str]:
        """As a line of a table."""
        interval = f"{_number(self.low)} to {_number(self.high)}"
        return [self.name, _number(self.value), interval, _number(self.noise), self.note]


@dataclass(frozen=True)
class ConfusionMatrix:
    """How many rows of each class (lines) were predicted to be of each (columns).

    Attributes
    ----------
    classes : tuple of str
        Labels, as text.
    counts : tuple of tuples of floats
        Estimates; noise makes them fractions, and may make them negative.
    noise : float
        Standard error of the privacy noise on one count.
    """

    classes: tuple[str, ...]
    counts: tuple[tuple[float, ...], ...]
    noise: float

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values."""
        lines = [list(line) for line in self.counts]
        return {"classes": list(self.classes), "counts": lines, "noise": self.noise}

    def table(self) -> tuple[str, list[list[str]]]:
        """A caption and the lines of a table, the first of them the head."""
        names = [harmless(name, "terminal")[:LABEL] for name in self.classes]
        lines = zip(names, self.counts, strict=True)
        body = [[name, *(f"{count:,.0f}" for count in line)] for name, line in lines]
        caption = f"confusion: true class by line, predicted by column; noise {self.noise:.3g}"
        return caption, [["", *names], *body]


@dataclass(frozen=True)
class CalibrationRow:
    """Rows whose predicted probability of the second class is between `low` and `high`."""

    low: float
    high: float
    rows: float
    observed: Score


@dataclass(frozen=True)
class CalibrationTable:
    """How often the second class came where it was predicted with some probability."""

    bins: tuple[CalibrationRow, ...]

    def to_dict(self) -> list[dict[str, Any]]:
        """One entry per bin, as plain values."""
        return [
            {"low": row.low, "high": row.high, "rows": row.rows, "observed": row.observed.to_dict()}
            for row in self.bins
        ]

    def table(self) -> tuple[str, list[list[str]]]:
        """A caption and the lines of a table, the first of them the head."""
        head = ["predicted", "rows", "observed", "interval", "noise", ""]
        body = [
            [f"{row.low:.3g} to {row.high:.3g}", f"{row.rows:,.0f}", *row.observed.cells()[1:]]
            for row in self.bins
        ]
        return "calibration: probability of the second class, predicted and observed", [head, *body]


Found = Score | ConfusionMatrix | CalibrationTable


@dataclass(frozen=True)
class Evaluation:
    """Private scores of a model, with their certificate.

    Scores are attributes by the name of the metric: `result.auc.value`, `result.r2.low`. Under
    ``adjacency="add_remove"`` everything here comes from what was released.

    Attributes
    ----------
    model : str
        Name of the model's class.
    scores : tuple of Score
        In the order of the table.
    confusion : ConfusionMatrix or None
        Where it was asked for.
    calibration : CalibrationTable or None
        Where it was asked for.
    rows : float
        Usable rows: the public number, or an estimate with noise.
    notes : tuple of str
        What was clipped, and to what.
    privacy : Certificate
        What was promised, released and assumed.
    clipped : bool
        Whether targets were clipped to a range that was estimated with noise.
    """

    model: str
    scores: tuple[Score, ...]
    confusion: ConfusionMatrix | None
    calibration: CalibrationTable | None
    rows: float
    notes: tuple[str, ...]
    privacy: Certificate = field(repr=False)
    clipped: bool = False

    def __getattr__(self, name: str) -> Score:
        """The score of that name."""
        if not name.startswith("_"):
            for score in self.scores:
                if score.name == name:
                    return score
        there = "" if name.startswith("_") else f"; it has {', '.join(s.name for s in self.scores)}"
        raise AttributeError(f"this evaluation has no {name!r}{there}")

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values, for JSON."""
        found: dict[str, Any] = {
            "format": "privlearn evaluation 1",
            "model": self.model,
            "level": LEVEL,
            "rows": self.rows,
            "scores": {score.name: score.to_dict() for score in self.scores},
            "notes": list(self.notes),
        }
        for name in ("confusion", "calibration"):
            table = getattr(self, name)
            found |= {} if table is None else {name: table.to_dict()}
        return found | {"certificate": self.privacy.to_dict()}

    def _tables(self) -> list[tuple[str, list[list[str]]]]:
        head = ["", "value", "95 % interval", "noise", ""]
        found = []
        if self.scores:
            of = ", of targets clipped to an estimated range" if self.clipped else ""
            title = f"private scores of {self.model}{of}"
            found.append((title, [head, *(score.cells() for score in self.scores)]))
        return found + [t.table() for t in (self.confusion, self.calibration) if t is not None]

    def _remarks(self) -> list[str]:
        privacy = self.privacy
        promise = f"epsilon = {privacy.epsilon:g}, delta = {privacy.delta:g}, {privacy.adjacency}"
        meaning = "intervals cover privacy noise and the sampling of rows; noise is its own error"
        return [meaning, *self.notes, promise]

    def __str__(self) -> str:
        lines: list[str] = []
        for caption, table in self._tables():
            lines += [caption, *_aligned(table), ""]
        return "\n".join([*lines, *self._remarks()])

    def _repr_html_(self) -> str:
        text = "".join(_as_html(caption, table) for caption, table in self._tables())
        return text + "".join(f"<p>{harmless(line, 'html')}</p>" for line in self._remarks())


def _number(value: float) -> str:
    return "unknown" if math.isnan(value) else f"{value:.4g}"


def _aligned(table: list[list[str]]) -> Iterable[str]:
    """Columns of text side by side."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for line in table:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        yield ("  " + "  ".join(cells)).rstrip()


def _as_html(caption: str, table: list[list[str]]) -> str:
    head, *body = [[harmless(cell, "html") for cell in line] for line in table]
    rows = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in line)}</tr>" for line in body)
    top = "".join(f"<th>{cell}</th>" for cell in head)
    named = harmless(caption, "html")
    title = f"<caption style='text-align:left'><b>{named}</b></caption>"
    return f"<table>{title}<tr>{top}</tr>{rows}</table>"
