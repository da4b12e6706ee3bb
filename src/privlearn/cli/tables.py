"""Columns of CSV and Parquet files, cell by cell. Errors name columns, never a cell or a line."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from privlearn._data.cells import objects
from privlearn.cli.errors import CommandError
from privlearn.cli.header import checked_header
from privlearn.cli.lines import Fault, cells_of, physical_lines
from privlearn.schema import Number
from privlearn.schema.encoding import EncodedRows, Encoding
from privlearn.schema.parsing import as_text
from privlearn.schema.raw import RawRows, read_raw

__all__ = ["CsvSource", "Source", "Table", "open_source"]

Array = NDArray[np.float64]


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

    def numbers(self, name: str) -> Array:
        """A column as numbers; whatever is no finite number becomes NaN."""
        values = Number().read(self.cells(name))
        values[~np.isfinite(values)] = np.nan
        return values

    def labels(self, name: str) -> list[str | None]:
        """A column as text without surrounding blanks; None where there is nothing."""
        return [as_text(cell) for cell in self.cells(name).tolist()]

    def encoded(self, encoding: Encoding) -> EncodedRows | RawRows:
        """The columns that a model needs, as numbers in their own units, as far as is known."""
        cells = {name: self.cells(name) for name in encoding.names}
        if encoding.pending:
            return read_raw(encoding, cells, self.rows)
        return EncodedRows(encoding, encoding.encode(cells, self.rows))


class Source(Protocol):
    """A file whose column names are known, and whose cells are read on demand.

    `remedy` is the option that lets broken lines pass, for an error about them. None means that
    it was given: a broken line is then a row of empty cells.
    """

    path: Path
    names: list[str]

    def read(
        self, names: Sequence[str], *, remedy: str | None, dates: Collection[str] = ()
    ) -> Table:
        """The named columns; `dates` are those that may be of a type of dates."""


def open_source(path: str | Path, separator: str = ",") -> Source:
    """Find out the column names of a CSV or Parquet file; no row is looked at."""
    place = Path(path)
    if place.is_dir():
        raise CommandError(f"{place} is a folder; give the CSV or Parquet file in it")
    if not place.exists():
        raise CommandError(f"there is no file {place}; check the name and the folder you are in")
    if not place.is_file():
        raise CommandError(f"{place} is no ordinary file, but it is read twice; save it as one")
    if place.suffix.lower() in (".parquet", ".pq"):
        from privlearn.cli.parquet import ParquetSource

        return ParquetSource(place)
    return CsvSource(place, separator)


class CsvSource:
    """A CSV file with a header; each line after it is a row, whatever it holds."""

    def __init__(self, path: Path, separator: str) -> None:
        line = next(physical_lines(path), b"")
        if not line.strip():
            raise CommandError(f"{path} is empty; its first line must name the columns")
        header = cells_of(line, separator)
        if isinstance(header, Fault):
            raise CommandError(f"the first line of {path} has {header.value}")
        for mark, word in ((";", "';'"), ("\t", "tab")):
            if len(header) == 1 and mark in header[0]:
                raise CommandError(
                    f"{path} has one column only, by {separator!r}; if its columns are separated "
                    f"otherwise, add --separator {word}"
                )
        self.path, self._separator = path, separator
        self.names = checked_header(path, header)

    def read(
        self, names: Sequence[str], *, remedy: str | None, dates: Collection[str] = ()
    ) -> Table:
        """The named columns; `dates` are those that may be of a type of dates."""
        columns: dict[str, list[str]] = {name: [] for name in names}
        places = {name: place for place, name in enumerate(self.names)}
        pairs = [(column, places[name]) for name, column in columns.items()]
        rows = 0
        for cells in self._rows(remedy):
            rows += 1
            for column, place in pairs:
                column.append(cells[place])
        return Table(columns, rows)

    def _rows(self, remedy: str | None) -> Iterator[list[str]]:
        """The cells of every line after the header; empty ones where a line is broken."""
        width = len(self.names)
        for line in islice(physical_lines(self.path), 1, None):
            cells = cells_of(line, self._separator)
            if not isinstance(cells, Fault) and len(cells) != width:
                cells = Fault.CELLS
            if isinstance(cells, Fault) and remedy is not None:
                raise CommandError(
                    f"{self.path} has {cells.value.format(width=width)}; or add {remedy}: such "
                    "lines then count as empty rows"
                )
            yield [""] * width if isinstance(cells, Fault) else cells
