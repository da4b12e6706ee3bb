"""Models as JSON: coefficients in the columns' own units, and the certificate beside them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privlearn._core.version import __version__
from privlearn.cli.clip_ranges import Limits
from privlearn.cli.design import Design
from privlearn.cli.encoding import AsIs, Categories, Column, Scaled
from privlearn.cli.errors import CommandError
from privlearn.cli.models import MODELS
from privlearn.cli.outputs import Output

__all__ = ["CLIPPING", "FORMAT", "SavedModel", "read_model"]

FORMAT = "privlearn model 1"
CLIPPING = "privlearn model 2"  # with limits, which a reader of the first format would overlook
Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A fitted model as it is kept: prediction = intercept + sum of coefficient times value.

    Where ranges were estimated privately, values and predictions are clipped to them.

    Attributes
    ----------
    kind : str
        The model's name on the command line.
    target : str
        The column that it predicts.
    columns : tuple of Column
        What it predicts from.
    coef : array of shape (1, n_features) or (n_classes, n_features)
        One number per feature, in the units of the file; one row per class where there are more
        than two.
    intercept : array of shape (1,) or (n_classes,)
        The score where all features are 0.
    classes : tuple of str or None
        Labels; of two, the second belongs to positive scores.
    certificate : dict
        The privacy guarantee.
    limits : Limits
        What predictions clip.
    """

    kind: str
    target: str
    columns: tuple[Column, ...]
    coef: Array
    intercept: Array
    classes: tuple[str, ...] | None
    certificate: dict[str, Any]
    limits: Limits = field(default_factory=Limits)

    @classmethod
    def of(cls, kind: str, design: Design, estimator: Any) -> SavedModel:  # noqa: ANN401
        """A fitted estimator, brought back to the units of the file."""
        coef, shift = _unscaled(design.columns, np.atleast_2d(estimator.coef_))
        classes = getattr(estimator, "classes_", None)
        return cls(
            kind=kind,
            target=design.target,
            columns=design.columns,
            coef=coef,
            intercept=np.atleast_1d(estimator.intercept_) + shift,
            classes=None if classes is None else tuple(str(label) for label in classes),
            certificate=estimator.privacy_.to_dict(),
            limits=Limits.of(getattr(estimator, "_clip_bounds", None)),
        )

    def estimator(self) -> Any:  # noqa: ANN401
        """The fitted estimator, for features in the units of the file."""
        import privlearn

        return getattr(privlearn, MODELS[self.kind].estimator).from_dict(
            {
                "coef": self.coef,
                "intercept": self.intercept,
                "classes": self.classes,
                "clip_X": None if self.limits.low is None else (self.limits.low, self.limits.high),
                "clip_y": self.limits.target,
            }
        )

    def effects(self) -> list[tuple[str, Array]]:
        """Every feature in words, with its coefficients."""
        words = [word for column in self.columns for word in _features(column)]
        return [*zip(words, self.coef.T, strict=True), ("(intercept)", self.intercept)]

    def ranges(self) -> list[tuple[str, list[float]]]:
        """Columns of numbers, the target last, with the ranges to which they are clipped."""
        found = [
            (column.name, self.limits.range_of(part.start))
            for column, part in zip(self.columns, self._parts(), strict=True)
            if not isinstance(column, Categories)
        ]
        if self.limits.target is not None:
            found.append((self.target, list(self.limits.target)))
        return [(name, pair) for name, pair in found if pair is not None]

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values."""
        return {
            "format": CLIPPING if self.limits else FORMAT,
            "privlearn": __version__,
            "model": self.kind,
            "target": self.target,
            "classes": None if self.classes is None else list(self.classes),
            "intercept": _plain(self.intercept),
            **self.limits.of_predictions(),
            "columns": [
                _entry(column, self.coef[:, part]) | self.limits.of_column(column, part)
                for column, part in zip(self.columns, self._parts(), strict=True)
            ],
            "certificate": self.certificate,
        }

    def to_json(self) -> str:
        """Everything, as JSON."""
        return json.dumps(self.to_dict(), indent=2)

    def write(self, output: Output) -> None:
        """Save as JSON."""
        output.write(self.to_json() + "\n")

    def _parts(self) -> list[slice]:
        """Where the features of each column are."""
        ends = np.cumsum([column.width for column in self.columns]).tolist()
        return [slice(a, b) for a, b in zip([0, *ends], ends, strict=False)]


def _unscaled(columns: Sequence[Column], coef: Array) -> tuple[Array, Array]:
    parts: list[Array] = []
    shift, start = np.zeros(len(coef)), 0
    for column in columns:
        part, added = column.unscale(coef[:, start : start + column.width])
        parts.append(part)
        shift += added
        start += column.width
    return np.hstack(parts), shift


def _plain(values: Array) -> float | list[float]:
    """One number, or a list with one per class."""
    return float(values[0]) if len(values) == 1 else [float(value) for value in values]


def _features(column: Column) -> list[str]:
    if isinstance(column, Categories):
        return [f"{column.name} = {value}" for value in column.values]
    return [column.name]


def _entry(column: Column, coef: Array) -> dict[str, Any]:
    numbers = [_plain(values) for values in coef.T]
    if isinstance(column, Categories):
        return {"name": column.name, "categories": dict(zip(column.values, numbers, strict=True))}
    if isinstance(column, Scaled):
        return {
            "name": column.name,
            "bounds": [column.low, column.high],
            "coefficient": numbers[0],
        }
    return {"name": column.name, "coefficient": numbers[0]}


def read_model(path: str | Path) -> SavedModel:
    """Read a model file, or say what is wrong with it."""
    remedy = "give a file that privlearn fit wrote (-o model.json)"
    content = _parsed_json(path, remedy)
    found = content.get("format") if isinstance(content, dict) else None
    if found not in (FORMAT, CLIPPING):
        if isinstance(found, str) and found.startswith("privlearn model"):
            raise CommandError(f"{path} is a {found!r}, newer than this version; update privlearn")
        raise CommandError(f"{path} is JSON, but no model file; {remedy}")
    try:
        return _saved(content)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError):
        pass  # out of the handler, so that the error's text, which may quote, is left behind
    raise CommandError(f"the model {path} is incomplete or damaged; {remedy}")


def _parsed_json(path: str | Path, remedy: str) -> Any:  # noqa: ANN401
    try:
        return json.loads(Path(path).read_bytes().decode("utf-8"))
    except OSError as error:
        problem = f"the model {path} cannot be read: {error.strerror}"
    except (ValueError, RecursionError):
        problem = f"{path} is no model file (it is not JSON); {remedy}"
    raise CommandError(problem)


def _saved(content: dict[str, Any]) -> SavedModel:
    parsed = [_parsed(entry) for entry in content["columns"]]
    coef = np.hstack([part for _, part in parsed])
    intercept = np.atleast_1d(np.array(content["intercept"], dtype=float))
    classes = content["classes"]
    _check_shape(coef, intercept, classes)
    if content["model"] not in MODELS or MODELS[content["model"]].classifies == (classes is None):
        raise ValueError("a model is of a kind that is known, and has labels where it classifies")
    return SavedModel(
        kind=str(content["model"]),
        target=str(content["target"]),
        columns=tuple(column for column, _ in parsed),
        coef=coef,
        intercept=intercept,
        classes=None if classes is None else tuple(map(str, classes)),
        certificate=dict(content["certificate"]),
        limits=Limits.read(content) if content["format"] == CLIPPING else Limits(),
    )


def _parsed(entry: dict[str, Any]) -> tuple[Column, Array]:
    name = str(entry["name"])
    if "categories" in entry:
        values = entry["categories"]
        return Categories(name, tuple(values)), _by_feature(list(values.values()))
    coef = _by_feature([entry["coefficient"]])
    if "bounds" in entry:
        low, high = entry["bounds"]
        return Scaled(name, float(low), float(high)), coef
    return AsIs(name), coef


def _by_feature(values: list[Any]) -> Array:
    """One column per feature, one row per class."""
    return np.array([np.atleast_1d(value) for value in values], dtype=float).T


def _check_shape(coef: Array, intercept: Array, classes: list[str] | None) -> None:
    if classes is not None and not (isinstance(classes, list) and len(set(classes)) >= 2):
        raise ValueError("classes are two or more labels")
    rows = len(classes) if classes is not None and len(classes) > 2 else 1
    if len(coef) != rows or intercept.shape != (rows,):
        raise ValueError("there is one row of coefficients per class")
    if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
        raise ValueError("coefficients are finite")
