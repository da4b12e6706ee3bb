"""A source that was looked at once: its rows as numbers, pass by pass, and always the same ones.

The first pass refuses what cannot be used, counts rows, and takes a digest of every column of every
partition. Each later pass takes it again and compares: a source that changed meanwhile stops the
fit before anything of that pass is released. A digest is a sum, modulo 2^64, of the bits of each
number times an odd weight that belongs to its place, so it does not depend on how a partition is
cut into batches, and any change of one number changes it. It finds accidents, a file that was
written anew or rows in another order; it is no protection against somebody who is after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from privlearn._core.numerics import MAX_ROWS
from privlearn._core.threads import in_parts, thread_count
from privlearn._data import loops
from privlearn._data.bounded import Table, read_only
from privlearn._data.quiet import quiet
from privlearn._data.sources import Batch, Source
from privlearn.exceptions import SourceChangedError

__all__ = ["Kept", "Piece", "Read", "Stream", "added", "changed", "digests"]

T = TypeVar("T")
Words = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Piece:
    """Some rows of a source as numbers, by columns; nothing is bounded yet.

    Attributes
    ----------
    columns : tuple of arrays
        Of the features, in single or double precision; none where the target alone was read.
    y : array
        As in `Table`.
    finite : bool
        As in `Table`.
    first : int
        Place of the first row in its partition, by which its digest goes.
    digest : list of arrays
        Whoever goes through all columns may leave the digest of `digests` there.
    """

    columns: tuple[NDArray[np.floating], ...]
    y: NDArray[Any]
    finite: bool
    first: int = 0
    digest: list[Words] = field(default_factory=list)

    def table(self) -> Table:
        """The same rows side by side."""
        return Table(np.column_stack(self.columns), self.y, self.finite)

    def of_columns(self, chosen: NDArray[np.int64]) -> Piece:
        """The same rows with some columns; one that is empty by any column stays so."""
        y = self.y
        if not self.finite:
            y = np.where(self.table().present(), y, np.nan)
        return Piece(tuple(self.columns[j] for j in chosen), y, self.finite)


Read = Callable[[Batch, bool], Piece]  # the second: whether the target is all that is wanted


class Kept(Protocol):
    """Rows as a solver wants them, held where they are."""

    def total(
        self, work: Callable[[Any], T], zero: T, rest: Callable[[Piece], T] | None = None
    ) -> T:
        """The sum of what `work` makes of them, and `rest` of those that are not held."""


@dataclass
class _Digest:
    """Rows of a partition so far, and a sum for each column, the target's last."""

    rows: int
    sums: Words

    def same_as(self, other: _Digest | None, target_only: bool) -> bool:
        own = slice(-1, None) if target_only else slice(None)
        return (
            other is not None
            and self.rows == other.rows
            and bool((self.sums[own] == other.sums[own]).all())
        )


