"""Ranges of columns by name: a box of which some sides are open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from privlearn._core.close_names import hint_at_columns, listed
from privlearn._core.problem import interval

__all__ = ["box_by_name"]

Array = NDArray[np.float64]


def box_by_name(
    ranges: Mapping[str, object], names: Sequence[str] | None, n_features: int
) -> tuple[Array, Array]:
    """Ends of every column, infinite where none are declared.

    Parameters
    ----------
    ranges : dict
        (low, high) of some columns.
    names : sequence of str or None
        All columns in order; None, before any data, puts those with a range first.
    n_features : int
        How many there are.

    Examples
    --------
    >>> box_by_name({"age": (17, 90)}, ["hours", "age"], 2)
    (array([-inf,  17.]), array([inf, 90.]))
    """
    low, high = np.full(n_features, -np.inf), np.full(n_features, np.inf)
    places = {name: place for place, name in enumerate(ranges if names is None else names)}
    if len(ranges) > n_features:
        raise ValueError(f"bounds_X has ranges of {len(ranges)} columns, but X has {n_features}")
    if absent := [name for name in ranges if name not in places]:
        each, one = listed([*map(repr, absent)]), len(absent) == 1
        hint = hint_at_columns(absent, [*places], "check its name" if one else "check their names")
        raise ValueError(f"bounds_X has {each}, but X has no such column{'s' * (not one)}; {hint}")
    for name, ends in ranges.items():
        low[places[name]], high[places[name]] = interval(ends, f"bounds_X[{name!r}]")
    return low, high
