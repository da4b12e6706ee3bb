"""Predictions for a file, and writing them down."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Sequence
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from privlearn.cli.encoding import Column, encode, invalid_columns
from privlearn.cli.errors import CommandError, closest, shortened, similar
from privlearn.cli.model_file import SavedModel
from privlearn.cli.models import MODELS
from privlearn.cli.outputs import Output
from privlearn.cli.tables import Source

__all__ = ["predictions_room", "read_new_rows", "write_predictions"]

Array = NDArray[np.float64]


def read_new_rows(source: Source, columns: Sequence[Column], *, remedy: str | None) -> Array:
    """The features of new rows in their own units; the target need not be there.

    Without `remedy`, rows with unusable cells are NaN.
    """
    names = [column.name for column in columns]
    there = set(source.names)
    absent = [name for name in names if name not in there]
    if absent:
        hint = closest if len(absent) < len(names) else similar
        raise CommandError(
            f"{source.path} lacks {_listed(absent)}, which the model needs; "
            f"{hint(absent[0], source.names)}"
        )
    features = encode(columns, source.read(names, remedy=remedy), raw=True)
    broken = invalid_columns(columns, features)
    if broken and remedy is not None:
        raise CommandError(
            f"{source.path} has rows that cannot be predicted: {_listed(broken)} with nothing "
            "usable in them (an empty cell, no number, or an unlisted category); mend them, or add "
            f"{remedy} to leave their predictions empty"
        )
    return features


def _listed(names: list[str]) -> str:
    return f"column{'s' if len(names) > 1 else ''} {shortened(map(repr, names))}"


def predictions_room(n_rows: int, n_classes: int) -> int:
    """Bytes that predictions will take, roughly."""
    return 2**12 + n_rows * (32 + 20 * n_classes)


def write_predictions(model: SavedModel, features: Array, output: Output | None) -> None:
    """Write one line per row, in the order of the rows; None writes to standard output."""
    if output is None:
        _write(model, features, sys.stdout)
        return
    text = io.StringIO(newline="")
    _write(model, features, text)
    output.write(text.getvalue())


def _write(model: SavedModel, features: Array, file: TextIO) -> None:
    writer = csv.writer(file, lineterminator="\n")
    score = model.score(features)
    if model.classes is None:
        writer.writerow([f"predicted_{model.target}"])
        writer.writerows([_number(value)] for value in score[:, 0])
        return
    header, shown = _beside_labels(model, score)
    writer.writerow([f"predicted_{model.target}", *header])
    for best, numbers in zip(_by_class(score), shown, strict=True):
        label = "" if np.isnan(best[-1]) else model.classes[int(np.argmax(best))]
        writer.writerow([label, *map(_number, numbers)])


def _beside_labels(model: SavedModel, score: Array) -> tuple[list[str], Array]:
    """A probability per class, or the scores where a model has no probabilities."""
    classes = model.classes or ()
    if model.kind in MODELS and not MODELS[model.kind].probabilities:
        return [f"score_{label}" for label in classes[-score.shape[1] :]], score
    return [f"probability_{label}" for label in classes], _probabilities(score)


def _by_class(score: Array) -> Array:
    """One column per class; two classes share one score, which speaks for the second."""
    return np.hstack([np.zeros_like(score), score]) if score.shape[1] == 1 else score


def _probabilities(score: Array) -> Array:
    both = _by_class(score)
    weights = np.exp(both - both.max(axis=1, keepdims=True))
    shares: Array = weights / weights.sum(axis=1, keepdims=True)
    return shares


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.10g}"
