"""Batches of Arrow by a schema, column by column, without an object of Python's for each cell.

A batch's distinct values are read once each, by the same rules as single cells, and every cell gets
what its own value became: which others are in the batch changes nothing. Numbers stay in the
precision in which they come, where they have no declared range.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privlearn._data.cells import objects
from privlearn._data.named_cells import cells_of_series
from privlearn.schema.categories import Category
from privlearn.schema.encoding import Column, Encoding
from privlearn.schema.kinds import Number
from privlearn.schema.reading import refuse_missing

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["encoded_columns", "has_columns"]

Features = NDArray[np.floating]


def has_columns(encoding: Encoding, batch: pa.RecordBatch) -> bool:
    """Whether a batch has what is needed, and no name twice."""
    names = batch.schema.names
    return len(set(names)) == len(names) and set(encoding.names) <= set(names)


def encoded_columns(
    encoding: Encoding, batch: pa.RecordBatch, *, strict: bool
) -> tuple[Features, ...]:
    """Features in the units of a fit: the numbers that `Encoding.scaled` makes of the same rows.

    Parameters
    ----------
    encoding : Encoding
        Columns and kinds.
    batch : pyarrow.RecordBatch
        Cells.
    strict : bool
        Whether a cell that is missing is refused, where the schema says nothing better of it.
    """
    found: list[Features] = []
    broken = []
    for column, part in encoding.parts():
        ends, units = encoding.ends[:, part], [unit[part] for unit in encoding.units]
        cells = batch.column(batch.schema.names.index(column.name))
        own = _encoded(column, cells, ends, units)
        found += own
        if strict and column.kind.missing == "raise" and not np.isfinite(own[0]).all():
            broken.append(column.name)
    refuse_missing(broken, encoding, predicts=False)
    return tuple(found)


def _encoded(
    column: Column, cells: pa.Array, ends: NDArray[np.float64], units: list[NDArray[np.float64]]
) -> list[Features]:
    """Features of one column."""
    if isinstance(column.kind, Number) and _is_plain(cells.type):
        return _numbers(column, cells, ends, units)
    distinct, places = _distinct(cells)
    values = column.encode(_cells_of(distinct))
    values = (np.clip(values, *ends) - units[0]) / units[1]
    indicators = isinstance(column.kind, Category) and column.kind.missing != "fill"
    # Zeros and ones are the same in single precision; the type follows from the schema alone.
    values = np.ascontiguousarray(values.T, dtype=np.float32 if indicators else np.float64)
    return list(values[:, :-1]) if places is None else [own.take(places) for own in values]


def _is_plain(kind: pa.DataType) -> bool:
    """Whether cells are numbers that NumPy has, too."""
    import pyarrow as pa

    return bool(pa.types.is_float32(kind) or pa.types.is_float64(kind) or pa.types.is_integer(kind))


def _numbers(
    column: Column, cells: pa.Array, ends: NDArray[np.float64], units: list[NDArray[np.float64]]
) -> list[Features]:
    """Features of a column of numbers: nulls are NaN, as elsewhere."""
    assert isinstance(column.kind, Number)
    found: Any = cells.to_numpy(zero_copy_only=False)
    if found.dtype not in (np.float32, np.float64):
        found = found.astype(np.float64)
    missing = column.kind.missing
    if missing in ("raise", "drop") and column.bounds is None:  # whoever uses them sees which
        return [np.ascontiguousarray(found)]
    if column.bounds is not None:
        found = column.kind.inside(found.astype(np.float64))
    valid = np.isfinite(found)
    flags = [(~valid).astype(np.float32)] if missing == "flag" else []
    filling = column.kind.filling if missing in ("fill", "flag") else np.nan
    with np.errstate(over="ignore"):
        same = float(found.dtype.type(filling)) == filling
    if np.isfinite(filling) and not same:
        found = found.astype(np.float64)  # in which it is what it is elsewhere
    if not valid.all():
        found = np.where(valid, found, found.dtype.type(filling))
    if column.bounds is not None:
        found = (np.clip(found, ends[0, 0], ends[1, 0]) - units[0][0]) / units[1][0]
    return [np.ascontiguousarray(found), *flags]


def _distinct(cells: pa.Array) -> tuple[pa.Array, NDArray[np.int64] | None]:
    """Distinct values, and the place of each cell's among them, after the last for a null.

    Without places the values are the cells: where Arrow cannot tell which are the same, or where
    hardly any are.
    """
    import pyarrow as pa

    of = pa.types
    kind = cells.type
    if of.is_dictionary(kind):
        if not _is_text(kind.value_type):
            return cells, None
        if len(cells.dictionary) > len(cells):  # of values that other batches have
            cells = cells.dictionary_decode()
    elif not (_is_text(kind) or of.is_boolean(kind) or of.is_integer(kind) or of.is_temporal(kind)):
        return cells, None
    try:
        coded = cells if of.is_dictionary(cells.type) else cells.dictionary_encode()
        indices = coded.indices
        if indices.null_count:  # the last of all values stands for nothing
            indices = indices.fill_null(-1) if _is_signed(indices.type) else _widened(indices)
        return coded.dictionary, indices.to_numpy(zero_copy_only=False).astype(np.intp)
    except (pa.ArrowException, TypeError):  # a type that is not hashed
        return cells, None


def _is_signed(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_signed_integer(kind))


def _widened(indices: pa.Array) -> pa.Array:
    import pyarrow as pa

    return indices.cast(pa.int64()).fill_null(-1)


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    of = pa.types
    texts = of.is_string(kind) or of.is_large_string(kind)
    return bool(texts or of.is_binary(kind) or of.is_large_binary(kind))


def _cells_of(values: pa.Array) -> NDArray[Any]:
    """Cells as they are read one by one, and a missing one at the end."""
    import narwhals.stable.v1 as nw
    import pyarrow as pa

    series = nw.from_native(pa.chunked_array([values]), series_only=True)
    found = cells_of_series(series)
    if found.dtype == object:
        return objects([*found, None])
    return np.append(found, np.nan)
