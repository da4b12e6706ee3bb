"""From what users have to bounded rows: `validate` reads, `bound` enforces the declared limits.

`validate` computes no statistic and its errors quote no data. `bound` clips each row on its own, to
the box first and to the norm then, so a row's contribution depends on that row alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privlearn.clipping import clip_rows
from privlearn.exceptions import UnsupportedCombination
from privlearn.numerics import BLOCK_ROWS, MAX_ROWS
from privlearn.problem import Bounds, Problem

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = [
    "BoundedData",
    "Rows",
    "Table",
    "bound",
    "one_column",
    "read_features",
    "refuse_not_finite",
    "validate",
]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Table:
    """Features and target as numeric arrays of equal length; nothing is bounded yet.

    `finite` says that no row holds NaN or infinity, because such data were refused. `level` is the
    place of each row's promise among the problem's levels, where people have different ones.
    """

    X: NDArray[np.floating] | csr_array
    y: Array
    finite: bool = False
    level: NDArray[np.int64] | None = None

    @property
    def n(self) -> int:
        """Number of rows, which is a secret under `add_remove`."""
        return int(self.X.shape[0])

    def block(self, start: int, room: Array) -> tuple[Array, Array]:
        """Some rows from `start` on; features are copied to `room`, as float64."""
        rows = slice(start, start + len(room))
        X = self.X[rows]
        own = room[: X.shape[0]]
        own[:] = X if isinstance(X, np.ndarray) else X.toarray()
        return own, self.y[rows].copy()


@dataclass(frozen=True, eq=False)
class Rows:
    """A block of bounded rows. Where `present` is False the row is the empty row, all zeros."""

    X: NDArray[np.floating]
    y: Array
    present: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class BoundedData:
    """Rows that obey the declared bounds, handed out in blocks that are bounded on the way."""

    table: Table
    bounds: Bounds
    fit_intercept: bool

    @property
    def sparse(self) -> bool:
        """Whether X is a sparse matrix: a fact about its container, not about a row."""
        return not isinstance(self.table.X, np.ndarray)

    @property
    def longest(self) -> float | None:
        """Largest length of a row, where rows are computed when they are asked for; else None."""
        return None

    def take(self, rows: NDArray[np.int64]) -> BoundedData:
        """Some of the rows, in the order given."""
        table = self.table
        level = None if table.level is None else table.level[rows]
        some = Table(table.X[rows], table.y[rows], table.finite, level)
        return BoundedData(some, self.bounds, self.fit_intercept)

    def single_blocks(self) -> Iterator[Rows]:
        """All rows in order in single precision, where `longest` is known."""
        raise NotImplementedError

    def present(self) -> NDArray[np.bool_]:
        """Which rows are not the empty row: those without NaN, infinity or an unknown label."""
        if self.table.finite:
            return np.full(self.table.n, True)
        there = np.isfinite(self.table.y)
        X = self.table.X
        if isinstance(X, np.ndarray):
            return there & np.isfinite(X).all(axis=1)
        owner = np.repeat(np.arange(self.table.n), np.diff(X.indptr))
        there[owner[~np.isfinite(X.data)]] = False
        return there

    def blocks(self) -> Iterator[Rows]:
        """All rows in order, at most `BLOCK_ROWS` at a time.

        Each block is overwritten by the next: fresh memory for each would cost more than the rest.
        """
        n, p = self.table.X.shape
        room = np.empty((min(n, BLOCK_ROWS), p))
        for start in range(0, n, BLOCK_ROWS):
            yield self._bounded(*self.table.block(start, room))

    def _bounded(self, X: Array, y: Array) -> Rows:
        present = np.full(len(y), True)
        if not self.table.finite:
            present = np.isfinite(X).all(axis=1) & np.isfinite(y)
            _erase(X, y, ~present)
        if self.bounds.low is not None and self.bounds.high is not None:
            np.maximum(X, self.bounds.low, out=X)  # faster than one clip
            np.minimum(X, self.bounds.high, out=X)
        if self.bounds.row_norm is not None:
            clip_rows(X, self.bounds, self.fit_intercept)
        if self.bounds.target is not None:
            np.clip(y, *self.bounds.target, out=y)
        if not self.table.finite:
            _erase(X, y, ~present)  # once more: a box may exclude zero
        return Rows(X, y, present)


def _erase(X: Array, y: Array, absent: NDArray[np.bool_]) -> None:
    if absent.any():
        X[absent] = 0.0
        y[absent] = 0.0


def bound(table: Table, problem: Problem) -> BoundedData:
    """Enforce the problem's declared bounds on every row."""
    return BoundedData(table, problem.bounds, problem.fit_intercept)


