"""Estimators on data frames: bounds of what a schema makes of a row, and models in own units.

A fit sees the encoded row (schema/encoding.py). The box and the norm that follow from the schema
are enforced on it like any others; going back to the columns' own units is post-processing.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from privlearn._core.named_bounds import box_by_name
from privlearn._core.problem import BY_NAME, Bounds, feature_norm, refuse_disjoint
from privlearn._core.users_line import users_line
from privlearn._data.bounded import Features
from privlearn._data.clipping import within
from privlearn.exceptions import UnsupportedCombinationError
from privlearn.solvers import Solution

if TYPE_CHECKING:
    from privlearn.linear_model.base import PrivateEstimator
    from privlearn.schema.encoding import Encoding

__all__ = [
    "bounds_by",
    "declared_by_name",
    "encoded_width",
    "in_own_units",
    "open_columns",
    "within_limits",
]


def encoded_width(estimator: PrivateEstimator, n_features: int | None) -> int:
    """How many numbers a row of so many columns becomes."""
    if estimator.schema is None:
        if n_features is None:
            raise ValueError(
                "n_features is missing; give the number of columns of X, or a schema that has them"
            )
        return n_features
    _warn_of_others(estimator, n_features)
    return len(_planned(estimator, n_features).features)


def _warn_of_others(estimator: PrivateEstimator, n_features: int | None) -> None:
    """Say that a plan is of columns, too, of which the schema says nothing."""
    from privlearn.schema.kinds import Ignore
    from privlearn.schema.reading import unlisted, with_ranges

    entries = with_ranges(estimator.schema, estimator.bounds_X).values()
    named = sum(not isinstance(kind, Ignore) for kind in entries)
    if n_features is None or n_features <= named or unlisted(estimator.schema).pending:
        return
    warnings.warn(
        f"n_features={n_features}, but the schema names {named} columns to predict from; "
        f"{n_features - named} more are planned as numbers whose ranges are estimated privately, "
        "as a fit takes columns that the schema does not name; leave n_features out if X has none",
        UserWarning,
        stacklevel=users_line(),
    )


def _planned(estimator: PrivateEstimator, n_features: int | None) -> Encoding:
    from privlearn.schema.reading import encoding_for_plan, unlisted, with_ranges

    schema, rest = with_ranges(estimator.schema, estimator.bounds_X), unlisted(estimator.schema)
    if n_features is None and rest.pending:
        raise ValueError(
            'n_features is missing; schema="estimate" names no column, so give the number of '
            "columns of X"
        )
    return encoding_for_plan(schema, n_features, shifted=estimator.fit_intercept, rest=rest)


def _encoding(estimator: PrivateEstimator, width: int) -> Encoding | None:
    """What the table was read with, or what a table of so many encoded columns would be."""
    if estimator.schema is None:  # also after a fit with one, which was taken away since
        return None
    found: Encoding | None = getattr(estimator, "_encoding", None)
    if found is not None and _is_of_the_schema(estimator, found):
        return found
    return _planned(estimator, _columns_of_width(estimator, width))


def _columns_of_width(estimator: PrivateEstimator, width: int) -> int:
    """How many columns become so many numbers: those of the schema, and others of one kind."""
    from privlearn.schema.encoding import Column
    from privlearn.schema.kinds import Ignore
    from privlearn.schema.reading import unlisted, with_ranges

    entries = with_ranges(estimator.schema, estimator.bounds_X)
    known = [Column(name, kind) for name, kind in entries.items() if not isinstance(kind, Ignore)]
    other = len(Column("", unlisted(estimator.schema)).features)
    listed = sum(len(column.features) for column in known)
    return len(known) + (width - listed) // other


def _is_of_the_schema(estimator: PrivateEstimator, found: Encoding) -> bool:
    """Whether a table was read with the schema as it is now: parameters may change after a fit."""
    from privlearn.schema.reading import unlisted, with_ranges

    entries, rest = with_ranges(estimator.schema, estimator.bounds_X), unlisted(estimator.schema)
    kinds = {column.name: column.kind for column in found.columns}
    same = all(kinds.get(name, entry) == entry for name, entry in entries.items())
    same &= all(kind == rest for name, kind in kinds.items() if name not in entries)
    return same and found.shifted == estimator.fit_intercept


def declared_by_name(
    estimator: PrivateEstimator, n_features: int, known: dict[str, Any]
) -> tuple[Bounds, bool, tuple[str, ...] | None, int | None]:
    """Limits of rows, whether the schema drops some, and what was declared; see `_problem`."""
    bounds = _declared_bounds(estimator, n_features, known)
    fewest = _fewest_features(estimator, n_features)
    return bounds, _drops_rows(estimator, n_features), _declared_facts(estimator), fewest


def _declared_bounds(estimator: PrivateEstimator, n_features: int, known: dict[str, Any]) -> Bounds:
    """Enforced limits of the rows that a solver sees."""
    encoding = _encoding(estimator, n_features)
    if encoding is not None:
        _refuse_beside_schema(estimator)
        norm = encoding.row_norm(estimator.data_norm)
        plain = Bounds.declared(n_features, **known | {"data_norm": norm, "scale_X": None})
        return bounds_by(encoding, plain, estimator)
    names = getattr(estimator, "feature_names_in_", None)
    if names is None and hasattr(estimator, "n_features_in_"):
        raise ValueError(
            "bounds_X names columns, but X has no names; give a data frame, or bounds_X=(low, "
            "high) with one number per column"
        )
    box = box_by_name(estimator.bounds_X, names, n_features)
    bounds = Bounds.declared(n_features, **known)
    return _boxed(bounds, *box, None, estimator.fit_intercept)


def bounds_by(encoding: Encoding, bounds: Bounds, estimator: PrivateEstimator) -> Bounds:
    """The same target and norm, with the box that columns have."""
    blank = replace(bounds, low=None, high=None, known=None, own_units=None, rare=None)
    boxed = _boxed(blank, *encoding.box(), encoding.indicators, estimator.fit_intercept)
    if boxed.known is None:
        return boxed
    return replace(boxed, own_units=encoding.units[1], rare=encoding.rare)


def open_columns(estimator: PrivateEstimator, width: int) -> Encoding | None:
    """Columns of which something is estimated, at most so many features; None without any."""
    encoding = None if estimator.schema is None else _encoding(estimator, width)
    return encoding if encoding is not None and encoding.pending else None


def _fewest_features(estimator: PrivateEstimator, width: int) -> int | None:
    """How many features there are at least, where columns are open; else None."""
    columns = open_columns(estimator, width)
    return None if columns is None else len(columns.columns)


def _boxed(
    bounds: Bounds, low: np.ndarray, high: np.ndarray, known: np.ndarray | None, intercept: bool
) -> Bounds:
    """The same with a box; a norm limits the columns that have no ends of their own."""
    if bounds.row_norm is not None:
        boxed = replace(bounds, low=low, high=high)
        refuse_disjoint(boxed, intercept, f"data_norm={bounds.row_norm:g}")
        most = feature_norm(bounds.row_norm, intercept)
        low, high = np.maximum(low, -most), np.minimum(high, most)
    elif not np.isfinite(low).any():
        return bounds
    return replace(bounds, low=low, high=high, known=known)


def _refuse_beside_schema(estimator: PrivateEstimator) -> None:
    """Facts by place make no sense where columns become several or none."""
    for name in ("scale_X", "coef_bounds"):
        if getattr(estimator, name, None) is not None:
            raise UnsupportedCombinationError(
                f"{name} is given by place, but a schema turns columns into features; leave {name} "
                "out, or leave the schema out and give numbers"
            )


def _drops_rows(estimator: PrivateEstimator, width: int) -> bool:
    """Whether the schema makes rows with a missing cell empty ones."""
    columns = _encoding(estimator, width)  # without that of ids, of which a schema may speak
    return columns is not None and columns.drops


def _declared_facts(estimator: PrivateEstimator) -> tuple[str, ...] | None:
    """Names of what was declared, for the certificate; None where the bounds tell it."""
    by_name = isinstance(estimator.bounds_X, Mapping)
    if estimator.schema is None and not by_name:
        return None
    facts = ["bounds_X", "data_norm", "bounds_y", "scale_X"]
    if _declares(estimator.schema):
        facts.insert(0, "schema")
    given = (name for name in facts if getattr(estimator, name, None) is not None)
    return (BY_NAME, *given)


def _declares(schema: object) -> bool:
    """Whether a schema says something about a column, and not only that it is to be estimated."""
    if not isinstance(schema, Mapping):
        return False
    from privlearn.schema.estimate import Estimate

    return not all(isinstance(kind, Estimate) for kind in schema.values())


def in_own_units(estimator: PrivateEstimator, solution: Solution) -> Solution:
    """The model of the columns' own units; coefficients of a list add up to 0.

    They stay as they are where something is said about them, or where a norm shortens rows: a row
    then holds less than one category.
    """
    encoding: Encoding | None = getattr(estimator, "_encoding", None)
    if encoding is None:
        return solution
    clip, ends, (_, size) = solution.clip_bounds, None, encoding.units
    if clip is not None and clip.low is not None:
        ends = encoding.values_in_own_units(np.array([clip.low, clip.high]))
    coef, intercept = encoding.in_own_units(solution.coef, solution.intercept)
    noise = None if solution.coef_noise is None else solution.coef_noise / size
    shortened = clip is not None and clip.row_norm is not None
    centred = estimator.fit_intercept and not (getattr(estimator, "positive", False) or shortened)
    errors = solution.errors
    if errors is not None:
        how = partial(_flat, encoding, ends if centred else None, estimator.fit_intercept, centred)
        errors = errors.mapped(how)
    if centred:
        coef, intercept, ends = encoding.centred(coef, intercept, ends)
        # How noise on entries of a list goes together is not told, so neither is that of its sum.
        noise = None if noise is None else np.where(encoding.lists(), np.nan, noise)
    if clip is not None:
        low, high = (None, None) if ends is None else ends
        plain = replace(clip, known=None, own_units=None, rare=None)
        clip = replace(plain, low=low, high=high, center=None)
    return replace(
        solution,
        coef=coef,
        intercept=intercept,
        clip_bounds=clip,
        coef_noise=noise,
        errors=errors,
    )


def _flat(
    encoding: Encoding,
    ends: np.ndarray | None,
    has_intercept: bool,
    centred: bool,
    weights: np.ndarray,
) -> np.ndarray:
    """Coefficients and intercept in own units, side by side, of each row of scaled ones."""
    width = weights.shape[1] - int(has_intercept)
    constant = weights[:, -1] if has_intercept else np.zeros(len(weights))
    coef, intercept = encoding.in_own_units(weights[:, :width], constant)
    if centred:
        coef, intercept, _ = encoding.centred(coef, intercept, ends)
    return np.column_stack([coef, intercept]) if has_intercept else coef


def within_limits(estimator: PrivateEstimator, features: Features) -> Features:
    """X to predict from, within the limits that the model was learned with, if any."""
    clip: Bounds | None = getattr(estimator, "_clip_bounds", None)
    encoding: Encoding | None = getattr(estimator, "_encoding", None)
    if clip is None or clip.row_norm is None or encoding is None:
        return within(features, clip, estimator.fit_intercept)
    low, high = (encoding.in_fit_units(np.asarray(side)) for side in (clip.low, clip.high))
    scaled = replace(clip, low=low, high=high)  # lengths are those of scaled rows
    rows = within(encoding.in_fit_units(np.asarray(features)), scaled, estimator.fit_intercept)
    return encoding.values_in_own_units(np.asarray(rows))
