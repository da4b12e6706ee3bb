"""How columns become numbers, by declared facts alone, and how to go back.

A row's numbers depend on the row's own cells and on the schema. Declared ranges are brought to
[0, 1] for a fit, so that a solver sees columns of one size and the norm that lists of indicators
leave to a row; coefficients go back to the columns' own units.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from privlearn.schema.categories import Category
from privlearn.schema.estimate import Estimate
from privlearn.schema.kinds import Date, Kind, Number

__all__ = ["Column", "EncodedRows", "Encoding"]

Array = NDArray[np.float64]
Cells = NDArray[np.generic]


@dataclass(frozen=True)
class Column:
    """A named column and its kind.

    Examples
    --------
    >>> sex = Column("sex", Category(["male", "female"]))
    >>> sex.features
    ['sex = male', 'sex = female']
    >>> sex.encode(np.array(["female", "?"], dtype=object)).tolist()
    [[0.0, 1.0], [nan, nan]]
    >>> age = Column("age", Number(20, 70, missing="flag"))
    >>> age.encode(np.array(["99", "unknown"], dtype=object)).tolist()
    [[99.0, 0.0], [45.0, 1.0]]
    """

    name: str
    kind: Kind

    @property
    def features(self) -> list[str]:
        """What it becomes, in words."""
        flagged = [f"{self.name} is missing"] if self.kind.missing == "flag" else []
        if isinstance(self.kind, Category | Estimate):
            return [f"{self.name}{word}" for word in self.kind.words] + flagged
        return [self.name, *flagged]

    @property
    def is_list(self) -> bool:
        """Whether every row holds one of its features."""
        return isinstance(self.kind, Category)

    @property
    def listed(self) -> int:
        """How many features are values of a list with a place for others; else all of them."""
        kind = self.kind
        with_others = isinstance(kind, Category) and kind.other and kind.values
        return len(kind.values or ()) if with_others else len(self.features)  # type: ignore[attr-defined]

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The declared range of its numbers."""
        return self.kind.ends

    @property
    def indicators(self) -> list[bool]:
        """Which features are known to fill 0 to 1: nothing is spent on looking for their ranges."""
        first = not isinstance(self.kind, Number | Date | Estimate)
        return [first] + [True] * (len(self.features) - 1)

    @property
    def rare(self) -> list[bool]:
        """Which features may be 0 in all rows: of values that no list has, of what is missing."""
        kind = self.kind
        others = isinstance(kind, Category) and (kind.other or kind.pending)
        last = int(others) + int(kind.missing == "flag")
        return [False] * (len(self.features) - last) + [True] * last

    def squared_norm(self, *, shifted: bool) -> float:
        """The most that the squares of its features add up to, each scaled to at most 1.

        A list has one 1, or equal parts of it. Beside a flag of what is missing stands what is
        filled in there, which is in the range: 1/2 where that is its middle.
        """
        if self.is_list or self.kind.missing != "flag" or self.bounds is None:
            return 1.0
        (low, high), filling = self.bounds, self.kind.filling
        filled = (filling - low) / (high - low) if shifted else filling / max(abs(low), abs(high))
        return 1.0 + min(filled**2, 1.0)

    def encode(self, cells: Cells) -> Array:
        """Features in the column's own units; NaN in rows that hold nothing usable."""
        return self.filled(self.kind.read(cells))

    def filled(self, found: Array) -> Array:
        """The same of what cells were read as: numbers or places, NaN where they are missing."""
        invalid = ~np.isfinite(found)
        if isinstance(self.kind, Category):
            return self._indicators(self.kind, found, invalid)
        found[invalid] = self.kind.filling if self.kind.missing in ("fill", "flag") else np.nan
        flagged = [invalid] if self.kind.missing == "flag" else []
        return np.column_stack([found, *flagged]).astype(np.float64)

    def _indicators(self, kind: Category, place: Array, invalid: NDArray[np.bool_]) -> Array:
        size = len(self.features)
        place = np.where(invalid, size - 1, place)  # the last one tells what is missing, if any
        found = (place[:, None] == np.arange(size)).astype(np.float64)
        if kind.missing != "flag":
            found[invalid] = 1.0 / size if kind.missing == "fill" else np.nan
        return found


