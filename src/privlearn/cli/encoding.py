"""How columns become numbers between 0 and 1, by declared facts alone, and how to go back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privlearn.cli.schema import Range
from privlearn.cli.tables import Table

__all__ = [
    "Categories",
    "Column",
    "Numbers",
    "centred_within_lists",
    "encode",
    "ends_in_own_units",
    "in_own_units",
    "invalid_columns",
    "parts",
]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Numbers:
    """Numbers, clipped to a declared range and scaled to [0, 1]; without a range, as they are.

    Examples
    --------
    >>> from privlearn.cli.tables import Table
    >>> age = Numbers("age", (20.0, 70.0))
    >>> age.encode(Table({"age": ["45", "99", "unknown"]}, 3)).tolist()
    [[0.5], [1.0], [nan]]
    """

    name: str
    bounds: Range | None = None

    @property
    def features(self) -> list[str]:
        """What it becomes, in words."""
        return [self.name]

    def encode(self, table: Table, *, raw: bool = False) -> Array:
        """One column; NaN in rows that hold nothing usable. Raw: in its own units, not clipped."""
        values = table.numbers(self.name)[:, None]
        if raw or self.bounds is None:
            return values
        low, high = self.bounds
        # The estimator clips, too; here it keeps what is far outside from overflowing.
        return np.asarray((np.clip(values, low, high) - low) / (high - low))


@dataclass(frozen=True)
class Categories:
    """Text from a fixed list: one feature per category, 1 where the row holds it.

    Examples
    --------
    >>> from privlearn.cli.tables import Table
    >>> sex = Categories("sex", ("male", "female"))
    >>> sex.encode(Table({"sex": ["female", "?"]}, 2)).tolist()
    [[0.0, 1.0], [nan, nan]]
    """

    name: str
    values: tuple[str, ...]
    bounds: ClassVar[Range] = (0.0, 1.0)

    @property
    def features(self) -> list[str]:
        """What it becomes, in words."""
        return [f"{self.name} = {value}" for value in self.values]

    def encode(self, table: Table, *, raw: bool = False) -> Array:
        """A column per category, raw or not; NaN in rows that hold none of them."""
        place = {value: k for k, value in enumerate(self.values)}
        codes = np.array([place.get(label or "", -1) for label in table.labels(self.name)], int)
        indicators = (codes[:, None] == np.arange(len(self.values))).astype(np.float64)
        indicators[codes < 0] = np.nan
        return indicators


Column = Numbers | Categories


def encode(columns: Sequence[Column], table: Table, *, raw: bool = False) -> Array:
    """All features side by side, scaled for a fit or raw for a prediction."""
    return np.hstack([np.empty((table.rows, 0)), *(c.encode(table, raw=raw) for c in columns)])


def in_own_units(columns: Sequence[Column], coef: Array) -> tuple[Array, Array]:
    """Coefficients of scaled features in the columns' own units, and what the intercept gains.

    Examples
    --------
    >>> in_own_units([Numbers("age", (20.0, 70.0))], np.array([[5.0]]))  # 5 in all, 0.1 a year
    (array([[0.1]]), array([-2.]))
    """
    low, high = _scaled_from(columns)
    slopes = coef / (high - low)
    return slopes, -np.asarray(slopes @ low)


def _scaled_from(columns: Sequence[Column]) -> Array:
    """Lowest and highest value of each feature before it was scaled to [0, 1], as rows."""
    return np.array([c.bounds or (0.0, 1.0) for c in columns for _ in c.features]).T


def ends_in_own_units(columns: Sequence[Column], ends: Array) -> Array:
    """Lowest and highest values of scaled features, as rows, in the columns' own units.

    Examples
    --------
    >>> ends_in_own_units([Numbers("age", (20.0, 70.0))], np.array([[0.1], [1.0]])).tolist()
    [[25.0], [70.0]]
    """
    low, high = _scaled_from(columns)
    return np.asarray(low + ends * (high - low))


def centred_within_lists(
    columns: Sequence[Column], coef: Array, intercept: Array, ends: Array | None
) -> tuple[Array, Array, Array | None]:
    """The same model with coefficients that add up to 0 within each list of categories.

    Every row holds one category of a list, so a constant may move from them all to the intercept:
    noise decides how much of it they have. Indicators are 0 or 1, so ends to which they are clipped
    are a constant and a factor.

    Examples
    --------
    >>> sex = Categories("sex", ("male", "female"))
    >>> coef, intercept = np.array([[500.0, 420.0]]), np.array([-300.0])
    >>> centred_within_lists([sex], coef, intercept, None)
    (array([[ 40., -40.]]), array([160.]), None)
    """
    coef, intercept = coef.copy(), intercept.copy()
    ends = None if ends is None else ends.copy()
    for column, part in parts(columns):
        if not isinstance(column, Categories):
            continue
        if ends is not None:
            zero, one = (np.clip(value, *ends[:, part]) for value in Categories.bounds)
            intercept += coef[:, part] @ zero
            coef[:, part] *= one - zero
            ends[:, part] = np.array(Categories.bounds)[:, None]
        mean = coef[:, part].mean(axis=1)
        coef[:, part] -= mean[:, None]
        intercept += mean
    return coef, intercept, ends


def parts(columns: Sequence[Column]) -> Iterator[tuple[Column, slice]]:
    """Every column with the place of its features."""
    ends = list(accumulate((len(column.features) for column in columns), initial=0))
    return zip(columns, map(slice, ends, ends[1:]), strict=True)


def invalid_columns(columns: Sequence[Column], features: Array) -> list[str]:
    """Names of the columns in which some row holds nothing usable."""
    return [c.name for c, part in parts(columns) if np.isnan(features[:, part]).any()]
