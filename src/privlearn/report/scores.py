"""Scores that were paid for, each with its own certificate."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from privlearn._core.certificate import Certificate
from privlearn.report.drawing.canvas import number
from privlearn.report.markup import Markup, group, name, tag
from privlearn.report.tables import table

__all__ = ["Scores", "read_scores", "refuse_others", "shown_scores"]

FORMAT = "privlearn evaluation 1"
FOR_PROGRAMMERS = "; for scores of the declared range pass it ("  # of metrics/notes.py
LABELS = {"r2": "R\u00b2", "mse": "mean squared error", "mae": "mean absolute error"}
NUMBERS = frozenset(LABELS)  # scores of models that predict numbers
LABELS |= {"auc": "AUC", "log_loss": "log loss", "brier": "Brier score"}


@dataclass(frozen=True)
class Scores:
    """Tables in words, with the certificate of what they cost.

    Attributes
    ----------
    predicts : str
        What the model predicts that was scored, as far as its scores tell.
    """

    tables: tuple[tuple[str, list[list[str]]], ...]
    notes: tuple[str, ...]
    certificate: Certificate
    predicts: str


def read_scores(given: Any) -> list[Scores]:  # noqa: ANN401
    """What `metrics.evaluate` found, as objects or as their `to_dict`: one, several or none.

    Raises
    ------
    TypeError, ValueError
        If something else is given, or a part is missing.
    """
    if given is None:
        return []
    several = given if isinstance(given, list | tuple) else [given]
    return [_read(one) for one in several]


def refuse_others(found: Iterable[Scores], classes: Sequence[str] | None) -> None:
    """Scores that cannot be this model's: of numbers, of classes, or of another number of them."""
    own = {"numbers"} if classes is None else {_classes(None), _classes(len(classes))}
    for one in found:
        if one.predicts not in own:
            raise ValueError(
                f"the scores are of a model that predicts {one.predicts}, but this one predicts "
                f"{max(own, key=len)}; give the scores of this very model"
            )


def _classes(number: int | None) -> str:
    return "classes" if number is None else f"{number} classes"


def _read(given: Any) -> Scores:  # noqa: ANN401
    content = given.to_dict() if hasattr(given, "to_dict") else given
    if not isinstance(content, Mapping) or content.get("format") != FORMAT:
        raise TypeError(
            f"scores are what privlearn.metrics.evaluate returned, or its to_dict(), but a "
            f"{type(given).__name__} was given"
        )
    with suppress(KeyError, TypeError, AttributeError, IndexError, ValueError):
        tables = [_values(content), *_confusion(content), *_calibration(content)]
        made = Certificate.from_dict(content["certificate"])
        classes = len(content["confusion"]["classes"]) if "confusion" in content else None
        kind = "numbers" if not NUMBERS.isdisjoint(content["scores"]) else _classes(classes)
        return Scores(tuple(tables), tuple(str(note) for note in content["notes"]), made, kind)
    raise ValueError("the scores are incomplete or damaged; give what metrics.evaluate returned")


def _values(content: Mapping[str, Any]) -> tuple[str, list[list[str]]]:
    body = [
        [LABELS.get(key, key), *_cells(score), score.get("note", "")]
        for key, score in content["scores"].items()
    ]
    head = ["", "value", f"{content['level']:.0%} interval", "noise s.e.", "remark"]
    if not any(line[-1] for line in body):
        head, body = head[:-1], [line[:-1] for line in body]
    return "Private scores", [head, *body]


def _cells(score: Mapping[str, Any]) -> list[str]:
    value, low, high, noise = (_told(score[key]) for key in ("value", "low", "high", "noise"))
    return [value, f"{low} to {high}", noise]


def _told(value: float | None) -> str:
    return number(math.nan if value is None else float(value))


def _for_readers(note: str) -> str:
    """A note without what those may type who run programs."""
    return note.partition(FOR_PROGRAMMERS)[0]


def _confusion(content: Mapping[str, Any]) -> Iterable[tuple[str, list[list[str]]]]:
    if "confusion" not in content:
        return
    found = content["confusion"]
    labels = [str(label) for label in found["classes"]]
    lines = zip(labels, found["counts"], strict=True)
    body = [[label, *(f"{float(count):,.0f}" for count in counts)] for label, counts in lines]
    caption = "Confusion: true class by line, predicted by column"
    yield f"{caption} (noise s.e. {_told(found['noise'])})", [["", *labels], *body]


def _calibration(content: Mapping[str, Any]) -> Iterable[tuple[str, list[list[str]]]]:
    if "calibration" not in content:
        return
    body = [
        [
            f"{_told(one['low'])} to {_told(one['high'])}",
            f"{float(one['rows']):,.0f}",
            *_cells(one["observed"]),
        ]
        for one in content["calibration"]
    ]
    head = ["predicted", "rows", "observed", "interval", "noise s.e."]
    yield "Calibration: probability of the second class, predicted and observed", [head, *body]


def shown_scores(found: Sequence[Scores]) -> Markup:
    """Tables, notes and what each evaluation cost."""
    parts: list[Markup] = []
    for k, scores in enumerate(found, start=1):
        own = scores.certificate
        for j, (caption, (head, *body)) in enumerate(scores.tables):
            heads = [head[0], *map(name, head[1:])]
            lines = [[name(line[0]), *line[1:]] for line in body]
            parts.append(table(caption, heads, lines, key=f"scores-{k}-{j}"))
        parts.append(
            tag(
                "p",
                f"Paid for with epsilon = {own.epsilon:g}, delta = {own.delta:g} ("
                f"{own.adjacency}), of the people who were scored. "
                + "; ".join(map(_for_readers, scores.notes)),
                class_="small",
            )
        )
        if not own.private:
            parts.append(tag("p", "NOT PRIVATE: these scores had a random_state.", class_="alarm"))
    return group(*parts)
