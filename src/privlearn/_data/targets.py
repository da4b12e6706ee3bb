"""The target as one column of cells, and as numbers."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privlearn._data.cells import TARGET, as_numbers, objects
from privlearn._data.frames import cells_of_pandas, typed_cells
from privlearn._data.named_cells import target_name
from privlearn._data.reading import native, plain_array
from privlearn.exceptions import UnsupportedCombinationError

__all__ = ["called", "one_column", "target_numbers"]

LISTS = (list, tuple, np.ndarray)


def one_column(y: object, *, strict: bool = True, what: str = "y") -> NDArray[Any]:
    """Y as a 1-d array: of numbers or text as it is, or of the cells themselves.

    Parameters
    ----------
    y : array-like
        Lists, numpy, pandas, polars, Arrow.
    strict : bool, default=True
        Whether a cell of a list that holds several values is refused, or left to be invalid.
    what : str, default="y"
        Its name in errors.
    """
    if not isinstance(y, np.ndarray):
        if native("scipy.sparse", y, "sparray", "spmatrix"):
            raise ValueError(
                f"{what} is a sparse matrix, but one number or label per row is needed; give a "
                "plain array"
            )
        pandas = _from_pandas(y, what)
        if pandas is not None:
            return pandas
        if isinstance(y, Sequence) and not isinstance(y, str | bytes | bytearray | memoryview):
            return _from_list(list(y), strict, what)
        typed = typed_cells(y, what)
        if typed is not None:
            return typed
    array = plain_array(y, what)
    if array.ndim == 2 and array.shape[1] == 1:
        _warn_column(what)
        array = array[:, 0]
    if array.ndim != 1:
        raise _several(array.ndim, what)
    return array


def _from_pandas(y: Any, what: str) -> NDArray[Any] | None:  # noqa: ANN401
    if native("pandas", y, "DataFrame"):
        if y.shape[1] != 1:
            raise _several(2, what)
        _warn_column(what)
        return cells_of_pandas(y.iloc[:, 0])
    if native("pandas", y, "Series", "Index"):
        return cells_of_pandas(y)
    if native("pandas.api.extensions", y, "ExtensionArray"):
        return objects(y.astype(object))
    return None


def _from_list(cells: list[Any], strict: bool, what: str) -> NDArray[Any]:
    """Cells as they are; one that is a list of one value is that value."""
    if not any(issubclass(kind, LISTS) for kind in set(map(type, cells))):
        return objects(cells)
    held = [_values_in(cell) for cell in cells]
    if strict:
        if any(values is not None and len(values) != 1 for values in held):
            raise _several(2, what)
        _warn_column(what)
    one = (values is not None and len(values) == 1 for values in held)
    return objects(
        values[0] if single else cell  # type: ignore[index]
        for cell, values, single in zip(cells, held, one, strict=True)
    )


def _values_in(cell: Any) -> Sequence[Any] | None:  # noqa: ANN401
    """What a list of values holds; None where a cell is no list. A class of its own has no say."""
    kind = type(cell)
    if issubclass(kind, list):
        return list.copy(cell)
    if issubclass(kind, tuple):
        return tuple.__getitem__(cell, slice(None))
    if not issubclass(kind, np.ndarray):
        return None
    plain = np.ndarray.view(cell, np.ndarray)
    if not plain.ndim:
        return None
    hidden = (
        np.ma.getmaskarray(cell) if issubclass(kind, np.ma.MaskedArray) else [False] * len(plain)
    )
    return [None if np.any(gone) else value for value, gone in zip(plain, hidden, strict=True)]


def _several(dimensions: int, what: str) -> UnsupportedCombinationError:
    if what != "y":
        return UnsupportedCombinationError(
            f"{what} has {dimensions} dimension(s), but one value per row is needed; give a column"
        )
    return UnsupportedCombinationError(
        f"y has {dimensions} dimension(s), but one target per row is needed; fit one model per "
        "target, each with its own epsilon"
    )


def called(y: object, name: str | None = None) -> str:
    """What an error calls the target: with the name of its column, where it has one.

    Examples
    --------
    >>> import pandas as pd
    >>> called([1.0]), called(pd.Series([1.0], name="wage")), called([1.0], "wage")
    ('y', "y (column 'wage')", "y (column 'wage')")
    """
    if not name and not isinstance(y, np.ndarray):  # which has none
        name = target_name(y)
    return f"{TARGET} (column {name!r})" if name else TARGET


def target_numbers(
    y: object, *, strict: bool = True, what: str = TARGET, name: str | None = None
) -> NDArray[np.float64]:
    """Y as numbers, NaN where a cell holds none; `strict` refuses those, by `name` if y has none.

    Examples
    --------
    >>> target_numbers([1, True, None], strict=False)
    array([ 1.,  1., nan])
    """
    cells = one_column(y, strict=strict)
    what = called(y, name) if what == TARGET else what
    return np.asarray(as_numbers(cells, what if strict else None), dtype=np.float64)


def _warn_column(what: str) -> None:
    from sklearn.exceptions import DataConversionWarning

    from privlearn._core.users_line import users_line  # only who is warned pays

    warnings.warn(
        f"A column-vector {what} was passed when a 1d array was expected; it was flattened with "
        "ravel().",
        DataConversionWarning,
        stacklevel=users_line(),
    )
