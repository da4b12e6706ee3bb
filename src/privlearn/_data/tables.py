"""From what users have to a `Table` of numbers; nothing is computed and no error quotes data."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privlearn._core.numerics import MAX_ROWS
from privlearn._core.problem import Adjacency, shape_of
from privlearn._data.bounded import Table
from privlearn._data.named_cells import collected, target_name
from privlearn._data.reading import Features, is_frame, refuse_not_finite, rows_and_columns
from privlearn._data.targets import target_numbers

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from privlearn.schema.raw import RawRows

__all__ = ["DROP", "NO_GAPS", "read_features", "read_table", "refuse_gaps"]

Array = NDArray[np.float64]
GAPS = (
    "say in schema what a missing cell means (missing='flag', 'fill' or 'drop', as in "
    "schema={'age': Number(missing='flag')} with Number of privlearn.schema), "
)
NO_GAPS = (
    "for a prediction needs every feature; leave them out with X[model.can_predict(X)], or fit "
    "with a schema that says what gaps mean"
)
DROP = "or pass on_invalid='drop': they then are empty rows, and the guarantee covers them"


def read_table(
    estimator: BaseEstimator,
    X: object,
    y: object,
    *,
    encode: Callable[[object], NDArray[Any]] | None = None,
    reset: bool = True,
) -> Table:
    """Read X and y into a `Table`, or refuse with an error that quotes no data.

    Parameters
    ----------
    estimator : estimator
        Named in errors. Its `adjacency` says whether they may name the number of rows, which is
        private in any case where people may have several, its
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
    n_is_public &= getattr(estimator, "max_rows_per_person", None) is None  # else people's is
    strict = estimator.on_invalid == "raise"
    by_schema = reset and getattr(estimator, "schema", None) is not None
    raw = _pending_rows(estimator, X, strict=strict) if by_schema else None
    features = (
        read_features(estimator, X, reset=reset, n_is_public=n_is_public, strict=strict)
        if raw is None
        else raw.numbers
    )
    name = None if isinstance(y, np.ndarray) else target_name(y)
    if reset:
        _warn_of_names(estimator, X, name)
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, "
            "but the target y is None."
        )
    name = name or (getattr(estimator, "_target_name", None) if reset else None)
    target = target_numbers(y, strict=strict, name=name) if encode is None else encode(y)
    if features.shape[0] != target.shape[0]:
        sizes = f": {features.shape[0]} and {target.shape[0]}" if n_is_public else ""
        raise ValueError(f"X and y have inconsistent numbers of samples{sizes}; give one y per row")
    if features.shape[0] == 0 and n_is_public:
        raise ValueError("X has 0 sample(s) (rows), while a minimum of 1 is required")
    if features.shape[0] > MAX_ROWS:
        raise ValueError(f"X has more than {MAX_ROWS} rows, the most that is supported")
    encoding = getattr(estimator, "_encoding", None)
    if strict:  # before any noise is drawn; which row it is stays unsaid
        if encoding is None:
            refuse_gaps(estimator, features, DROP)
        refuse_not_finite("y", target, DROP, [name] if name else None)
    if encoding is None:
        return Table(features, target, finite=strict)
    finite = strict and not encoding.drops
    if raw is not None:
        return Table(features, target, finite=finite, raw=raw)
    return Table(encoding.scaled(features), target, finite=finite)


def _warn_of_names(estimator: BaseEstimator, X: object, target: str | None) -> None:
    """Say what names of columns, which are public, tell: ids, or the target among the features."""
    if hasattr(estimator, "feature_names_in_"):
        from privlearn.schema.identifiers import warn_of_identifiers_in

        _warn_of_target_in_X(estimator, target)
        warn_of_identifiers_in(estimator, X)


