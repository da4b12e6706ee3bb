"""Rows of which something is still to be estimated: what each cell is, before its kind is known.

Cells are read one by one, as everywhere: as a declared kind, as a value of a list that is to be
found, or, where the kind is to be estimated, as all that they could be. Nothing here leaves a fit
but through counts with noise (`discovery.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privlearn._core.numerics import BLOCK_ROWS
from privlearn.schema.categories import Category, Value
from privlearn.schema.encoding import Array, Cells, Column, Encoding
from privlearn.schema.estimate import Estimate
from privlearn.schema.kinds import Date, Flag, Kind, Number
from privlearn.schema.parsing import EXACT, FALSE, TRUE, Notation, as_days, as_flag, as_value

__all__ = ["BINS", "RawRows", "count_bins", "count_values", "encode_into", "read_raw"]

MISSING, ZERO_ONE, NUMBER, WORD, DATE, TEXT = range(6)  # what a cell can be read as; each is one
BINS = 6
NOTHING = -1.0  # in the place of a value's number, where a cell is missing
READ = {Number: (ZERO_ONE, NUMBER), Flag: (ZERO_ONE, WORD), Date: (DATE,)}  # kinds and their cells
Words = tuple[Value, ...]


@dataclass(frozen=True, eq=False)
class RawRows:
    """Numbers that stand for cells, and the values that some of those numbers stand for.

    Attributes
    ----------
    encoding : Encoding
        With columns of which something is to be estimated.
    numbers : array of shape (n, width)
        Declared columns as features; a list's value as its number among `words`; of an unknown
        column what its cell can be read as, its number or days, and the number of its value. NaN
        in rows that hold nothing usable.
    words : tuple
        For each column the values that are there, in the order in which they come: a secret.
    """

    encoding: Encoding
    numbers: Array
    words: tuple[Words, ...]

    def parts(self) -> Iterator[tuple[Column, slice, Words]]:
        """Every column with the place of its numbers and its values."""
        ends = accumulate((_width(column) for column in self.encoding.columns), initial=0)
        places = list(ends)
        return zip(self.encoding.columns, map(slice, places, places[1:]), self.words, strict=True)

    def __len__(self) -> int:
        return len(self.numbers)

    def features(self, found: Encoding) -> Array:
        """Features by kinds that are known by now, in the columns' own units."""
        out = np.empty((len(self), len(found.features)))
        for _ in _written(out, self, found):
            pass
        return out

    def invalid(self, but: Sequence[str] = ()) -> list[str]:
        """Names of the columns in which some row holds nothing usable, but for some ways."""
        return [
            column.name
            for column, part, _ in self.parts()
            if column.kind.missing not in but and not np.isfinite(self.numbers[:, part]).all()
        ]


def _width(column: Column) -> int:
    if isinstance(column.kind, Estimate):
        return 3
    return 1 if column.kind.pending else len(column.features)


def read_raw(encoding: Encoding, cells: Mapping[str, Cells], rows: int) -> RawRows:
    """Cells of a frame, as far as they can be read now."""
    width = sum(map(_width, encoding.columns))
    empty = RawRows(encoding, np.empty((rows, width)), ((),) * len(encoding.columns))
    words = []
    for column, part, _ in empty.parts():
        found: Words = ()
        if column.kind.pending:
            known = isinstance(column.kind, Estimate)
            read, found = _read(cells[column.name], getattr(column.kind, "rule", None))
            empty.numbers[:, part] = read if known else _codes(column.kind, read[:, 2:])
        else:
            empty.numbers[:, part] = column.encode(cells[column.name])
        words.append(found)
    return RawRows(encoding, empty.numbers, tuple(words))


def _codes(kind: Kind, codes: Array) -> Array:
    """Numbers of values; NaN where a missing one spoils the row."""
    spoils = kind.missing in ("raise", "drop")
    return np.where(codes == NOTHING, np.nan, codes) if spoils else codes


def _read(cells: Cells, rule: Notation | None = None) -> tuple[Array, Words]:
    """What each cell can be read as, its number or days, and the number of its value."""
    if cells.dtype.kind in "biuf":
        distinct, back = np.unique(cells, return_inverse=True)
        found, words = _read(np.array(distinct.tolist(), dtype=object))
        return found[back.reshape(len(cells))], words
    numbers: dict[Value, float] = {}
    known: dict[str, tuple[float, float, float]] = {}  # texts that were read before
    found = np.empty((len(cells), 3))
    for k, cell in enumerate(cells.tolist()):
        read = known.get(cell) if type(cell) is str else None
        if read is None:
            read = _cell(cell, numbers, rule)
            if type(cell) is str:
                known[cell] = read
        found[k] = read
    return found, tuple(numbers)


