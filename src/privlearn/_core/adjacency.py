"""Which data sets a guarantee makes hard to tell apart."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Adjacency"]

WHOEVER = "a person is whatever one id stands for, be it a household or a firm"


class Adjacency(StrEnum):
    """Which pairs of data sets the guarantee makes hard to tell apart."""

    ZERO_OUT = "zero_out"
    ADD_REMOVE = "add_remove"
    REPLACE_ONE = "replace_one"

    def __init__(self, value: str) -> None:
        # Whether both data sets of a neighbouring pair have the same number of rows.
        self.n_is_public = value != "add_remove"
        # Whether one contribution is exchanged for another, not for nothing.
        self.replaces = value == "replace_one"

    def sentence(self, rows_per_person: int | None = None) -> str:
        """The relation in words, for certificates; of rows, or of people of up to so many."""
        if rows_per_person is None:
            return {
                "zero_out": "one person's row is replaced by the empty row; n is public",
                "add_remove": "one person's row is there or not; n is private",
                "replace_one": "one person's row is replaced by any other row; n is public",
            }[self.value]
        rows = f"up to {rows_per_person} row{'s' if rows_per_person > 1 else ''}"
        change = {
            "zero_out": "becomes the empty record",
            "add_remove": "is there or not",
            "replace_one": "is replaced by any other of that kind",
        }[self.value]
        public = "public" if self.n_is_public else "private"
        return (
            f"one person's record of {rows} {change}; the number of people is {public}, that of "
            "rows is private"
        )

    def unit(self, rows_per_person: int | None = None) -> str:
        """What the guarantee is about in words: rows, or people of up to so many."""
        if rows_per_person is None:
            return "one row is one person"
        counting = "rows count" if rows_per_person > 1 else "row counts"
        return f"one person, of whom at most {rows_per_person} {counting} ({WHOEVER})"
