"""What a fitted model tells: only what was declared or released is read here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privlearn._core.certificate import Certificate
from privlearn.schema.encoding import Column, Encoding
from privlearn.schema.kinds import Number

__all__ = ["Learned"]

Array = NDArray[np.float64]
TWO_DEVIATIONS = 2.0


@dataclass(frozen=True, eq=False)
class Learned:
    """A model for the eye.

    Attributes
    ----------
    kind : str
        The class of the estimator.
    target : str or None
        The column that it predicts, where it has a name.
    classes : tuple of str or None
        Labels of a classifier.
    columns : tuple of Column
        What it predicts from; names are empty where there are none.
    features : tuple of str
        What columns become, in words.
    coef : array of shape (n_outputs, n_features)
        Coefficients of those; of a kernel with a line, those of the line; else without rows.
    intercept : array of shape (n_outputs,)
        The constant.
    clip : array of shape (2, n_features)
        Ends to which values are clipped; infinite where they are not.
    clip_y : pair or None
        Ends to which predictions are clipped.
    waves : int
        Number of random features of a kernel; 0 of a linear model.
    certificate : Certificate
        What was promised.
    noise : array of the shape of coef or None
        Standard deviations of the privacy noise, where they are known.
    summary : Summary or None
        Intervals, where they were paid for.
    table : Summary or None
        The same relative to categories or as ratios, where that was asked for.
    spans : array of shape (n_features,) or None
        How far apart the ends of each column are, where all are known.
    """

    kind: str
    target: str | None
    classes: tuple[str, ...] | None
    columns: tuple[Column, ...]
    features: tuple[str, ...]
    coef: Array
    intercept: Array
    clip: Array
    clip_y: tuple[float, float] | None
    waves: int
    certificate: Certificate = field(repr=False)
    noise: Array | None = None
    summary: Any = None
    table: Any = None
    spans: Array | None = None

    @classmethod
    def of(
        cls,
        model: Any,  # noqa: ANN401
        target: str | None = None,
        columns: tuple[Column, ...] | None = None,
        *,
        reference: Mapping[str, object] | None = None,
        ratios: bool = False,
    ) -> Learned:
        """What a fitted estimator tells; a file may know names that the estimator does not."""
        other = reference is not None or ratios
        encoding = _encoding(model, columns)
        coef, intercept, waves = _of_columns(model)
        width = len(encoding.features)
        clip = _clip(model, width)
        noise = getattr(model, "_coef_noise", None)
        bounds = getattr(model, "_clip_bounds", None)
        classes = getattr(model, "classes_", None)
        paid = getattr(model, "_errors", None) is not None and not waves
        return cls(
            kind=type(model).__name__,
            target=target or getattr(model, "_target_name", None),
            classes=None if classes is None else tuple(str(label) for label in classes),
            columns=encoding.columns,
            features=tuple(encoding.features),
            coef=coef,
            intercept=intercept,
            clip=clip,
            clip_y=None if bounds is None else bounds.target,
            waves=waves,
            certificate=model.privacy_,
            noise=None if noise is None or waves else np.atleast_2d(noise),
            summary=model.summary() if paid else None,
            table=model.summary(reference=reference, ratios=ratios) if other else None,
            spans=_spans(model, encoding, clip),
        )

    @property
    def named(self) -> bool:
        """Whether columns have names."""
        return all(column.name for column in self.columns)

    def word(self, j: int) -> str:
        """A feature in words."""
        return self.features[j] or f"column {j + 1}"

    @property
    def outputs(self) -> tuple[str, ...]:
        """Labels that have coefficients of their own; none where there is one row of them."""
        return self.classes if self.classes is not None and len(self.coef) > 1 else ()

    def ends(self) -> tuple[Array, Array, str]:
        """Ends of the bars around coefficients, and what they are; NaN where nothing is known."""
        if self.summary is not None:
            width = self.coef.shape[1]
            low, high = (
                np.atleast_2d(end[:width]) for end in (self.summary.low, self.summary.high)
            )
            return low, high, "intervals"
        if self.noise is not None and np.isfinite(self.noise).any():
            reach = TWO_DEVIATIONS * self.noise
            return self.coef - reach, self.coef + reach, "noise"
        nothing = np.full(self.coef.shape, np.nan)
        return nothing, nothing, ""


def _encoding(model: Any, columns: tuple[Column, ...] | None) -> Encoding:  # noqa: ANN401
    if columns is not None:
        return Encoding(columns)
    found: Encoding | None = getattr(model, "_encoding", None)
    if found is not None:
        return found
    names = getattr(model, "feature_names_in_", None)
    listed = [""] * int(model.n_features_in_) if names is None else [str(one) for one in names]
    return Encoding(tuple(Column(one, Number()) for one in listed))


def _of_columns(model: Any) -> tuple[Array, Array, int]:  # noqa: ANN401
    """Coefficients of columns in their own units, constants, and the number of random features."""
    coef = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
    intercept = np.atleast_1d(np.asarray(model.intercept_, dtype=np.float64))
    if not hasattr(model, "feature_map_"):
        return coef, intercept, 0
    waves = int(model.feature_map_.n_features_out)
    line, encoding = coef[:, waves:], getattr(model, "_encoding", None)
    if encoding is not None and line.size:  # the command line's, fitted to scaled columns
        return (*encoding.in_own_units(line, intercept), waves)
    return line, intercept, waves


def _clip(model: Any, width: int) -> Array:  # noqa: ANN401
    """Ends to which values are clipped; they were released, or declared."""
    found = getattr(model, "bounds_X_", None)  # in the columns' own units, of kernels as well
    nothing = np.array([[-np.inf], [np.inf]]) * np.ones(width)
    if found is None or len(found[0]) != width:
        return nothing
    return np.array(found, dtype=np.float64)


def _spans(model: Any, encoding: Encoding, clip: Array) -> Array | None:  # noqa: ANN401
    """From the lowest to the highest value of each feature; None unless all are known."""
    declared = np.array(encoding.ends)
    if not np.isfinite(declared).all():
        given = _declared(getattr(model, "bounds_X", None), encoding)
        declared = np.where(np.isfinite(declared), declared, given)
    low, high = np.where(np.isfinite(clip), clip, declared)
    found = high - low
    return found if np.isfinite(found).all() and (found > 0).any() else None


def _declared(bounds: Any, encoding: Encoding) -> Array:  # noqa: ANN401
    """Declared ends of each feature as rows; infinite where there are none."""
    width = len(encoding.features)
    nothing = np.array([[-np.inf], [np.inf]]) * np.ones(width)
    if bounds is None:
        return nothing
    if isinstance(bounds, Mapping):
        pairs = [bounds.get(word, (-np.inf, np.inf)) for word in encoding.features]
        return np.array(pairs, dtype=np.float64).T
    try:
        low, high = bounds
        return np.array([np.broadcast_to(end, width) for end in (low, high)], dtype=np.float64)
    except ValueError:  # of another table: parameters may change after a fit
        return nothing
