"""Containers of every kind that data come in, also broken ones. Some cannot hold some cells."""

from __future__ import annotations

import array
import tempfile
import warnings
from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse as sp

NAMES = ("age", "hours", "wage", "rooms")


def objects(rows, p):
    out = np.empty((len(rows), p), dtype=object)
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            out[i, j] = cell
    return out


def floats(rows, p):
    """Numbers where there are any; a secret in an odd cell is lost, the others are not."""
    out = np.full((len(rows), p), np.nan)
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            try:
                out[i, j] = float(cell)
            except Exception:
                out[i, j] = np.nan
    return out


def _typed(dtype):
    def made(rows, p):
        with np.errstate(all="ignore"):
            return np.nan_to_num(floats(rows, p)).astype(dtype)

    return made


def _structured(rows, p):
    out = np.zeros(len(rows), dtype=[(NAMES[j % 4] + str(j), "f8") for j in range(p)])
    for j, name in enumerate(out.dtype.names):
        out[name] = floats(rows, p)[:, j]
    return out


def _dates(rows, p):
    return np.nan_to_num(floats(rows, p)).astype("int64").astype("datetime64[D]")


def _masked(rows, p):
    values = np.nan_to_num(floats(rows, p))
    return np.ma.masked_array(values, mask=np.arange(values.size).reshape(values.shape) % 3 == 0)


def _mapped(rows, p):
    values = floats(rows, p)
    if not values.size:
        return values
    with tempfile.TemporaryFile() as file:
        out = np.memmap(file, dtype=np.float64, mode="w+", shape=values.shape)
        out[:] = values
        return out


def _strided(rows, p):
    return np.repeat(np.repeat(floats(rows, p), 2, axis=0), 3, axis=1)[::2, ::3]


def _read_only(rows, p):
    values = floats(rows, p)
    values.flags.writeable = False
    return values


def _ragged(rows, p):
    return [row[: p - (i % 2)] for i, row in enumerate(rows)]


def _endless(rows, p):
    nest = [list(row) for row in rows]
    nest.append(nest)
    return nest


def _frame(rows, p, names=None):
    return pd.DataFrame(objects(rows, p), columns=names or [f"c{j}" for j in range(p)])


def _inferred(rows, p):
    return pd.DataFrame({f"c{j}": [row[j] for row in rows] for j in range(p)})


def _as_frame(kind):
    def made(rows, p):
        return pd.DataFrame(floats(rows, p), columns=[f"c{j}" for j in range(p)]).astype(kind)

    return made


def _levels(rows, p):
    names = pd.MultiIndex.from_tuples([("top", f"c{j}") for j in range(p)])
    return pd.DataFrame(floats(rows, p), columns=names)


def _polars(rows, p):
    values = floats(rows, p)
    return pl.DataFrame({f"c{j}": [None if x != x else x for x in values[:, j]] for j in range(p)})


POLARS = {
    "text": lambda cells, whole: pl.Series([str(c) for c in cells], dtype=pl.String),
    "dates": lambda cells, whole: pl.Series(whole, dtype=pl.Int64).cast(pl.Date, strict=False),
    "lists": lambda cells, whole: pl.Series([[x] for x in whole], dtype=pl.List(pl.Int64)),
    "categories": lambda cells, whole: pl.Series([str(c) for c in cells]).cast(pl.Categorical),
    "objects": lambda cells, whole: pl.Series(cells, dtype=pl.Object),
    "decimals": lambda cells, whole: pl.Series(whole, dtype=pl.Int64).cast(pl.Decimal(20, 4)),
}


def _polars_kind(kind):
    def made(rows, p):
        columns = {}
        for j in range(p):
            whole = [int(x) if np.isfinite(x) else None for x in floats(rows, p)[:, j]]
            columns[f"c{j}"] = POLARS[kind]([row[j] for row in rows], whole)
        return pl.DataFrame(columns)

    return made


def _arrow(rows, p):
    values = floats(rows, p)
    return pa.table({f"c{j}": pa.array(values[:, j], from_pandas=True) for j in range(p)})


def _arrow_odd(rows, p):
    columns = {f"c{j}": pa.array([str(row[j]) for row in rows]) for j in range(p)}
    columns["c0"] = columns["c0"].dictionary_encode()
    return pa.table(columns)


def _sparse(kind):
    return lambda rows, p: kind(np.nan_to_num(floats(rows, p), posinf=np.inf, neginf=-np.inf))


def _broken(change):
    """A CSR array whose inner arrays were changed after it had been checked."""

    def made(rows, p):
        found = sp.csr_array(np.nan_to_num(floats(rows, p)))
        found.indices, found.indptr = found.indices.copy(), found.indptr.copy()
        change(found, p)
        return found

    return made


