"""Data frames as arrays of numbers, and single columns as cells.

pandas chooses the type of a column by its cells, so that type decides nothing here. The schema of
polars and Arrow is declared: a column of text or dates is refused by it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Hashable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privlearn._data.cells import as_numbers, numbers, objects

if TYPE_CHECKING:
    import narwhals.stable.v1 as nw
    import pandas as pd
    import pyarrow as pa

__all__ = [
    "arrow_columns",
    "arrow_numbers",
    "arrow_target",
    "cells_of_pandas",
    "from_arrow",
    "from_pandas",
    "from_typed",
    "refuse_same_names",
    "typed_cells",
]

_AS_ARRAY = frozenset(
    ["Boolean", "Float32", "Float64"]
    + [f"{sign}{bits}" for sign in ("Int", "UInt") for bits in (8, 16, 32, 64)]
)
ENCODE = (
    'in the fit of a linear model pass schema="estimate", which finds out privately what every '
    "column holds, or declare it in schema (privlearn.schema has Category, Date, Flag and Number); "
    "else give the columns that the model was fitted to, as numbers, or leave the column out"
)


def from_pandas(frame: pd.DataFrame, strict: bool) -> NDArray[np.floating]:
    """A pandas frame; each cell of columns that are no plain numbers is read on its own."""
    refuse_same_names(frame.columns)
    kinds = set(frame.dtypes)
    if len(kinds) == 1 and _is_plain(next(iter(kinds))):
        return as_numbers(frame.to_numpy())
    columns = [
        _column_of_pandas(column, f"column {name!r} of X", strict) for name, column in frame.items()
    ]
    return _together(columns, len(frame))


def refuse_same_names(names: Collection[Hashable]) -> None:
    """Refuse columns that have the same name."""
    if len(set(names)) < len(names):
        raise ValueError(
            "X has columns with the same name, so that nobody could tell them apart later; give "
            "every column a name of its own"
        )


def _is_plain(kind: object) -> bool:
    return isinstance(kind, np.dtype) and kind.kind in "biuf"


def _column_of_pandas(column: pd.Series, what: str, strict: bool) -> NDArray[np.floating]:
    """As cell by cell; a refusal names the column's type and the remedy for columns."""
    cells = cells_of_pandas(column)
    try:
        return as_numbers(cells, what if strict else None)
    except (TypeError, ValueError) as error:
        reason = type(error)
    raise reason(
        f"{what} is {column.dtype} and holds something that is no number, but numbers are needed "
        "(an argument must be numeric, no string, so give a real number in each cell); " + ENCODE
    )


def cells_of_pandas(column: pd.Series) -> NDArray[Any]:
    """A series as plain numbers, or as the objects that it holds."""
    if _is_plain(column.dtype):
        return np.asarray(column.to_numpy())
    kind = getattr(column.dtype, "numpy_dtype", None)
    if _is_plain(kind) and type(column.dtype).__name__ != "ArrowDtype":
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    return or_one_by_one(
        lambda: objects(column.astype(object).to_numpy(dtype=object)),
        lambda place: column.array[place],
        len(column),
    )


def _together(columns: list[NDArray[Any]], n: int) -> NDArray[np.floating]:
    """One array, of single precision where all columns are."""
    return np.column_stack(columns) if columns else np.empty((n, 0))


def from_arrow(table: pa.Table | pa.RecordBatch) -> NDArray[np.floating]:
    """A table or a batch of Arrow, by its schema."""
    refuse_same_names(table.schema.names)
    columns = [
        as_numbers(_arrow_column(table.column(place), f"column {field.name!r} of X"))
        for place, field in enumerate(table.schema)
    ]
    return _together(columns, table.num_rows)


def arrow_columns(batch: pa.RecordBatch, target: str | None) -> tuple[NDArray[np.floating], ...]:
    """The same of one batch, but column by column, and without the target's."""
    return tuple(
        np.ascontiguousarray(
            as_numbers(_arrow_column(batch.column(place), f"column {name!r} of X"))
        )
        for place, name in enumerate(batch.schema.names)
        if name != target
    )


def arrow_target(batch: pa.RecordBatch, target: str | None) -> pa.ChunkedArray:
    """The target's column of a batch, as that of a table would be."""
    import pyarrow as pa

    return pa.chunked_array([batch.column(batch.schema.names.index(target))])


