"""A fit of a table that could not be read stops, and says what to look for."""

import numpy as np
import pytest

from privlearn import (
    HuberRegressor,
    KernelClassifier,
    KernelRegressor,
    Lasso,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    Ridge,
)
from privlearn.exceptions import PrivacyTestFailedError
from privlearn.solvers._common.row_count import USABLE, least_usable

FACTS = {"bounds_X": (0, 1), "bounds_y": (0, 1), "random_state": 0}


def rows(n=5_000):
    X = np.random.default_rng(0).uniform(0, 1, (n, 2))
    return X, X[:, 0]


@pytest.mark.parametrize("relation", ["zero_out", "replace_one"])
def test_hardly_any_row_is_usable(relation):
    X, y = rows()
    X[100:] = np.nan
    spent = []

    class Book:
        def charge(self, plan, dataset):
            spent.append(plan)

    model = Ridge(on_invalid="drop", adjacency=relation, ledger=Book(), **FACTS)
    with pytest.raises(PrivacyTestFailedError, match="hardly any row is usable"):
        model.fit(X, y)
    assert spent[0].releases[0].name == USABLE  # charged, and nothing is refunded
    assert not hasattr(model, "coef_")


def test_most_rows_are():
    X, y = rows()
    X[:1_000] = np.nan
    model = Ridge(on_invalid="drop", **FACTS).fit(X, y)
    assert model.score(X[1_000:], y[1_000:]) > 0.9
    assert model.privacy_.releases[0]["share"] == pytest.approx(0.01, rel=1e-4)


@pytest.mark.parametrize(
    "given",
    [{"on_invalid": "raise"}, {"on_invalid": "drop", "adjacency": "add_remove"}],
)
def test_where_nothing_is_counted(given):
    plan = Ridge(**FACTS, **given).plan(n=5_000, n_features=2)
    assert USABLE not in [release.name for release in plan.releases]


def test_without_a_delta_nothing_is_counted():
    model = LogisticRegression(delta=0, bounds_X=(0, 1), on_invalid="drop", classes=[0, 1])
    assert USABLE not in [release.name for release in model.plan(n=900, n_features=2).releases]


def test_few_rows_cannot_be_told_from_noise():
    X, y = rows(50)
    assert least_usable(30.0, 50) > 0.05 * 50
    Ridge(on_invalid="drop", **FACTS).fit(X * np.nan, y)


TO_DROP = {"bounds_X": (0, 1), "on_invalid": "drop", "random_state": 0}


@pytest.mark.parametrize("model", [LinearRegression, Ridge, Lasso, HuberRegressor, KernelRegressor])
def test_labels_where_a_number_is_expected(model):
    """The first thing to check is what y is taken for, and which model takes labels."""
    X, y = rows()
    labels = np.where(y > 0.5, "yes", "no").tolist()
    with pytest.raises(PrivacyTestFailedError) as told:
        model(bounds_y=(0, 1), **TO_DROP).fit(X, labels)
    _first(told.value, "LogisticRegression with classes=['no', 'yes']", "--model logistic")


@pytest.mark.parametrize("model", [LogisticRegression, LinearSVC, KernelClassifier])
def test_labels_that_classes_spell_otherwise(model):
    X, y = rows()
    labels = np.where(y > 0.5, "yes", "no").tolist()
    with pytest.raises(PrivacyTestFailedError) as told:
        model(classes=[0, 1], **TO_DROP).fit(X, labels)
    _first(told.value, "labels are spelled as in classes", "classes=['no', 'yes']")


def _first(error, *words):
    """What is said of the target stands before what is said of cells."""
    text = str(error)
    assert text.index("Check first") < min(map(text.index, words))
    assert max(map(text.index, words)) < text.index("text needs a Category")