def _column_too_large(m, p):
    m.indices[:1] = 10**6


def _column_at_width(m, p):
    m.indices[-1:] = p


def _column_negative(m, p):
    m.indices[:1] = -3


def _pointer_backwards(m, p):
    m.indptr[1:-1] = m.indptr[1:-1][::-1].copy()


def _pointer_too_far(m, p):
    m.indptr[-1:] = 10**6


def _pointer_negative(m, p):
    m.indptr[:1] = -5


def _pointer_short(m, p):
    m.indptr = m.indptr[:-1]


def _data_short(m, p):
    m.data = m.data[:-1]


def _data_objects(m, p):
    m.data = m.data.astype(object)


def _twice(rows, p):
    """Two entries of 1e308 in one cell: their sum is infinite."""
    n = len(rows)
    at = np.zeros(2 * n, dtype=int)
    return sp.csr_array((np.full(2 * n, 1.7e308), at, 2 * np.arange(n + 1)), shape=(n, p))


def _coordinates(rows, p):
    n = len(rows)
    out = sp.coo_array((np.ones(n), (np.arange(n), np.zeros(n, dtype=int))), shape=(n, p))
    out.coords = (out.coords[0], out.coords[1] + p + 7)
    return out


TABLES = {
    "list": lambda rows, p: rows,
    "tuple": lambda rows, p: tuple(map(tuple, rows)),
    "ragged": _ragged,
    "deeper": lambda rows, p: [[[cell] for cell in row] for row in rows],
    "endless": _endless,
    "generator": lambda rows, p: (row for row in rows),
    "dictionary": lambda rows, p: {f"c{j}": [row[j] for row in rows] for j in range(p)},
    "rows as dictionaries": lambda rows, p: [dict(enumerate(row)) for row in rows],
    "text": lambda rows, p: str(rows),
    "bytes": lambda rows, p: str(rows).encode("utf-8", "replace"),
    "None": lambda rows, p: None,
    "number": lambda rows, p: rows[0][0] if rows else 3.0,
    "class": lambda rows, p: SimpleNamespace(shape=(len(rows), p), columns=["a"] * p),
    "object": objects,
    "float64": floats,
    "float32": _typed("f4"),
    "float16": _typed("f2"),
    "longdouble": _typed("g"),
    "big-endian": _typed(">f8"),
    "int8": _typed("i1"),
    "uint64": _typed("u8"),
    "bool": _typed("?"),
    "complex": _typed("c16"),
    "U": lambda rows, p: np.array([[str(cell)[:40] for cell in row] for row in rows]),
    "S": lambda rows, p: np.array(
        [[str(cell)[:40].encode("utf-8", "replace") for cell in row] for row in rows]
    ),
    "structured": _structured,
    "datetime64": _dates,
    "timedelta64": lambda rows, p: _dates(rows, p) - np.datetime64("1970-01-01"),
    "masked": _masked,
    "memory-mapped": _mapped,
    "strided": _strided,
    "backwards": lambda rows, p: floats(rows, p)[::-1, ::-1],
    "read-only": _read_only,
    "fortran": lambda rows, p: np.asfortranarray(floats(rows, p)),
    "matrix": lambda rows, p: np.asmatrix(floats(rows, p)),
    "0-d": lambda rows, p: np.array(floats(rows, p).sum()),
    "1-d": lambda rows, p: floats(rows, p).ravel(),
    "3-d": lambda rows, p: floats(rows, p)[None],
    "array.array": lambda rows, p: array.array("d", floats(rows, p).ravel()),
    "memoryview": lambda rows, p: memoryview(np.ascontiguousarray(floats(rows, p))),
    "pandas objects": _frame,
    "pandas inferred": _inferred,
    "pandas Float64": _as_frame("Float64"),
    "pandas category": _as_frame("category"),
    "pandas Sparse": lambda rows, p: pd.DataFrame(floats(rows, p)).astype(
        pd.SparseDtype("float64", 0.0)
    ),
    "pandas string": lambda rows, p: _frame(rows, p).astype(str).astype("string"),
    "pandas dates": lambda rows, p: pd.DataFrame(_dates(rows, p).astype("datetime64[s]")),
    "pandas MultiIndex": _levels,
    "pandas twice the same name": lambda rows, p: _frame(rows, p, ["c"] * p),
    "pandas mixed names": lambda rows, p: _frame(rows, p, [0, "a", None, 2.5][:p]),
    "pandas Series": lambda rows, p: pd.Series(floats(rows, p).ravel()),
    "polars": _polars,
    "polars lazy": lambda rows, p: _polars(rows, p).lazy(),
    "polars text": _polars_kind("text"),
    "polars dates": _polars_kind("dates"),
    "polars lists": _polars_kind("lists"),
    "polars categories": _polars_kind("categories"),
    "polars objects": _polars_kind("objects"),
    "polars decimals": _polars_kind("decimals"),
    "arrow": _arrow,
    "arrow dictionary": _arrow_odd,
    "csr": _sparse(sp.csr_array),
    "csr matrix": _sparse(sp.csr_matrix),
    "csc": _sparse(sp.csc_array),
    "coo": _sparse(sp.coo_array),
    "bsr": _sparse(sp.bsr_array),
    "dia": _sparse(sp.dia_array),
    "dok": _sparse(sp.dok_array),
    "lil": _sparse(sp.lil_array),
    "csr of NaN": lambda rows, p: sp.csr_array(floats(rows, p)),
    "csr, column too large": _broken(_column_too_large),
    "csr, column at the width": _broken(_column_at_width),
    "csr, negative column": _broken(_column_negative),
    "csr, pointer backwards": _broken(_pointer_backwards),
    "csr, pointer too far": _broken(_pointer_too_far),
    "csr, negative pointer": _broken(_pointer_negative),
    "csr, pointer too short": _broken(_pointer_short),
    "csr, data too short": _broken(_data_short),
    "csr of objects": _broken(_data_objects),
    "csr, cells that overflow": _twice,
    "coo, columns too large": _coordinates,
}
COMMON = ("list", "float64", "float64", "object", "pandas inferred", "polars", "csr", "float32")