@dataclass(frozen=True)
class Encoding:
    """All columns of a model in order.

    Attributes
    ----------
    columns : tuple of Column
        What a row is made of.
    shifted : bool
        Whether declared ranges are brought to [0, 1], which takes an intercept; otherwise zero
        stays where it is, and the larger end becomes 1 in size.
    """

    columns: tuple[Column, ...]
    shifted: bool = True

    @property
    def names(self) -> list[str]:
        """Of the columns that it needs."""
        return [column.name for column in self.columns]

    @property
    def features(self) -> list[str]:
        """What they become, in words."""
        return [word for column in self.columns for word in column.features]

    @property
    def pending(self) -> bool:
        """Whether something about a column is estimated before it is known."""
        return any(column.kind.pending for column in self.columns)

    @property
    def dates(self) -> list[str]:
        """Names of the columns of dates."""
        may_be = Date | Estimate
        return [column.name for column in self.columns if isinstance(column.kind, may_be)]

    @property
    def drops(self) -> bool:
        """Whether rows with a missing cell may become empty ones."""
        return any(column.kind.missing == "drop" for column in self.columns)

    def parts(self) -> Iterator[tuple[Column, slice]]:
        """Every column with the place of its features."""
        ends = list(accumulate((len(column.features) for column in self.columns), initial=0))
        return zip(self.columns, map(slice, ends, ends[1:]), strict=True)

    def encode(self, cells: Mapping[str, Cells], rows: int) -> Array:
        """All features side by side, in their own units; NaN where a row holds nothing usable."""
        found = np.empty((rows, len(self.features)))
        for column, part in self.parts():
            found[:, part] = column.encode(cells[column.name])
        return found

    def invalid(self, values: Array, but: Sequence[str] = ()) -> list[str]:
        """Names of the columns in which some row holds nothing usable, but for some ways."""
        return [
            column.name
            for column, part in self.parts()
            if column.kind.missing not in but and not np.isfinite(values[:, part]).all()
        ]

    @property
    def indicators(self) -> NDArray[np.bool_]:
        """Which features are known to fill 0 to 1."""
        return np.array([known for c in self.columns for known in c.indicators], dtype=bool)

    @property
    def rare(self) -> NDArray[np.bool_]:
        """Which features may be 0 in all rows."""
        return np.array([rare for c in self.columns for rare in c.rare], dtype=bool)

    @cached_property
    def ends(self) -> Array:
        """Lowest and highest value of each feature as rows; infinite where nothing is declared."""
        nothing = (-np.inf, np.inf)
        found = [
            (0.0, 1.0) if known else column.bounds or nothing
            for column in self.columns
            for known in column.indicators
        ]
        return np.array(found, dtype=np.float64).reshape(-1, 2).T

    @cached_property
    def units(self) -> tuple[Array, Array]:
        """What is taken off each feature, and what the rest is divided by, for a fit."""
        low, high = self.ends
        declared = np.isfinite(low)
        shift = np.where(declared & self.shifted, low, 0.0)
        size = high - low if self.shifted else np.maximum(np.abs(low), np.abs(high))
        return shift, np.where(declared, size, 1.0)

    def in_fit_units(self, values: Array) -> Array:
        """Features, or their ends, in the units of a fit."""
        shift, size = self.units
        return np.asarray((values - shift) / size)

    def scaled(self, values: Array) -> Array:
        """Features in the units of a fit, clipped to declared ends: nothing overflows there."""
        return self.in_fit_units(np.clip(values, *self.ends))

    def box(self) -> tuple[Array, Array]:
        """Declared ends in the units of a fit, infinite where nothing is declared."""
        low, high = self.in_fit_units(self.ends)
        return low, high

    def row_norm(self, declared: float | None) -> float | None:
        """The declared norm, or the one that follows from lists: one 1 per list, not per entry."""
        unbounded = any(column.bounds is None for column in self.columns)
        lists = any(column.is_list for column in self.columns)
        if declared is not None or unbounded or not lists:
            return declared
        squares = (column.squared_norm(shifted=self.shifted) for column in self.columns)
        return math.sqrt(float(self.shifted) + sum(squares))

    def in_own_units(self, coef: Array, intercept: Array) -> tuple[Array, Array]:
        """Coefficients and intercept of scaled features in the columns' own units.

        Examples
        --------
        >>> age = Encoding((Column("age", Number(20, 70)),))
        >>> age.in_own_units(np.array([[5.0]]), np.zeros(1))  # 5 in all, 0.1 a year
        (array([[0.1]]), array([-2.]))
        """
        shift, size = self.units
        slopes = coef / size
        return slopes, intercept - slopes @ shift

    def values_in_own_units(self, values: Array) -> Array:
        """Scaled features, or their ends, in the columns' own units."""
        shift, size = self.units
        return np.asarray(shift + values * size)

    def centred(
        self, coef: Array, intercept: Array, ends: Array | None
    ) -> tuple[Array, Array, Array | None]:
        """The same model with coefficients that add up to 0 over the values of each list.

        "Another value" and "missing" are compared to these: hardly any row may hold them, and the
        noise on them would move all others. Every row holds one category of a list, or equal parts
        of all, so a constant may move from them all to the intercept: noise decides how much of it
        they have. Indicators are 0 or 1, so ends to which they are clipped are a constant and a
        factor.

        Examples
        --------
        >>> sex = Encoding((Column("sex", Category(["male", "female"])),))
        >>> sex.centred(np.array([[500.0, 420.0]]), np.array([-300.0]), None)
        (array([[ 40., -40.]]), array([160.]), None)
        """
        coef, intercept = coef.copy(), intercept.copy()
        ends = None if ends is None else ends.copy()
        for column, part in self.parts():
            if not column.is_list:
                continue
            if ends is not None:
                zero, one = (np.clip(value, *ends[:, part]) for value in (0.0, 1.0))
                intercept += coef[:, part] @ zero
                coef[:, part] *= one - zero
                ends[:, part] = np.array([[-np.inf], [np.inf]])
            mean = coef[:, part][:, : column.listed].mean(axis=1)
            coef[:, part] -= mean[:, None]
            intercept += mean
        return coef, intercept, ends

    def lists(self) -> NDArray[np.bool_]:
        """Which features are entries of a list."""
        return np.array([c.is_list for c in self.columns for _ in c.features], dtype=bool)


@dataclass(frozen=True, eq=False)
class EncodedRows:
    """Rows that were encoded before, in the columns' own units: an X for estimators."""

    encoding: Encoding
    values: Array

    def __len__(self) -> int:
        return len(self.values)

    def invalid(self, but: Sequence[str] = ()) -> list[str]:
        """Names of the columns in which some row holds nothing usable, but for some ways."""
        return self.encoding.invalid(self.values, but)

    def features(self, found: Encoding) -> Array:
        """The values: all was known when they were read."""
        return self.values
