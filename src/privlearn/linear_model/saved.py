"""Fitted models as plain values, and back: what predictions need, and the certificate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    noise = getattr(model, "_coef_noise", None)
    return {
        "model": type(model).__name__,
        "fit_intercept": bool(model.fit_intercept),
        "coef": np.atleast_2d(model.coef_).tolist(),
        "intercept": np.atleast_1d(model.intercept_).tolist(),
        "classes": None if classes is None else np.asarray(classes).tolist(),
        "feature_names": None if names is None else [str(name) for name in names],
        "target": getattr(model, "_target_name", None),
        **({} if encoding is None else _schema(encoding)),
        "clip_X": None if clip.low is None else [_ends(clip.low), _ends(clip.high)],
        "clip_y": None if clip.target is None else list(clip.target),
        "clip_norm": clip.row_norm,
        **({} if noise is None else {"coef_noise": [_ends(row) for row in np.atleast_2d(noise)]}),
        **_errors(model),
        **_parameters(model),
        "certificate": model.privacy_.to_dict(),
    }


def _ends(side: NDArray[np.float64] | None) -> list[float | None]:
    """Numbers; None where a feature has no end or is not known, for JSON knows no infinity."""
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


def _errors(model: PrivateEstimator) -> dict[str, Any]:
    if not hasattr(model, "_errors"):
        return {}
    from privlearn.linear_model.saved_errors import plain_errors

    return {"errors": plain_errors(model._errors)}


def _parameters(model: PrivateEstimator) -> dict[str, Any]:
    from privlearn.linear_model.saved_parameters import plain_parameters

    found = plain_parameters(model)
    return {"parameters": found} if found else {}


def fill(model: PrivateEstimator, content: Mapping[str, Any]) -> None:
    """Set what `plain_values` told, as a fit would have."""
    _check(model, content)
    coef = np.array(content["coef"], dtype=np.float64)
    intercept = np.array(content["intercept"], dtype=np.float64)
    classes = content.get("classes")
    _check_numbers(coef, intercept, classes)
    model.fit_intercept = bool(content.get("fit_intercept", True))
    if classes is not None:
        model.classes_ = np.array(classes)
    solution = model._read_solution(content, Solution(coef, intercept, clip_bounds=_clip(content)))
    model.n_features_in_ = width = model._input_width(solution)
    if content.get("schema") is not None:
        from privlearn.schema.plain import read_columns

        encoding = read_columns(content["schema"])
        if len(encoding.features) != width:
            raise ValueError("a model has one coefficient for each feature of its schema")
        model._encoding, model.n_features_in_ = encoding, len(encoding.columns)
    _check_widths(content, width, model.n_features_in_)
    if content.get("feature_names") is not None:
        model.feature_names_in_ = np.array(content["feature_names"], dtype=object)
    model._publish(solution)
    if content.get("coef_noise") is not None:
        model._coef_noise = np.array(content["coef_noise"], float).reshape(np.shape(model.coef_))
    if content.get("errors") is not None:
        from privlearn.linear_model.saved_errors import errors_from

        size = solution.coef.size + int(model.fit_intercept)
        model._errors = errors_from(content["errors"], size)
    if content.get("certificate"):
        model.privacy_ = Certificate.from_dict(content["certificate"])
    from privlearn.linear_model.saved_parameters import set_parameters

    if isinstance(content.get("target"), str):
        model._target_name = content["target"]
    set_parameters(model, content)


def _check_numbers(
    coef: NDArray[np.float64], intercept: NDArray[np.float64], classes: Sequence[object] | None
) -> None:
    """Refuse coefficients that do not belong together."""
    if coef.ndim != 2 or intercept.shape != coef.shape[:1]:
        raise ValueError("a model has a row of coefficients and an intercept for each output")
    if classes is not None and len({str(label) for label in classes}) < 2:
        raise ValueError("classes are two or more labels")
    if len(coef) != (len(classes) if classes is not None and len(classes) > 2 else 1):
        raise ValueError("a model has one row of coefficients, or one for each of several classes")
    if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
        raise ValueError("coefficients of a model are finite numbers")


def _check_widths(content: Mapping[str, Any], width: int, columns: int) -> None:
    """Refuse limits and names of another number of features or columns."""
    box, names = clip_box(content), content.get("feature_names")
    if box is not None and (box.shape != (2, width) or not (box[0] <= box[1]).all()):
        raise ValueError("limits of a model are a lower and an upper one for each feature")
    if names is not None and (len(names) != columns or not all(type(n) is str for n in names)):
        raise ValueError("a model has one name for each column")


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
