"""Parameters of a fit as plain values, and back: a model that was saved is shown as it was fitted.

Left out are those that say where and how a fit ran, and not what it was: the ledger and its data
set, seeds, messages. Epsilon, delta, adjacency and the rows of a person are the certificate's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from privlearn.linear_model.base import PrivateEstimator

__all__ = ["plain_parameters", "set_parameters"]

OF_A_RUN = ("ledger", "dataset", "random_state", "verbose")
ELSEWHERE = ("epsilon", "delta", "adjacency", "max_rows_per_person", "fit_intercept")
INFINITE = "infinite"  # JSON knows no infinity
SOLVER = "solver class"


class _NotPlain(TypeError):
    """A parameter is of a class that a file cannot say."""


def plain_parameters(model: PrivateEstimator) -> dict[str, Any]:
    """Parameters that differ from their defaults, as numbers, texts, lists and dictionaries.

    Examples
    --------
    >>> from privlearn import Ridge
    >>> plain_parameters(Ridge(alpha=2.0, bounds_y=(0, 3), epsilon=9.0))
    {'alpha': 2.0, 'bounds_y': [0, 3]}
    """
    usual = {name: _or_none(value) for name, value in _own(type(model)()).items()}
    given = _own(model)
    found = {name: _or_none(value) for name, value in given.items() if given[name] is not None}
    kept = {name: value for name, value in found.items() if value not in (None, usual[name])}
    encoding = getattr(model, "_encoding", None)
    if encoding is None:
        return kept
    if isinstance(given["bounds_X"], Mapping):  # the columns of the model have these ranges
        kept.pop("bounds_X", None)
    if isinstance(given["schema"], Mapping):
        known = {column.name: column.kind for column in encoding.columns}
        open_ = {k: v for k, v in given["schema"].items() if known.get(k) != v}
        kept |= {"schema": _or_none(open_)}
    return {name: value for name, value in kept.items() if value != {}}


def _own(model: PrivateEstimator) -> dict[str, Any]:
    left_out = (*OF_A_RUN, *ELSEWHERE)
    return {k: v for k, v in model.get_params(deep=False).items() if k not in left_out}


def _or_none(value: object) -> Any:  # noqa: ANN401
    try:
        return _plain(value)
    except _NotPlain:
        return None


def _plain(value: Any) -> Any:  # noqa: ANN401
    if value is None or isinstance(value, str | bool | np.bool_):
        return bool(value) if isinstance(value, np.bool_) else value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return _number(float(value))
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(one) for one in value]
    return _object(value)


def _number(value: float) -> Any:  # noqa: ANN401
    if math.isnan(value):
        raise _NotPlain
    return value if math.isfinite(value) else {INFINITE: 1 if value > 0 else -1}


def _object(value: Any) -> dict[str, Any]:  # noqa: ANN401
    """A kind of column, or a solver with settings of its own."""
    from privlearn import solvers
    from privlearn.schema.kinds import Ignore, Kind
    from privlearn.schema.plain import plain_kind

    if isinstance(value, Kind | Ignore):
        return plain_kind(value)
    name = type(value).__name__
    if is_dataclass(value) and getattr(solvers, name, None) is type(value):
        listed = fields(value)
        given = {one.name: _plain(getattr(value, one.name)) for one in listed if one.init}
        return {SOLVER: name} | {k: v for k, v in given.items() if v is not None}
    raise _NotPlain


def set_parameters(model: PrivateEstimator, content: Mapping[str, Any]) -> None:
    """Set what `plain_parameters` told, and what the certificate and the columns tell."""
    own = _own(model)
    encoding = getattr(model, "_encoding", None)
    schema: Any = None
    if encoding is not None and not hasattr(model, "kernel"):
        schema = {column.name: column.kind for column in encoding.columns}
    for name, value in (content.get("parameters") or {}).items():
        if name not in own:
            raise ValueError("a parameter is none of this model")
        read = _read(value, name)
        if name == "schema" and isinstance(read, dict):
            read = read | {k: v for k, v in (schema or {}).items() if k not in read}
        setattr(model, name, read)
    if model.schema is None:
        model.schema = schema
    certificate = getattr(model, "privacy_", None)
    if certificate is not None:
        model.epsilon, model.delta = certificate.epsilon, certificate.delta
        model.adjacency = certificate.adjacency
        model.max_rows_per_person = certificate.rows_per_person
    model._validate_params()


def _read(value: Any, name: str) -> Any:  # noqa: ANN401
    if isinstance(value, dict) and {*value} == {INFINITE}:
        return math.copysign(math.inf, value[INFINITE])
    if name == "schema" and isinstance(value, dict):
        from privlearn.schema.plain import kind_from

        if isinstance(value.get("kind"), str):  # one kind for all columns, none of one named "kind"
            return kind_from(value)
        return {str(key): kind_from(one) for key, one in value.items()}
    if isinstance(value, dict) and SOLVER in value:
        return _solver(value)
    if isinstance(value, dict):
        return {str(key): _read(one, "") for key, one in value.items()}
    if isinstance(value, list):  # a pair of lists, as a user would write it
        return tuple(_inner(one) for one in value)
    if isinstance(value, float) and math.isnan(value):
        raise ValueError("a parameter is no number")
    return value


def _inner(value: Any) -> Any:  # noqa: ANN401
    found = _read(value, "")
    return [*found] if isinstance(found, tuple) else found


def _solver(value: dict[str, Any]) -> Any:  # noqa: ANN401
    from privlearn import solvers

    name = value[SOLVER]
    if name not in solvers.__all__ or not is_dataclass(getattr(solvers, name)):
        raise ValueError("a solver is none of this library")
    return getattr(solvers, name)(**{k: _read(v, "") for k, v in value.items() if k != SOLVER})
