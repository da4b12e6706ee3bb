"""From the containers that users have to arrays of numbers.

Lists, object arrays and pandas choose types by looking at all cells, so their types say nothing:
every cell is read on its own. Types of numpy's number arrays, of polars and of Arrow are declared
by whoever made the container: a cell cannot change them, and some are refused.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privlearn._data.cells import as_numbers, numbers

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = [
    "OF_MAPPING",
    "Features",
    "is_frame",
    "native",
    "plain_array",
    "refuse_not_finite",
    "rows_and_columns",
]

Features: TypeAlias = "NDArray[np.floating] | csr_array"
ONE_VALUE = (str, bytes, bytearray)  # rather than a container of rows
LONGEST_ROW = 10**6  # of a row that has to be copied to be read
OF_MAPPING = (
    "but a data frame is needed: make one with pandas.DataFrame(X), or with pandas.DataFrame([X]) "
    "if it is one row that has a value for each name"
)


def rows_and_columns(X: object, *, strict: bool, width: int | None = None) -> Features:
    """X as a 2-d array of single or double precision, or as a checked CSR array.

    Parameters
    ----------
    X : array-like
        Lists, numpy, pandas, polars, Arrow, scipy sparse.
    strict : bool
        Whether a cell that is no number, or a row of another length, is refused. Otherwise it is
        NaN, and the row an empty one.
    width : int or None, default=None
        The number of columns where something public declares it: rows of a list may differ.
    """
    if not isinstance(X, np.ndarray):
        if native("scipy.sparse", X, "sparray", "spmatrix"):
            from privlearn._data.sparse_check import checked_csr

            return checked_csr(X, strict)
        frame = _frame(X, strict)
        if frame is not None:
            return frame
        if isinstance(X, Mapping):
            raise ValueError(f"X is a {type(X).__name__}, {OF_MAPPING}")
        if isinstance(X, Sequence) and not isinstance(X, (*ONE_VALUE, memoryview)):
            return _lists(list(X), strict, width)
    array = plain_array(X, "X")
    if array.ndim != 2:
        raise _wrong_dimensions(array.ndim)
    return as_numbers(array, "X" if strict else None)


def _wrong_dimensions(dimensions: int) -> ValueError:
    return ValueError(
        f"X must have rows and columns, but it has {dimensions} dimension(s). "
        "Reshape your data with array.reshape(-1, 1) if it is one feature, or with "
        "array.reshape(1, -1) if it is one row. Rows that are dictionaries become a data frame "
        "with pandas.DataFrame(X)"
    )


def plain_array(values: object, what: str) -> NDArray[Any]:
    """What is or can become a numpy array, of a type that can hold numbers or labels."""
    if isinstance(values, np.ma.MaskedArray):
        raise ValueError(
            f"{what} is a masked array, whose masked cells would be read as if they were there; "
            "pass values.filled(np.nan) with on_invalid='drop', or leave those rows out"
        )
    array = np.asarray(values if isinstance(values, np.ndarray) else _to_numpy(values, what))
    if array.dtype.kind == "c":
        raise ValueError(
            f"Complex data not supported: {what} holds complex numbers; give real ones"
        )
    if array.dtype.kind in "MmV":
        raise ValueError(
            f"{what} is an array of type {array.dtype}, but numbers are needed; give dates as "
            "numbers of days since a fixed, public date, and fields as columns"
        )
    return array.astype(object) if array.dtype.kind not in "biufOUS" else array


def _to_numpy(values: object, what: str) -> NDArray[Any]:
    """Whatever says that it is an array; an error of its own may quote what it holds."""
    single = isinstance(values, (*ONE_VALUE, Mapping, Set)) or np.isscalar(values)
    made = isinstance(values, memoryview) or hasattr(values, "__array_interface__")
    if not single and (made or hasattr(values, "__array__")):
        with suppress(Exception):
            return np.asarray(values)
    if what != "X":
        raise ValueError(
            f"{what} is a {type(values).__name__}, which cannot be read; give one value per row, "
            "as a list, an array or a series"
        )
    from privlearn._data.files import refuse_files

    refuse_files(values)
    raise ValueError(
        f"X must have rows and columns, but it is a {type(values).__name__}, with 0 dimension(s) "
        "that can be read. Reshape your data into a list of rows, an array, a data frame or a "
        "sparse matrix"
    )


def _lists(rows: list[Any], strict: bool, width: int | None) -> NDArray[np.floating]:
    """A list of rows: each of them, and each cell of it, on its own."""
    if width is None and not strict:
        raise ValueError(
            "X is a list, whose rows may have any length, so with on_invalid='drop' the number of "
            "columns must be public; give an array or a data frame, or bounds_X=(low, high) with "
            "one number per column"
        )
    held = [_row(row) for row in rows]
    lengths = {None if row is None else len(row) for row in held}
    if (strict and lengths == {None}) or (width is None and not held):
        raise _wrong_dimensions(1)
    if strict and len(lengths) > 1:
        raise ValueError(
            "X has rows of different lengths; give every row the same number of columns"
        )
    columns = len(held[0] or ()) if strict and held else width or 0
    if lengths <= {columns}:
        cells = list(chain.from_iterable(held))  # type: ignore[arg-type]
        read = numbers(cells, "X" if strict else None, columns)
        return read.reshape(len(rows), columns)
    found = np.full((len(rows), columns), np.nan)
    for place, row in enumerate(held):
        if row is not None and len(row) == columns:
            found[place] = numbers(row)
    return found


def _row(row: Any) -> Sequence[Any] | None:  # noqa: ANN401
    """The cells of a row, or None where it is no row, or one that cannot be read."""
    if type(row) is list or type(row) is tuple:
        return row
    with suppress(Exception):
        nested = isinstance(row, np.ndarray) and row.ndim != 1
        if not (nested or isinstance(row, (*ONE_VALUE, Mapping, Set))):
            return list(row) if 0 <= len(row) <= LONGEST_ROW else None
    return None


def native(library: str, X: object, *kinds: str) -> bool:
    """Whether X is of one of the kinds of a library, which then is loaded."""
    module = sys.modules.get(library)
    return module is not None and isinstance(X, tuple(getattr(module, kind) for kind in kinds))


def is_frame(X: object) -> bool:
    """Whether X is a data frame with names of columns."""
    if isinstance(X, np.ndarray | list | tuple) or X is None:
        return False
    if native("pandas", X, "DataFrame"):
        return True
    import narwhals.stable.v1 as nw

    return isinstance(nw.from_native(X, pass_through=True, eager_only=True), nw.DataFrame)


def _frame(X: object, strict: bool) -> NDArray[np.floating] | None:
    """A data frame's columns as one array, or None when X is no data frame."""
    from privlearn._data.frames import from_arrow, from_pandas, from_typed

    if native("pandas", X, "DataFrame"):
        return from_pandas(X, strict)
    if native("pyarrow", X, "Table", "RecordBatch"):
        return from_arrow(X)
    return from_typed(X, strict) if is_frame(X) else None


def refuse_not_finite(
    name: str, array: Features, remedy: str, columns: Sequence[str] | None = None
) -> None:
    """Raise when a dense or sparse array holds NaN or infinity; columns, if named, are public."""
    values = array if isinstance(array, np.ndarray) else array.data
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.sum(values, dtype=np.float64)  # one pass, no temporary, in the common case
    if not (np.isfinite(total) or np.isfinite(values).all()):
        large = "infinity or a value too large for dtype('float64')"
        what = "NaN" if np.isnan(values).any() else large
        named = bool(columns) and isinstance(array, np.ndarray)
        place = int(np.argmin(np.isfinite(array).all(axis=0))) if named else 0
        where = f" in column {columns[place]!r}" if named and columns is not None else ""
        raise ValueError(f"Input {name} contains {what}{where}. Clean those rows, {remedy}")
