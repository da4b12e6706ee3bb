"""Single cells as numbers: what a cell means never depends on the cells around it.

numpy and pandas choose one type for many cells, so that one cell decides how the others are read.
Here every cell is read on its own: a number by its value in double precision, True and False as 1
and 0, text by the number that it spells. Everything else is an invalid cell, NaN; a number that is
too large is infinity, which is invalid as well.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "DATES",
    "PLAIN",
    "TARGET",
    "TRUTH",
    "as_numbers",
    "number",
    "numbers",
    "numbers_in",
    "objects",
]

Array = NDArray[np.float64]

# Cells of these types are read by value, by numpy as by `number`.
PLAIN = frozenset(
    [bool, int, float, np.bool_, np.float16, np.float32, np.float64]
    + [getattr(np, f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)]
)
# As numpy spells them where it turns cells into text, and as pandas reads them in files.
TRUTH = {
    case(w): v for w, v in (("True", 1.0), ("False", 0.0)) for case in (str, str.lower, str.upper)
}
TARGET = "y"  # how errors call the target, before the name of its column
DATES = (np.datetime64, np.timedelta64, datetime.date, datetime.time, datetime.timedelta)


def number(cell: Any) -> float:  # noqa: ANN401
    """The number that a cell holds in double precision, NaN where it holds none.

    Examples
    --------
    >>> [number(cell) for cell in (2, True, "1.5", None, "abc", 10**400)]
    [2.0, 1.0, 1.5, nan, nan, inf]
    """
    if type(cell) is float:
        return cell
    try:
        single = isinstance(cell, np.ndarray) and cell.ndim == 0
        if single and not isinstance(cell, np.ma.MaskedArray):
            cell = cell[()]
        if isinstance(cell, complex | np.complexfloating) and cell.imag == 0:
            cell = cell.real  # pandas makes a column complex because of one cell
        if isinstance(cell, str | bytes):
            text = str.__str__(cell) if isinstance(cell, str) else bytes.decode(cell, "latin-1")
            return TRUTH[text] if text in TRUTH else float(text)
        if isinstance(cell, Real | Decimal | np.bool_) and not isinstance(cell, DATES):
            with np.errstate(over="ignore", invalid="ignore"):
                return float(cell)
    except OverflowError:
        return float("inf")
    except Exception:  # a cell may be of any class, and its error may quote it
        return float("nan")
    return float("nan")


def numbers(cells: Sequence[Any], refused_in: str | None = None, width: int = 0) -> Array:
    """A number per cell, NaN where a cell holds none.

    With `refused_in`, the name of what holds them, a cell that is no number is refused; cells of
    rows of a `width` are named by their column.

    Examples
    --------
    >>> numbers([1, "x", 0.5])
    array([1. , nan, 0.5])
    """
    if set(map(type, cells)) <= PLAIN:
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                return np.array(cells, dtype=np.float64).reshape(len(cells))
        except OverflowError:  # an integer beyond the largest float
            pass
    found = np.fromiter(map(number, cells), dtype=np.float64, count=len(cells))
    if refused_in is not None:
        _refuse_no_number(cells, found, refused_in, width)
    return found


def as_numbers(array: NDArray[Any], refused_in: str | None = None) -> NDArray[np.floating]:
    """An array of numbers, truth values, text or objects as single or double precision.

    Single and double precision are not copied. The same bits come out as from cell by cell, and
    `refused_in` is as in `numbers`.
    """
    if array.dtype in (np.float32, np.float64):
        return array
    if array.dtype.kind in "biuf":
        with np.errstate(over="ignore", invalid="ignore"):
            return array.astype(np.float64)
    width = array.shape[1] if array.ndim == 2 else 0
    return numbers(array.ravel().tolist(), refused_in, width).reshape(array.shape)


def numbers_in(value: Any) -> Array:  # noqa: ANN401
    """A number, or an array of them, with NaN for all that is none."""
    try:
        cells = np.asarray(value, dtype=object)
    except ValueError:  # lists in each other without end
        cells = np.array(None, dtype=object)
    if isinstance(value, np.ma.MaskedArray):
        return np.full(cells.shape, np.nan)
    return np.asarray(numbers(cells.ravel().tolist()), dtype=np.float64).reshape(cells.shape)


def objects(cells: Iterable[Any]) -> NDArray[np.object_]:
    """The cells themselves in a 1-d array; numpy does not look into them."""
    return np.fromiter(cells, dtype=object)


def _refuse_no_number(cells: Sequence[Any], found: Array, what: str, width: int) -> None:
    """Raise where a cell is neither a number nor missing; the error quotes no cell and no row.

    What is missing or too large stays NaN or infinity, which `refuse_not_finite` names.
    """
    unread = np.flatnonzero(~np.isfinite(found))
    order = np.argsort(unread % width, kind="stable") if width else slice(None)
    for place in unread[order].tolist():  # the first column, wherever its row stands
        cell = cells[place]
        if _is_missing(cell):
            continue
        kind_of_cell = type(cell)  # not what the cell says that it is
        if issubclass(kind_of_cell, complex | np.complexfloating):
            raise ValueError(
                f"Complex data not supported: {what} holds complex numbers; give real ones"
            )
        if issubclass(kind_of_cell, list | tuple | np.ndarray):
            raise ValueError(
                f"{what} must have rows and columns, but a cell of it holds several values, as if "
                "it had 3 dimensions. Reshape your data so that every cell is one number"
            )
        kind = ValueError if issubclass(kind_of_cell, str | bytes) else TypeError
        named = f"{what}[:, {place % width}]" if width else what
        raise kind(
            f"{named} holds something that is no number; an argument must be numeric, no string, "
            f"so give a real number in each cell{_or_else(what, width)}"
        )


def _or_else(what: str, width: int) -> str:
    """What to do about text that belongs there."""
    if width:
        return (
            "; or, for text, dates and gaps, give a data frame, pandas.DataFrame(X, columns=["
            '...]), and schema="estimate", which finds out privately what every column holds, or '
            "a schema that says it (privlearn.schema has Category, Date, Flag and Number)"
        )
    if what.partition(" ")[0] != TARGET:
        return ""
    return (
        "; labels need a classifier, such as LogisticRegression; where a few cells are no numbers, "
        "clean those rows, or pass on_invalid='drop' to fit: they then are empty rows, and the "
        "guarantee covers them"
    )


def _is_missing(cell: object) -> bool:
    """Whether a cell is None, NaN, NA, or a number that is too large."""
    kind = type(cell)
    if cell is None or cell is np.ma.masked or issubclass(kind, Real | Decimal | np.bool_):
        return not issubclass(kind, DATES)
    if issubclass(kind, str | bytes):
        return str(cell).strip().lower() in ("nan", "inf", "-inf", "+inf")
    return kind.__name__ in ("NAType", "NaTType")
