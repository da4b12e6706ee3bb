"""Models as the command line keeps them: the file of `privlearn.export`, and what to say of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privlearn._core import certificate_file  # noqa: F401  before a charge, not after it
from privlearn.cli.design import Design
from privlearn.cli.errors import CommandError
from privlearn.cli.models import MODELS
from privlearn.cli.outputs import Output, write_or_print
from privlearn.export.model_file import FORMATS, FileContent, model_text, parsed
from privlearn.linear_model import saved  # noqa: F401  the same
from privlearn.schema.encoding import Column, Encoding

if TYPE_CHECKING:
    from privlearn.linear_model.base import PrivateEstimator
    from privlearn.linear_model.summary import Summary

__all__ = ["CLIPPING", "FORMAT", "KINDS", "SavedModel", "read_any", "read_model"]

FORMAT, CLIPPING, KINDS, *_ = FORMATS
Array = NDArray[np.float64]
UNNAMED = "y"  # the target of a model that Python saved


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A fitted model as it is kept: prediction = intercept + sum of coefficient times value.

    Where ranges were estimated privately, values and predictions are clipped to them. Of a kernel,
    columns are encoded, and those with declared ranges scaled to 0..1, before its features are.

    Attributes
    ----------
    content : FileContent
        What the file says.
    """

    content: FileContent

    @classmethod
    def of(cls, kind: str, design: Design, estimator: PrivateEstimator) -> SavedModel:
        """A fitted estimator, whose model is in the units of the file."""
        values = estimator.to_dict() | {"model": MODELS[kind].estimator, "target": design.target}
        if values["classes"] is not None:
            values["classes"] = [*map(str, values["classes"])]
        if MODELS[kind].mapped:
            return cls(FileContent.of_encoded(values, design.columns, design.target))
        columns = estimator._encoding.columns if design.encoding.pending else design.columns
        return cls(FileContent(values, columns, design.target))

    @property
    def mapped(self) -> bool:
        """Whether it is a kernel, whose features are computed from the columns."""
        return "features" in self.content.values

    @property
    def target(self) -> str:
        """The column that it predicts."""
        return self.content.target or UNNAMED

    @property
    def columns(self) -> tuple[Column, ...]:
        """What it predicts from."""
        return self.content.columns

    @property
    def coef(self) -> Array:
        """One number per feature, in the units of the file; a row per class of several."""
        return np.array(self.content.values["coef"], dtype=float)

    @property
    def classes(self) -> list[str] | None:
        """Labels; of two, the second belongs to positive scores."""
        found = self.content.values["classes"]
        return None if found is None else [*map(str, found)]

    @property
    def certificate(self) -> dict[str, Any]:
        """The privacy guarantee."""
        found: dict[str, Any] = self.content.values["certificate"]
        return found

    @property
    def clip_y(self) -> list[float] | None:
        """Lowest and highest prediction, where they are clipped."""
        found: list[float] | None = self.content.values["clip_y"]
        return found

    def estimator(self) -> PrivateEstimator:
        """The fitted estimator, for what `inputs` gives."""
        left_out = ("certificate", "schema", "feature_names", "coef_noise")
        values = {k: v for k, v in self.content.values.items() if k not in left_out}
        return FileContent(values | {"classes": self.classes}, self.columns).model()

    def inputs(self, features: Array) -> Array:
        """Features in the units of the file, as the estimator takes them."""
        return Encoding(self.columns).scaled(features) if self.mapped else features

    def effects(self) -> list[tuple[str, Array]]:
        """Every feature in words, with its coefficients; a curve has no coefficient of a column."""
        if self.mapped:
            return []
        words = [word for column in self.columns for word in column.features]
        intercept = np.array(self.content.values["intercept"], dtype=float)
        return [*zip(words, self.coef.T, strict=True), ("(intercept)", intercept)]

    def summary(self) -> Summary | None:
        """The table of coefficients with standard errors, where the fit was asked for them.

        None of a curve: coefficients of random features mean nothing.
        """
        if self.mapped:
            return None
        found: Summary = self.content.model().summary()
        return found

    def ranges(self) -> list[tuple[str, list[float]]]:
        """Columns of numbers, the target last, with the ranges to which they are clipped."""
        sides = None if self.mapped else self.content.values["clip_X"]
        limits = [*zip(*sides, strict=True)] if sides else []
        found = [
            (column.name, [*limits[part.start]])
            for column, part in Encoding(self.columns).parts()
            if limits and not column.is_list and None not in limits[part.start]
        ]
        return [*found, *([(self.target, self.clip_y)] if self.clip_y else [])]

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values."""
        return self.content.to_dict()

    def to_json(self) -> str:
        """Everything, as JSON."""
        return model_text(self.content).rstrip("\n")

    def write(self, output: Output) -> None:
        """Save as JSON; where that fails, print it, for by now it is paid for."""
        write_or_print(output, model_text(self.content), "model was")


def read_any(path: str | Path) -> SavedModel:
    """Read a model file, also one for Python alone, or say what is wrong with it."""
    try:
        return SavedModel(parsed(Path(path).read_bytes(), str(path)))
    except OSError as error:
        problem = f"the model {path} cannot be read: {error.strerror}"
    except ValueError as error:
        problem = str(error)
    raise CommandError(problem)


def read_model(path: str | Path) -> SavedModel:
    """Read a model file that the command line predicts with, or say what is wrong with it."""
    found = read_any(path)
    why = _only_python(found.content)
    if why is None:
        return found
    raise CommandError(f"the model {path} {why}; use it in Python: privlearn.load({str(path)!r})")


def _only_python(content: FileContent) -> str | None:
    """Why a model is none for the command line, if it is none."""
    if not all(column.name for column in content.columns):
        return "was learned from an array whose columns have no names"
    shortens = content.values["clip_norm"] is not None and content.values.get("schema") is not None
    if shortens and not content.scales:
        return "shortens rows in units of its own"
    return None
