"""Reading columns of Parquet files by polars or pyarrow, cell by cell."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from privlearn._data.named_cells import cells_of_series
from privlearn.cli.errors import CommandError
from privlearn.cli.header import checked_names
from privlearn.cli.tables import Table

__all__ = ["ParquetSource"]

TEXT = ("String", "Categorical", "Enum", "Boolean", "Unknown", "Object")
DATES = ("Date", "Datetime")


class ParquetSource:
    """A Parquet file, read by whichever of polars and pyarrow is installed."""

    def __init__(self, path: Path) -> None:
        import narwhals.stable.v1 as nw

        self.path = str(path)
        self.assumes: tuple[str, ...] = ()
        self._frame = nw.from_native(_read(path), eager_only=True)
        self.names = checked_names(path, [str(name) for name in self._frame.columns])

    def tables(
        self, names: Sequence[str], *, remedy: str | None, dates: Collection[str] = ()
    ) -> Iterator[Table]:
        """The named columns, all rows together: they are in memory."""
        yield self.read(names, remedy=remedy, dates=dates)

    def read(
        self, names: Sequence[str], *, remedy: str | None, dates: Collection[str] = ()
    ) -> Table:
        """The named columns. Parquet has no broken lines, so `remedy` is not needed."""
        columns = {name: self._frame.get_column(name) for name in names}
        for name, series in columns.items():
            kind = type(series.dtype).__name__  # the column's, not a cell's, so it may be named
            fits = series.dtype.is_numeric() or kind in TEXT or (kind in DATES and name in dates)
            if not fits:
                date = ' (of dates: { kind = "date" } in [schema])' if kind in DATES else ""
                raise CommandError(
                    f"column {name!r} of {self.path} is of type {kind}, which is neither a number "
                    f"nor text; say what it is in a schema{date}, convert it, or leave it out with "
                    "--columns"
                )
        cells = {name: cells_of_series(series) for name, series in columns.items()}
        return Table(cells, len(self._frame))


def _read(path: Path) -> Any:  # noqa: ANN401
    problem = None
    for reader in READERS:
        try:
            return reader(path)
        except ImportError:
            continue
        except Exception as error:  # each library has its own kinds
            problem = type(error).__name__
            break
    if problem is not None:  # out of the handler, so that no text of a library comes along
        raise CommandError(
            f"{path} cannot be read as Parquet ({problem}); write it again, or give a CSV file"
        )
    raise CommandError(
        f"{path} is Parquet, which needs a package to read it: pip install polars (or pyarrow), or "
        "save it as CSV"
    )


def _by_polars(path: Path) -> object:
    import polars

    return polars.read_parquet(path)


def _by_pyarrow(path: Path) -> object:
    from pyarrow import parquet

    return parquet.read_table(path)


READERS: tuple[Callable[[Path], object], ...] = (_by_polars, _by_pyarrow)
