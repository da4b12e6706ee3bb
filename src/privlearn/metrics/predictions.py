"""What a model says about each row, as numbers that depend on that row alone.

Libraries compute predictions of many rows together, and the last bits of one row's may depend on
how many others there are. A row next to the edge of a bin could so be counted elsewhere because
another row is there or not. So predictions are brought to [0, 1] and rounded to a public grid, and
a row is predicted alone where its numbers are next to a midpoint of the grid or so large that
rounding errors could be, or where nothing is proved about the model. See proof.md, section 1.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from privlearn._data.bounded import BoundedData
from privlearn.metrics.known_models import NEAR, is_known, too_large
from privlearn.metrics.task import Task
from privlearn.schema.encoding import EncodedRows

__all__ = ["Predicted", "predicted_blocks"]

Array = NDArray[np.float64]
GRID = 2.0**-20


@dataclass(frozen=True, eq=False)
class Predicted:
    """A block of rows: the model's answers in [0, 1], the targets, and which rows count.

    `answers` has one column for two classes and for numbers, and else one per class. Targets are
    places of labels, or numbers scaled to [0, 1].
    """

    answers: Array
    target: Array
    present: NDArray[np.bool_]


def predicted_blocks(
    task: Task, data: BoundedData, *, strict: bool, n_is_public: bool = False
) -> Iterator[Predicted]:
    """All rows in blocks; a row that the model cannot answer is refused, or does not count.

    Rows that are empty are nothing that the model is asked about. Where it is private who is there,
    a model without a proof is asked about each row alone.
    """
    ask, lone = _answers_of(task), too_large(task, data.n_features)
    if not (is_known(task.model) or (n_is_public and data.table.finite)):
        lone = _everybody
    for rows in data.blocks():
        answers = np.full((len(rows.y), _columns(task)), np.nan)
        given = np.asarray(rows.X, dtype=np.float64)[rows.present]
        answers[rows.present] = _row_by_row(ask, given, lone, strict, _columns(task))
        present = rows.present & np.isfinite(answers).all(axis=1)
        if strict and not present[rows.present].all():
            raise ValueError(
                "the model's predictions hold NaN; clean the rows that it cannot predict, or pass "
                "on_invalid='drop': they then are empty rows, and the guarantee covers them"
            )
        answers[~present] = 0.0
        target = rows.y if task.bounds is None else _unit(rows.y, task.bounds)
        yield Predicted(answers, np.where(present, target, 0.0), present)


def _row_by_row(
    ask: Callable[[Array], Array],
    X: Array,
    lone: Callable[[Array], NDArray[np.bool_]],
    strict: bool,
    columns: int,
) -> Array:
    """Answers on the grid; each is what the row would get alone, NaN where there is none."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they may quote, and speak of names that were checked
        answers, together = np.full((len(X), columns), np.nan), ~lone(X)
        if together.any():
            answers[together] = _asked(ask, X[together], strict)
        halves = answers / GRID - np.floor(answers / GRID) - 0.5
        near = ~(np.abs(halves) > NEAR / GRID).all(axis=1)  # also where there is NaN
        for k in np.flatnonzero(near):
            answers[k] = _asked(ask, X[k : k + 1], strict)
        return np.asarray(np.rint(answers / GRID) * GRID)


def _asked(ask: Callable[[Array], Array], X: Array, strict: bool) -> Array | float:
    """The answers about these rows; NaN where the model refuses one, or an error of our own.

    The model's error may quote a cell. It ends here: nothing is raised, or asked, in its handler.
    """
    with suppress(Exception):  # of any library
        return ask(X)
    if strict:
        raise ValueError(
            "the model cannot predict these rows; try model.predict on a row of your own making to "
            "see why (its message is not shown, for it may quote data)"
        ) from None
    return np.nan


def _everybody(X: Array) -> NDArray[np.bool_]:
    return np.full(len(X), True)


def _columns(task: Task) -> int:
    """Number of answers about a row, which is public."""
    return 1 if task.n_classes in (0, 2) else task.n_classes


def _answers_of(task: Task) -> Callable[[Array], Array]:
    """A function from rows to numbers in [0, 1], as many per row as the task has columns."""
    given, columns = _giver(task), _columns(task)
    if task.bounds is not None:
        bounds = task.bounds
        return lambda X: _shaped(_unit(np.asarray(task.model.predict(given(X))), bounds), len(X), 1)
    if task.likely:
        first = 1 if columns == 1 else 0  # of two classes, the second one's

        def probabilities(X: Array) -> Array:
            found = np.asarray(task.model.predict_proba(given(X)), dtype=np.float64)
            return np.clip(_shaped(found, len(X), task.n_classes)[:, first:], 0.0, 1.0)

        return probabilities
    squeeze = expit if columns == 1 else _squeezed
    return lambda X: _shaped(squeeze(task.model.decision_function(given(X))), len(X), columns)


def _unit(values: Array, bounds: tuple[float, float]) -> Array:
    """Numbers clipped to the range and scaled to [0, 1]."""
    low, high = bounds
    clipped = np.clip(np.asarray(values, dtype=np.float64), low, high)
    return np.asarray(np.clip((clipped - low) / (high - low), 0.0, 1.0))


def _squeezed(scores: Array) -> Array:
    """Scores in (0, 1), in their order: large ones are told apart longer than by a logistic."""
    scores = np.asarray(scores, dtype=np.float64)
    return np.asarray(0.5 + 0.5 * scores / (1.0 + np.abs(scores)))


def _shaped(found: Array, rows: int, columns: int) -> Array:
    """One line per row. What has another shape is no answer of such a model."""
    return np.array(found, dtype=np.float64).reshape(rows, columns)


def _giver(task: Task) -> Callable[[Array], Any]:
    """How rows are handed to the model: as columns with names, where it was fitted to such.

    Our own take arrays, or features that their schema made. Others get a copy, for a scaler may
    work in place. Types are always the same, so that no cell decides on one.
    """
    encoding, names = task.encoding, getattr(task.model, "feature_names_in_", None)
    if encoding is not None:
        return lambda X: EncodedRows(encoding, X)
    if hasattr(task.model, "privacy_"):
        return lambda X: X
    if names is None or "pandas" not in sys.modules:
        return lambda X: X.copy()
    import pandas as pd

    return lambda X: pd.DataFrame(X.copy(), columns=names)
