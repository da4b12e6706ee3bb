"""Kernel models as JSON: the estimator's own values, and the columns that it is fed with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privlearn._core.harmless import json_text
from privlearn._core.version import __version__
from privlearn.cli.design import Design
from privlearn.cli.model_file import MAPPED
from privlearn.cli.models import MODELS
from privlearn.cli.outputs import Output
from privlearn.kernel_model.base import KernelMixin
from privlearn.linear_model.base import PrivateEstimator
from privlearn.schema.encoding import Column, Encoding
from privlearn.schema.plain import plain_columns, read_columns

__all__ = ["SavedKernelModel"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SavedKernelModel:
    """A fitted kernel model as it is kept.

    Columns are encoded, those with declared ranges scaled to 0..1, before the estimator sees them.

    Attributes
    ----------
    kind : str
        The model's name on the command line.
    target : str
        The column that it predicts.
    columns : tuple of Column
        What it predicts from.
    values : dict
        What `to_dict` of the estimator gave.
    """

    kind: str
    target: str
    columns: tuple[Column, ...]
    values: dict[str, Any]

    @classmethod
    def of(cls, kind: str, design: Design, estimator: PrivateEstimator) -> SavedKernelModel:
        """A fitted estimator of encoded columns."""
        values = estimator.to_dict()
        if values["classes"] is not None:
            values["classes"] = [*map(str, values["classes"])]
        return cls(kind, design.target, design.columns, values)

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> SavedKernelModel:
        """What `to_dict` told."""
        columns = read_columns({"columns": content["columns"], "shifted": True}).columns
        values = dict(content["values"]) | {"certificate": dict(content["certificate"])}
        return cls(str(content["model"]), str(content["target"]), columns, values)

    @property
    def classes(self) -> list[str] | None:
        """Labels, of a classifier."""
        return None if self.values["classes"] is None else list(self.values["classes"])

    @property
    def certificate(self) -> dict[str, Any]:
        """The privacy guarantee."""
        return dict(self.values["certificate"])

    @property
    def clip_y(self) -> list[float] | None:
        """Lowest and highest prediction, where they were estimated."""
        return self.values["clip_y"]

    def estimator(self) -> KernelMixin:
        """The fitted estimator, for what `inputs` gives."""
        found = MODELS[self.kind].estimator_class().from_dict(self.values)
        if not isinstance(found, KernelMixin):
            raise TypeError("a model of this format is a kernel model")
        if found.n_features_in_ != len(Encoding(self.columns).features):
            raise ValueError("a kernel model has as many inputs as its columns have features")
        return found

    def inputs(self, features: Array) -> Array:
        """Features in the columns' own units as the estimator takes them."""
        return Encoding(self.columns).scaled(features)

    def effects(self) -> list[tuple[str, Array]]:
        """None: a curve has no coefficient of a column."""
        return []

    def ranges(self) -> list[tuple[str, list[float]]]:
        """The target, where predictions are clipped."""
        return [(self.target, self.clip_y)] if self.clip_y else []

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values."""
        values = {key: value for key, value in self.values.items() if key != "certificate"}
        return {
            "format": MAPPED,
            "privlearn": __version__,
            "model": self.kind,
            "target": self.target,
            "classes": self.classes,
            "columns": plain_columns(Encoding(self.columns))["columns"],
            "values": values,
            "certificate": self.certificate,
        }

    def to_json(self) -> str:
        """Everything, as JSON."""
        return json_text(self.to_dict())

    def write(self, output: Output) -> None:
        """Save as JSON."""
        output.write(self.to_json() + "\n")
