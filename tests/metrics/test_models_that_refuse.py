"""Models that cannot answer about some rows: no row decides on a failure, and no error quotes."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from privlearn.metrics import evaluate
from scored_models import Line, TwoClasses

RELATIONS = ("zero_out", "add_remove", "replace_one")
MUCH = {"epsilon": 1e7, "delta": 1e-6, "random_state": 0}
SECRET = 7777.0
CELLS = {"unknown": SECRET, "NaN": np.nan, "infinity": np.inf, "zero": 0.0}


class Picky(TwoClasses):
    """Refuses what it does not know, zeros among it, and keeps what it was asked about."""

    def __init__(self):
        super().__init__()
        self.asked = []

    def predict_proba(self, X):
        self.asked.append(X.copy())
        if not np.isin(X, (1.0, 2.0, 3.0)).all():
            raise ValueError(f"what is {X.max()}?")
        return super().predict_proba(X)


class PickyLine(Picky, Line):
    _estimator_type = "regressor"

    def __sklearn_tags__(self):
        return Line.__sklearn_tags__(self)

    def predict(self, X):
        return self.predict_proba(X)[:, 1]


def encoded(X, y):
    return make_pipeline(OneHotEncoder(), LogisticRegression()).fit(X[:200], y[:200])


MODELS = {"one-hot": encoded, "picky": lambda X, y: Picky(), "line": lambda X, y: PickyLine()}


def table(n=60):
    rng = np.random.default_rng(0)
    return rng.integers(1, 4, (n, 3)).astype(float), rng.integers(0, 2, n)


def known(kind):
    return {"bounds_y": (0, 1)} if kind == "line" else {}


def chain(error):
    """The error with all that led to it, whether shown or not."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("kind", MODELS)
def test_a_row_that_is_refused_is_an_empty_row(kind, cell, relation):
    X, y = table()
    model = MODELS[kind](X, y)
    given = {"on_invalid": "drop", "adjacency": relation, **known(kind), **MUCH}
    clean = evaluate(model, X, y, **given)
    X[5, 0] = CELLS[cell]
    found = evaluate(model, X, y, **given)
    assert found.rows == pytest.approx(clean.rows - 1, abs=0.5)
    X[:30] = 1.0
    X[30:] = CELLS[cell]
    assert evaluate(model, X, y, **given).rows == pytest.approx(30, abs=1)


@pytest.mark.parametrize("on_invalid", ["raise", "drop"])
@pytest.mark.parametrize("kind", ["picky", "line"])
def test_a_model_is_asked_about_rows_of_the_table_alone(kind, on_invalid):
    X, y = table()
    X[7, 1] = SECRET
    held = {tuple(row) for row in X}
    if on_invalid == "drop":
        X[9, 2] = np.nan
    model = MODELS[kind](X, y)
    try:
        evaluate(model, X, y, on_invalid=on_invalid, **known(kind), **MUCH)
    except ValueError:
        assert on_invalid == "raise"
    asked = {tuple(row) for rows in model.asked for row in rows}
    assert asked
    assert asked <= held


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("kind", MODELS)
def test_what_is_raised_leads_to_no_cell(kind, large):
    X, y = table()
    model = MODELS[kind](X, y)
    X[5, 0] = SECRET * 2.0**30 if large else SECRET
    with pytest.raises(ValueError, match="the model cannot predict these rows") as caught:
        evaluate(model, X, y, **known(kind), **MUCH)
    assert [str(error) for error in chain(caught.value)] == [str(caught.value)]
    assert "7777" not in str(caught.value)
