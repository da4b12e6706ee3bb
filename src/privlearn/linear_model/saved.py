"""Fitted models as plain values, and back: what predictions need, and the certificate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privlearn._core.certificate import Certificate
from privlearn._core.problem import Bounds
from privlearn.solvers import Solution

if TYPE_CHECKING:
    from privlearn.linear_model.base import PrivateEstimator
    from privlearn.schema.encoding import Encoding

__all__ = ["clip_box", "fill", "plain_values"]


def plain_values(model: PrivateEstimator) -> dict[str, Any]:
    """All that a fit published, as numbers, texts, lists and dictionaries."""
    clip = getattr(model, "_clip_bounds", Bounds(None, None, None, None))
    classes = getattr(model, "classes_", None)
    names = getattr(model, "feature_names_in_", None)
    encoding = getattr(model, "_encoding", None)
    return {
        "model": type(model).__name__,
        "fit_intercept": bool(model.fit_intercept),
        "coef": np.atleast_2d(model.coef_).tolist(),
        "intercept": np.atleast_1d(model.intercept_).tolist(),
        "classes": None if classes is None else np.asarray(classes).tolist(),
        "feature_names": None if names is None else [str(name) for name in names],
        **({} if encoding is None else _schema(encoding)),
        "clip_X": None if clip.low is None else [_ends(clip.low), _ends(clip.high)],
        "clip_y": None if clip.target is None else list(clip.target),
        "clip_norm": clip.row_norm,
        "certificate": model.privacy_.to_dict(),
    }


def _ends(side: NDArray[np.float64] | None) -> list[float | None]:
    """Numbers; None where a feature has no end, for JSON knows no infinity."""
    return [end if np.isfinite(end) else None for end in np.asarray(side).tolist()]


def clip_box(content: Mapping[str, Any]) -> NDArray[np.float64] | None:
    """Lowest and highest value of each feature as rows, infinite where there is no end."""
    if content.get("clip_X") is None:
        return None
    sides = zip(content["clip_X"], (-np.inf, np.inf), strict=True)
    return np.array([[none if end is None else end for end in side] for side, none in sides], float)


def _schema(encoding: Encoding) -> dict[str, Any]:
    from privlearn.schema.plain import plain_columns

    return {"schema": plain_columns(encoding)}


def fill(model: PrivateEstimator, content: Mapping[str, Any]) -> None:
    """Set what `plain_values` told, as a fit would have."""
    _check(model, content)
    coef = np.array(content["coef"], dtype=np.float64)
    intercept = np.array(content["intercept"], dtype=np.float64)
    if coef.ndim != 2 or intercept.shape != coef.shape[:1]:
        raise ValueError("a model has a row of coefficients and an intercept for each output")
    classes = content.get("classes")
    if classes is not None and len({str(label) for label in classes}) < 2:
        raise ValueError("classes are two or more labels")
    if len(coef) != (len(classes) if classes is not None and len(classes) > 2 else 1):
        raise ValueError("a model has one row of coefficients, or one for each of several classes")
    if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
        raise ValueError("coefficients of a model are finite numbers")
    model.fit_intercept = bool(content.get("fit_intercept", True))
    if classes is not None:
        model.classes_ = np.array(classes)
    if content.get("feature_names") is not None:
        model.feature_names_in_ = np.array(content["feature_names"], dtype=object)
    solution = Solution(coef, intercept, clip_bounds=_clip(content))
    solution, model.n_features_in_ = model._restored(solution, content)
    if content.get("schema") is not None:
        from privlearn.schema.plain import read_columns

        encoding = read_columns(content["schema"])
        if len(encoding.features) != coef.shape[1]:
            raise ValueError("a model has one coefficient for each feature of its schema")
        model._encoding, model.n_features_in_ = encoding, len(encoding.columns)
    model._publish(solution)
    if content.get("certificate"):
        model.privacy_ = Certificate.from_dict(content["certificate"])


def _check(model: PrivateEstimator, content: Mapping[str, Any]) -> None:
    """Refuse values of another model, and those of which a part is missing."""
    own = type(model).__name__
    if content.get("model", own) != own:
        raise ValueError(f"these are the values of another model; read them with that, not {own}")
    for name in ("coef", "intercept"):
        if name not in content:
            raise ValueError(f"{name!r} is missing; give what to_dict of a fitted {own} returned")
    if (content.get("classes") is None) == hasattr(model, "classes"):
        raise ValueError("classifiers have 'classes', and regressors have none")


def _clip(content: Mapping[str, Any]) -> Bounds | None:
    box, (target, norm) = clip_box(content), (content.get(key) for key in ("clip_y", "clip_norm"))
    if box is None and target is None and norm is None:
        return None
    low, high = (None, None) if box is None else box
    return Bounds(low, high, None if target is None else tuple(target), norm)