def _warn_of_target_in_X(estimator: BaseEstimator, name: str | None) -> None:  # noqa: N802
    """Say that the target seems to be among the columns to predict from."""
    if name is not None and name in list(estimator.feature_names_in_):
        from privlearn._core.users_line import users_line  # only who is warned pays

        warnings.warn(
            f"y is called {name!r}, and so is a column of X to predict from: if they are the same, "
            "the model predicts the target from itself. Give the column's name in place of y, "
            f"fit(X, {name!r}), which takes it out of X, or leave it out of X",
            UserWarning,
            stacklevel=users_line(),
        )


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

    plain = isinstance(X, np.ndarray)  # with neither names of columns nor anything to compute
    if not plain:
        X = collected(X)
    by_schema = getattr(estimator, "schema" if reset else "_encoding", None) is not None
    if by_schema:
        return _features_by_schema(estimator, X, reset=reset, strict=strict, predicts=predicts)
    if not plain and (read := _read_before(estimator, X, reset=reset)) is not None:
        return read
    width = None if plain else _public_width(estimator, reset=reset)
    features = rows_and_columns(X, strict=strict, width=width)
    if features.shape[1] == 0:
        rows = features.shape[0] if n_is_public else 0
        raise ValueError(
            f"X has 0 feature(s) (shape=({rows}, 0)) while a minimum of 1 is required."
        )
    named = features if plain or not is_frame(X) else X
    validate_data(estimator, named, reset=reset, skip_check_array=True)
    return features


def _read_before(estimator: Any, X: object, *, reset: bool) -> Array | None:  # noqa: ANN401
    """Numbers that were read before, from columns with names; None of anything else."""
    from privlearn.schema.encoding import EncodedRows

    if not isinstance(X, EncodedRows):
        return None
    if reset:
        estimator.n_features_in_ = X.values.shape[1]
        estimator.feature_names_in_ = np.array(X.encoding.names, dtype=object)
    return X.values


def refuse_gaps(estimator: Any, features: Features, remedy: str) -> None:  # noqa: ANN401
    """Refuse NaN and infinity in X; of a frame, with the column's name and what a schema can do."""
    names = getattr(estimator, "feature_names_in_", None)
    by_schema = hasattr(estimator, "schema") and not hasattr(estimator, "kernel")  # which take none
    first = GAPS if names is not None and by_schema and remedy != NO_GAPS else ""
    refuse_not_finite("X", features, first + remedy, None if names is None else list(names))


def _pending_rows(estimator: Any, X: object, *, strict: bool) -> RawRows | None:  # noqa: ANN401
    """Rows by a schema that leaves kinds or lists to be estimated; None where it says all."""
    X = collected(X)
    _set_encoding(estimator, X)
    if not estimator._encoding.pending:
        return None
    from privlearn.schema.reading import read_pending

    return read_pending(estimator._encoding, X, strict=strict)


def _set_encoding(estimator: Any, X: object) -> None:  # noqa: ANN401
    """What the schema makes of the columns of a frame, and their names."""
    from privlearn.schema.reading import encoding_of, frame_names, unlisted, with_ranges

    schema, rest = with_ranges(estimator.schema, estimator.bounds_X), unlisted(estimator.schema)
    shifted = estimator.fit_intercept
    encoding = encoding_of(frame_names(X), schema, shifted=shifted, rest=rest)
    estimator._encoding = encoding
    estimator.n_features_in_ = len(encoding.columns)
    estimator.feature_names_in_ = np.array(encoding.names, dtype=object)


def _features_by_schema(
    estimator: Any,  # noqa: ANN401
    X: object,
    *,
    reset: bool,
    strict: bool,
    predicts: bool,
) -> Array:
    """The same of a frame whose columns a schema describes, in the columns' own units."""
    from privlearn.schema.reading import read_by

    if reset:
        _set_encoding(estimator, X)
    return read_by(estimator._encoding, X, strict=strict, predicts=predicts)


def _public_width(estimator: BaseEstimator, *, reset: bool) -> int | None:
    """How many columns a fit had, or the declared facts of one are for, where they say so."""
    if not reset:
        return getattr(estimator, "n_features_in_", None)
    sides = getattr(estimator, "bounds_X", None)
    facts = [*sides] if isinstance(sides, list | tuple) and len(sides) == 2 else []
    for fact in (*facts, getattr(estimator, "scale_X", None)):
        if isinstance(fact, list | tuple | np.ndarray) and len(shape_of(fact)) == 1:
            return len(fact)
    return None
