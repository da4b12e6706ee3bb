"""Errors about the target name its column, where it has one, and say what can be done."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from privlearn import (
    HuberRegressor,
    KernelRegressor,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
)
from privlearn.metrics import evaluate
from privlearn.model_selection import PrivateSearchCV, cross_fit

BOX = {"bounds_X": (0, 1), "bounds_y": (0, 1)}
NAMED = r"y \(column 'wage'\) holds something that is no number"
SECRET = "4711 EUR"


def arrow(frame):
    return pa.Table.from_pandas(frame, preserve_index=False)


KINDS = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "arrow": arrow,
    "disk": lambda frame: ds.dataset(arrow(frame)),
}


def table(cell=SECRET):
    a = np.linspace(0, 1, 200)
    return pd.DataFrame({"a": a, "wage": [cell, *map(str, a[1:])]})


def refused(match, ask):
    with pytest.raises((ValueError, TypeError), match=match) as told:
        ask()
    assert SECRET not in str(told.value)
    return str(told.value)


@pytest.mark.parametrize("kind", KINDS)
def test_the_column_is_named_in_every_container(kind):
    X = KINDS[kind](table())
    text = refused(NAMED, lambda: LinearRegression(**BOX).fit(X, "wage"))
    assert text.index("labels need a classifier") < text.index("pass on_invalid='drop' to fit")


@pytest.mark.parametrize(
    "model",
    [Ridge, HuberRegressor, KernelRegressor, PoissonRegressor],
    ids=lambda one: one.__name__,
)
def test_the_column_is_named_by_every_regressor(model):
    frame = table()
    refused(NAMED, lambda: model(**BOX).fit(frame, "wage"))
    refused(NAMED, lambda: model(**BOX).fit(frame[["a"]], frame["wage"]))
    refused("^y holds something", lambda: model(**BOX).fit(frame[["a"]], frame["wage"].tolist()))


def test_the_column_is_named_by_scores_and_searches():
    frame = table()
    model = Ridge(**BOX).fit(frame.assign(wage=frame.a), "wage")
    refused(NAMED, lambda: model.score(frame, "wage"))
    refused(NAMED, lambda: evaluate(model, frame, "wage", epsilon=1))
    refused("^y holds", lambda: evaluate(model, frame[["a"]], frame["wage"].tolist(), epsilon=1))
    refused(NAMED, lambda: PrivateSearchCV(Ridge(**BOX), {"alpha": [1, 2]}).fit(frame, "wage"))
    refused(NAMED, lambda: cross_fit(Ridge(**BOX), frame, "wage", epsilon=1))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", [LogisticRegression, LinearSVC], ids=lambda one: one.__name__)
def test_labels_are_of_a_named_column_too(kind, model):
    frame = table()
    frame["wage"] = np.where(frame["a"] > 0.5, "high", "low")
    frame.loc[3, "wage"] = SECRET
    if model is LinearSVC and kind == "disk":
        pytest.skip("hinges need rows in memory")
    named = model(bounds_X=(0, 1), classes=["high", "low"])
    refused(
        r"y \(column 'wage'\) holds NaN or labels", lambda: named.fit(KINDS[kind](frame), "wage")
    )


@pytest.mark.parametrize("kind", ["pandas", "arrow", "disk"])
def test_gaps_and_negative_counts_are_of_a_named_column_too(kind):
    frame = table().assign(wage=np.linspace(0, 1, 200))
    gaps = KINDS[kind](frame.assign(wage=frame["wage"].where(frame["a"] > 0.1)))
    refused("Input y contains NaN in column 'wage'", lambda: Ridge(**BOX).fit(gaps, "wage"))
    if kind == "pandas":
        below = frame.assign(wage=-frame["wage"])
        counts = PoissonRegressor(**BOX)
        refused(r"y \(column 'wage'\) holds negative", lambda: counts.fit(below, "wage"))
