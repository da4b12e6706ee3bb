"""Sparse matrices of any format as CSR rows whose structure has been checked.

Compiled code trusts column numbers and row starts. One that is out of range reads or writes memory
of something else, so everything is checked before. A structure that is wrong belongs to no row in
particular: it is refused. Entries of one row and column are summed, as scipy defines them.
"""

from __future__ import annotations

from numbers import Integral
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import bsr_array, csr_array, dia_array, lil_array, sparray

from privlearn._data.cells import as_numbers, objects

__all__ = ["checked_csr"]

REMEDY = "build the matrix anew, from a dense array or from (values, (rows, columns))"


class Entries(NamedTuple):
    """Stored entries in the order in which they are stored."""

    values: NDArray[np.generic]
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]


def checked_csr(X: sparray, strict: bool = False) -> csr_array:
    """A CSR array of double precision, or of single where X is, sorted and without duplicates.

    With `strict` a cell that is no number is refused; otherwise it is NaN.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> twice = sp.coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(1, 2))
    >>> checked_csr(twice).toarray()
    array([[0., 3.]])
    """
    if len(X.shape) != 2:
        raise ValueError(
            f"X must have rows and columns, but it has {len(X.shape)} dimension(s). "
            "Reshape your data to two"
        )
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported: X holds complex numbers; give real ones")
    if X.dtype.kind not in "biufO":
        raise ValueError(
            f"the sparse matrix X is of type {X.dtype}, but numbers are needed; encode its values "
            "with fixed, public rules"
        )
    ready = _canonical(X) if X.format == "csr" else None
    if ready is None:
        ready = _assembled(_entries(X), X.shape)
    if strict and X.dtype == object and not np.isfinite(ready.data).all():
        raise TypeError(
            "X holds something that is no number; an argument must be numeric, so encode every "
            "string with a fixed list of categories and give a real number in each cell"
        )
    with np.errstate(over="ignore"):
        return ready.astype(np.float32, copy=False) if X.dtype == np.float32 else ready


def _refuse(what: str) -> ValueError:
    return ValueError(f"the sparse matrix X is malformed: {what}; {REMEDY}")


def _integers(values: object, what: str) -> NDArray[np.int64]:
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise _refuse(f"its {what} are no list of whole numbers")
    if array.dtype == np.uint64 and (array > np.iinfo(np.int64).max).any():
        raise _refuse(f"its {what} are out of range")
    return array.astype(np.int64, copy=False)


def _within(places: NDArray[np.int64], size: int, what: str) -> NDArray[np.int64]:
    if len(places) and (int(places.min()) < 0 or int(places.max()) >= size):
        raise _refuse(f"its {what} numbers are out of range")
    return places


def _compressed(X: sparray, major: int, minor: int) -> tuple[NDArray[np.int64], ...]:
    """Starts and places of CSR, CSC or BSR, checked; and how many entries they have."""
    starts = _integers(X.indptr, "starts")
    places = _integers(X.indices, "column numbers" if X.format != "csc" else "row numbers")
    if len(starts) != major + 1 or starts[0] != 0 or (np.diff(starts) < 0).any():
        raise _refuse("its starts do not go from 0 upwards, one for each row or column")
    if starts[-1] > len(places) or len(places) != len(X.data):
        raise _refuse("it has other numbers of values and of places")
    return starts, _within(places[: starts[-1]], minor, "row or column")


def _canonical(X: csr_array) -> csr_array | None:
    """The matrix itself where it can be taken as it is: sorted, without duplicates."""
    n, p = X.shape
    starts, places = _compressed(X, n, p)
    values = _values(X.data, 1)[: len(places)]
    rising = np.diff(places) > 0
    rising[(starts[(starts > 0) & (starts < len(places))]) - 1] = True  # another row begins
    if not rising.all():
        return None
    narrow = X.indices[: len(places)], X.indptr
    return csr_array((as_numbers(values), *narrow), shape=(n, p))


def _values(data: object, dimensions: int) -> NDArray[np.generic]:
    values = np.asarray(data)
    if values.ndim != dimensions or isinstance(data, np.ma.MaskedArray):
        raise _refuse("its values are no plain array")
    return values