def arrow_numbers(batch: pa.RecordBatch, target: str | None) -> NDArray[np.floating] | None:
    """The target's own numbers, where they are such and all are there; else None."""
    import pyarrow as pa

    column = batch.column(batch.schema.names.index(target))
    plain = pa.types.is_float32(column.type) or pa.types.is_float64(column.type)
    return np.asarray(column.to_numpy()) if plain and not column.null_count else None


def _arrow_column(column: pa.Array | pa.ChunkedArray, what: str) -> NDArray[Any]:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_null(kind):
        column = column.cast(pa.float64(), safe=False)
    elif pa.types.is_decimal(kind) or pa.types.is_float16(kind):
        return numbers(column.to_pylist())
    elif not pa.types.is_floating(kind):
        raise _wrong_type(what, kind)
    chunked = hasattr(column, "chunks")
    return np.asarray(column if chunked else column.to_numpy(zero_copy_only=False))


def _wrong_type(what: str, kind: object) -> ValueError:
    return ValueError(f"{what} is {kind}, but numbers are needed; {ENCODE}")


def from_typed(X: object, strict: bool) -> NDArray[np.floating]:
    """Any other data frame, by its schema."""
    import narwhals.stable.v1 as nw

    native_frame: Any = X
    frame = nw.from_native(native_frame, eager_only=True)
    if frame.implementation.is_pandas_like():
        return from_pandas(frame.to_pandas(), strict)
    columns = [
        _typed_column(frame.get_column(name), f"column {name!r} of X", strict)
        for name in frame.columns
    ]
    return _together(columns, len(frame))


def _typed_column(series: nw.Series, what: str, strict: bool) -> NDArray[np.floating]:
    import narwhals.stable.v1 as nw

    kind = series.dtype
    if kind == nw.Object or kind == nw.Unknown:  # Unknown: a column of nothing but missing cells
        return numbers(series.to_list(), what if strict else None)
    if not (kind.is_numeric() or kind == nw.Boolean):
        raise _wrong_type(what, kind)
    if kind == nw.Float32:
        return np.asarray(series.to_numpy(), dtype=np.float32)
    return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)


def typed_cells(y: object, what: str) -> NDArray[Any] | None:
    """A series of polars or Arrow as numbers or as objects; None where it is none."""
    import narwhals.stable.v1 as nw

    series = nw.from_native(_in_chunks(y), pass_through=True, eager_only=True, allow_series=True)
    if isinstance(series, nw.DataFrame) and len(series.columns) == 1:
        series = series.get_column(series.columns[0])
    if not isinstance(series, nw.Series):
        return None
    kind = series.dtype
    names = ("Date", "Datetime", "Duration", "Time")  # narwhals 1.20 has no Time
    if isinstance(kind, tuple(getattr(nw, name) for name in names if hasattr(nw, name))):
        raise ValueError(
            f"{what} is {kind}, but numbers or labels are needed; give dates as numbers of days "
            "since a fixed, public date"
        )
    # By the declared type alone: wider types than numpy's are objects, with nulls or without.
    if str(kind) in _AS_ARRAY and not series.null_count():
        return np.asarray(series.to_numpy())
    held = series.to_native()
    return or_one_by_one(lambda: objects(series.to_list()), lambda k: held[k], len(series))


def _in_chunks(y: Any) -> Any:  # noqa: ANN401
    """An array of text in Arrow as the column that narwhals knows; anything else as it is."""
    if "pyarrow" not in sys.modules or type(y).__name__ not in ("StringArray", "LargeStringArray"):
        return y
    import pyarrow as pa

    return pa.chunked_array([y]) if isinstance(y, pa.Array) else y


def or_one_by_one(
    whole: Callable[[], NDArray[Any]], single: Callable[[int], Any], size: int
) -> NDArray[Any]:
    """All cells, or each on its own where one stops the rest: that one is missing.

    Such are dates beyond Python's and texts in no known code. Polars panics there, which is no
    Exception.
    """
    try:
        return whole()
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException:  # each library has its own, which may quote the cell
        return objects(_cell(single, place) for place in range(size))


def _cell(single: Callable[[int], Any], place: int) -> Any:  # noqa: ANN401
    try:
        cell = single(place)
        return cell.as_py() if hasattr(cell, "as_py") else cell
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException:  # as above
        return None
