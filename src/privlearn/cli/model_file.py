"""Models as JSON: coefficients in the columns' own units, and the certificate beside them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privlearn._core.version import __version__
from privlearn.cli.design import Design
from privlearn.cli.errors import CommandError
from privlearn.cli.models import MODELS
from privlearn.cli.outputs import Output
from privlearn.schema import Category, Number
from privlearn.schema.encoding import Column, Encoding
from privlearn.schema.kinds import Kind
from privlearn.schema.plain import kind_from, plain_kind

if TYPE_CHECKING:
    from privlearn.linear_model.base import PrivateEstimator

__all__ = ["CLIPPING", "FORMAT", "KINDS", "SavedModel", "read_model"]

FORMAT = "privlearn model 1"
CLIPPING = "privlearn model 2"  # with limits, which a reader of the first format would overlook
KINDS = "privlearn model 3"  # with columns that are neither plain numbers nor plain lists
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
    classes : list of str or None
        Labels; of two, the second belongs to positive scores.
    certificate : dict
        The privacy guarantee.
    clip_X : array of shape (2, n_features) or None
        Lowest and highest value of each feature in the file's units, infinite where nothing is
        clipped.
    clip_y : list of two numbers or None
        Lowest and highest prediction.
    """

    kind: str
    target: str
    columns: tuple[Column, ...]
    coef: Array
    intercept: Array
    classes: list[str] | None
    certificate: dict[str, Any]
    clip_X: Array | None = None
    clip_y: list[float] | None = None

    @classmethod
    def of(cls, kind: str, design: Design, estimator: PrivateEstimator) -> SavedModel:
        """A fitted estimator, whose model is in the units of the file."""
        from privlearn.linear_model.saved import clip_box

        values = estimator.to_dict()
        return cls(
            kind=kind,
            target=design.target,
            columns=estimator._encoding.columns if design.encoding.pending else design.columns,
            coef=np.array(values["coef"]),
            intercept=np.array(values["intercept"]),
            classes=None if values["classes"] is None else [*map(str, values["classes"])],
            certificate=values["certificate"],
            clip_X=clip_box(values),
            clip_y=values["clip_y"],
        )

    def _parts(self) -> Iterator[tuple[Column, slice]]:
        return Encoding(self.columns).parts()

    def estimator(self) -> PrivateEstimator:
        """The fitted estimator, for features in the units of the file."""
        values = {name: getattr(self, name) for name in ("coef", "intercept", "classes")}
        clips = {"clip_X": self.clip_X, "clip_y": self.clip_y}
        return MODELS[self.kind].estimator_class().from_dict(values | clips)

    def effects(self) -> list[tuple[str, Array]]:
        """Every feature in words, with its coefficients."""
        words = [word for column in self.columns for word in column.features]
        return [*zip(words, self.coef.T, strict=True), ("(intercept)", self.intercept)]

    def ranges(self) -> list[tuple[str, list[float]]]:
        """Columns of numbers, the target last, with the ranges to which they are clipped."""
        found = [
            (column.name, self._clips(part)[0])
            for column, part in self._parts()
            if not column.is_list
        ]
        return [(name, clip) for name, clip in [*found, (self.target, self.clip_y)] if clip]

    def _clips(self, part: slice) -> list[list[float] | None]:
        """Lowest and highest value of some features; None where one is not clipped."""
        if self.clip_X is None:
            return [None] * (part.stop - part.start)
        pairs = (self.clip_X[:, part] + 0.0).T.tolist()  # no -0 to be read
        return [pair if np.isfinite(pair).all() else None for pair in pairs]

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values."""
        found = FORMAT if self.clip_X is None and self.clip_y is None else CLIPPING
        return {
            "format": KINDS if not all(map(_is_plain, self.columns)) else found,
            "privlearn": __version__,
            "model": self.kind,
            "target": self.target,
            "classes": self.classes,
            "intercept": _plain(self.intercept),
            **({"clip_prediction": self.clip_y} if self.clip_y else {}),
            "columns": [self._entry(column, part) for column, part in self._parts()],
            "certificate": self.certificate,
        }

    def _entry(self, column: Column, part: slice) -> dict[str, Any]:
        """What the file says about a column."""
        numbers, clips = [_plain(values) for values in self.coef[:, part].T], self._clips(part)
        entry: dict[str, Any] = {"name": column.name}
        clip: object = clips[0]
        if not _is_plain(column):
            entry["schema"] = plain_kind(column.kind)
            entry["coefficients"] = dict(zip(column.features, numbers, strict=True))
            clip = dict(zip(column.features, clips, strict=True))
        elif isinstance(column.kind, Category):
            entry["categories"] = dict(zip(column.kind.values or (), numbers, strict=True))
            clip = dict(zip(column.kind.values or (), clips, strict=True))
        else:
            entry |= {"bounds": list(column.bounds)} if column.bounds else {}
            entry["coefficient"] = numbers[0]
        return entry | ({"clip": clip} if any(clips) else {})

    def to_json(self) -> str:
        """Everything, as JSON."""
        return json.dumps(self.to_dict(), indent=2)

    def write(self, output: Output) -> None:
        """Save as JSON."""
        output.write(self.to_json() + "\n")


def _is_plain(column: Column) -> bool:
    """Whether a range or a list is all that predictions need to know about a column."""
    kind = column.kind
    if isinstance(kind, Category):
        listed = kind.values is not None and not kind.other
        return listed and kind.missing in ("raise", "drop")
    if not isinstance(kind, Number):
        return False
    return kind in (Number(kind.low, kind.high, missing) for missing in ("raise", "drop"))


def _plain(values: Array) -> float | list[float]:
    """One number, or a list with one per class."""
    return float(values[0]) if len(values) == 1 else [float(value) for value in values]


def read_model(path: str | Path) -> SavedModel:
    """Read a model file, or say what is wrong with it."""
    remedy = "give a file that privlearn fit wrote (-o model.json)"
    parsed = _parsed_json(path, remedy)
    content = parsed if isinstance(parsed, dict) else {}
    found = content.get("format")
    if found not in (FORMAT, CLIPPING, KINDS):
        if isinstance(found, str) and found.startswith("privlearn model"):
            raise CommandError(f"{path} is a {found!r}, newer than this version; update privlearn")
        raise CommandError(f"{path} is JSON, but no model file; {remedy}")
    try:
        model = _saved(content)
        model.estimator()  # which refuses what does not go together
        return model
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError):
        pass  # out of the handler, so that the error's text, which may quote, is left behind
    raise CommandError(f"the model {path} is incomplete or damaged; {remedy}")


def _parsed_json(path: str | Path, remedy: str) -> object:
    try:
        return json.loads(Path(path).read_bytes().decode("utf-8"))
    except OSError as error:
        problem = f"the model {path} cannot be read: {error.strerror}"
    except (ValueError, RecursionError):
        problem = f"{path} is no model file (it is not JSON); {remedy}"
    raise CommandError(problem)


def _saved(content: dict[str, Any]) -> SavedModel:
    entries, classes = content["columns"], content["classes"]
    if not (classes is None or isinstance(classes, list)):
        raise ValueError("classes are two or more labels")
    coef = np.vstack([_coefficients(entry) for entry in entries]).T
    ends = [pair for entry in entries for pair in _clips(entry)]
    clipped = any("clip" in entry for entry in entries)
    target = content.get("clip_prediction")
    clips = clipped or target is not None
    if content["format"] != KINDS and (content["format"] == CLIPPING) != clips:
        raise ValueError("a model of the second format clips something, one of the first nothing")
    return SavedModel(
        kind=str(content["model"]),
        target=str(content["target"]),
        columns=tuple(_column(entry) for entry in entries),
        coef=coef,
        intercept=np.atleast_1d(np.array(content["intercept"], dtype=float)),
        classes=None if classes is None else [*map(str, classes)],
        certificate=dict(content["certificate"]),
        clip_X=np.array(ends).T if clipped else None,
        clip_y=None if target is None else _ordered(target),
    )


def _column(entry: dict[str, Any]) -> Column:
    name = str(entry["name"])
    if "schema" in entry:
        kind = kind_from(entry["schema"])
        if not isinstance(kind, Kind):
            raise ValueError("a column of a model is not ignored")
        return Column(name, kind)
    if "categories" in entry:
        return Column(name, Category(tuple(entry["categories"])))
    low, high = _ordered(entry["bounds"]) if "bounds" in entry else (None, None)
    return Column(name, Number(low, high))


def _coefficients(entry: dict[str, Any]) -> Array:
    """One row per feature, one column per class."""
    several = entry.get("categories", entry.get("coefficients"))
    values = [entry["coefficient"]] if several is None else several.values()
    return np.array([np.atleast_1d(value) for value in values], dtype=float)


def _clips(entry: dict[str, Any]) -> list[list[float]]:
    """One range per feature of a column."""
    clip = entry.get("clip")
    several = entry.get("categories", entry.get("coefficients"))
    if several is None:
        return [_ordered(clip)]
    return [_ordered((clip or {}).get(value)) for value in several]


def _ordered(pair: list[float] | None) -> list[float]:
    low, high = (-np.inf, np.inf) if pair is None else map(float, pair)
    if not low <= high:
        raise ValueError("the lower end comes first")
    return [low, high]
