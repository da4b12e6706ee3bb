"""The same rows in every container that users have, and rows that stretch what it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import partial
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Container", "Row", "containers", "malformed"]


class Row(NamedTuple):
    """Cells and target of one person, and how often each stored entry comes in a sparse matrix."""

    cells: tuple[Any, ...]
    target: Any
    stored: tuple[tuple[int, Any], ...] | None = None  # entries of a sparse row, else its cells

    def entries(self) -> tuple[tuple[int, Any], ...]:
        """What a sparse matrix stores."""
        return tuple(enumerate(self.cells)) if self.stored is None else self.stored


Built = tuple[Any, Any]


@dataclass(frozen=True)
class Container:
    """A way to hold rows: `X` and `y` make it, or fail where it takes no such row."""

    name: str
    X: Callable[[list[Row]], Any]
    y: Callable[[list[Any]], Any]
    cells: tuple[Any, ...] = ()  # odd cells that it may take
    targets: tuple[Any, ...] = ()
    lengths: bool = False  # whether rows may have different lengths
    sparse: bool = False

    def build(self, rows: list[Row]) -> Built | None:
        """X and y, or None where the container takes no such rows."""
        try:
            return self.X(rows), self.y([row.target for row in rows])
        except Exception:
            return None

    def odd_rows(self, row: Row) -> Iterator[tuple[str, Row]]:
        """Rows that one person might have in it."""
        for k in range(max(len(self.cells), len(self.targets))):
            place = k % len(row.cells)
            cell = self.cells[k] if k < len(self.cells) else row.cells[place]
            target = self.targets[k] if k < len(self.targets) else row.target
            cells = (*row.cells[:place], cell, *row.cells[place + 1 :])
            kinds = f"a cell of type {type(cell).__name__}, a target of {type(target).__name__}"
            yield kinds, row._replace(cells=cells, target=target)
        if self.lengths:
            yield "a cell too many", row._replace(cells=(*row.cells, 1.0))
            yield "a cell missing", row._replace(cells=row.cells[:-1])
            yield "no cells", row._replace(cells=())
        if self.sparse:
            yield from _sparse_rows(row)


def _sparse_rows(row: Row) -> Iterator[tuple[str, Row]]:
    last = len(row.cells) - 1
    for story, stored in {
        "nothing stored": (),
        "a stored zero": ((0, 0.0), (last, -0.0)),
        "duplicates": ((last, 0.5), (0, 0.25), (last, 0.25)),
        "duplicates that overflow": ((0, 1e308), (0, 1e308)),
        "duplicates that overflow on the way": ((0, 1e308), (0, 1e308), (0, -1e308)),
        "duplicates of infinities": ((0, np.inf), (0, -np.inf)),
        "NaN stored": ((last, np.nan),),
    }.items():
        yield story, row._replace(stored=stored)


HUGE = 10**400
NUMBERS = (np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, -0.0, 0, 3, True)
ODD: tuple[Any, ...] = (
    *NUMBERS,
    None,
    "text",
    "0.5",
    "nan",
    b"0.5",
    HUGE,
    2**63,
    1 + 2j,
    (1.0,),
    date(2000, 1, 1),
    np.float32(0.1),
    np.longdouble("1e400"),
    np.datetime64("2000-01-01"),
)
LABELS: tuple[Any, ...] = (
    0,
    1,
    1.0,
    True,
    np.int64(1),
    np.nan,
    None,
    7,
    -1,
    0.5,
    "1",
    "text",
    b"1",
    HUGE,
    (1,),
    1 + 0j,
    np.datetime64("NaT"),
    {},
    2**63,
    np.inf,
)


def _cells(rows: list[Row]) -> list[list[Any]]:
    return [list(row.cells) for row in rows]


def _truth(targets: list[Any]) -> list[Any]:
    """Labels 0.0 and 1.0 as truth values, which are the same labels."""
    kinds = {0.0: False, 1.0: True}
    return [kinds[label] if type(label) is float and label in kinds else label for label in targets]


def _objects(values: list[Any]) -> NDArray[np.object_]:
    array = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        array[place] = value
    return array


def _object_grid(rows: list[Row]) -> NDArray[np.object_]:
    width = len(rows[-1].cells)
    if any(len(row.cells) != width for row in rows):
        raise ValueError("an array has one width")
    flat = _objects([cell for row in rows for cell in row.cells])
    return flat.reshape(len(rows), width)


def _typed(kind: type[np.generic], rows: list[Row]) -> NDArray[Any]:
    with np.errstate(over="ignore"):
        return np.array([[kind(cell) for cell in row.cells] for row in rows], dtype=kind)


def _framed(frame: Callable[[Any], Any], rows: list[Row]) -> Any:  # noqa: ANN401
    """A frame by its columns, whose types it chooses itself."""
    columns = zip(*(row.cells for row in rows), strict=True)
    return frame({f"x{k}": list(cells) for k, cells in enumerate(columns)})


def _sparse(name: str, rows: list[Row]) -> object:
    import scipy.sparse as sp

    entries = [(k, *entry) for k, row in enumerate(rows) for entry in row.entries()]
    places = np.array([(k, column) for k, column, _ in entries], dtype=np.int64).reshape(-1, 2)
    values = np.array([value for *_, value in entries], dtype=np.float64)
    shape = (len(rows), len(rows[0].cells))
    if name == "csr":
        starts = np.searchsorted(places[:, 0], np.arange(len(rows) + 1))
        return sp.csr_array((values, places[:, 1], starts), shape=shape)
    X = sp.coo_array((values, (places[:, 0], places[:, 1])), shape=shape)
    with np.errstate(all="ignore"):
        return X if name == "coo" else getattr(X, f"to{name}")()


def containers(*, classifies: bool) -> Iterator[Container]:
    """Every container of which the library is installed."""
    odd = LABELS if classifies else ODD
    yield Container("lists", _cells, list, ODD, odd, lengths=True)
    yield Container("tuples", lambda rows: tuple(row.cells for row in rows), tuple, (None, "x"))
    if classifies:
        yield Container("lists with truth values", _cells, _truth, (), odd)
    cells = (None, "text", HUGE, 1 + 2j, (1.0,), np.float32(0.1), np.longdouble("1e400"))
    yield Container("object arrays", _object_grid, _objects, cells, odd[5:12])
    plain = (0.5, np.nan, np.inf, 1e30)
    for kind in (np.float64, np.float32, np.float16, np.longdouble):
        X = partial(_typed, kind)
        yield Container(f"{kind.__name__} arrays", X, np.array, plain, (0, 1, np.nan))
    for whole in (np.int64, np.uint64, np.bool_):
        X = partial(_typed, whole)
        yield Container(f"{whole.__name__} arrays", X, np.array, (0, 1, 2**62 + 1), (0, 1))
    for name in ("csr", "csc", "coo", "lil", "dok", "bsr"):
        often = name in ("csr", "csc", "coo")  # the others hold a cell once
        made = partial(_sparse, name)
        yield Container(f"{name} matrices", made, np.array, (0.5,), (0, np.nan), sparse=often)
    yield from _frames()
    if find_spec("pandas"):
        yield from _pandas_frames(odd, classifies)


def _frames() -> Iterator[Container]:
    typed = (0.5, 1e308, np.nan, None)
    if find_spec("polars"):
        import polars as pl

        frame = partial(_framed, pl.DataFrame)
        yield Container("polars frames", frame, pl.Series, typed, (0, 1, None))
    if find_spec("pyarrow"):
        import pyarrow as pa

        frame = partial(_framed, pa.table)
        yield Container("Arrow tables", frame, pa.array, typed, (0, 1, None))


def _pandas_frames(odd: tuple[Any, ...], classifies: bool) -> Iterator[Container]:
    import pandas as pd

    cells = (*ODD, pd.NA, pd.NaT, pd.Timestamp("2000-01-01"))
    targets = (*odd, pd.NA, pd.NaT)
    frame = partial(_framed, pd.DataFrame)
    yield Container("pandas frames", frame, pd.Series, cells, targets)
    yield Container(
        "pandas frames of objects",
        lambda rows: pd.DataFrame(_object_grid(rows)),
        lambda values: pd.Series(values, dtype=object),
        cells,
        targets,
    )
    if classifies:
        yield Container(
            "pandas frames with truth values as labels",
            lambda rows: pd.DataFrame(_cells(rows)),
            lambda values: pd.Series(_truth(values)),
            (),
            targets,
        )
    yield Container(
        "nullable pandas frames",
        lambda rows: frame(rows).convert_dtypes(),
        lambda values: pd.Series(values).convert_dtypes(),
        (0.5, None, pd.NA),
        (0, 1, pd.NA),
    )


def malformed(n_features: int) -> Iterator[tuple[str, Built]]:
    """Sparse matrices whose structure is wrong, made behind the back of scipy's constructors."""
    import scipy.sparse as sp

    for story, name, value in (
        ("a column number beyond the last", "indices", n_features),
        ("a negative column number", "indices", -1),
        ("row starts that go back", "indptr", 0),
        ("row starts beyond the entries", "indptr", 10**6),
    ):
        X = sp.csr_array(np.eye(6, n_features) + 1.0)
        array = getattr(X, name).copy()
        array[2] = value
        setattr(X, name, array)
        yield f"a CSR matrix with {story}", (X, np.arange(6.0) % 2)
    X = sp.coo_array(np.eye(6, n_features) + 1.0)
    coords = [np.array(axis, dtype=np.int64) for axis in (X.row, X.col)]
    coords[0][0] = 6
    wrong = sp.coo_array((X.data, (X.row, X.col)), shape=X.shape)
    if hasattr(wrong, "coords"):
        wrong.coords = tuple(coords)
    else:  # scipy before 1.13
        wrong.row = coords[0]
    yield "a COO matrix with a row number beyond the last", (wrong, np.arange(6.0) % 2)
