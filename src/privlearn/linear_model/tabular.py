"""Estimators on data frames: bounds of what a schema makes of a row, and models in own units.

A fit sees the encoded row (schema/encoding.py). The box and the norm that follow from the schema
are enforced on it like any others; going back to the columns' own units is post-processing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from privlearn._core.named_bounds import box_by_name
from privlearn._core.problem import NAMES_ALONE, Bounds, feature_norm, refuse_disjoint
from privlearn._data.bounded import Features, Table
from privlearn._data.clipping import within
from privlearn.exceptions import UnsupportedCombinationError
from privlearn.solvers import Solution

if TYPE_CHECKING:
    from privlearn.linear_model.base import PrivateEstimator
    from privlearn.schema.encoding import Encoding

__all__ = [
    "bounds_by",
    "declared_bounds",
    "declared_facts",
    "drops_rows",
    "encoded_width",
    "features_of",
    "fewest_features",
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
    return len(_planned(estimator, n_features).features)


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
    found: Encoding | None = getattr(estimator, "_encoding", None)
    if estimator.schema is None:
        return found
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


def declared_bounds(estimator: PrivateEstimator, n_features: int) -> Bounds:
    """Enforced limits of the rows that a solver sees."""
    known: dict[str, Any] = {
        "bounds_y": getattr(estimator, "bounds_y", None),
        "fit_intercept": estimator.fit_intercept,
    }
    encoding = _encoding(estimator, n_features)
    if encoding is not None:
        _refuse_beside_schema(estimator)
        norm = encoding.row_norm(estimator.data_norm)
        return bounds_by(encoding, Bounds.declared(n_features, data_norm=norm, **known), estimator)
    known |= {"data_norm": estimator.data_norm, "scale_X": estimator.scale_X}
    if not isinstance(estimator.bounds_X, Mapping):
        return Bounds.declared(n_features, bounds_X=estimator.bounds_X, **known)
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
    blank = replace(bounds, low=None, high=None, known=None)
    return _boxed(blank, *encoding.box(), encoding.indicators, estimator.fit_intercept)


def open_columns(estimator: PrivateEstimator, width: int) -> Encoding | None:
    """Columns of which something is estimated, at most so many features; None without any."""
    encoding = None if estimator.schema is None else _encoding(estimator, width)
    return encoding if encoding is not None and encoding.pending else None


def fewest_features(estimator: PrivateEstimator, width: int) -> int | None:
    """How many features there are at least, where columns are open; else None."""
    columns = open_columns(estimator, width)
    return None if columns is None else len(columns.columns)


def features_of(estimator: PrivateEstimator, table: Table) -> int:
    """How many features rows have, or may have where columns are open."""
    open_ = table.raw is not None
    return len(estimator._encoding.features) if open_ else int(table.X.shape[1])


def _boxed(
    bounds: Bounds, low: np.ndarray, high: np.ndarray, known: np.ndarray | None, intercept: bool
) -> Bounds:
    """The same with a box; a norm limits the columns that have no ends of their own."""
    if bounds.row_norm is not None:
        most = feature_norm(bounds.row_norm, intercept)
        low, high = np.maximum(low, -most), np.minimum(high, most)
    elif not np.isfinite(low).any():
        return bounds
    bounds = replace(bounds, low=low, high=high, known=known)
    if bounds.row_norm is not None:
        refuse_disjoint(bounds, intercept, f"data_norm={bounds.row_norm:g}")
    return bounds


def _refuse_beside_schema(estimator: PrivateEstimator) -> None:
    """Facts by place make no sense where columns become several or none."""
    for name in ("scale_X", "coef_bounds"):
        if getattr(estimator, name, None) is not None:
            raise UnsupportedCombinationError(
                f"{name} is given by place, but a schema turns columns into features; leave {name} "
                "out, or leave the schema out and give numbers"
            )


def drops_rows(estimator: PrivateEstimator) -> bool:
    """Whether the schema makes rows with a missing cell empty ones."""
    entries = estimator.schema.values() if isinstance(estimator.schema, Mapping) else ()
    return any(getattr(kind, "missing", None) == "drop" for kind in entries)


def declared_facts(estimator: PrivateEstimator) -> tuple[str, ...] | None:
    """Names of what was declared, for the certificate; None where the bounds tell it."""
    if estimator.schema is None:
        return None
    given = {name: getattr(estimator, name, None) for name in ("bounds_X", "data_norm", "bounds_y")}
    schema = "schema" if isinstance(estimator.schema, Mapping) else NAMES_ALONE
    return (schema, *(name for name, value in given.items() if value is not None))


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
    if estimator.fit_intercept and not (getattr(estimator, "positive", False) or shortened):
        coef, intercept, ends = encoding.centred(coef, intercept, ends)
        # How noise on entries of a list goes together is not told, so neither is that of its sum.
        noise = None if noise is None else np.where(encoding.lists(), np.nan, noise)
    if clip is not None:
        low, high = (None, None) if ends is None else ends
        clip = replace(clip, low=low, high=high, known=None, center=None)
    return replace(solution, coef=coef, intercept=intercept, clip_bounds=clip, coef_noise=noise)


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
