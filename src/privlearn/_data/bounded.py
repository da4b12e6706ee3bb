"""From what users have to bounded rows: `read_table` reads, `bound` enforces declared limits.

`read_table` computes no statistic and its errors quote no data. `bound` clips each row on its own,
to the box first and to the norm then, so a row's contribution depends on that row alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from privlearn._core.numerics import BLOCK_ROWS, MAX_ROWS
from privlearn._core.problem import Adjacency, Bounds, Problem, shape_of
from privlearn._data.clipping import clip_rows
from privlearn._data.named_cells import collected
from privlearn._data.reading import Features, is_frame, refuse_not_finite, rows_and_columns
from privlearn._data.sparse import bounded_csr
from privlearn._data.targets import target_numbers

if TYPE_CHECKING:
    from scipy.sparse import csr_array
    from sklearn.base import BaseEstimator

__all__ = [
    "BoundedData",
    "Features",
    "Rows",
    "Table",
    "bound",
    "read_features",
    "read_only",
    "read_table",
    "refuse_not_finite",
    "watch_rows",
]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Table:
    """Features and target as numeric arrays of equal length; nothing is bounded yet.

    `finite` says that no row holds NaN or infinity, because such data were refused. `level` is the
    place of each row's promise among the problem's levels, where people have different ones.
    """

    X: Features
    y: Array
    finite: bool = False
    level: NDArray[np.int64] | None = None

    def present(self) -> NDArray[np.bool_]:
        """Which rows have neither NaN nor infinity nor an unknown label."""
        if self.finite:
            return np.full(len(self.y), True)
        there = np.isfinite(self.y)
        if isinstance(self.X, np.ndarray):
            return there & np.isfinite(self.X).all(axis=1)
        owner = np.repeat(np.arange(len(self.y)), np.diff(self.X.indptr))
        there[owner[~np.isfinite(self.X.data)]] = False
        return there


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

    # Largest length of a row, where rows are computed when they are asked for; else None.
    longest: ClassVar[float | None] = None

    def __post_init__(self) -> None:
        for watcher in _WATCHERS:
            watcher(self)

    @property
    def n(self) -> int:
        """Number of rows, which is a secret under `add_remove`."""
        return len(self.table.y)

    @property
    def n_features(self) -> int:
        """Number of columns, which is public."""
        return int(self.table.X.shape[1])

    @property
    def level(self) -> NDArray[np.int64] | None:
        """Place of each row's promise among the problem's, where people have different ones."""
        return self.table.level

    @property
    def sparse(self) -> bool:
        """Whether X is a sparse matrix: a fact about its container, not about a row."""
        return not isinstance(self.table.X, np.ndarray)

    def take(self, rows: NDArray[np.int64]) -> BoundedData:
        """Some of the rows, in the order given."""
        table = self.table
        level = None if table.level is None else table.level[rows]
        some = Table(table.X[rows], table.y[rows], table.finite, level)
        return BoundedData(some, self.bounds, self.fit_intercept)

    def sparse_rows(self) -> tuple[csr_array, Array]:
        """All rows at once, without making them dense, and their targets; where X is sparse."""
        assert not isinstance(self.table.X, np.ndarray)
        y = np.where(self.present(), self.table.y, 0.0)
        rows = bounded_csr(self.table.X, self.bounds, self.fit_intercept, self.present())
        return rows, y if self.bounds.target is None else np.clip(y, *self.bounds.target)

    def as_given(self) -> tuple[Features, Array]:
        """X and y before any bounds: for methods that look at orders alone."""
        return self.table.X, self.table.y

    def single_blocks(self) -> Iterator[Rows]:
        """All rows in order in single precision, where `longest` is known."""
        raise NotImplementedError

    def present(self) -> NDArray[np.bool_]:
        """Which rows are not the empty row: those without NaN, infinity or an unknown label."""
        return self.table.present()

    def targets(self, first: int, last: int) -> tuple[Array, NDArray[np.bool_]]:
        """Bounded targets of some rows, and which of them are not the empty row's."""
        y, X = self.table.y[first:last].copy(), self.table.X[first:last]
        there = np.full(len(y), True)
        if not self.table.finite:
            there = Table(X, y).present()
            y[~there] = 0.0
        if self.bounds.target is not None:
            np.clip(y, *self.bounds.target, out=y)
        return np.where(there, y, 0.0), there

    def blocks(
        self, first: int = 0, last: int | None = None, at_once: int = BLOCK_ROWS
    ) -> Iterator[Rows]:
        """All rows in order, or those from `first` to before `last`, some at a time.

        Each block is overwritten by the next: fresh memory for each would cost more than the rest.
        What needs no bounds is not even copied, and cannot be written to.
        """
        (n, p), whole = self.table.X.shape, self._as_they_are
        last = n if last is None else min(last, n)
        most = min(max(last - first, 0), at_once)
        room, box = np.empty((0 if whole else most, p)), self._box(most)
        for start in range(first, last, at_once):
            rows = slice(start, min(start + at_once, last))
            X, y = self.table.X[rows], self.table.y[rows].copy()
            if whole:
                yield self._bounded(read_only(np.asarray(X, dtype=np.float64)), y, box)
                continue
            own = room[: len(y)]
            with np.errstate(invalid="ignore"):  # a signalling NaN is a NaN
                own[:] = X if isinstance(X, np.ndarray) else X.toarray()
            yield self._bounded(own, y, box)

    def _box(self, rows: int) -> tuple[Array, Array] | None:
        """The box's ends, once for each row of a block: whole arrays are compared much faster."""
        low, high = self.bounds.low, self.bounds.high
        if low is None or high is None:
            return None
        return np.tile(low, (rows, 1)), np.tile(high, (rows, 1))

    @property
    def _as_they_are(self) -> bool:
        """Whether the table's own numbers are the bounded ones, so that nothing is copied."""
        X, bounds = self.table.X, self.bounds
        unlimited = bounds.low is None and bounds.row_norm is None and self.table.finite
        return (
            unlimited
            and isinstance(X, np.ndarray)
            and X.dtype == np.float64
            and X.flags.c_contiguous
        )

    def _bounded(self, X: Array, y: Array, box: tuple[Array, Array] | None) -> Rows:
        present = np.full(len(y), True)
        if not self.table.finite:
            present = np.isfinite(X).all(axis=1) & np.isfinite(y)
            X[~present], y[~present] = 0.0, 0.0
        if box is not None:
            np.maximum(X, box[0][: len(y)], out=X)  # faster than one clip
            np.minimum(X, box[1][: len(y)], out=X)
        if self.bounds.row_norm is not None:
            clip_rows(X, self.bounds, self.fit_intercept)
        if self.bounds.target is not None:
            np.clip(y, *self.bounds.target, out=y)
        if not self.table.finite:
            X[~present], y[~present] = 0.0, 0.0  # once more: a box may exclude zero
        return Rows(X, y, present)


