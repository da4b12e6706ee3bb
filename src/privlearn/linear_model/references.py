"""Coefficients of lists relative to one of their categories, as other software tells them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from privlearn._core.close_names import did_you_mean, listed
from privlearn.linear_model.lines import Lines, own_lines
from privlearn.schema.parsing import as_value

if TYPE_CHECKING:
    from privlearn.schema.encoding import Column

__all__ = ["lines_of"]


CENTRED = "Without a reference, ratios of a list are to the geometric mean of its values."


def lines_of(
    model: Any,  # noqa: ANN401
    reference: Mapping[str, object] | None,
    *,
    ratios: bool,
) -> Lines:
    """One line for each coefficient, those of some lists relative to a category."""
    found = own_lines(model) if reference is None else _relative(model, reference)
    others = {*_lists(model)} - {*(reference or ())}
    if ratios and others and model.fit_intercept:
        return replace(found, notes=(*found.notes, CENTRED))
    return found


def _relative(model: Any, reference: Mapping[str, object]) -> Lines:  # noqa: ANN401
    """The lines of a table in which lists are relative to a category each.

    Every row holds one category of a list, or equal parts of all, so its values add up to 1: what
    is taken off all coefficients of the list goes to the intercept, and predictions stay.
    """
    own, lists = own_lines(model), _lists(model)
    _check(model, reference, lists)
    rows, left_out = own.combinations, []
    for name, category in reference.items():
        column, part = lists[name]
        place = part.start + _place(column, category)
        rows[part, place] -= 1.0
        rows[-1, place] += 1.0
        left_out.append(place)
    kept = np.delete(np.arange(len(rows)), left_out)
    bases = listed([own.names[place] for place in left_out])
    notes = (f"Relative to {bases}, which the intercept includes.",) if left_out else ()
    return replace(
        own,
        names=tuple(own.names[k] for k in kept),
        combinations=rows[kept],
        estimates=rows[kept] @ own.estimates,
        notes=notes,
    )


def _lists(model: Any) -> dict[str, tuple[Column, slice]]:  # noqa: ANN401
    """Columns of lists by name, with the places of their coefficients."""
    encoding = getattr(model, "_encoding", None)
    parts = () if encoding is None else encoding.parts()
    return {column.name: (column, part) for column, part in parts if column.is_list}


def _check(
    model: Any,  # noqa: ANN401
    reference: object,
    lists: Mapping[str, tuple[Column, slice]],
) -> None:
    if not isinstance(reference, Mapping):
        raise ValueError(
            f"reference is a {type(reference).__name__}, but columns with a category each are "
            "needed, such as {'region': 'north'}"
        )
    for name in reference:
        if name not in lists:
            raise ValueError(f"reference names {name!r}, but {_no_list(name, lists)}")
    if reference and not model.fit_intercept:
        raise ValueError(
            "reference moves the coefficient of a category to the intercept, and this model has "
            "none; contrast() tells differences of two categories"
        )


def _no_list(name: object, lists: Mapping[str, object]) -> str:
    if not lists:
        return "this model has no column of a schema that is a list of categories; leave it out"
    hint = did_you_mean(str(name), lists) or "leave it out"
    return f"columns with a list of categories are {_quoted(lists)}; {hint}"


def _place(column: Column, category: object) -> int:
    """Place of a category in its list, compared as cells are: 1, 1.0 and "1" are one value."""
    words = [word[len(column.name) :].removeprefix(" = ").strip() for word in column.features]
    value = as_value(category)
    if value is not None and value in (values := [*map(as_value, words)]):
        return values.index(value)
    hint = did_you_mean(str(category), words) or "take one of its list"
    raise ValueError(
        f"column {column.name!r} has no category {category!r}, there are {_quoted(words)}; {hint}"
    )


def _quoted(words: Any) -> str:  # noqa: ANN401
    return listed([*map(repr, words)])
