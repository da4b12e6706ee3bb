"""What a data set's charges protect: rows, or people by the column that holds their ids.

It is fixed by the first charge, as the relation is, and sealed with it in one text: "zero_out" for
rows, which is what older ledgers hold, "zero_out; person=patient" for people.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from privlearn.exceptions import LedgerError

if TYPE_CHECKING:
    from privlearn._core.plan import Plan

__all__ = ["ROW", "Protected"]

ROW, PERSON = "row", "person"
_OF_PERSON = "; person="


class Protected(NamedTuple):
    """A neighbouring relation, and of what; `column` has the ids of people, if it has a name."""

    adjacency: str
    unit: str = ROW
    column: str = ""

    @classmethod
    def by(cls, plan: Plan) -> Protected:
        """What a plan protects."""
        if getattr(plan, "rows_per_person", None) is None:
            return cls(plan.adjacency.value)
        return cls(plan.adjacency.value, PERSON, plan.person)

    @classmethod
    def read(cls, text: str) -> Protected:
        """What a ledger wrote down.

        Examples
        --------
        >>> Protected.read("zero_out; person=patient")
        Protected(adjacency='zero_out', unit='person', column='patient')
        """
        adjacency, of_person, column = text.partition(_OF_PERSON)
        return cls(adjacency, PERSON if of_person else ROW, column)

    def with_ids_in(self, column: str | None) -> Protected:
        """The same of people whose ids are in that column; plans do not know it, fits do."""
        if column is None:
            return self
        if not isinstance(column, str) or self.unit == ROW or self.column not in ("", column):
            raise LedgerError(
                f"person={column!r} names the column of people's ids, but this protects "
                f"{self.words()}; nothing was charged"
            )
        return self._replace(column=column)

    def demand_name(self) -> Protected:
        """This, or a refusal where nobody could tell one column of ids from another later."""
        if self.unit == PERSON and not self.column:
            raise LedgerError(
                "this protects people whose ids have no name, but a ledger adds up what is told "
                "about the same people alone, which it knows by the name of the column of ids; "
                "nothing was charged. Pass groups as a column with a name, "
                "pd.Series(ids, name='patient') say, or its name, groups='patient', where X is a "
                "data frame that holds it; to reserve plans pass reserve(..., person='patient')"
            )
        return self

    def text(self) -> str:
        """For the file."""
        of_person = "" if self.unit == ROW else f"{_OF_PERSON}{self.column}"
        return f"{self.adjacency}{of_person}"

    def words(self) -> str:
        """The unit, for errors."""
        if self.unit == ROW:
            return "a row"
        named = f"in the column {self.column!r}" if self.column else "in a column without a name"
        return f"a person whose id is {named}"