def read_only(numbers: Array) -> Array:
    """The same numbers; a compiled loop takes all that it only reads in this form."""
    view = numbers.view()
    view.flags.writeable = False
    return view


_WATCHERS: list[Callable[[BoundedData], None]] = []


@contextmanager
def watch_rows(*watchers: Callable[[BoundedData], None]) -> Iterator[None]:
    """Show these audits, and no others, the rows that a fit is about to use."""
    held, _WATCHERS[:] = _WATCHERS[:], watchers
    try:
        yield
    finally:
        _WATCHERS[:] = held


def bound(table: Table, problem: Problem) -> BoundedData:
    """Enforce the problem's declared bounds on every row."""
    return BoundedData(table, problem.bounds, problem.fit_intercept)


def read_table(
    estimator: BaseEstimator,
    X: object,
    y: object,
    *,
    encode: Callable[[object], Array] | None = None,
    reset: bool = True,
) -> Table:
    """Read X and y into a `Table`, or refuse with an error that quotes no data.

    Parameters
    ----------
    estimator : estimator
        Named in errors. Its `adjacency` says whether they may name the number of rows, its
        `on_invalid` whether rows with NaN or infinity are refused, or left to become the empty row,
        and its bounds may say how many columns a list of rows has.
    X, y : array-like
        Lists, numpy, pandas, polars, Arrow, scipy sparse.
    encode : callable or None, default=None
        Turns y into numbers, NaN where it is invalid; None reads numbers.
    reset : bool, default=True
        Whether names and number of the features are set, or compared, as in `read_features`.
    """
    n_is_public = Adjacency(estimator.adjacency).n_is_public
    strict = estimator.on_invalid == "raise"
    features = read_features(estimator, X, reset=reset, n_is_public=n_is_public, strict=strict)
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, "
            "but the target y is None."
        )
    target = target_numbers(y, strict=strict) if encode is None else encode(y)
    if features.shape[0] != target.shape[0]:
        sizes = f": {features.shape[0]} and {target.shape[0]}" if n_is_public else ""
        raise ValueError(f"X and y have inconsistent numbers of samples{sizes}; give one y per row")
    if features.shape[0] == 0 and n_is_public:
        raise ValueError("X has 0 sample(s) (rows), while a minimum of 1 is required")
    if features.shape[0] > MAX_ROWS:
        raise ValueError(f"X has more than {MAX_ROWS} rows, the most that is supported")
    encoding = getattr(estimator, "_encoding", None)
    if strict:  # before any noise is drawn; which row it is stays unsaid
        drop = "or pass on_invalid='drop': they then are empty rows, and the guarantee covers them"
        if encoding is None:
            refuse_not_finite("X", features, drop)
        refuse_not_finite("y", target, drop)
    if encoding is None:
        return Table(features, target, finite=strict)
    return Table(encoding.scaled(features), target, finite=strict and not encoding.drops)


