"""Columns of CSV and Parquet files, cell by cell. Errors name columns, never a cell or a line."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from privlearn._data.cells import numbers, objects
from privlearn.cli.dialect import SEPARATORS, Dialect
from privlearn.cli.errors import CommandError
from privlearn.cli.header import checked_header, checked_names
from privlearn.cli.lines import Fault, cells_of, joined_lines, physical_lines
from privlearn.cli.streams import STDIN, open_bytes, refuse_by_name, shown
from privlearn.schema import Number
from privlearn.schema.encoding import EncodedRows, Encoding
from privlearn.schema.kinds import Kind
from privlearn.schema.parsing import as_text, notation
from privlearn.schema.raw import RawRows, read_raw

__all__ = ["CsvSource", "Source", "Table", "open_source", "read_encoded"]

Array = NDArray[np.float64]
ANY, PLAIN = Dialect(), Number()
AT_ONCE = 2**21  # cells that are kept as texts
QUOTES_IN_PAIRS = (
    "quotes come in pairs in every record of the file, so that no record reaches into another"
)


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of a file as cells. What is made of a cell depends on nothing but that cell.

    Attributes
    ----------
    columns : dict
        By name.
    rows : int
        How many there are, unusable ones included.

    Examples
    --------
    >>> table = Table({"age": ["30", " 41", "unknown"]}, 3)
    >>> table.numbers("age").tolist()
    [30.0, 41.0, nan]
    """

    columns: Mapping[str, Any]
    rows: int

    def cells(self, name: str) -> NDArray[Any]:
        """A column's cells."""
        column = self.columns[name]
        return column if isinstance(column, np.ndarray) else objects(column)

    def numbers(self, name: str, written: Number = PLAIN) -> Array:
        """A column as numbers; whatever is no finite number becomes NaN."""
        values = written.read(self.cells(name))
        values[~np.isfinite(values)] = np.nan
        return values

    def labels(self, name: str) -> list[str | None]:
        """A column as text without surrounding blanks; None where there is nothing."""
        return [as_text(cell) for cell in self.cells(name).tolist()]

    def encoded(self, encoding: Encoding) -> EncodedRows:
        """The columns that a model needs, as numbers in their own units."""
        values = np.empty((self.rows, len(encoding.features)))
        for column, part in encoding.parts():
            cells = self.columns[column.name]
            if isinstance(cells, tuple) and _is_plain(column.kind):
                values[:, part.start] = _numbers(cells)
            else:
                values[:, part] = column.encode(self.cells(column.name))
        return EncodedRows(encoding, values)


def _is_plain(kind: Kind) -> bool:
    """Whether cells are numbers as Python reads them, and other cells are nothing at all."""
    if type(kind) is not Number or kind.missing not in ("raise", "drop"):
        return False
    if kind.limits is not None:
        return False
    return notation(kind.decimal, kind.thousands, kind.currency, kind.percent) is None


def _numbers(texts: tuple[str, ...]) -> Array:
    """What `Number` makes of texts, to the last bit, without a detour where all are numbers."""
    try:
        found = np.fromiter(map(float, texts), np.float64, len(texts))
    except ValueError:
        found = numbers(texts)
    found[~np.isfinite(found)] = np.nan
    return found


class Source(Protocol):
    """A file whose column names are known, and whose cells are read on demand, once.

    `remedy` is the option that lets broken lines pass, for an error about them. None means that
    it was given: a broken line is then a row of empty cells.
    """

    path: str
    names: list[str]
    assumes: tuple[str, ...]

    def tables(
        self, names: Sequence[str], *, remedy: str | None, dates: Collection[str] = ()
    ) -> Iterator[Table]:
        """The named columns, some rows at a time; `dates` may be of a type of dates."""


def read_encoded(
    source: Source, encoding: Encoding, more: Sequence[str], *, remedy: str | None
) -> tuple[EncodedRows | RawRows, Table]:
    """The columns of a model as numbers, as far as is known, and cells of some more, read once.

    Cells become numbers a part of the rows at a time: a wide file's texts would not fit into
    memory. Which rows go together depends on the number of columns.
    """
    names = list(dict.fromkeys([*encoding.names, *more]))
    if encoding.pending:
        return _read_pending(source, encoding, names, remedy)
    parts: list[Array] = []
    cells: dict[str, list[NDArray[Any]]] = {name: [objects([])] for name in more}
    for table in source.tables(names, remedy=remedy, dates=encoding.dates):
        parts.append(table.encoded(encoding).values)
        for name, found in cells.items():
            found.append(table.cells(name))
    rows = sum(map(len, parts))
    values = np.empty((rows, len(encoding.features)))
    start = 0
    while parts:
        part = parts.pop(0)  # which frees it
        values[start : start + len(part)] = part
        start += len(part)
    rest = Table({name: np.concatenate(found) for name, found in cells.items()}, rows)
    return EncodedRows(encoding, values), rest


