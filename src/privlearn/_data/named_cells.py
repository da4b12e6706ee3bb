"""Data frames as named columns of cells, and the target as one of them.

What is lazy is computed first, with all its rows: polars' lazy frames, and whatever offers its
columns through Arrow, as relations of DuckDB do. Errors of other libraries may quote cells, so
their texts are left behind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privlearn._data.cells import objects
from privlearn._data.frames import cells_of_pandas, or_one_by_one, refuse_same_names
from privlearn._data.reading import OF_MAPPING, is_frame, native

__all__ = [
    "NamedCells",
    "cells_of_series",
    "collected",
    "column_names",
    "named_cells",
    "refuse_target_in",
    "refuse_unknown",
    "series_name",
    "target_name",
    "with_ids",
    "with_target",
]

Cells = NDArray[Any]
FRAMES = (
    "whose columns have no names; give a data frame: pandas (pandas.DataFrame(X)), polars, an "
    "Arrow table or a DuckDB relation"
)


def collected(X: Any) -> Any:  # noqa: ANN401
    """X itself, or the data frame that a lazy one stands for."""
    if isinstance(X, np.ndarray | list | tuple) or X is None:
        return X
    from privlearn._data.files import refuse_files

    refuse_files(X)
    if native("polars", X, "LazyFrame"):
        return _quietly(X.collect)
    if native("pyarrow", X, "RecordBatch"):
        import pyarrow as pa

        return pa.Table.from_batches([X])
    offers = hasattr(X, "__arrow_c_stream__") or hasattr(X, "fetch_arrow_table")
    if offers and not hasattr(X, "dtype") and not is_frame(X):
        return _quietly(lambda: _through_arrow(X))
    return X


def _through_arrow(X: Any) -> Any:  # noqa: ANN401
    import pyarrow as pa

    if hasattr(X, "__arrow_c_stream__"):
        return pa.RecordBatchReader.from_stream(X).read_all()
    return X.fetch_arrow_table()


def _quietly(compute: Callable[[], Any]) -> Any:  # noqa: ANN401
    try:
        return compute()
    except ImportError:
        needed = "X is read through Arrow, which needs a package: pip install pyarrow"
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # each library has its own, which may quote cells; a panic too
        needed = (
            f"X could not be computed ({type(error).__name__}); call its own method for that, such "
            "as .collect(), to see why, and pass the result"
        )
    raise ValueError(needed)


def column_names(X: object, what: str) -> list[str]:
    """Names of a frame's columns: public, different from each other, and texts."""
    if not is_frame(X):
        of_dask = native("dask.dataframe", X, "DataFrame")
        other = "of dask; compute its rows first, X.compute(), or ask X.map_partitions" + (
            "(model.predict) for predictions"
        )
        raise ValueError(
            f"{what} names columns, and X is a {type(X).__name__}, "
            + (OF_MAPPING if isinstance(X, Mapping) else other if of_dask else FRAMES)
        )
    if native("pandas", X, "DataFrame"):
        names = list(X.columns)  # type: ignore[attr-defined]
    else:
        import narwhals.stable.v1 as nw

        frame: Any = X
        names = list(nw.from_native(frame, eager_only=True).columns)
    refuse_same_names(names)
    if not all(isinstance(name, str) for name in names):
        raise ValueError(f"{what} needs columns whose names are texts; rename the others")
    return names


def named_cells(X: Any, names: list[str]) -> tuple[dict[str, Cells], int]:  # noqa: ANN401
    """The named columns' cells, as plain numbers or as objects, and the number of rows."""
    if native("pandas", X, "DataFrame"):
        return {name: _cells_of_pandas(X[name]) for name in names}, len(X)
    import narwhals.stable.v1 as nw

    frame = nw.from_native(X, eager_only=True)
    return {name: cells_of_series(frame.get_column(name)) for name in names}, len(frame)


def _cells_of_pandas(column: Any) -> Cells:  # noqa: ANN401
    """The same as elsewhere, but truth values stay such where pandas lets some be missing."""
    truth = str(column.dtype) == "boolean"
    whole = (lambda: objects(column.astype(object))) if truth else (lambda: cells_of_pandas(column))
    return or_one_by_one(whole, lambda place: column.array[place], len(column))