def read_features(
    estimator: BaseEstimator,
    X: object,
    *,
    reset: bool,
    n_is_public: bool = True,
    strict: bool = True,
    predicts: bool = False,
) -> Features:
    """Read X as a 2-d float32 or float64 array or a CSR array, and check names and number.

    Parameters
    ----------
    estimator : estimator
        Whose number and names of features count.
    X : array-like
        Lists, numpy, pandas, polars, Arrow, scipy sparse.
    reset : bool
        True in `fit`, which sets names and number; False in `predict`, which compares them.
    n_is_public : bool, default=True
        Whether an error may name the number of rows.
    strict : bool, default=True
        Whether a cell that is no number is refused; otherwise it is NaN.
    predicts : bool, default=False
        Whether no row may be dropped, whatever a schema says: each is to be predicted.
    """
    from sklearn.utils.validation import validate_data

    X = collected(X)
    by_schema = getattr(estimator, "schema" if reset else "_encoding", None) is not None
    if by_schema:
        return _features_by_schema(estimator, X, reset=reset, strict=strict, predicts=predicts)
    width = _declared_width(estimator) if reset else getattr(estimator, "n_features_in_", None)
    features = rows_and_columns(X, strict=strict, width=width)
    if features.shape[1] == 0:
        rows = features.shape[0] if n_is_public else 0
        raise ValueError(
            f"X has 0 feature(s) (shape=({rows}, 0)) while a minimum of 1 is required."
        )
    named = X if is_frame(X) else features
    validate_data(estimator, named, reset=reset, skip_check_array=True)
    return features


def _features_by_schema(
    estimator: Any,  # noqa: ANN401
    X: object,
    *,
    reset: bool,
    strict: bool,
    predicts: bool,
) -> Array:
    """The same of a frame whose columns a schema describes, in the columns' own units."""
    from privlearn.schema.reading import encoding_of, frame_names, read_by, with_ranges

    if reset:
        schema = with_ranges(estimator.schema, estimator.bounds_X)
        encoding = encoding_of(frame_names(X), schema, shifted=estimator.fit_intercept)
        estimator._encoding = encoding
        estimator.n_features_in_ = len(encoding.columns)
        estimator.feature_names_in_ = np.array(encoding.names, dtype=object)
    return read_by(estimator._encoding, X, strict=strict, predicts=predicts)


def _declared_width(estimator: BaseEstimator) -> int | None:
    """How many columns the declared facts are for, where they say so."""
    sides = getattr(estimator, "bounds_X", None)
    facts = [*sides] if isinstance(sides, list | tuple) and len(sides) == 2 else []
    for fact in (*facts, getattr(estimator, "scale_X", None)):
        if isinstance(fact, list | tuple | np.ndarray) and len(shape_of(fact)) == 1:
            return len(fact)
    return None
