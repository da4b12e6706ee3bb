"""`groups="patient"`: ids in a column of X, which is no feature then."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from privlearn import Ledger, LinearRegression
from privlearn.exceptions import FewRowsWarning, NotPrivateWarning
from privlearn.metrics import evaluate
from privlearn.model_selection import PrivateSearchCV
from privlearn.schema import Category, Ignore, Number
from support import regression

X, Y = regression(n=300, p=2)
IDS = np.arange(300) // 3
COLUMNS = {"age": X[:, 0], "patient": IDS, "dose": X[:, 1], "cost": Y}
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "lazy": pl.LazyFrame, "Arrow": pa.table}
SCORES = {"epsilon": 9, "delta": 1e-6, "random_state": 0}
pytestmark = pytest.mark.filterwarnings("ignore::privlearn.exceptions.FewRowsWarning")


def model(**given):
    facts = {"bounds_X": (-1, 1), "bounds_y": (-1, 1), "solver": "moments", "random_state": 0}
    return LinearRegression(max_rows_per_person=2, **facts | given)


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_the_column_is_taken_out_and_its_name_is_known(frame, tmp_path):
    ledger = Ledger.create(tmp_path / "clinic.ledger", epsilon=2, delta=1e-6)
    found = model(ledger=ledger, dataset="d").fit(frame(COLUMNS), "cost", groups="patient")
    assert found.n_features_in_ == 2
    assert found.coef_.tobytes() == model().fit(X, Y, groups=IDS).coef_.tobytes()
    assert ledger.unit("d") == "person"


def test_a_name_that_no_column_has_is_refused():
    with pytest.raises(ValueError, match="names the column of ids, but X has no such column"):
        model().fit(pd.DataFrame(COLUMNS), "cost", groups="client")
    with pytest.raises(ValueError, match="groups"):
        model().fit(X, Y, groups="patient")


@pytest.mark.parametrize("kind", [Ignore(), Number(), Number(0, 9, missing="drop"), Category()])
@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_a_schema_may_have_the_column_of_ids(frame, kind):
    """It is left out, wherever the ids come from."""
    known = {"age": Number(-1, 1), "dose": Number(-1, 1)}
    bare = model(bounds_X=None, schema=known).fit(frame(COLUMNS), "cost", groups="patient")
    schema = {"patient": kind, **known}
    found = model(bounds_X=None, schema=schema).fit(frame(COLUMNS), "cost", groups="patient")
    assert found.coef_.tobytes() == bare.coef_.tobytes()
    assert found.schema is schema
    apart = pd.DataFrame(COLUMNS).drop(columns="patient")
    ids = pd.Series(IDS, name="patient")
    again = model(bounds_X=None, schema=schema).fit(apart, "cost", groups=ids)
    assert again.coef_.tobytes() == bare.coef_.tobytes()
    scores = evaluate(
        found, frame(COLUMNS), "cost", groups="patient", max_rows_per_person=2, **SCORES
    )
    assert scores.privacy.unit == "person"
    other = model(bounds_X=None, schema={"patients": kind, **known})
    with pytest.raises(ValueError, match="schema has 'patients', but X has no such column"):
        other.fit(frame(COLUMNS), "cost", groups="patient")


def test_a_search_takes_such_a_schema_too():
    frame = pd.DataFrame({"age": X[:, 0], "patient": IDS, "cost": Y}).loc[np.arange(3000) % 300]
    schema = {"patient": Ignore(), "age": Number(-1, 1)}
    plain = model(bounds_X=None, schema=schema, random_state=None)
    tries = PrivateSearchCV(plain, {"positive": [True, False]}, epsilon=9, delta=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = tries.fit(frame.assign(patient=np.arange(3000)), "cost", groups="patient")
    assert found.best_estimator_.feature_names_in_.tolist() == ["age"]


@pytest.mark.parametrize("kind", [Ignore(), Number(0, 9)])
@pytest.mark.parametrize("groups", [None, "patient"])
@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_the_target_in_a_schema_is_named(frame, groups, kind):
    facts = {"schema": {"cost": kind}, "bounds_X": None}
    facts |= {} if groups else {"max_rows_per_person": None}
    with pytest.raises(ValueError, match="'cost' is the target, but schema is about columns to"):
        LinearRegression(**{"max_rows_per_person": 2, **facts}).fit(
            frame(COLUMNS), "cost", groups=groups
        )


SERIES = {"pandas": pd.Series, "polars": lambda values, name: pl.Series(name, values)}


@pytest.mark.parametrize("library", SERIES)
def test_a_target_that_is_a_column_of_x_is_warned_of(library):
    """By its name, which is public; not where that column is left out."""
    frame, y = FRAMES[library](COLUMNS), SERIES[library](Y, name="cost")
    plain = LinearRegression(bounds_y=(-1, 1), random_state=0)
    with pytest.warns(UserWarning, match="y is called 'cost', and so is a column of X") as told:
        plain.fit(frame, y)
    assert {one.filename for one in told if "is called" in str(one.message)} == {__file__}
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        warnings.simplefilter("ignore", FewRowsWarning)
        warnings.simplefilter("ignore", NotPrivateWarning)
        plain.fit(frame, "cost")
        plain.set_params(schema={"cost": Ignore()}).fit(frame, y)
        plain.set_params(schema=None).fit(X, y)


def test_scores_say_that_the_model_protects_people():
    found = model().fit(X, Y, groups=IDS)
    with pytest.warns(UserWarning, match="fitted to people, .* pass groups") as told:
        evaluate(found, X, Y, **SCORES)
    assert [one.filename for one in told if "fitted to people" in str(one.message)] == [__file__]


@pytest.mark.parametrize("name", ["max_rows_per_person", "epsilon", "bounds_X"])
def test_parameters_given_to_fit_are_told_where_they_belong(name):
    X = np.linspace(0.0, 1.0, 400).reshape(-1, 2)
    with pytest.raises(TypeError, match=rf"write LinearRegression\({name}=\.\.\.\)\.fit\(X, y\)"):
        LinearRegression().fit(X, X[:, 0], **{name: 1})