@dataclass(eq=False)
class Stream:
    """Rows of a source, by passes.

    Attributes
    ----------
    source : Source
        Where they come from.
    read : callable
        From a batch to numbers.
    n_features : int
        Columns of X.
    target : str or None
        Name of the target's column, where columns have names and can be read on their own.
    columns : sequence of str or None
        Names of all columns that are read, where they have names.
    n, present : int
        How many rows there are, and how many are not empty: secrets, as rows are. Known once
        `look` has been called.
    passes : int
        How often rows were read so far.
    """

    source: Source
    read: Read
    n_features: int
    target: str | None = None
    columns: Sequence[str] | None = None
    n: int = 0
    present: int = 0
    passes: int = 0
    _seen: dict[int, _Digest] = field(default_factory=dict)

    def look(self) -> None:
        """The first pass: read all rows once, count them, remember digests."""
        self.passes += 1
        found: dict[int, _Digest] = {}
        for piece in self._digested(lambda piece: piece, found, target_only=False, first=True):
            self.n += len(piece.y)
            self.present += len(piece.y) if piece.finite else int(piece.table().present().sum())
            if self.n > MAX_ROWS:
                raise ValueError(f"X has more than {MAX_ROWS} rows, the most that is supported")
        self._seen = found
        self._refuse_one_time()

    def _refuse_one_time(self) -> None:
        """Refuse what cannot be read a second time, while nothing is charged."""
        if self.n and next(quiet(self.source.batches(self.columns)), None) is None:
            raise ValueError(
                "X had rows when it was read first, and none when it was read again, while a fit "
                "reads them several times; nothing was charged. Give an object whose __iter__ "
                "begins anew each time"
            )

    def results(self, work: Callable[[Piece], T], *, target_only: bool = False) -> Iterator[T]:
        """What `work` makes of each piece, in one pass; at its end all must be as at first.

        Whoever asks must go through to the end before anything is released.
        """
        return self.results_of(work, self.source, self._seen.keys(), target_only=target_only)

    def results_of(
        self, work: Callable[[Piece], T], source: Source, expected: Set[int], *, target_only: bool
    ) -> Iterator[T]:
        """The same of a source that has some of the partitions."""
        self.passes += 1
        found: dict[int, _Digest] = {}
        try:
            yield from self._digested(work, found, target_only=target_only, source=source)
        except (MemoryError, KeyboardInterrupt, SystemExit, GeneratorExit):
            raise
        except BaseException as error:  # of whatever library, panics too, and it may quote cells
            stopped = type(error).__name__
        else:
            stopped = ""
        if stopped:
            raise SourceChangedError(changed(f"could not be read again ({stopped})"))
        if found.keys() != expected or not all(
            digest.same_as(self._seen.get(place), target_only) for place, digest in found.items()
        ):
            raise SourceChangedError(changed("changed between two passes"))

    def total(self, work: Callable[[Piece], T], zero: T, *, target_only: bool = False) -> T:
        """The sum of what `work` makes of pieces, in one pass; `zero` is that of no rows."""
        total = zero
        for found in self.results(work, target_only=target_only):
            total = added(total, found)
        return total

    def keep(self, make: Callable[[Piece], Any], bytes_each: float, most: float) -> Kept | None:
        """What `make` makes of pieces, held for later passes; None: they are read in each."""
        from privlearn._data.held import held_here

        return held_here(self, make, int(most / bytes_each))

    def rows_of_partitions(self) -> dict[int, int]:
        """How many rows each has, in order; a secret."""
        return {place: digest.rows for place, digest in self._seen.items()}

    def _digested(
        self,
        work: Callable[[Piece], T],
        found: dict[int, _Digest],
        *,
        target_only: bool,
        source: Source | None = None,
        first: bool = False,
    ) -> Iterator[T]:
        """Read, digest and work in threads, as many batches at a time as there are threads.

        What cannot be read is told in words of our own: here in the first pass, else by who asks.
        """
        alone = target_only and self.target is not None
        names = [self.target] if alone and self.target is not None else self.columns
        batches = (source or self.source).batches(names)
        for group in _groups(quiet(batches) if first else batches, thread_count()):
            placed = [(batch, self._place(batch, found)) for batch in group]
            parts = in_parts(len(placed), partial(self._worked, placed, work, target_only))
            for batch, ((sums,), result) in zip(group, chain.from_iterable(parts), strict=True):
                found[batch.partition].sums += sums
                yield result

    def _place(self, batch: Batch, found: dict[int, _Digest]) -> int:
        """The offset of a batch in its partition, which from now on is longer."""
        empty = _Digest(0, np.zeros(self.n_features + 1, np.uint64))
        own = found.setdefault(batch.partition, empty)
        first, own.rows = own.rows, own.rows + batch.rows
        return first

    def _worked(
        self,
        placed: list[tuple[Batch, int]],
        work: Callable[[Piece], T],
        target_only: bool,
        start: int,
        stop: int,
    ) -> list[tuple[list[Words], T]]:
        """Digests and results of some batches, with their offsets."""
        found = []
        for batch, first in placed[start:stop]:
            piece = self.read(batch, target_only)
            if len(piece.y) != batch.rows:
                raise ValueError(
                    "X and y of a batch have inconsistent numbers of samples; give one y per row"
                )
            piece = replace(piece, first=first)
            result = work(piece)
            found.append((piece.digest or [digests(piece, first, self.n_features)], result))
        return found


def added(total: Any, found: Any) -> Any:  # noqa: ANN401
    """Two sums of whole numbers as one: lists of Python's, or arrays."""
    if isinstance(total, list):
        return [one + other for one, other in zip(total, found, strict=True)]
    return total + found


def digests(piece: Piece, first: int, n_features: int) -> Words:
    """Sums over the columns that were read; 0 for others."""
    weights, sums = np.empty(len(piece.y), np.uint64), np.zeros(n_features + 1, np.uint64)
    loops.write_weights(first, weights)
    weights = read_only(weights)
    for j, column in enumerate(piece.columns):
        loops.add_to_digest(_bits(column), weights, sums[j : j + 1])
    loops.add_to_digest(_bits(piece.y), weights, sums[-1:])
    return sums


def _bits(numbers: NDArray[Any]) -> NDArray[Any]:
    """The same memory as whole numbers without a sign."""
    whole = np.ascontiguousarray(numbers)
    return read_only(whole.view(f"u{whole.dtype.itemsize}"))


def _groups(batches: Iterable[Batch], size: int) -> Iterator[list[Batch]]:
    """Batches that have rows, some at a time."""
    there = (batch for batch in batches if batch.rows)
    while group := list(islice(there, size)):
        yield group


def changed(what: str) -> str:
    return (
        f"X {what}, so the fit was stopped: sums over rows that are not the same would cost more "
        "privacy than was paid for. What was charged stays spent, and no model is published. Fit "
        "again on files that nobody writes to"
    )
