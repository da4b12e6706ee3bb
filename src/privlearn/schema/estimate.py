"""Columns of which nobody said what they are: their kind is estimated privately."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from privlearn.schema.categories import MOST_CATEGORIES, Category
from privlearn.schema.kinds import Kind

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

    Examples
    --------
    >>> from privlearn.schema import Estimate
    >>> Estimate()
    Estimate(max_categories=20)
    """

    max_categories: int = MOST_CATEGORIES

    word: ClassVar[str] = "estimate"
    missing: ClassVar[str] = "flag"  # type: ignore[misc]
    pending: ClassVar[bool] = True

    def __post_init__(self) -> None:
        most = Category(max_categories=self.max_categories).max_categories
        object.__setattr__(self, "max_categories", most)

    @property
    def words(self) -> list[str]:
        """Room for a number, or for a list."""
        return ["", *Category(max_categories=self.max_categories).words]
