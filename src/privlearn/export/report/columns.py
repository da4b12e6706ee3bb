"""What was assumed, and what was estimated privately: ranges, kinds and lists of columns."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from privlearn.export.report.drawing.canvas import number
from privlearn.export.report.learned import Learned
from privlearn.export.report.markup import Markup, group, name, tag
from privlearn.export.report.tables import table
from privlearn.export.report.wording import in_words
from privlearn.private_bounds.summary import what_is_estimated
from privlearn.schema.categories import Category
from privlearn.schema.encoding import Column, Encoding

__all__ = ["assumed", "estimated"]

MOST_LINES = 2_000


def assumed(learned: Learned) -> Markup:
    """What the guarantee takes for granted, to be checked by people."""
    found = learned.certificate.assumptions
    if not found:
        return tag("p", "The guarantee assumes nothing beyond what is said above.")
    return group(
        tag("p", "The promise holds if these are true. No program can check them; people can."),
        tag("ul", *(tag("li", *_in_both(text)) for text in found)),
    )


def _in_both(text: str) -> Iterable[str]:
    """An assumption for people, and in small print as the certificate has it."""
    words = in_words(text)
    yield words or f"{text[:1].upper()}{text[1:]}."
    if words is not None:
        yield tag("span", f" In the certificate: {text}.", class_="small")


def estimated(learned: Learned) -> Markup:
    """Releases that found out about columns, and what predictions use of it."""
    first = [one for one in learned.certificate.releases if one["stage"] == "bounds"]
    share = sum(one["share"] for one in first)
    told = "Nothing about the columns was estimated: what the fit needed was declared."
    if first:
        told = what_is_estimated(learned.certificate.plan) or "Some facts were estimated privately."
        told += f" With noise, within what was declared, for {share:.0%} of the budget in all."
    names = "; ".join(one["name"] for one in first)
    small = [tag("p", f"In the certificate: {names}.", class_="small")] if first else []
    return group(tag("p", told), *small, *_columns(learned))


def _columns(learned: Learned) -> Iterable[Markup]:
    parts = list(Encoding(learned.columns).parts())
    body = [
        [name(column.name or f"column {k + 1}"), column.kind.word, _told(learned, column, part)]
        for k, (column, part) in enumerate(parts[:MOST_LINES])
    ]
    if learned.clip_y is not None:
        low, high = learned.clip_y
        what = f"predictions between {number(low)} and {number(high)}"
        body.append([name(learned.target or "the target"), "number", what])
    if any(last for _, _, last in body):
        head = ["column", "kind", "values that the model tells apart"]
        yield table("Columns, as the model uses them", head, body, key="columns", numbers=False)
        if len(parts) > MOST_LINES:
            yield tag("p", f"These are the first {MOST_LINES:,} of {len(parts):,} columns.")


def _told(learned: Learned, column: Column, part: slice) -> str:
    flag = ", and whether it is missing" if column.kind.missing == "flag" else ""
    if isinstance(column.kind, Category):
        return _listed(column.kind) + flag
    clip = learned.clip[:, part.start]
    ends = column.bounds if not np.isfinite(clip).all() else (float(clip[0]), float(clip[1]))
    if ends is None or not np.isfinite(ends).all():
        return flag.removeprefix(", and ")
    low, high = (column.kind.told(end, number) for end in ends)
    return f"{low} to {high}{flag}{column.kind.told_beyond(number)}"


def _listed(kind: Category) -> str:
    if kind.hashed is not None:
        return f"{kind.hashed} bins, into which values fall by a public hash"
    values = kind.values or ()
    others = ["all others together"] if kind.other else []
    return "; ".join([*(f"\u201c{value}\u201d" for value in values), *others])
