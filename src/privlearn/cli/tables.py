"""Reading columns of CSV and Parquet files. Errors name columns, never a cell or a line."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from privlearn.cli.errors import CommandError

__all__ = ["Source", "Table", "open_source"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Table:
    """The columns that were asked for, cell by cell."""

    columns: dict[str, Sequence[Any]]
    rows: int

    def numbers(self, name: str) -> Array:
        """A column as numbers; whatever is no finite number becomes NaN."""
        values = _floats(self.columns[name])
        values[~np.isfinite(values)] = np.nan
        return values

    def labels(self, name: str) -> list[str | None]:
        """A column as text without surrounding blanks; None where there is nothing."""
        return [_label(cell) for cell in self.columns[name]]


class Source(Protocol):
    """A file whose column names are known, and whose cells are read on demand.

    `remedy` is the option that lets broken lines pass, for an error about them. None means that
    it was given: a broken line is then a row of empty cells.
    """

    path: Path
    names: list[str]

    def read(self, names: Sequence[str], *, remedy: str | None) -> Table:
        """The named columns."""


def open_source(path: str | Path, separator: str = ",") -> Source:
    """Find out the column names of a CSV or Parquet file; no row is looked at."""
    place = Path(path)
    if place.is_dir():
        raise CommandError(f"{place} is a folder; give the CSV or Parquet file in it")
    if not place.exists():
        raise CommandError(f"there is no file {place}; check the name and the folder you are in")
    if place.suffix.lower() in (".parquet", ".pq"):
        return ParquetSource(place)
    return CsvSource(place, separator)


class CsvSource:
    """A CSV file with a header line, read by the standard library."""

    def __init__(self, path: Path, separator: str) -> None:
        self.path = path
        self._separator = separator
        self.names = _checked_names(path, self._header())

    def _lines(self) -> Iterator[list[str]]:
        """All lines that hold something."""
        try:
            with self.path.open(newline="", encoding="utf-8-sig") as file:
                reader = csv.reader(file, delimiter=self._separator, strict=True)
                yield from filter(None, reader)
        except UnicodeDecodeError:
            raise CommandError(
                f"{self.path} is not UTF-8 text; save it as 'CSV UTF-8', or give a Parquet file a "
                "name that ends in .parquet"
            ) from None
        except csv.Error:
            raise CommandError(
                f"{self.path} has a quoting that cannot be read; put cells that hold quotes or "
                'separators in double quotes, and write a quote inside them twice ("")'
            ) from None
        except OSError as error:
            raise CommandError(f"{self.path} cannot be read: {error.strerror}") from None

    def _header(self) -> list[str]:
        header = next(self._lines(), None)
        if header is None:
            raise CommandError(f"{self.path} is empty; its first line must name the columns")
        for mark, word in ((";", "';'"), ("\t", "tab")):
            if len(header) == 1 and mark in header[0]:
                raise CommandError(
                    f"{self.path} has one column only, by {self._separator!r}; if its columns are "
                    f"separated otherwise, add --separator {word}"
                )
        return [name.strip() for name in header]

    def read(self, names: Sequence[str], *, remedy: str | None) -> Table:
        """The named columns."""
        places = [self.names.index(name) for name in names]
        columns: list[list[str]] = [[] for _ in places]
        width = len(self.names)
        lines = self._lines()
        next(lines)
        rows = 0
        for cells in lines:
            rows += 1
            if len(cells) != width:
                cells = self._broken(width, remedy)
            for column, place in zip(columns, places, strict=True):
                column.append(cells[place])
        return Table(dict(zip(names, columns, strict=True)), rows)

    def _broken(self, width: int, remedy: str | None) -> list[str]:
        if remedy is None:
            return [""] * width
        raise CommandError(
            f"{self.path} has a line with more or fewer cells than its header, which has {width}; "
            "mend the file (a cell that holds a separator needs double quotes), or add "
            f"{remedy}"
        )


class ParquetSource:
    """A Parquet file, read by whichever of polars, pyarrow and pandas is installed."""

    def __init__(self, path: Path) -> None:
        import narwhals.stable.v1 as nw

        self.path = path
        self._frame = nw.from_native(_read_parquet(path), eager_only=True)
        self.names = _checked_names(path, list(self._frame.columns))

    def read(self, names: Sequence[str], *, remedy: str | None) -> Table:
        """The named columns. Parquet has no broken lines, so `remedy` is not needed."""
        import narwhals.stable.v1 as nw

        columns: dict[str, Sequence[Any]] = {}
        for name in names:
            series = self._frame.get_column(name)
            numeric = series.dtype.is_numeric()
            columns[name] = series.cast(nw.Float64).to_numpy() if numeric else series.to_list()
        return Table(columns, len(self._frame))


def _read_parquet(path: Path) -> Any:  # noqa: ANN401 (a data frame of any library)
    for reader in (_by_polars, _by_pyarrow, _by_pandas):
        try:
            return reader(path)
        except ImportError:
            continue
        except Exception as error:  # each library has its own kinds
            raise CommandError(
                f"{path} cannot be read as Parquet ({type(error).__name__}); write it again, or "
                "give a CSV file"
            ) from None
    raise CommandError(
        f"{path} is Parquet, which needs a package to read it: pip install polars (pyarrow and "
        "pandas with pyarrow work too), or save it as CSV"
    )


def _by_polars(path: Path) -> Any:  # noqa: ANN401
    import polars

    return polars.read_parquet(path)


def _by_pyarrow(path: Path) -> Any:  # noqa: ANN401
    from pyarrow import parquet

    return parquet.read_table(path)


def _by_pandas(path: Path) -> Any:  # noqa: ANN401
    import pandas

    return pandas.read_parquet(path)


def _checked_names(path: Path, header: list[str]) -> list[str]:
    names = [name or f"column {place}" for place, name in enumerate(header, start=1)]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise CommandError(
            f"{path} has more than one column named {', '.join(map(repr, twice))}; rename them"
        )
    return names


def _floats(cells: Sequence[Any]) -> Array:
    try:
        return np.array(cells, dtype=np.float64)
    except (ValueError, TypeError, OverflowError):
        return np.array([_float(cell) for cell in cells], dtype=np.float64)


def _float(cell: object) -> float:
    convert: Callable[[Any], float] = float
    try:
        return convert(cell)
    except (ValueError, TypeError, OverflowError):
        return np.nan


def _label(cell: object) -> str | None:
    if cell is None or cell != cell:  # NaN is not itself
        return None
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    return str(cell).strip() or None
