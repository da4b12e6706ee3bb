"""Kinds of columns as plain values, for JSON and TOML, and back."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import MISSING, fields, replace
from typing import Any, TypeGuard, cast

from privlearn.schema.categories import Category
from privlearn.schema.encoding import Column, Encoding
from privlearn.schema.estimate import Estimate
from privlearn.schema.kinds import Date, Flag, Ignore, Kind, Number, usual_decimal

__all__ = [
    "kind_from",
    "kind_of_model",
    "plain_columns",
    "plain_kind",
    "plain_kind_of_model",
    "read_columns",
]

KINDS: dict[str, type[Kind] | type[Ignore]] = {
    kind.word: kind for kind in (Number, Flag, Category, Date, Estimate, Ignore)
}


def plain_kind(kind: Kind | Ignore) -> dict[str, Any]:
    """Texts, numbers and lists; what is a default is left out.

    Examples
    --------
    >>> plain_kind(Number(17, 90, missing="fill"))
    {'kind': 'number', 'low': 17.0, 'high': 90.0, 'missing': 'fill'}
    """
    listed = fields(cast("Any", kind))
    given = {one.name: getattr(kind, one.name) for one in listed}
    defaults = {one.name: one.default for one in listed if one.default is not MISSING}
    if "decimal" in defaults:  # which follows from another field, and is written where it is odd
        defaults["decimal"] = usual_decimal(None)
    kept = {k: v for k, v in given.items() if k not in defaults or v != defaults[k]}
    return {"kind": kind.word} | {name: _plain(value) for name, value in kept.items()}


def _plain(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, tuple):
        return list(value)
    return value if isinstance(value, str | bool) else float(value)


def kind_from(content: Mapping[str, Any]) -> Kind | Ignore:
    """What `plain_kind` told, checked as if it were written in Python.

    Examples
    --------
    >>> kind_from({"kind": "category", "values": ["no", "yes"]})
    Category(values=('no', 'yes'), missing='raise')
    """
    known = KINDS.get(str(content.get("kind")))
    if known is None:
        raise ValueError(f"kind is not known; there are: {', '.join(KINDS)}")
    names = [one.name for one in fields(cast("Any", known))]
    given = {name: value for name, value in content.items() if name != "kind"}
    for name in given:
        if name not in names:
            listed = f"; there are: {', '.join(names)}" if names else ""
            raise ValueError(f"a {known.word} has no {name!r}{listed}")
    return known(**given)


def plain_kind_of_model(kind: Kind) -> dict[str, Any]:
    """The same of a column of a fitted model, with what its missing cells are filled by.

    Before `fill` there was, that was the middle of every range: files that say nothing mean it.

    Examples
    --------
    >>> plain_kind_of_model(Number(0, 5_000, missing="fill"))["fill"]
    0.0
    """
    told = plain_kind(kind)
    if _may_be_unsaid(kind) and kind.filling != kind.middle:
        told["fill"] = kind.filling
    return told


def kind_of_model(content: Mapping[str, Any]) -> Kind | Ignore:
    """What `plain_kind_of_model` told, of this version or of one before."""
    kind = kind_from(content)
    if _may_be_unsaid(kind) and kind.filling != kind.middle:
        return replace(kind, fill=kind.middle)
    if isinstance(kind, Number) and kind.fill is not None:
        unsaid = replace(kind, fill=None)
        return unsaid if unsaid.filling == kind.fill else kind
    return kind


def _may_be_unsaid(kind: Kind | Ignore) -> TypeGuard[Number]:
    """Whether a column of numbers is filled by what follows from its range."""
    filled = isinstance(kind, Number) and kind.missing in ("fill", "flag")
    return filled and cast("Number", kind).fill is None and cast("Number", kind).ends is not None


def plain_columns(encoding: Encoding) -> dict[str, Any]:
    """All columns of a model in order."""
    told = [{"name": one.name} | plain_kind_of_model(one.kind) for one in encoding.columns]
    return {"columns": told, "shifted": encoding.shifted}


def read_columns(content: Mapping[str, Any]) -> Encoding:
    """What `plain_columns` told."""
    columns = []
    for entry in content["columns"]:
        kind = kind_of_model({name: value for name, value in entry.items() if name != "name"})
        if isinstance(kind, Ignore):
            raise ValueError("a column of a model is not ignored")
        columns.append(Column(str(entry["name"]), kind))
    return Encoding(tuple(columns), bool(content["shifted"]))