def validate(
    estimator: Any,  # noqa: ANN401 (any scikit-learn estimator)
    X: Any,  # noqa: ANN401 (anything array-like)
    y: Any,  # noqa: ANN401
    *,
    n_is_public: bool,
    on_invalid: str,
    encode: Callable[[Any], Array] | None = None,
) -> Table:
    """Read X and y into a `Table`, or refuse with an error that quotes no data.

    Parameters
    ----------
    estimator : estimator
        Gets `n_features_in_` and `feature_names_in_`.
    X, y : array-like
        Lists, numpy, pandas, polars, scipy sparse.
    n_is_public : bool
        Whether an error may name the number of rows.
    on_invalid : {"raise", "drop"}
        Whether rows with NaN or infinity are refused, or left to become the empty row.
    encode : callable or None, default=None
        Turns y into numbers, NaN where it is invalid; None reads numbers.
    """
    features = read_features(estimator, X, reset=True, n_is_public=n_is_public)
    _need_target(estimator, y)
    target = (encode or _read_numbers)(y)
    if features.shape[0] != target.shape[0]:
        sizes = f": {features.shape[0]} and {target.shape[0]}" if n_is_public else ""
        raise ValueError(f"X and y have inconsistent numbers of samples{sizes}; give one y per row")
    if features.shape[0] == 0 and n_is_public:
        raise ValueError("X has 0 sample(s) (rows), while a minimum of 1 is required")
    if features.shape[0] > MAX_ROWS:
        raise ValueError(f"X has more than {MAX_ROWS} rows, the most that is supported")
    table = Table(features, target, finite=on_invalid == "raise")
    if table.finite:
        _refuse_not_finite(table)
    return table


def read_features(
    estimator: Any,  # noqa: ANN401
    X: Any,  # noqa: ANN401
    *,
    reset: bool,
    n_is_public: bool = True,
) -> NDArray[np.floating] | csr_array:
    """Read X as a 2-d float32 or float64 array or a CSR array, and check names and number.

    Parameters
    ----------
    estimator : estimator
        Whose number and names of features count.
    X : array-like
        Lists, numpy, pandas, polars, scipy sparse.
    reset : bool
        True in `fit`, which sets names and number; False in `predict`, which compares them.
    n_is_public : bool, default=True
        Whether an error may name the number of rows.
    """
    from sklearn.utils.validation import validate_data

    array = _to_array(X)
    if array.ndim != 2:
        raise ValueError(
            f"X must have rows and columns, but it has {array.ndim} dimension(s). "
            "Reshape your data with array.reshape(-1, 1) if it is one feature, or with "
            "array.reshape(1, -1) if it is one row"
        )
    if array.shape[1] == 0:
        rows = array.shape[0] if n_is_public else 0
        raise ValueError(
            f"X has 0 feature(s) (shape=({rows}, 0)) while a minimum of 1 is required."
        )
    validate_data(
        estimator, X if hasattr(X, "columns") else array, reset=reset, skip_check_array=True
    )
    return array


def _is_sparse(X: object) -> bool:
    import scipy.sparse as sp

    return bool(sp.issparse(X))


