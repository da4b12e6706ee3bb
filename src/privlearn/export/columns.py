"""Columns of a model's file: what each is, its coefficients and its limits, for people to read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privlearn.schema import Category, Number
from privlearn.schema.encoding import Column
from privlearn.schema.kinds import Kind
from privlearn.schema.plain import kind_of_model, plain_kind_of_model

__all__ = ["Entry", "entry_of", "is_plain", "limits_of", "plain_numbers", "read_entry"]

Array = NDArray[np.float64]
Entry = dict[str, Any]
Ends = list[float | None]
ONE = "coefficient"  # of a column that is one number


def entry_of(column: Column, coef: Array | None, limits: list[Ends | None]) -> Entry:
    """What the file says about a column.

    Parameters
    ----------
    column : Column
        Its name, which is empty where columns have none, and its kind.
    coef : array of shape (n_outputs, n_features) or None
        Of its features; None where a kernel's features have the coefficients.
    limits : list
        Lowest and highest value of each of its features; None where one is not clipped.
    """
    entry: Entry = {"name": column.name} if column.name else {}
    words, kind = column.features, column.kind
    listed = isinstance(kind, Category) and coef is not None  # among its coefficients
    if not is_plain(column) or (isinstance(kind, Category) and not listed):
        entry["schema"] = plain_kind_of_model(kind)
    elif isinstance(kind, Category):
        words = list(kind.values or ())
    elif column.bounds:
        entry["bounds"] = list(column.bounds)
    one = is_plain(column) and not isinstance(kind, Category)
    if coef is not None:
        numbers = [plain_numbers(values) for values in coef.T]
        entry[_key(column)] = numbers[0] if one else dict(zip(words, numbers, strict=True))
    if any(limits):
        entry["clip"] = limits[0] if one else dict(zip(words, limits, strict=True))
    return entry


def _key(column: Column) -> str:
    """Under which name the coefficients of a column stand."""
    if not is_plain(column):
        return "coefficients"
    return "categories" if isinstance(column.kind, Category) else ONE


def is_plain(column: Column) -> bool:
    """Whether a range or a list is all that predictions need to know about a column."""
    kind = column.kind
    if isinstance(kind, Category):
        listed = kind.values is not None and not kind.other
        return listed and kind.missing in ("raise", "drop")
    if not isinstance(kind, Number):
        return False
    return kind in (Number(kind.low, kind.high, missing) for missing in ("raise", "drop"))


def plain_numbers(values: Array) -> float | list[float]:
    """One number, or a list with one per class."""
    return float(values[0]) if len(values) == 1 else [float(value) for value in values]


def read_entry(entry: Mapping[str, Any]) -> tuple[Column, Array | None, list[Ends | None]]:
    """What `entry_of` was told; coefficients have one row per feature."""
    column = _column(entry)
    key = _key(column)
    words = [ONE] if key == ONE else [*entry[key]] if key in entry else column.features
    if key not in entry:
        return column, None, _limits(entry.get("clip"), key, words)
    if key != ONE and len(words) != len(column.features):
        raise ValueError("a column has one coefficient for each of its features")
    values = [entry[key]] if key == ONE else entry[key].values()
    coef = np.array([np.atleast_1d(value) for value in values], dtype=float)
    return column, coef, _limits(entry.get("clip"), key, words)


def _column(entry: Mapping[str, Any]) -> Column:
    name = entry.get("name", "")
    if not isinstance(name, str):
        raise ValueError("the name of a column is text")
    if "schema" in entry:
        kind = kind_of_model(entry["schema"])
        if not isinstance(kind, Kind):
            raise ValueError("a column of a model is not ignored")
        return Column(name, kind)
    if "categories" in entry:
        return Column(name, Category(tuple(entry["categories"])))
    low, high = limits_of(entry["bounds"]) if "bounds" in entry else (None, None)
    return Column(name, Number(low, high))


def _limits(clip: Any, key: str, words: list[str]) -> list[Ends | None]:  # noqa: ANN401
    if key == ONE:
        return [None if clip is None else limits_of(clip)]
    found = [(clip or {}).get(word) for word in words]
    return [None if pair is None else limits_of(pair) for pair in found]


def limits_of(pair: Any) -> Ends:  # noqa: ANN401
    """Two ends, the lower one first; None where there is none on that side."""
    low, high = (None if end is None else float(end) for end in pair)
    if not (-np.inf if low is None else low) <= (np.inf if high is None else high):
        raise ValueError("the lower end comes first")
    return [low, high]