def _read_pending(
    source: Source, encoding: Encoding, names: Sequence[str], remedy: str | None
) -> tuple[RawRows, Table]:
    """The same, where it is still to be found out what some columns are: cells as they are."""
    found: dict[str, list[NDArray[Any]]] = {name: [objects([])] for name in names}
    for table in source.tables(names, remedy=remedy, dates=encoding.dates):
        for name, parts in found.items():
            parts.append(table.cells(name))
    cells = {name: np.concatenate(parts) for name, parts in found.items()}
    rows = len(next(iter(cells.values())))
    return read_raw(encoding, cells, rows), Table(cells, rows)


def open_source(path: str | Path, dialect: Dialect = ANY) -> Source:
    """Find out the column names of a CSV or Parquet file; no row is looked at."""
    place = Path(path)
    if str(path) != STDIN:
        if place.is_dir():
            raise CommandError(f"{place} is a folder; give the CSV or Parquet file in it")
        if not place.exists():
            raise CommandError(
                f"there is no file {place}; check the name and the folder you are in"
            )
        if not place.is_file():
            raise CommandError(
                f"{place} is no ordinary file; for what a program writes: program | privlearn ... -"
            )
        refuse_by_name(place)
    if place.suffix.lower() in (".parquet", ".pq"):
        from privlearn.cli.parquet import ParquetSource

        return ParquetSource(place)
    return CsvSource(path, dialect)


class CsvSource:
    """A CSV file with a header; each line after it is a row, whatever it holds."""

    def __init__(self, path: str | Path, dialect: Dialect) -> None:
        self.path = shown(path)
        lines = physical_lines(open_bytes(path, header=dialect.header), self.path)
        found_first = next(lines, None)
        first = found_first or b""
        if dialect.header and not first.strip():
            raise CommandError(f"{self.path} is empty; its first line must name the columns")
        found = dialect.guessed(first)
        self._separator, self._encoding = found.separator or ",", found.encoding or "utf-8"
        if note := dialect.note(found, self.path):
            print(f"privlearn: note: {note}", file=sys.stderr)
        self.names = self._names(first, found)
        if found_first is not None and not dialect.header:
            lines = chain([found_first], lines)
        self._lines = joined_lines(lines) if dialect.line_breaks else lines
        self.assumes: tuple[str, ...] = (QUOTES_IN_PAIRS,) if dialect.line_breaks else ()

    def _names(self, first: bytes, dialect: Dialect) -> list[str]:
        if dialect.names is not None:
            if dialect.header:
                self._compare_width(first, dialect.names)
            return checked_names(self.path, dialect.names)
        header = cells_of(first, self._separator, self._encoding)
        if isinstance(header, Fault):
            raise CommandError(f"the first line of {self.path} has {self._words(header)}")
        for mark, word in SEPARATORS.items():
            if len(header) == 1 and mark in header[0]:
                raise CommandError(
                    f"{self.path} has one column only, by {self._separator!r}; if its columns are "
                    f"separated otherwise, add --separator {word}"
                )
        return checked_header(self.path, header, rename=dialect.rename)

    def _compare_width(self, first: bytes, names: Sequence[str]) -> None:
        """Refuse names that are not as many as the header has cells; these are not used."""
        cells = cells_of(first, self._separator, self._encoding)
        if not isinstance(cells, Fault) and len(cells) != len(names):
            raise CommandError(
                f"--names has {len(names)} names, but the first line of {self.path} has "
                f"{len(cells)} cells by the separator {self._separator!r}; name each column once, "
                "or add --separator"
            )

    def _words(self, fault: Fault) -> str:
        """What is wrong with a line, and what to do."""
        width, code = len(getattr(self, "names", ())), self._encoding.upper()
        return fault.value.format(width=width, mark=self._separator, code=code)

    def tables(
        self, names: Sequence[str], *, remedy: str | None, dates: Collection[str] = ()
    ) -> Iterator[Table]:
        """The named columns, so many rows at a time that their texts fit into memory."""
        places = {name: place for place, name in enumerate(self.names)}
        rows, most = self._rows(remedy), max(AT_ONCE // len(self.names), 1)
        while part := list(islice(rows, most)):
            columns = list(zip(*part, strict=True))
            found = {name: columns[places[name]] for name in names}
            yield Table(found, len(part))

    def _rows(self, remedy: str | None) -> Iterator[list[str]]:
        """The cells of every line after the header; empty ones where a line is broken."""
        width = len(self.names)
        for line in self._lines:
            cells = cells_of(line, self._separator, self._encoding)
            if not isinstance(cells, Fault) and len(cells) != width:
                cells = Fault.CELLS
            if isinstance(cells, Fault) and remedy is not None:
                few = "" if cells is Fault.BLANK else "if only a few lines are so, "
                raise CommandError(
                    f"{self.path} has {self._words(cells)}; {few or 'or '}add {remedy}: such lines "
                    "then count as empty rows"
                )
            yield [""] * width if isinstance(cells, Fault) else cells