def _cell(
    cell: Any,  # noqa: ANN401
    numbers: dict[Value, float],
    rule: Notation | None,
) -> tuple[float, float, float]:
    value = as_value(cell)
    if rule is not None and issubclass(type(cell), str | bytes):  # cell.__class__ may raise
        bin_, number = _written_cell(cell, value, rule)
    elif isinstance(value, float):
        bin_, number = ZERO_ONE if value in (0.0, 1.0) else NUMBER, value
    elif isinstance(value, str) and (word := value.casefold()) in TRUE | FALSE:
        bin_, number = WORD, float(word in TRUE)
    elif math.isfinite(days := as_days(cell)):
        bin_, number = DATE, days
    else:
        bin_, number = (MISSING if value is None else TEXT), 0.0
    code = NOTHING if value is None else numbers.setdefault(value, float(len(numbers)))
    return float(bin_), number, code


def _written_cell(cell: str | bytes, value: Value | None, rule: Notation) -> tuple[int, float]:
    """The same of a text where numbers have a notation: a number in another one is a text."""
    number = rule(cell)
    if abs(number) < EXACT:  # not NaN
        plain = value == number  # "1,0" is a number, but no truth value
        return ZERO_ONE if plain and number in (0.0, 1.0) else NUMBER, number
    if math.isfinite(truth := as_flag(value)):  # "1.0", too
        return WORD, truth
    if math.isfinite(days := as_days(cell)):
        return DATE, days
    return (MISSING if value is None else TEXT), 0.0


def count_bins(rows: RawRows, present: NDArray[np.bool_]) -> tuple[list[str], Array]:
    """Names of unknown columns, and how many cells of each can be read as what."""
    names, counts = [], []
    for column, part, _ in rows.parts():
        if isinstance(column.kind, Estimate):
            names.append(column.name)
            bins = rows.numbers[present, part.start].astype(np.int64)
            counts.append(np.bincount(bins, minlength=BINS).astype(np.float64))
    return names, np.array(counts).reshape(-1, BINS)


def count_values(
    rows: RawRows, kinds: Mapping[str, Kind], present: NDArray[np.bool_]
) -> dict[tuple[str, bool, Value], float]:
    """How many rows hold each value of the lists that are to be found, in the order of the keys.

    A key is the column's name, whether the value is text, and the value.
    """
    found: dict[tuple[str, bool, Value], float] = {}
    for column, part, words in rows.parts():
        if isinstance(kind := kinds[column.name], Category) and kind.pending:
            codes = rows.numbers[present, part.stop - 1].astype(np.int64)
            counts = np.bincount(codes[codes >= 0], minlength=len(words))
            there = np.flatnonzero(counts)
            found |= {
                (column.name, isinstance(words[k], str), words[k]): float(counts[k]) for k in there
            }
    return dict(sorted(found.items()))


def encode_into(out: Array, rows: RawRows, found: Encoding) -> None:
    """Write features by kinds that are known by now, in the units of a fit, some rows at a time."""
    for own in _written(out, rows, found):
        own[:] = found.scaled(own)


def _written(out: Array, rows: RawRows, found: Encoding) -> Iterator[Array]:
    """Write features in the columns' own units, and hand out each block."""
    listed = zip(found.columns, rows.words, strict=True)
    places = [_places(column.kind, words) for column, words in listed]
    for start in range(0, len(out), BLOCK_ROWS):
        some = slice(start, start + BLOCK_ROWS)
        each = zip(rows.parts(), found.parts(), places, strict=True)
        for (column, part, _), (known, features), place in each:
            numbers = rows.numbers[some, part]
            if column.kind.pending:
                numbers = known.filled(_as_kind(known.kind, numbers, place))
            out[some, features] = numbers
        yield out[some]


def _places(kind: Kind, words: Words) -> Array:
    """Place in a list, or 0 or 1, of each value that is there; NaN at the end: what is missing."""
    if isinstance(kind, Flag):
        return np.array([as_flag(value) for value in (*words, None)])
    if not isinstance(kind, Category):
        return np.empty(0)
    return np.array([kind.place(value) for value in (*words, None)])


def _as_kind(kind: Kind, numbers: Array, places: Array) -> Array:
    """One number per cell, as `Kind.read` would give it; rows that hold NaN are spoiled."""
    if isinstance(kind, Category | Flag):
        codes = numbers[:, -1]
        there = np.isfinite(codes)
        return np.where(there, places[np.where(there, codes, NOTHING).astype(np.int64)], np.nan)
    read = np.isin(numbers[:, 0], READ[type(kind)])
    return np.where(read, numbers[:, 1], np.nan)