def cells_of_series(series: Any) -> Cells:  # noqa: ANN401
    """A column of polars or Arrow: floats as they are, everything else cell by cell.

    A null among whole numbers changes nothing for the others: they are Python's.
    """
    import narwhals.stable.v1 as nw

    if series.dtype in (nw.Float32, nw.Float64):
        return np.array(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    kind = series.dtype
    if isinstance(kind, nw.Datetime):  # UTC as a number; libraries stop at dates beyond Python's
        counts, unit = series.cast(nw.Int64).to_list(), kind.time_unit
        return objects(None if k is None else np.datetime64(k, unit) for k in counts)
    if kind == nw.Date:
        counts = series.cast(nw.Int32).to_list()
        return objects(None if k is None else np.datetime64(k, "D") for k in counts)
    if kind == nw.Duration:  # of no kind that a schema has
        return objects([None] * len(series))
    held = series.to_native()
    return or_one_by_one(lambda: objects(series.to_list()), lambda k: held[k], len(series))


def with_target(X: Any, y: Any, schema: object = None) -> tuple[Any, Any]:  # noqa: ANN401
    """X and y, where y may be the name of a column of X, which then is taken out of X.

    A `schema` of a fit says nothing of that column, or is refused.

    Examples
    --------
    >>> import pandas as pd
    >>> X, y = with_target(pd.DataFrame({"age": [30, 40], "wage": [500, 700]}), "wage")
    >>> list(X.columns), y.tolist()
    (['age'], [500, 700])
    """
    X = collected(X)
    if not _names_a_column(X, y, "y", "the target"):
        return X, y
    refuse_target_in(schema, y)
    if native("pandas", X, "DataFrame"):
        return X.drop(columns=[y]), X[y]
    import narwhals.stable.v1 as nw

    frame = nw.from_native(X, eager_only=True)
    return frame.drop([y]).to_native(), frame.get_column(y).to_native()


def refuse_target_in(schema: object, name: str) -> None:
    """Refuse a schema that describes the target as if the model predicted from it."""
    if isinstance(schema, Mapping) and name in schema:
        raise ValueError(
            f"{name!r} is the target, but schema is about columns to predict from; leave it out of "
            "the schema, and give its range as bounds_y, or its labels as classes"
        )


def with_ids(X: Any, groups: Any) -> tuple[Any, Any]:  # noqa: ANN401
    """X and groups, where the latter may be the name of a column of X, which then is taken out.

    It comes as a frame of one column, which has its name in every library.

    Examples
    --------
    >>> import pandas as pd
    >>> X, ids = with_ids(pd.DataFrame({"age": [30, 40], "patient": [5, 5]}), "patient")
    >>> list(X.columns), list(ids.columns)
    (['age'], ['patient'])
    """
    X = collected(X)
    if not _names_a_column(X, groups, "groups", "the column of ids"):
        return X, groups
    if native("pandas", X, "DataFrame"):
        return X.drop(columns=[groups]), X[[groups]]
    import narwhals.stable.v1 as nw

    frame = nw.from_native(X, eager_only=True)
    return frame.drop([groups]).to_native(), frame.select([groups]).to_native()


def _names_a_column(X: Any, name: object, what: str, meant: str) -> bool:  # noqa: ANN401
    """Whether it does; a name that no column has is refused."""
    if not isinstance(name, str) or isinstance(X, np.ndarray | list | tuple) or not is_frame(X):
        return False
    refuse_unknown(name, column_names(X, f"{what} by name"), what, meant)
    return True


def refuse_unknown(name: str, names: list[str], what: str, meant: str) -> None:
    """Refuse a name that no column has, with the one that may have been meant."""
    if name not in names:
        from privlearn._core.close_names import hint_at_columns

        hint = hint_at_columns(name, names, "check its name")
        raise ValueError(f"{what} is text, so it names {meant}, but X has no such column; {hint}")


def target_name(y: Any) -> str | None:  # noqa: ANN401
    """What the target is called: y itself where it names a column, or the name that y has.

    Examples
    --------
    >>> import pandas as pd
    >>> target_name("wage"), target_name(pd.Series([1.0], name="pay")), target_name([1.0])
    ('wage', 'pay', None)
    """
    if native("pandas", y, "DataFrame"):
        name = y.columns[0] if y.shape[1] == 1 else None
    else:
        name = y if isinstance(y, str) else series_name(y)
    return str(name) if isinstance(name, str) and name else None


class NamedCells(list[str | None]):
    """Cells as text, with the name of their column: what the command line reads."""

    name: str = ""


def series_name(values: Any) -> object:  # noqa: ANN401
    """The name of a column of a data frame, by whichever library; None of anything else.

    An array may have a name, too, but nobody gave it: that of dask's is a hash of all it holds.
    """
    if type(values) is NamedCells:
        return values.name
    if isinstance(values, np.ndarray | list | tuple) or values is None:
        return None
    known = native("pandas", values, "Series", "Index") or native("polars", values, "Series")
    if not (known or native("dask.dataframe", values, "Series")):
        import narwhals.stable.v1 as nw

        found = nw.from_native(values, pass_through=True, eager_only=True, allow_series=True)
        if not isinstance(found, nw.Series):
            return None
    return getattr(values, "name", None)
