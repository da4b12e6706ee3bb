"""Reading columns of Parquet files by polars or pyarrow, cell by cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privlearn.cli.errors import CommandError
from privlearn.cli.header import checked_names
from privlearn.cli.tables import Table, as_label, as_number

if TYPE_CHECKING:
    import narwhals.stable.v1 as nw

    Series = nw.Series[Any]

__all__ = ["ParquetSource", "ParquetTable"]

WHOLE = {f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)}
FLOATS = {"Float32", "Float64"}
TEXT = ("String", "Categorical", "Enum", "Boolean", "Unknown", "Object")


@dataclass(frozen=True, eq=False)
class ParquetTable(Table):
    """The columns that were asked for, as a data frame's series."""

    columns: Mapping[str, Series]

    def numbers(self, name: str) -> NDArray[np.float64]:
        """A column as numbers; whatever is no finite number becomes NaN."""
        series = self.columns[name]
        if _kind(series) in WHOLE:
            values = _rounded(series)
        elif _kind(series) in FLOATS:
            values = _doubles(series)
        else:
            values = np.array([as_number(cell) for cell in series.to_list()], dtype=np.float64)
        values[~np.isfinite(values)] = np.nan
        return values

    def labels(self, name: str) -> list[str | None]:
        """A column as text without surrounding blanks; None where there is nothing."""
        series = self.columns[name]
        cells = _doubles(series).tolist() if _kind(series) in FLOATS else series.to_list()
        return [as_label(cell) for cell in cells]


def _kind(series: Series) -> str:
    """The name of a column's type."""
    return type(series.dtype).__name__


def _rounded(series: Series) -> NDArray[np.float64]:
    """Whole numbers as floats, one by one: a library's cast refuses all for one above 2^53."""
    values = np.array(series.fill_null(0).to_numpy(), dtype=np.float64)
    values[np.array(series.is_null().to_numpy(), dtype=bool)] = np.nan
    return values


def _doubles(series: Series) -> NDArray[np.float64]:
    """Floats of any width, missing ones as NaN."""
    import narwhals.stable.v1 as nw

    return np.array(series.cast(nw.Float64).to_numpy(), dtype=np.float64)


class ParquetSource:
    """A Parquet file, read by whichever of polars and pyarrow is installed."""

    def __init__(self, path: Path) -> None:
        import narwhals.stable.v1 as nw

        self.path = path
        self._frame = nw.from_native(_read(path), eager_only=True)
        self.names = checked_names(path, [str(name) for name in self._frame.columns])

    def read(self, names: Sequence[str], *, remedy: str | None) -> ParquetTable:
        """The named columns. Parquet has no broken lines, so `remedy` is not needed."""
        columns = {name: self._frame.get_column(name) for name in names}
        for name, series in columns.items():
            kind = _kind(series)  # the column's, not a cell's, so it may be named
            if not (series.dtype.is_numeric() or kind in TEXT):
                raise CommandError(
                    f"column {name!r} of {self.path} is of type {kind}, which is neither a number "
                    "nor text; convert it (dates to days since a fixed day, for example), or leave "
                    "it out with --columns"
                )
        return ParquetTable(columns, len(self._frame))


def _read(path: Path) -> object:
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