def _entries(X: sparray) -> Entries:
    """Every stored entry, by the format's own rules."""
    n, p = X.shape
    if X.format in ("csr", "csc"):
        sizes = (n, p) if X.format == "csr" else (p, n)
        starts, places = _compressed(X, *sizes)
        owner = np.repeat(np.arange(sizes[0]), np.diff(starts))
        values = _values(X.data, 1)[: len(places)]
        return Entries(values, *((owner, places) if X.format == "csr" else (places, owner)))
    if X.format == "bsr":
        return _blocks(X)
    if X.format == "lil":
        return _lists(X)
    if X.format == "dia":
        return _diagonals(X)
    coo = X if X.format == "coo" else X.tocoo()
    rows, columns = (_integers(axis, "row or column numbers") for axis in (coo.row, coo.col))
    values = _values(coo.data, 1)
    if not len(rows) == len(columns) == len(values):
        raise _refuse("it has other numbers of values and of places")
    return Entries(values, _within(rows, n, "row"), _within(columns, p, "column"))


def _blocks(X: bsr_array) -> Entries:
    n, p = X.shape
    values = _values(X.data, 3)
    high, wide = values.shape[1:]
    if high < 1 or wide < 1 or n % high or p % wide:
        raise _refuse("its blocks do not fill it")
    starts, places = _compressed(X, n // high, p // wide)
    values = values[: len(places)]
    owner = np.repeat(np.arange(n // high), np.diff(starts))
    down, along = np.arange(high)[None, :, None], np.arange(wide)[None, None, :]
    rows = np.broadcast_to(owner[:, None, None] * high + down, values.shape)
    columns = np.broadcast_to(places[:, None, None] * wide + along, values.shape)
    return Entries(values.ravel(), rows.ravel(), columns.ravel())


def _lists(X: lil_array) -> Entries:
    n, p = X.shape
    if len(X.rows) != n or len(X.data) != n:
        raise _refuse("it has another number of lists than of rows")
    if not all(isinstance(row, list) for lists in (X.rows, X.data) for row in lists):
        raise _refuse("its rows are no lists")
    lengths = [len(row) for row in X.rows]
    if lengths != [len(row) for row in X.data]:
        raise _refuse("it has other numbers of values and of places")
    held = [place for row in X.rows for place in row]
    if not all(isinstance(place, Integral) and 0 <= int(place) < p for place in held):
        raise _refuse("its column numbers are out of range")
    values = objects(cell for row in X.data for cell in row)
    return Entries(values, np.repeat(np.arange(n), lengths), np.array(held, dtype=np.int64))


def _diagonals(X: dia_array) -> Entries:
    """Value k of the diagonal with offset d is in row k - d and column k."""
    n, p = X.shape
    offsets, values = _integers(X.offsets, "offsets"), _values(X.data, 2)
    if not len(values) == len(offsets) == len(set(offsets.tolist())):
        raise _refuse("its diagonals and their offsets do not fit")
    column = np.arange(values.shape[1])
    row = column - offsets[:, None]  # of shape (diagonals, columns), as the values are
    inside = (row >= 0) & (row < n) & (column < p)
    return Entries(values[inside], row[inside], np.broadcast_to(column, row.shape)[inside])


def _assembled(entries: Entries, shape: tuple[int, int]) -> csr_array:
    """CSR of the entries; those of one cell are added in double precision, in stored order."""
    n, p = shape
    if n * p >= 2**62:
        raise ValueError("the sparse matrix X has more cells than can be numbered; split it")
    key = entries.rows * p + entries.columns
    order = np.argsort(key, kind="stable")
    key, values = key[order], np.asarray(as_numbers(entries.values), np.float64)[order]
    first = np.append(True, key[1:] != key[:-1])[: len(key)]
    kept = key[first]
    if len(kept) < len(key):
        values = _added(values, first)
        if entries.values.dtype == np.bool_:
            values = np.minimum(values, 1.0)  # true twice is true
    starts = np.searchsorted(kept, np.arange(n + 1) * p)
    return csr_array((values, kept % p if p else kept, starts), shape=shape)


def _added(values: NDArray[np.float64], first: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Sums of runs that start where `first` says; a run of one keeps its bits (-0.0)."""
    run = np.cumsum(first) - 1
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.bincount(run, weights=values)
    return np.where(np.bincount(run) > 1, sums, values[first])
