"""The same rows in every container that users have, and rows that stretch what it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

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
    """A way to hold rows: `make` returns X and y, or fails where it takes no such row."""

    name: str
    make: Callable[[list[Row]], Built]
    cells: tuple[Any, ...] = ()  # odd cells that it may take
    targets: tuple[Any, ...] = ()
    lengths: bool = False  # whether rows may have different lengths
    sparse: bool = False

    def build(self, rows: list[Row]) -> Built | None:
        """X and y, or None where the container takes no such rows."""
        try:
            return self.make(rows)
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
)
ODD = (*ODD, np.float32(0.1), np.longdouble("1e400"), np.datetime64("2000-01-01"))
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
)
LABELS = (*LABELS, 1 + 0j, np.datetime64("NaT"), {}, 2**63, np.inf)


def _targets(rows: list[Row]) -> list[Any]:
    return [row.target for row in rows]


def _cells(rows: list[Row]) -> list[list[Any]]:
    return [list(row.cells) for row in rows]


def _truth(targets: list[Any]) -> list[Any]:
    """Labels 0.0 and 1.0 as truth values, which are the same labels."""
    kinds = {0.0: False, 1.0: True}
    return [kinds[label] if type(label) is float and label in kinds else label for label in targets]


def _frozen(rows: list[Row]) -> Built:
    return tuple(row.cells for row in rows), tuple(_targets(rows))


def _with_truth(rows: list[Row]) -> Built:
    return _cells(rows), _truth(_targets(rows))


def _objects(values: list[Any]) -> Any:  # noqa: ANN401
    array = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        array[place] = value
    return array


def _object_grid(rows: list[Row]) -> Any:  # noqa: ANN401
    width = len(rows[-1].cells)
    if any(len(row.cells) != width for row in rows):
        raise ValueError("an array has one width")
    flat = _objects([cell for row in rows for cell in row.cells])
    return flat.reshape(len(rows), width)


def _typed(kind: Any) -> Callable[[list[Row]], Built]:  # noqa: ANN401
    def make(rows: list[Row]) -> Built:
        with np.errstate(over="ignore"):
            X = np.array([[kind(cell) for cell in row.cells] for row in rows], dtype=kind)
        return X, np.array(_targets(rows))

    return make


def _of_columns(frame: Any, series: Any) -> Callable[[list[Row]], Built]:  # noqa: ANN401
    """A frame by its columns, whose types it chooses itself."""

    def make(rows: list[Row]) -> Built:
        columns = zip(*(row.cells for row in rows), strict=True)
        return frame({f"x{k}": list(cells) for k, cells in enumerate(columns)}), series(
            _targets(rows)
        )

    return make


def _sparse(name: str) -> Callable[[list[Row]], Built]:
    def make(rows: list[Row]) -> Built:
        import scipy.sparse as sp

        width = len(rows[0].cells)
        entries = [(k, *entry) for k, row in enumerate(rows) for entry in row.entries()]
        places = np.array([(k, column) for k, column, _ in entries], dtype=np.int64).reshape(-1, 2)
        values = np.array([value for *_, value in entries], dtype=np.float64)
        starts = np.searchsorted(places[:, 0], np.arange(len(rows) + 1))
        shape = (len(rows), width)
        if name == "csr":
            X = sp.csr_array((values, places[:, 1], starts), shape=shape)
        else:
            X = sp.coo_array((values, (places[:, 0], places[:, 1])), shape=shape)
            with np.errstate(all="ignore"):
                X = X if name == "coo" else getattr(X, f"to{name}")()
        return X, np.array(_targets(rows))

    return make


def containers(*, classifies: bool) -> Iterator[Container]:
    """Every container of which the library is installed."""
    odd = LABELS if classifies else ODD
    free = Container("lists", lambda rows: (_cells(rows), _targets(rows)), ODD, odd, lengths=True)
    yield free
    yield Container("tuples", _frozen, (None, "x"))
    if classifies:
        yield Container("lists with truth values", _with_truth, (), odd)
    yield replace(
        free,
        name="object arrays",
        make=lambda rows: (_object_grid(rows), _objects(_targets(rows))),
        cells=(None, "text", HUGE, 1 + 2j, (1.0,), np.float32(0.1), np.longdouble("1e400")),
        targets=odd[5:12],
        lengths=False,
    )
    plain = (0.5, np.nan, np.inf, 1e30)
    for kind in (np.float64, np.float32, np.float16, np.longdouble):
        yield Container(f"{kind.__name__} arrays", _typed(kind), plain, (0, 1, np.nan))
    for whole in (np.int64, np.uint64, np.bool_):
        yield Container(f"{whole.__name__} arrays", _typed(whole), (0, 1, 2**62 + 1), (0, 1))
    for name in ("csr", "csc", "coo", "lil", "dok", "bsr"):
        often = name in ("csr", "csc", "coo")  # the others hold a cell once
        yield Container(f"{name} matrices", _sparse(name), (0.5,), (0, np.nan), sparse=often)
    yield from _frames(odd)


def _frames(odd: tuple[Any, ...]) -> Iterator[Container]:
    if find_spec("pandas"):
        import pandas as pd

        cells = (*ODD, pd.NA, pd.NaT, pd.Timestamp("2000-01-01"))
        targets = (*odd, pd.NA, pd.NaT)
        yield Container("pandas frames", _of_columns(pd.DataFrame, pd.Series), cells, targets)
        yield Container(
            "pandas frames of objects",
            lambda rows: (
                pd.DataFrame(_object_grid(rows)),
                pd.Series(_targets(rows), dtype=object),
            ),
            cells,
            targets,
        )
        if len(odd) == len(LABELS):
            yield Container(
                "pandas frames with truth values as labels",
                lambda rows: (pd.DataFrame(_cells(rows)), pd.Series(_truth(_targets(rows)))),
                (),
                targets,
            )
        yield Container("nullable pandas frames", _nullable(pd), (0.5, None, pd.NA), (0, 1, pd.NA))
    typed = (0.5, 1e308, np.nan, None)
    if find_spec("polars"):
        import polars as pl

        yield Container("polars frames", _of_columns(pl.DataFrame, pl.Series), typed, (0, 1, None))
    if find_spec("pyarrow"):
        import pyarrow as pa

        yield Container("Arrow tables", _of_columns(pa.table, pa.array), typed, (0, 1, None))


def _nullable(pd: Any) -> Callable[[list[Row]], Built]:  # noqa: ANN401
    def make(rows: list[Row]) -> Built:
        X, y = _of_columns(pd.DataFrame, pd.Series)(rows)
        return X.convert_dtypes(), y.convert_dtypes()

    return make


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
