"""A plan of more columns than the schema names says what it takes the others for."""

import warnings

import pytest

from privlearn import LinearRegression
from privlearn.schema import Category, Ignore, Number

SCHEMA = {"age": Number(17, 90), "sex": Category(["F", "M"]), "id": Ignore()}


def test_other_columns_are_named_as_what_they_are_planned_as():
    model = LinearRegression(schema=SCHEMA, bounds_y=(0, 1))
    with pytest.warns(UserWarning, match="names 2 columns .* 48 more are planned") as found:
        model.plan(n=5_000, n_features=50)
    assert [one.filename for one in found if "n_features=50" in str(one.message)] == [__file__]


@pytest.mark.parametrize("n_features", [None, 2])
def test_nothing_is_said_of_columns_that_are_named(n_features):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LinearRegression(schema=SCHEMA, bounds_y=(0, 1)).plan(n=5_000, n_features=n_features)
        LinearRegression(schema="estimate", bounds_y=(0, 1)).plan(n=50_000, n_features=4)
