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

from privlearn._core.harmless import harmless, json_text
from privlearn.cli.errors import CommandError, closest, shortened, similar
from privlearn.cli.intervals import Intervals
from privlearn.cli.model_file import SavedModel
from privlearn.cli.outputs import Output
from privlearn.cli.tables import Source, Table, read_encoded
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
    """Features in their own units, and the table of some more columns, read once.

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
    features, table = read_encoded(source, encoding, more, remedy=remedy)
    broken = features.invalid()
    if broken and leave is not None:
        raise CommandError(
            f"{source.path} has rows that cannot be predicted: {_listed(broken)} with nothing "
            "usable in them (an empty cell, no number, one that the schema takes for missing, or "
            f"an unlisted category); mend them, or add {leave}"
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
    model: SavedModel,
    new_rows: EncodedRows | RawRows,
    output: Output | None,
    *,
    as_json: bool = False,
    intervals: Intervals | None = None,
) -> None:
    """Write one line or object per row, in the order of the rows; None: to standard output.

    Every number comes from the estimator; rows with unusable cells have none.
    """
    features = new_rows.features(Encoding(model.columns))
    usable = np.asarray(np.isfinite(features).all(axis=1))
    estimator, inputs = model.estimator(), model.inputs(features[usable])
    more, predicted, numbers = _predicted(estimator, inputs)
    header = [f"predicted_{model.target}", *more]
    if intervals is not None:
        header += intervals.names(model.target, model.classes)
        numbers = np.column_stack([numbers, intervals.ends(estimator, inputs)])
    found = iter(zip(predicted, numbers.tolist(), strict=True))
    nothing: list[Any] = [None] * len(header)
    rows = [_row(*next(found)) if there else nothing for there in usable]
    text = _as_json(header, rows) if as_json else _as_csv(header, rows)
    (sys.stdout if output is None else output).write(text)


def _row(prediction: float | str, beside: list[float]) -> list[Any]:
    return [prediction, *beside]


def _as_csv(header: list[str], rows: list[list[Any]]) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([harmless(name, "csv") for name in header])
    writer.writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue()


def _as_json(header: list[str], rows: list[list[Any]]) -> str:
    """A list of objects; a prediction that is no finite number is null."""
    plain = [[None if value != value else value for value in row] for row in rows]
    return json_text([dict(zip(header, row, strict=True)) for row in plain]) + "\n"


def _cell(value: float | str | None) -> str:
    if isinstance(value, str):
        return harmless(value, "csv")
    return "" if value is None or np.isnan(value) else f"{value:.10g}"


def _predicted(
    estimator: Any,  # noqa: ANN401
    features: Array,
) -> tuple[list[str], list[float | str], Array]:
    """Names of the columns beside the prediction, predictions, and what stands beside them."""
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        values = estimator.predict(features).tolist() if len(features) else []
        return [], values, np.empty((len(values), 0))
    likely = hasattr(estimator, "predict_proba")
    beside = classes if likely or len(classes) > 2 else classes[1:]
    header = [f"{'probability' if likely else 'score'}_{label}" for label in beside]
    if not len(features):
        return header, [], np.empty((0, len(beside)))
    numbers = estimator.predict_proba(features) if likely else estimator.decision_function(features)
    labels: list[float | str] = [str(label) for label in estimator.predict(features)]
    return header, labels, numbers.reshape(len(features), -1)
