"""Columns of values from a list: declared, found privately, or put into bins by a public hash."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privlearn.schema.kinds import Array, Ends, Kind, check_missing
from privlearn.schema.parsing import as_text, as_value

__all__ = ["ABOUT_OTHERS", "MOST_CATEGORIES", "Category", "Value"]

MOST_CATEGORIES = 20  # that are looked for in one column, unless somebody says otherwise
MOST_BINS = 10_000
OTHERS = " is another value"
ABOUT_OTHERS = (
    f"'{OTHERS.strip()}' stands for all values that a list leaves out. Where hardly any row has "
    "one, that coefficient is mostly noise, which the default solver keeps small."
)
Value = float | str


def _texts(values: object) -> tuple[str, ...]:
    """Distinct values of a list, as cells are read."""
    listed = isinstance(values, Iterable) and not isinstance(values, str | bytes | Mapping)
    found = [as_text(value) for value in values] if listed else [None]  # type: ignore[attr-defined]
    compared = [as_value(text) for text in found]
    if None in compared:
        raise ValueError(
            "values of a Category are different texts or numbers below 2^53; write for example "
            "Category(['no', 'yes'])"
        )
    if len(set(compared)) < len(compared):
        raise ValueError(
            "values of a Category are different texts or numbers, but two of these are the same "
            "to a data frame, as '1', '01', 1.0 and True are; leave one of them out"
        )
    return tuple(str(value) for value in found)


def _whole(name: str, value: object, least: int) -> int:
    """A whole number of places in a list, or a refusal; JSON and TOML may have made it a float."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    whole = int(value) if number and math.isfinite(value) else -1  # type: ignore
    if whole != value or not least <= whole <= MOST_BINS:
        raise ValueError(
            f"{name}={value!r}, but a whole number from {least} to {MOST_BINS} is needed"
        )
    return whole


@dataclass(frozen=True)
class Category(Kind):
    """A column of values from a list: one 0/1 column for each of them.

    Parameters
    ----------
    values : list or None, default=None
        All values that there can be, texts or numbers, from public knowledge. Texts are compared
        without blanks around them, and what is a number by its value: 1, 1.0, "1", "01", True and
        "true" are one value. None finds frequent values privately: the budget of the fit pays.
    missing : {"raise", "drop", "fill", "flag"}, default="raise"
        What happens where a cell is empty or not in the list: as in `Number`. "fill" gives each
        value an equal part of 1; with "flag" a missing value is one more value of the list.
    other : bool, default=False
        Whether values that are not in the list share one more place in it; only what is empty is
        missing then. Lists that are found privately always have that place.
    max_categories : int, default=20
        Without `values`: the most that are published, the most frequent ones.
    hashed : int or None, default=None
        In place of a list: so many bins, into which values fall by a public hash. Nothing is
        estimated, and no value is published; values in one bin are not told apart.

    Examples
    --------
    >>> from privlearn.schema import Category
    >>> Category(["north", "south"], missing="flag")
    Category(values=('north', 'south'), missing='flag')
    >>> Category(max_categories=50), Category(hashed=32)
    (Category(max_categories=50), Category(hashed=32))
    """

    values: tuple[str, ...] | None = None
    missing: str = "raise"
    other: bool = field(default=False, kw_only=True)
    max_categories: int = field(default=MOST_CATEGORIES, kw_only=True)
    hashed: int | None = field(default=None, kw_only=True)

    word: ClassVar[str] = "category"

    def __post_init__(self) -> None:
        check_missing(self.missing)
        if not isinstance(self.other, bool):
            raise ValueError(f"other={self.other!r}, but True or False is needed")
        most = _whole("max_categories", self.max_categories, 1)
        object.__setattr__(self, "max_categories", most)
        if self.hashed is not None:
            self._check_hashed()
        elif self.values is not None:
            object.__setattr__(self, "values", _texts(self.values))
            if len(self.values) + self.other + (self.missing == "flag") < 2 and not self.other:
                raise ValueError(
                    "a Category with one value tells nothing; list all that there can be, or leave "
                    "values out: frequent ones are then found privately"
                )

    def _check_hashed(self) -> None:
        if self.values is not None or self.other:
            raise ValueError(
                "hashed bins take all values there are; leave values and other out, or hashed"
            )
        object.__setattr__(self, "hashed", _whole("hashed", self.hashed, 2))

    def __repr__(self) -> str:
        shown = {
            "values": self.values,
            "missing": self.missing if self.missing != "raise" or self.values else None,
            "other": self.other or None,
            "max_categories": None
            if self.max_categories == MOST_CATEGORIES
            else self.max_categories,
            "hashed": self.hashed,
        }
        given = ", ".join(f"{name}={value!r}" for name, value in shown.items() if value is not None)
        return f"Category({given})"

    @property
    def pending(self) -> bool:  # type: ignore[override]
        """Whether its list is to be found."""
        return self.values is None and self.hashed is None

    @property
    def ends(self) -> Ends:
        """0 and 1, of each of its columns."""
        return 0.0, 1.0

    @property
    def words(self) -> list[str]:
        """Its places in words that follow the name of the column, but for what is missing."""
        if self.hashed is not None:
            return [f" in bin {k + 1}" for k in range(self.hashed)]
        found = self.values
        if found is None:  # room for what will be found
            found = tuple(f"value {k + 1}" for k in range(self.max_categories))
        others = [OTHERS] if self.other or self.pending else []
        return [*(f" = {value}" for value in found), *others]

    @cached_property
    def _places(self) -> dict[Value | None, float]:
        return {as_value(value): float(k) for k, value in enumerate(self.values or ())}

    def place(self, value: Value | None) -> float:
        """Place in the list of a value, as cells are compared; NaN where it is missing."""
        if value is None:
            return math.nan
        if self.hashed is not None:
            spelled = str(as_text(value)).encode("utf-8", "surrogatepass")
            word = hashlib.blake2b(spelled, digest_size=8).digest()
            return float(int.from_bytes(word, "little") % self.hashed)
        return self._places.get(value, float(len(self._places)) if self.other else math.nan)

    def read(self, cells: NDArray[np.generic]) -> Array:
        """Place in the list of each cell's value, NaN where it is not in it."""
        if cells.dtype.kind in "biuf":  # few different ones
            distinct, back = np.unique(cells, return_inverse=True)
            return self.read(np.array(distinct.tolist(), dtype=object))[back.reshape(len(cells))]
        known: dict[str, float] = {}  # texts that were read before
        found = np.empty(len(cells))
        for k, cell in enumerate(cells.tolist()):
            text = cell if type(cell) is str else None
            if text is None or text not in known:
                found[k] = self.place(as_value(cell))
            if text is not None:
                found[k] = known.setdefault(text, found[k])
        return found
