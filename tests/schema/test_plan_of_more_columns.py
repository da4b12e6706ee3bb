"""A plan of more columns than the schema names says what it takes the others for."""

import warnings

import numpy as np
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


def test_forecasts_of_open_columns_are_of_what_is_usually_found():
    """Not of long lists in all columns, for which a plan has room: that was 16 times too much."""
    open_, plain = LinearRegression(schema="estimate"), LinearRegression()
    told = []
    for epsilon in (0.1, 0.3, 1.0, 3.0):
        found = open_.set_params(epsilon=epsilon).plan(n=20_000, n_features=11)
        usual = plain.set_params(epsilon=epsilon).plan(n=20_000, n_features=11)
        assert 1.0 < found.forecast().relative / usual.forecast().relative < 3.0
        told.append(found.forecast().relative)
    assert told == sorted(told, reverse=True)
    asked = open_.set_params(epsilon=1.0).plan(n=20_000, n_features=11)
    assert asked.for_accuracy(0.05) < 1.0
    assert sum(np.prod(release.shape) for release in asked.releases) > 200  # the room is planned
