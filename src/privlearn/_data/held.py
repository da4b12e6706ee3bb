"""Rows as a solver wants them, held in this process: their files are read no more.

Whole partitions from the first on, as many as fit into a stated limit. They are read once, after
the charge, and compared with the digests of the first pass; from then on they cannot change. The
rest is read in every pass, where the source can leave out what is held. Sums are of whole numbers,
so what is held changes no bit of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, TypeVar

from privlearn._core.threads import in_parts
from privlearn._data.sources import Batch, Source
from privlearn._data.stream import Kept, Piece, Stream, added

__all__ = ["held_here"]

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class _Held:
    """Some partitions in memory; `rest` has the others, None where there are none."""

    stream: Stream
    rows: list[Any]
    rest: Source | None
    places: frozenset[int]  # of the others

    def total(
        self, work: Callable[[Any], T], zero: T, rest: Callable[[Piece], T] | None = None
    ) -> T:
        """The sum over what is held, and over the rest in one pass."""
        total = zero

        def part(first: int, last: int) -> T:
            own = zero
            for rows in self.rows[first:last]:
                own = added(own, work(rows))
            return own

        for found in in_parts(len(self.rows), part):
            total = added(total, found)
        if self.rest is None:
            return total
        assert rest is not None
        for found in self.stream.results_of(rest, self.rest, self.places, target_only=False):
            total = added(total, found)
        return total


@dataclass(frozen=True, eq=False)
class _Until:
    """The partitions of a source before another one."""

    source: Source
    last: int
    names: None = None

    def batches(self, columns: Sequence[str] | None) -> Iterator[Batch]:
        """Their rows."""
        return takewhile(lambda batch: batch.partition < self.last, self.source.batches(columns))


def held_here(stream: Stream, make: Callable[[Piece], Any], most: int) -> Kept | None:
    """What `make` makes of the first partitions, with so many rows at most."""
    there, rows = stream.rows_of_partitions(), 0
    own: set[int] = set()
    for place in sorted(there):
        rows += there[place]
        if rows > most:
            break
        own.add(place)
    others = frozenset(there.keys() - own)
    rest = None
    if others:
        after = getattr(stream.source, "after", None)
        rest = after(min(others)) if own and after is not None else None
        if rest is None:
            return None
    first: Source = _Until(stream.source, min(others)) if others else stream.source
    try:
        made = list(stream.results_of(make, first, own, target_only=False))
    except MemoryError:  # then all are read
        return None
    return _Held(stream, made, rest, others)
