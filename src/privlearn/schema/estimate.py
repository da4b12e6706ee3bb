"""Columns of which nobody said what they are: their kind is estimated privately."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import ClassVar

from privlearn.schema.categories import MOST_CATEGORIES, Category
from privlearn.schema.kinds import Kind, Number, usual_decimal
from privlearn.schema.parsing import Notation

__all__ = ["Estimate"]


@dataclass(frozen=True)
class Estimate(Kind):
    """A column whose kind is estimated: numbers, truth values, dates, or values of a list.

    The budget of the fit pays for noisy counts of the cells that can be read as each. They decide
    what the column is, and whether missing cells get a 0/1 column of their own; a range or a list
    is then estimated as for `Number()`, `Date()` or `Category()`.

    Parameters
    ----------
    max_categories : int, default=20
        The most values that are published, where it is a list.
    decimal, thousands, currency, percent
        How numbers are written in text, as in `Number`. A text in another notation is no number:
        by default "5.380" is 5.38, and with ``decimal=",", thousands="."`` it is 5380. Nothing is
        guessed, for cells that look like one or the other are data.

    Examples
    --------
    >>> from privlearn.schema import Estimate
    >>> Estimate()
    Estimate(max_categories=20)

    In place of a schema it is about all columns, as "estimate" is:

    >>> from privlearn import LinearRegression
    >>> model = LinearRegression(schema=Estimate(decimal=",", thousands="."))
    """

    max_categories: int = MOST_CATEGORIES
    decimal: str = field(default=None, kw_only=True)  # type: ignore[assignment]  # told by thousands
    thousands: str | None = field(default=None, kw_only=True)
    currency: str | None = field(default=None, kw_only=True)
    percent: bool = field(default=False, kw_only=True)

    word: ClassVar[str] = "estimate"
    missing: ClassVar[str] = "flag"  # type: ignore[misc]
    pending: ClassVar[bool] = True

    def __post_init__(self) -> None:
        most = Category(max_categories=self.max_categories).max_categories
        object.__setattr__(self, "max_categories", most)
        object.__setattr__(self, "decimal", self.number.decimal)  # or refuses what is no notation

    def __repr__(self) -> str:
        shown = [f"max_categories={self.max_categories!r}"]
        for one in fields(self):
            value = getattr(self, one.name)
            usual = usual_decimal(None) if one.name == "decimal" else one.default
            if one.kw_only and value != usual:
                shown.append(f"{one.name}={value!r}")
        return f"Estimate({', '.join(shown)})"

    @property
    def number(self) -> Number:
        """What it is where it turns out to be numbers."""
        return Number(
            decimal=self.decimal,
            thousands=self.thousands,
            currency=self.currency,
            percent=self.percent,
        )

    @property
    def rule(self) -> Notation | None:
        """How texts are read as numbers; None for the plain way."""
        return self.number.rule

    @property
    def words(self) -> list[str]:
        """Room for a number, or for a list."""
        return ["", *Category(max_categories=self.max_categories).words]
