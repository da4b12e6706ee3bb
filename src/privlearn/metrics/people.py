"""People with several rows in an evaluation: all are predicted before the charge, some count."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from numbers import Integral

import numpy as np

from privlearn._core.numerics import BLOCK_ROWS, MAX_ROWS
from privlearn._core.problem import assumed_of_people
from privlearn._core.users_line import users_line
from privlearn._data.people import People, rows_that_count
from privlearn.exceptions import MissingFactError
from privlearn.metrics.predictions import Predicted

__all__ = ["Everybody", "assumed_numbers", "checked_most", "demand_both", "warn_of_rows"]


@dataclass(frozen=True, eq=False)
class Everybody:
    """All rows with what the model says about each, and whose they are."""

    people: People
    rows: Predicted | None  # None where there are none

    @classmethod
    def of(cls, people: People, blocks: Iterable[Predicted]) -> Everybody:
        """From blocks of rows in the order of the table."""
        held = [(rows.answers, rows.target, rows.present) for rows in blocks]
        parts = (np.concatenate(each) for each in zip(*held, strict=True))
        return cls(people, Predicted(*parts) if held else None)

    def who_count(self, most: int, key: int) -> Iterator[Predicted]:
        """At most so many rows of each person, in blocks (_core/people.md, 2)."""
        rows, _ = rows_that_count(self.people, most, key)
        held = self.rows
        for start in range(0, 0 if held is None else len(rows), BLOCK_ROWS):
            some = rows[start : start + BLOCK_ROWS]
            assert held is not None
            yield Predicted(held.answers[some], held.target[some], held.present[some])


def assumed_numbers(rows: int | None, most: int | None) -> tuple[str, ...]:
    """What is public about numbers of rows, or of people where so many rows of each count."""
    if most is not None:
        return tuple(assumed_of_people(rows is not None))
    return () if rows is None else ("the number of rows is public",)


def demand_both(groups: object, most: object) -> None:
    """Refuse ids without a largest number of rows, and the number without ids."""
    if groups is not None and most is None:
        raise MissingFactError(
            "max_rows_per_person is missing, but with groups one person may have several rows, and "
            "how many of them count decides on the noise; pass max_rows_per_person=5, say, a "
            "number that is chosen from public knowledge and never from the data"
        )
    if groups is None and most is not None:
        raise MissingFactError(
            "groups is missing, but max_rows_per_person limits the rows of a person; pass "
            "groups=ids with one id per row, or leave max_rows_per_person out"
        )


def warn_of_rows(model: object, groups: object) -> None:
    """Say that scores promise less than the model's fit did; what they protect is public."""
    if groups is None and getattr(getattr(model, "privacy_", None), "unit", "row") == "person":
        warnings.warn(
            "the model was fitted to people, who may have several rows each, but without groups "
            "these scores protect single rows; pass groups and max_rows_per_person (on the command "
            "line --person COLUMN --max-rows K), unless every person has one row here",
            UserWarning,
            stacklevel=users_line(),
        )


def checked_most(most: object) -> int | None:
    """The number as a plain integer, or a refusal."""
    if most is None:
        return None
    whole = isinstance(most, Integral) and not isinstance(most, bool | np.bool_)
    if not whole or not 1 <= int(most) <= MAX_ROWS:  # type: ignore[call-overload]
        shown = most if isinstance(most, int | float) else type(most).__name__
        raise ValueError(
            f"max_rows_per_person={shown}, but a whole number of rows, 1 or more, is needed"
        )
    return int(most)  # type: ignore[call-overload]
