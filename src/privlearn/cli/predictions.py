"""Predictions for a file, and writing them down."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Sequence, Sized
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privlearn.cli.errors import CommandError, closest, shortened, similar
from privlearn.cli.model_file import SavedModel
from privlearn.cli.outputs import Output
from privlearn.cli.tables import Source, Table
from privlearn.schema.encoding import Column, EncodedRows, Encoding
from privlearn.schema.raw import RawRows

__all__ = ["predictions_output", "read_new_rows", "read_rows", "write_predictions"]

Array = NDArray[np.float64]


def read_new_rows(
    source: Source, columns: Sequence[Column], *, remedy: str | None
) -> EncodedRows | RawRows:
    """The features of new rows in their own units; the target need not be there.

    Without `remedy`, rows with unusable cells are NaN.
    """
    leave = None if remedy is None else f"{remedy} to leave their predictions empty"
    return read_rows(source, columns, (), remedy=remedy, leave=leave)[0]


def read_rows(
    source: Source,
    columns: Sequence[Column],
    more: Sequence[str],
    *,
    remedy: str | None,
    leave: str | None,
) -> tuple[EncodedRows | RawRows, Table]:
    """Features in their own units, and the table with these and some more columns, read once.

    Features are what is known of them where columns are still open. `leave` is what to add where
    rows with unusable cells shall pass; without, they are NaN.
    """
    names = [*(column.name for column in columns), *more]
    there = set(source.names)
    absent = [name for name in names if name not in there]
    if absent:
        hint = closest if len(absent) < len(names) else similar
        raise CommandError(
            f"{source.path} lacks {_listed(absent)}, which the model needs; "
            f"{hint(absent[0], source.names)}"
        )
    encoding = Encoding(tuple(columns))
    table = source.read(names, remedy=remedy, dates=encoding.dates)
    features = table.encoded(encoding)
    broken = features.invalid()
    if broken and leave is not None:
        raise CommandError(
            f"{source.path} has rows that cannot be predicted: {_listed(broken)} with nothing "
            f"usable in them (an empty cell, no number, or an unlisted category); mend them, or "
            f"add {leave}"
        )
    return features, table


def _listed(names: list[str]) -> str:
    return f"column{'s' if len(names) > 1 else ''} {shortened(map(repr, names))}"


def predictions_output(
    path: str | None, features: Sized | None, classes: Sequence[str] | None, overwrite: bool
) -> AbstractContextManager[Output | None]:
    """The file that they go to, with about as many bytes as they will take; None without a path."""
    if path is None or features is None:
        return nullcontext()
    size = 2**12 + len(features) * (32 + 20 * len(classes or ()))
    return Output(path, overwrite=overwrite, size=size)


def write_predictions(
    model: SavedModel, rows: EncodedRows | RawRows, output: Output | None
) -> None:
    """Write one line per row, in the order of the rows; None writes to standard output.

    Every number comes from the estimator; rows with unusable cells have none.
    """
    features = rows.features(Encoding(model.columns))
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    usable = np.asarray(np.isfinite(features).all(axis=1))
    header, labels, numbers = _predicted(model.estimator(), features[usable])
    writer.writerow([f"predicted_{model.target}", *header])
    found = iter(zip(labels, numbers, strict=True))
    for there in usable:
        label, values = next(found) if there else ("", [np.nan] * len(header))
        writer.writerow([label, *map(_number, values)])
    (sys.stdout if output is None else output).write(text.getvalue())


def _predicted(estimator: Any, features: Array) -> tuple[list[str], list[str], Array]:  # noqa: ANN401
    """Names of the columns beside the prediction, predictions as text, and what stands beside."""
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        values = estimator.predict(features) if len(features) else []
        return [], [_number(value) for value in values], np.empty((len(values), 0))
    likely = hasattr(estimator, "predict_proba")
    beside = classes if likely or len(classes) > 2 else classes[1:]
    header = [f"{'probability' if likely else 'score'}_{label}" for label in beside]
    if not len(features):
        return header, [], np.empty((0, len(beside)))
    numbers = estimator.predict_proba(features) if likely else estimator.decision_function(features)
    return header, list(estimator.predict(features)), numbers.reshape(len(features), -1)


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.10g}"