def _series(kind):
    return lambda values: pd.Series(values, dtype=kind)


def _target_array(values):
    out = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        out[i] = value
    return out


COLUMNS = {
    "list": lambda values: values,
    "tuple": tuple,
    "object": _target_array,
    "numpy": np.array,
    "float": lambda values: floats([[v] for v in values], 1)[:, 0],
    "U": lambda values: np.array([str(v)[:40] for v in values]),
    "S": lambda values: np.array([str(v)[:40].encode("utf-8", "replace") for v in values]),
    "masked": lambda values: np.ma.masked_array(floats([[v] for v in values], 1)[:, 0], mask=True),
    "datetime64": lambda values: _dates([[v] for v in values], 1)[:, 0],
    "pandas": pd.Series,
    "pandas object": _series(object),
    "pandas category": _series("category"),
    "pandas boolean": _series("boolean"),
    "pandas string": _series("string"),
    "pandas Int64": _series("Int64"),
    "pandas frame": lambda values: pd.DataFrame({"y": pd.Series(values, dtype=object)}),
    "polars": lambda values: pl.Series("y", values),
    "polars objects": lambda values: pl.Series("y", values, dtype=pl.Object),
    "polars frame": lambda values: pl.DataFrame({"y": values}),
    "arrow": pa.array,
    "arrow chunks": lambda values: pa.chunked_array([values]),
    "column": lambda values: _target_array(values)[:, None],
    "two columns": lambda values: np.column_stack([_target_array(values)] * 2),
    "row": lambda values: _target_array(values)[None, :],
    "csr": lambda values: sp.csr_array(floats([[v] for v in values], 1)),
    "generator": iter,
    "set": lambda values: {str(v) for v in values},
    "dictionary": lambda values: dict(enumerate(values)),
    "text": str,
    "None": lambda values: None,
    "number": lambda values: 1.0,
    "ragged": lambda values: [[v] * (i % 2) for i, v in enumerate(values)],
}
COMMON_COLUMNS = ("list", "object", "numpy", "pandas", "polars", "float")


def _breaks_polars(cell):
    """A list that holds itself, or a decimal that signals: polars crashes or panics on its own."""
    if isinstance(cell, list):
        return any(one is cell for one in cell)
    return isinstance(cell, Decimal) and cell.is_snan()


def _cannot_hold(kind, cells):
    return kind.startswith(("polars", "arrow")) and any(map(_breaks_polars, cells))


def _quietly(build, *arguments):
    """The container; what numpy and pandas say while it is built is not the library's doing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return build(*arguments)


def contained(pick, rows, p):
    """X in some container; a plain list where the container cannot hold such cells."""
    kind = pick("X", COMMON) if pick.chance(40) else pick("X", list(TABLES))
    if _cannot_hold(kind, [cell for row in rows for cell in row]):
        return rows
    try:
        return _quietly(TABLES[kind], rows, p)
    except BaseException:  # polars panics with one that is no Exception
        pick.story.append("as a list")
        return rows


def column(pick, values):
    """Y in some container, or a plain list."""
    kind = pick("y", COMMON_COLUMNS) if pick.chance(65) else pick("y", list(COLUMNS))
    if _cannot_hold(kind, values):
        return values
    try:
        return _quietly(COLUMNS[kind], values)
    except BaseException:
        pick.story.append("as a list")
        return values
