"""How columns become numbers between 0 and 1, by declared facts alone, and how to go back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from privlearn.cli.tables import Table

__all__ = ["AsIs", "Categories", "Column", "Scaled", "encode", "invalid_columns"]

Array = NDArray[np.float64]


class Column(Protocol):
    """One column of the file and the features that it becomes.

    Rows in which the column holds nothing usable are NaN.
    """

    @property
    def name(self) -> str:
        """The column's name in the file."""

    @property
    def width(self) -> int:
        """How many features it becomes."""

    def encode(self, table: Table) -> Array:
        """Its features, as a fit sees them."""

    def raw(self, table: Table) -> Array:
        """Its features in the column's own units, as a prediction sees them."""

    def unscale(self, coef: Array) -> tuple[Array, Array]:
        """Coefficients in the column's own units, and what they add to the intercept."""


@dataclass(frozen=True)
class Scaled:
    """Numbers with a declared range, clipped to it and scaled to [0, 1].

    Examples
    --------
    >>> from privlearn.cli.tables import TextTable
    >>> age = Scaled("age", 20.0, 70.0)
    >>> age.encode(TextTable({"age": ["45", "99", "unknown"]}, 3)).tolist()
    [[0.5], [1.0], [nan]]
    >>> age.unscale(np.array([[5.0]]))  # 5 for the whole range is 0.1 for a year
    (array([[0.1]]), array([-2.]))
    """

    name: str
    low: float
    high: float
    width: int = 1

    def encode(self, table: Table) -> Array:
        """Its features, as a fit sees them."""
        clipped = np.clip(table.numbers(self.name), self.low, self.high)
        scaled: Array = (clipped - self.low) / (self.high - self.low)
        return scaled[:, None]

    def raw(self, table: Table) -> Array:
        """The numbers as they are: a prediction clips nothing."""
        return table.numbers(self.name)[:, None]

    def unscale(self, coef: Array) -> tuple[Array, Array]:
        """Coefficients in the column's own units, and what they add to the intercept."""
        slope = coef / (self.high - self.low)
        return slope, -slope[..., 0] * self.low


@dataclass(frozen=True)
class AsIs:
    """Numbers without a range of their own, limited by the norm of the row alone."""

    name: str
    width: int = 1

    def encode(self, table: Table) -> Array:
        """Its features, as a fit sees them."""
        return table.numbers(self.name)[:, None]

    raw = encode

    def unscale(self, coef: Array) -> tuple[Array, Array]:
        """Coefficients in the column's own units, and what they add to the intercept."""
        return coef, np.zeros(coef.shape[:-1])


@dataclass(frozen=True)
class Categories:
    """Text from a fixed list: one feature per category, 1 where the row holds it.

    Examples
    --------
    >>> from privlearn.cli.tables import TextTable
    >>> sex = Categories("sex", ("male", "female"))
    >>> sex.encode(TextTable({"sex": ["female", "?"]}, 2)).tolist()
    [[0.0, 1.0], [nan, nan]]
    """

    name: str
    values: tuple[str, ...]

    @property
    def width(self) -> int:
        """How many features it becomes."""
        return len(self.values)

    def encode(self, table: Table) -> Array:
        """Its features, as a fit sees them."""
        place = {value: k for k, value in enumerate(self.values)}
        codes = np.array([place.get(label or "", -1) for label in table.labels(self.name)], int)
        indicators = (codes[:, None] == np.arange(self.width)).astype(np.float64)
        indicators[codes < 0] = np.nan
        return indicators

    raw = encode

    def unscale(self, coef: Array) -> tuple[Array, Array]:
        """Coefficients in the column's own units, and what they add to the intercept."""
        return coef, np.zeros(coef.shape[:-1])


def encode(columns: Sequence[Column], table: Table, *, raw: bool = False) -> Array:
    """All features side by side, scaled for a fit or raw for a prediction."""
    blocks = [column.raw(table) if raw else column.encode(table) for column in columns]
    return np.hstack(blocks) if blocks else np.empty((table.rows, 0))


def invalid_columns(columns: Sequence[Column], features: Array) -> list[str]:
    """Names of the columns in which some row holds nothing usable."""
    found, start = [], 0
    for column in columns:
        if np.isnan(features[:, start]).any():
            found.append(column.name)
        start += column.width
    return found
