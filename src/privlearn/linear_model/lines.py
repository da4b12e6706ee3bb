"""Lines of a table of coefficients: each is a sum of so much of every coefficient."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privlearn._core.close_names import did_you_mean, listed

__all__ = ["INTERCEPT", "Lines", "coefficient_names", "contrasts", "estimates_of", "own_lines"]

Array = NDArray[np.float64]
INTERCEPT = "(intercept)"
MOST_TERMS = 4  # that name a line to which nobody gave a name
FORM = "such as contrast({'age': 10}) or contrast({'ten years': {'age': 10}})"


@dataclass(frozen=True, eq=False)
class Lines:
    """What a table tells of.

    Attributes
    ----------
    names : tuple of str
        Of the lines.
    combinations : array of shape (lines, k)
        How much of each coefficient a line takes, the intercept's last where there is one.
    estimates : array of shape (lines,)
        What that comes to.
    notes : tuple of str
        What a reader has to know about these lines.
    """

    names: tuple[str, ...]
    combinations: Array
    estimates: Array
    notes: tuple[str, ...] = ()


def own_lines(model: Any) -> Lines:  # noqa: ANN401
    """One line for each coefficient, the intercept last."""
    estimates = estimates_of(model)
    size = len(estimates)
    return Lines(coefficient_names(model, size), np.eye(size), estimates)


def estimates_of(model: Any) -> Array:  # noqa: ANN401
    """Coefficients, and the intercept where there is one."""
    coef = np.ravel(model.coef_)
    return np.append(coef, model.intercept_) if model.fit_intercept else coef


def coefficient_names(model: Any, size: int) -> tuple[str, ...]:  # noqa: ANN401
    """Of the coefficients, the intercept last."""
    own = size - int(model.fit_intercept)
    found = getattr(model, "feature_names_out_", None)
    names = [f"x{k}" for k in range(own)] if found is None else [str(name) for name in found]
    return (*names, INTERCEPT) if model.fit_intercept else tuple(names)


def contrasts(model: Any, weights: object) -> Lines:  # noqa: ANN401
    """Sums of coefficients: one from names to weights, or several that have names of their own."""
    own = own_lines(model)
    sums, labels = _sums(weights)
    rows = np.array([_row(own.names, one) for one in sums])
    names = labels or tuple(_in_words(own.names, row) for row in rows)
    return Lines(names, rows, rows @ own.estimates)


def _sums(weights: object) -> tuple[list[Mapping[Any, Any]], tuple[str, ...]]:
    """The sums that are asked for, and their names, if they have any."""
    if not isinstance(weights, Mapping) or not weights:
        given = "empty" if isinstance(weights, Mapping) else f"a {type(weights).__name__}"
        raise ValueError(f"weights is {given}, but names with their weights are needed, {FORM}")
    inner = [one for one in weights.values() if isinstance(one, Mapping)]
    if not inner:
        return [weights], ()
    if len(inner) < len(weights) or not all(isinstance(label, str) for label in weights):
        raise ValueError(
            "weights of one sum and named sums are mixed; give names with their weights, or a "
            f"name for each sum, {FORM}"
        )
    return inner, tuple(weights)


def _row(names: tuple[str, ...], weights: Mapping[Any, Any]) -> Array:
    places: dict[str, list[int]] = {}
    for k, name in enumerate(names):
        places.setdefault(name, []).append(k)
    row = np.zeros(len(names))
    for key, weight in weights.items():
        row[_place(key, places, len(names))] += _weight(key, weight)
    if not row.any():
        raise ValueError(f"no coefficient has a weight other than 0; give one at least, {FORM}")
    return row


def _weight(key: object, weight: object) -> float:
    plain = isinstance(weight, Real) and not isinstance(weight, bool)
    if not plain or not math.isfinite(weight):  # type: ignore[arg-type]
        raise ValueError(f"the weight of {key!r} is {weight!r}, but a finite number is needed")
    return float(weight)  # type: ignore[arg-type]


def _place(key: object, places: Mapping[str, list[int]], size: int) -> int:
    if isinstance(key, Integral) and not isinstance(key, bool):
        if 0 <= int(key) < size:
            return int(key)
        raise ValueError(
            f"weights give position {key}, but there are {size} coefficients, which are numbered "
            "from 0 as summary() lists them"
        )
    found = places.get(key, []) if isinstance(key, str) else []
    if len(found) == 1:
        return found[0]
    if found:
        raise ValueError(
            f"several coefficients are called {key!r}; give their positions, which are "
            f"{listed([*map(str, found)])}"
        )
    hint = did_you_mean(str(key), places) or "give names or positions of summary().names"
    there = listed([*map(repr, places)])
    raise ValueError(f"no coefficient is called {key!r}, there are {there}; {hint}")


def _in_words(names: tuple[str, ...], row: Array) -> str:
    """What is summed up, for a line without a name."""
    places = np.flatnonzero(row)
    if len(places) > MOST_TERMS:
        return f"sum of {len(places)} coefficients"
    words = "".join(_term(names[k], row[k]) for k in places)
    return ("-" if row[places[0]] < 0 else "") + words[3:]


def _term(name: str, weight: float) -> str:
    """A coefficient with its sign and weight; names such as sex = F stand in brackets."""
    shown = f"({name})" if " " in name else name
    size = "" if abs(weight) == 1.0 else f"{abs(weight):g} "
    return f"{' - ' if weight < 0 else ' + '}{size}{shown}"
