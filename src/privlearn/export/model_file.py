"""Models as JSON, one format for Python and the command line: no code, and nothing is believed.

A file says of each column what it is, its coefficients and its limits, in the columns' own units,
with the certificate beside them. The first three formats are what the command line needs; the
fourth holds whatever an estimator is: columns without names, labels that are no text, kernels; the
fifth is for kernels of columns that are encoded and scaled before a feature map sees them.
A file is written in the oldest format that says all of it, and every format is read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import privlearn
from privlearn._core.version import __version__
from privlearn._core.whole_file import write_whole
from privlearn.export.columns import entry_of, is_plain, limits_of, plain_numbers, read_entry
from privlearn.schema import Number
from privlearn.schema.encoding import Column, Encoding
from privlearn.schema.plain import plain_columns, read_columns

if TYPE_CHECKING:
    from privlearn.linear_model.base import PrivateEstimator

__all__ = ["FORMATS", "NAMES", "FileContent", "load", "model_text", "parsed", "save"]

FORMATS = tuple(f"privlearn model {k}" for k in (1, 2, 3, 4, 5))
FIRST, CLIPPING, KINDS, ANY, ENCODED = FORMATS
ENCODED_BEFORE = "privlearn model of encoded columns 1"  # what the command line wrote for kernels
NAMES = {  # of estimators, in files and on the command line
    "linear": "LinearRegression",
    "ridge": "Ridge",
    "lasso": "Lasso",
    "elastic-net": "ElasticNet",
    "huber": "HuberRegressor",
    "poisson": "PoissonRegressor",
    "logistic": "LogisticRegression",
    "svc": "LinearSVC",
    "kernel": "KernelRegressor",
    "kernel-classifier": "KernelClassifier",
}
REMEDY = "give a file that model.save or privlearn fit wrote"
Values = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class FileContent:
    """What a file says: the values that an estimator reads, and what they are about.

    Attributes
    ----------
    values : dict
        As `to_dict` of an estimator gives them.
    columns : tuple of Column
        What a model predicts from; names are empty where there are none.
    target : str or None
        The column that it predicts, where it has a name.
    """

    values: Values
    columns: tuple[Column, ...]
    target: str | None = None

    @classmethod
    def of(cls, model: PrivateEstimator) -> FileContent:
        """A fitted estimator."""
        values = model.to_dict()
        if values.get("schema") is not None:
            return cls(values, read_columns(values["schema"]).columns, values["target"])
        names = values["feature_names"] or [""] * model.n_features_in_
        return cls(values, tuple(Column(name, Number()) for name in names), values["target"])

    @classmethod
    def of_encoded(cls, values: Values, columns: tuple[Column, ...], target: str) -> FileContent:
        """A kernel that was fitted to columns as they are encoded and scaled for a fit."""
        named: Values = {"feature_names": [column.name for column in columns], "target": target}
        given = values.get("parameters", {})  # a box would be that of scaled columns
        kept = {"parameters": {k: v for k, v in given.items() if k != "bounds_X"}}
        return cls({**values, **named, **kept, **_schema_of(columns)}, columns, target)

    def model(self) -> PrivateEstimator:
        """The estimator, fitted."""
        found: PrivateEstimator = getattr(privlearn, self.values["model"]).from_dict(self.values)
        return found

    def to_dict(self) -> dict[str, Any]:
        """The file, as plain values."""
        values, kernel = self.values, "features" in self.values
        coef, limits = np.array(values["coef"], dtype=float), self._limits()
        parts = Encoding(self.columns).parts()
        (name,) = [short for short, long in NAMES.items() if long == values["model"]]
        ends = values["clip_y"]
        return {
            "format": self._format(),
            "privlearn": __version__,
            "model": name,
            "target": self.target,
            "classes": values["classes"],
            "intercept": plain_numbers(np.array(values["intercept"], dtype=float)),
            **({"clip_prediction": ends} if ends else {}),
            "columns": [
                entry_of(column, None if kernel else coef[:, part], limits[part])
                for column, part in parts
            ],
            **(self._beyond() if self._format() in (ANY, ENCODED) else {}),
            **{name: values[name] for name in ("coef_noise", "parameters") if values.get(name)},
            "certificate": values["certificate"],
        }

    def _format(self) -> str:
        """The oldest that says all of it."""
        values, columns = self.values, self.columns
        if self.scales:
            return ENCODED
        if self.target is None or "features" in values or not all(c.name for c in columns):
            return ANY
        labels = values["classes"] or []
        texts = all(isinstance(label, str) for label in labels)
        ends = {end for pair in self._limits() if pair for end in pair}
        usual = values["fit_intercept"] and values["clip_norm"] is None and None not in ends
        told = (values.get("schema") is not None) == any(c.kind != Number() for c in columns)
        if not (texts and usual and told) or "errors" in values:
            return ANY
        if not all(map(is_plain, columns)):
            return KINDS
        return CLIPPING if ends or values["clip_y"] else FIRST

    @property
    def scales(self) -> bool:
        """Whether a feature map sees columns in the units of a fit."""
        return "features" in self.values and self.values.get("schema") is not None

    def _limits(self) -> list[list[float | None] | None]:
        """Lowest and highest value of each feature; None where it is not clipped."""
        size = sum(len(column.features) for column in self.columns)
        if self.values.get("clip_X") is None or self.scales:
            return [None] * size
        pairs = zip(*self.values["clip_X"], strict=True)
        return [
            # To add zero takes away the sign of a zero.
            None if pair == (None, None) else [None if end is None else end + 0.0 for end in pair]
            for pair in pairs
        ]

    def _beyond(self) -> dict[str, Any]:
        """What only the fourth and fifth format say; of the fifth, limits of scaled features."""
        names = ("fit_intercept", "clip_norm", "errors", "features")
        given = {name: self.values[name] for name in names if self.values.get(name) is not None}
        if "features" in given:
            scaled = {"clip": self.values["clip_X"]} if self.scales else {}
            given["features"] = {"coef": self.values["coef"]} | scaled | given["features"]
        return {"schema": self.values.get("schema") is not None} | given


def parsed(text: str | bytes, where: str) -> FileContent:
    """What a file says, or a ValueError that says what is wrong with it.

    Parameters
    ----------
    text : str or bytes
        Its content.
    where : str
        Its name, for errors.
    """
    content = _json(text, where)
    found = content.get("format") if isinstance(content, dict) else None
    if found not in (*FORMATS, ENCODED_BEFORE):
        if isinstance(found, str) and found.startswith("privlearn model"):
            raise ValueError(f"{where} is a {found!r}, newer than this version; update privlearn")
        raise ValueError(f"{where} is JSON, but no model file; {REMEDY}")
    with suppress(KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError):
        read = _read(content) if found in FORMATS else _read_encoded_before(content)
        bare = {k: v for k, v in read.values.items() if k != "certificate"}
        FileContent(bare, read.columns).model()  # which refuses what does not go together
        return read
    # Out of the handler, so that the error's text, which may quote, is left behind.
    raise ValueError(f"the model {where} is incomplete or damaged; {REMEDY}")


def _json(text: str | bytes, where: str) -> Any:  # noqa: ANN401
    with suppress(ValueError, RecursionError):
        return json.loads(text if isinstance(text, str) else text.decode("utf-8"))
    raise ValueError(f"{where} is no model file (it is not JSON); {REMEDY}")


OPTIONAL = {"schema": bool, "fit_intercept": bool, "clip_norm": float, "features": dict}
OPTIONAL |= {"errors": dict, "coef_noise": list, "parameters": dict}
OF_ALL = ("coef_noise", "errors", "parameters")
KEYS = {"target": str | None, "classes": list | None, "columns": list, "certificate": dict}


def _check_types(content: dict[str, Any]) -> None:
    for name, kind in (KEYS | {k: v for k, v in OPTIONAL.items() if k in content}).items():
        if not isinstance(content[name], kind):
            raise ValueError(f"{name} is of another type")
    for label in content["classes"] or ():
        if not isinstance(label, str | int | float):
            raise ValueError("a label is text or a number")


def _read(content: dict[str, Any]) -> FileContent:
    _check_types(content)
    version, classes = content["format"], content["classes"]
    read = [read_entry(entry) for entry in content["columns"]]
    columns = tuple(column for column, _, _ in read)
    limits = [pair for _, _, pairs in read for pair in pairs]
    clip_y, clips = content.get("clip_prediction"), any(limits)
    clips_y = clip_y is not None
    if version in (FIRST, CLIPPING) and (version == CLIPPING) != (clips or clips_y):
        raise ValueError("a model of the second format clips something, one of the first nothing")
    features = dict(content["features"]) if "features" in content else None
    rows = [coef for _, coef, _ in read if coef is not None]
    box = [[p and p[k] for p in limits] for k in (0, 1)] if clips else None
    if version == ENCODED and features is not None:
        box = features.pop("clip")
    values = {
        "model": NAMES[content["model"]],
        "fit_intercept": content.get("fit_intercept", True),
        "coef": np.vstack(rows).T.tolist() if features is None else features.pop("coef"),
        "intercept": np.atleast_1d(np.array(content["intercept"], dtype=float)).tolist(),
        "classes": classes if version == ANY or classes is None else [*map(str, classes)],
        "feature_names": [c.name for c in columns] if all(c.name for c in columns) else None,
        "target": content["target"],
        "clip_X": box,
        "clip_y": limits_of(clip_y) if clips_y else None,
        "clip_norm": content.get("clip_norm"),
        "certificate": dict(content["certificate"]),
    }
    values |= {} if features is None else {"features": features}
    values |= {name: content[name] for name in OF_ALL if name in content}
    encoding = Encoding(columns, bool(values["fit_intercept"]))
    # The command line's models of plain numbers were learned without a schema.
    if content.get("schema", any(column.kind != Number() for column in columns)):
        values["schema"] = plain_columns(encoding)
    found = FileContent(values, columns, content["target"])
    if found.scales != (version == ENCODED):
        raise ValueError("a kernel of the fifth format scales its columns, and no other model does")
    return found


def _schema_of(columns: tuple[Column, ...]) -> dict[str, Any]:
    """What an estimator is told about its columns; nothing where all are plain numbers."""
    described = any(column.kind != Number() for column in columns)
    return {"schema": plain_columns(Encoding(columns))} if described else {}


def _read_encoded_before(content: dict[str, Any]) -> FileContent:
    columns = read_columns({"columns": content["columns"], "shifted": True}).columns
    own = {"model": NAMES[content["model"]], "certificate": dict(content["certificate"])}
    values = {**content["values"], **own}
    if "features" not in values:
        raise ValueError("a model of this format is a kernel model")
    return FileContent.of_encoded(values, columns, str(content["target"]))


def model_text(content: FileContent) -> str:
    """The file as text.

    Raises
    ------
    TypeError
        If a label is neither text nor a number.
    """
    try:
        return json.dumps(content.to_dict(), indent=2, allow_nan=False) + "\n"
    except TypeError:
        pass
    raise TypeError("labels of the model are neither text nor numbers, which JSON knows; use these")


def save(model: PrivateEstimator, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator: the whole file or nothing, whatever stops it."""
    write_whole(path, model_text(FileContent.of(model)))


def load(path: str | os.PathLike[str]) -> PrivateEstimator:
    """Read a model that `save` or ``privlearn fit`` wrote; it predicts, and holds its certificate.

    The file is data and no code: nothing in it is run, and what is damaged, cut off or newer than
    this version is refused.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    estimator
        Fitted, of the class that was saved, with the parameters of the fit but for ledger, data
        set, seed and messages. Files of earlier versions have none but the certificate's.

    Raises
    ------
    ValueError
        If the file is no model, damaged, incomplete or newer.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import privlearn
    >>> X = np.linspace(0, 1, 2_000).reshape(-1, 2)
    >>> model = privlearn.Ridge(bounds_X=(0, 1), bounds_y=(0, 1)).fit(X, X[:, 0])
    >>> path = tempfile.mkdtemp() + "/model.json"
    >>> model.save(path)
    >>> bool((privlearn.load(path).predict(X) == model.predict(X)).all())
    True
    """
    content = parsed(Path(path).read_bytes(), str(path))
    with suppress(ValueError):
        return content.model()
    raise ValueError(f"the certificate inside {path} is incomplete or damaged; {REMEDY}")
