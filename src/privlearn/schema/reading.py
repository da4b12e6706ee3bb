"""Data frames by a schema: which columns a model takes, and their cells as numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from privlearn._core.close_names import hint_at_columns, listed
from privlearn._core.problem import interval
from privlearn._data.named_cells import column_names, named_cells
from privlearn.schema.encoding import Column, EncodedRows, Encoding
from privlearn.schema.estimate import Estimate
from privlearn.schema.kinds import Date, Ignore, Kind, Number
from privlearn.schema.raw import RawRows, read_raw

__all__ = [
    "checked_schema",
    "encoding_for_plan",
    "encoding_of",
    "frame_names",
    "read_by",
    "read_pending",
    "unlisted",
    "with_ranges",
]

Schema = dict[str, Kind | Ignore]
ESTIMATE = "estimate"  # a schema that says nothing of any column
REMEDY = {
    "raise": "clean those rows; if the cells hold something in another notation, say so (format=, "
    "decimal=, currency=, values=, ...), for missing='flag' or 'fill' would take all of them for "
    "gaps; or say in the schema what a missing cell means: missing='drop', 'fill' or 'flag'; or "
    "pass on_invalid='drop': they then are empty rows, and the guarantee covers them",
    "predict": "for a prediction needs every cell; clean those rows, leave them out with "
    "X[model.can_predict(X)], or fit with missing='fill' or 'flag' in the schema",
}


def checked_schema(schema: object) -> Schema:
    """The schema, if it is one: names of columns and what is known of them."""
    if _says_nothing(schema):
        return {}
    if not isinstance(schema, Mapping):
        given = repr(schema) if isinstance(schema, str) else f"a {type(schema).__name__}"
        raise ValueError(
            f"schema is {given}, but a dictionary of columns is needed, such as "
            '{"age": Number(17, 90), "sex": Category(["F", "M"])} with kinds of privlearn.schema; '
            'or schema="estimate", which finds out privately what every column is'
        )
    for name, kind in schema.items():
        if not isinstance(name, str):
            raise ValueError("schema has a name that is no text; name columns by their texts")
        if not isinstance(kind, Kind | Ignore):
            hint = "; write it with brackets" if isinstance(kind, type) else ""
            raise ValueError(
                f"schema[{name!r}] is a {type(kind).__name__}, but a Number, Flag, Category, Date, "
                f"Estimate or Ignore of privlearn.schema is needed{hint}"
            )
    return dict(schema)


def _says_nothing(schema: object) -> bool:
    """Whether it says of no column what it is."""
    return isinstance(schema, Estimate) or (isinstance(schema, str) and schema == ESTIMATE)


def unlisted(schema: object) -> Kind:
    """What columns are of which the schema says nothing."""
    if isinstance(schema, Estimate):
        return schema
    return Estimate() if _says_nothing(schema) else Number()


def with_ranges(schema: object, bounds_X: object) -> Schema:
    """The schema, with ranges that ``bounds_X={"age": (17, 90)}`` gives to columns of numbers."""
    entries = checked_schema(schema)
    if bounds_X is None:
        return entries
    if not isinstance(bounds_X, Mapping):
        raise ValueError(
            "bounds_X is given by place, but a schema turns columns into features; write ranges "
            'into the schema, Number(low, high), or bounds_X={"age": (17, 90)}'
        )
    for name, ends in bounds_X.items():
        rest = schema.number if isinstance(schema, Estimate) else Number()
        kind = entries.get(name, rest)
        if not isinstance(kind, Number) or kind.ends is not None:
            raise ValueError(
                f"bounds_X has {name!r}, of which the schema says what its range is, or that it is "
                "no number; leave one of the two out"
            )
        low, high = interval(ends, f"bounds_X[{name!r}]")
        entries[name] = replace(kind, low=low, high=high)
    return entries


def encoding_of(
    names: Sequence[str], schema: object, *, shifted: bool, rest: Kind | None = None
) -> Encoding:
    """Columns of a frame with their kinds; those that the schema leaves out are all of one."""
    rest = rest or Number()
    entries, known = checked_schema(schema), set(names)
    if absent := [name for name in entries if name not in known]:
        one = len(absent) == 1
        hint = hint_at_columns(absent, names, "check its name" if one else "check their names")
        raise ValueError(
            f"schema has {listed([*map(repr, absent)])}, but X has no such column"
            f"{'' if one else 's'} to predict from; {hint}"
        )
    found = [(name, entries.get(name, rest)) for name in names]
    columns = tuple(Column(name, kind) for name, kind in found if isinstance(kind, Kind))
    if not columns:
        raise ValueError("X has no column besides those that are ignored; nothing can be learned")
    return Encoding(columns, shifted)


def encoding_for_plan(
    schema: object, n_features: int | None, *, shifted: bool, rest: Kind | None = None
) -> Encoding:
    """The same before any data: as many columns of one kind beside those of the schema."""
    entries = {
        name: kind for name, kind in checked_schema(schema).items() if isinstance(kind, Kind)
    }
    size = len(entries) if n_features is None else n_features
    if size < len(entries):
        raise ValueError(
            f"n_features={n_features}, but the schema has {len(entries)} columns that are not "
            "ignored; give the number of columns of X, or leave n_features out"
        )
    others = [f"column {place}" for place in range(len(entries), size)]
    return encoding_of([*entries, *others], entries, shifted=shifted, rest=rest)


def frame_names(X: object) -> list[str]:
    """Names of the columns of a data frame, or of rows that were read before."""
    read = isinstance(X, EncodedRows | RawRows)
    return X.encoding.names if read else column_names(X, "schema")  # type: ignore[attr-defined]


def read_by(encoding: Encoding, X: object, *, strict: bool, predicts: bool) -> NDArray[np.float64]:
    """Features of a frame in their own units; columns are found by name, others are left alone.

    Parameters
    ----------
    encoding : Encoding
        Columns and kinds.
    X : data frame
        Cells.
    strict : bool
        Whether a cell that is missing is refused, where the schema says nothing better of it.
    predicts : bool
        Whether rows are to be predicted: none may be dropped.
    """
    if isinstance(X, EncodedRows) and X.encoding == encoding:
        return X.values
    names = frame_names(X)
    there = set(names)
    absent = [name for name in encoding.names if name not in there]
    if absent:
        one = len(absent) == 1
        hint = hint_at_columns(absent, names, "add it" if one else "add them")
        raise ValueError(
            f"X lacks the column{'' if one else 's'} {listed([*map(repr, absent)])}, which the "
            f"model needs; {hint}"
        )
    values = encoding.encode(*named_cells(X, encoding.names))
    if strict:
        refuse_missing(encoding.invalid(values, _but(predicts)), encoding, predicts)
    return values


def read_pending(encoding: Encoding, X: object, *, strict: bool) -> RawRows:
    """The same of columns of which something is still to be estimated: rows to be encoded later."""
    if isinstance(X, RawRows) and X.encoding == encoding:
        rows = X
    else:
        rows = read_raw(encoding, *named_cells(X, encoding.names))
    if strict:
        refuse_missing(rows.invalid(_but(predicts=False)), encoding, predicts=False)
    return rows


def _but(predicts: bool) -> tuple[str, ...]:
    return () if predicts else ("drop",)


def refuse_missing(broken: Sequence[str], encoding: Encoding, predicts: bool) -> None:
    """Name the columns, which are public, and no row."""
    if not broken:
        return
    kinds = {column.name: column.kind for column in encoding.columns}
    remedy = REMEDY["predict" if predicts else "raise"]
    if len(broken) == 1:
        kind = kinds[broken[0]]
        aside = f" ({_aside(kind)})" if _aside(kind) else ""
        raise ValueError(
            f"column {broken[0]!r} of X holds NaN, an empty cell or something that is no "
            f"{kind.word} of the schema{aside}; {remedy}"
        )
    each = [f"{name!r} (no {_with_aside(kinds[name])})" for name in broken]
    raise ValueError(
        f"{len(broken):,} columns of X hold NaN, an empty cell or something that is not what the "
        f"schema says: {listed(each)}; {remedy}"
    )


def _with_aside(kind: Kind) -> str:
    return f"{kind.word}; {_aside(kind)}" if _aside(kind) else kind.word


def _aside(kind: Kind) -> str:
    """What else a cell may be that is none of its kind."""
    if isinstance(kind, Date):
        return kind.written
    if not isinstance(kind, Number):
        return ""
    if kind.limits is not None:
        low, high = kind.limits
        return f"numbers outside of {low:g} to {high:g} are none: outside='missing'"
    return "a column of text needs a Category"