def _to_array(X: Any) -> Any:  # noqa: ANN401
    if _is_sparse(X):
        return _floats(X.tocsr())
    frame = _frame(X)
    if frame is not None:
        return frame
    array = np.asarray(X)
    return _floats(_from_objects(array, "X") if array.dtype.kind in "OUSMm" else array)


def _floats(array: Any) -> Any:  # noqa: ANN401
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported: X holds complex numbers; give real ones")
    if array.dtype in (np.float32, np.float64):
        return array
    return array.astype(np.float64)


def _frame(X: object) -> Any | None:  # noqa: ANN401
    """A data frame's columns as one array, or None when X is no data frame."""
    import narwhals.stable.v1 as nw

    frame = nw.from_native(X, pass_through=True, eager_only=True)
    if not isinstance(frame, nw.DataFrame):
        return None
    for name, kind in frame.schema.items():
        if not (kind.is_numeric() or kind == nw.Boolean or kind == nw.Object):
            raise ValueError(
                f"column {name!r} of X is {kind}, but numbers are needed; encode it with a fixed, "
                "public list of categories (never one read off the data), or leave it out"
            )
    columns = [_column(frame.get_column(name)) for name in frame.columns]
    if not columns:
        return np.empty((len(frame), 0))
    return np.column_stack(columns)


def _column(series: Any) -> NDArray[np.generic]:  # noqa: ANN401
    import narwhals.stable.v1 as nw

    if series.dtype == nw.Object:
        return _from_objects(series.to_numpy(), f"column {series.name!r} of X")
    if series.dtype == nw.Float32:
        return np.asarray(series.to_numpy(), dtype=np.float32)
    return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)


def _from_objects(array: NDArray[Any], what: str) -> Array:
    """Numbers out of an array of objects or text; the error names the place, not the content."""
    try:
        return array.astype(np.float64)
    except (ValueError, TypeError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
    raise kind(
        f"{what} holds something that is no number; an argument must be numeric, so encode every "
        "string column with a fixed list of categories and give a real number in each cell"
    ) from None


def _need_target(estimator: object, y: object) -> None:
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, "
            "but the target y is None."
        )


def one_column(y: Any) -> NDArray[Any]:  # noqa: ANN401
    """Y as a 1-d array of whatever it holds."""
    array = np.asarray(y)
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported: y holds complex numbers; give real ones")
    if array.ndim == 2 and array.shape[1] == 1:
        _warn_column()
        array = array[:, 0]
    if array.ndim != 1:
        raise UnsupportedCombination(
            f"y has {array.ndim} dimension(s), but one target per row is needed; fit one model per "
            "target, each with its own epsilon"
        )
    return array


def _read_numbers(y: Any) -> Array:  # noqa: ANN401
    array = one_column(y)
    if array.dtype.kind in "OUSMm":
        array = _from_objects(array, "y")
    return array.astype(np.float64)


def _warn_column() -> None:
    from sklearn.exceptions import DataConversionWarning

    warnings.warn(
        "A column-vector y was passed when a 1d array was expected; it was flattened with ravel().",
        DataConversionWarning,
        stacklevel=4,
    )


def _refuse_not_finite(table: Table) -> None:
    """Refuse before any noise is drawn; which row it is stays unsaid."""
    remedy = "or pass on_invalid='drop': they then are empty rows, and the guarantee covers them"
    refuse_not_finite("X", table.X, remedy)
    refuse_not_finite("y", table.y, remedy)


def refuse_not_finite(name: str, array: Any, remedy: str) -> None:  # noqa: ANN401
    """Raise when a dense or sparse array holds NaN or infinity."""
    values = array.data if _is_sparse(array) else array
    if not _all_finite(values):
        large = "infinity or a value too large for dtype('float64')"
        what = "NaN" if np.isnan(values).any() else large
        raise ValueError(f"Input {name} contains {what}. Clean those rows, {remedy}")


def _all_finite(array: NDArray[np.floating]) -> bool:
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.sum(array, dtype=np.float64)  # one pass, no temporary, in the common case
    return bool(np.isfinite(total) or np.isfinite(array).all())
