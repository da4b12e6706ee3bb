"""Coefficients of values that no list has, and of what is missing, where no row tells them."""

import numpy as np
import pytest

from privlearn import LinearRegression, LogisticRegression
from privlearn.schema import Category, Date, Flag, Number
from privlearn.schema.reading import encoding_of
from privlearn.solvers import CoordinateDescent

pd = pytest.importorskip("pandas")
REGIONS = [f"r{k}" for k in range(8)]
SCHEMA = {"region": Category(REGIONS, missing="flag", other=True), "age": Number(15, 90, "flag")}
DEVIATION = 6.5  # of y, about
FITS = 8


def people(unlisted, seed=0):
    """So many rows of an unlisted region, which have 6 more of y; no cell is missing."""
    rng = np.random.default_rng(seed)
    n = 20_000
    far = np.arange(n) < unlisted
    region = np.where(far, "elsewhere", rng.choice(REGIONS, n))
    age = rng.integers(15, 90, n).astype(float)
    y = 50 + 0.2 * age + rng.normal(0, 5, n) + 6 * far
    return pd.DataFrame({"region": region, "age": age, "y": y})


def errors(unlisted, effect, **given):
    """Typical ones, of "is another value", "is missing" of the region, and of the age."""
    found = []
    for seed in range(FITS):
        model = LinearRegression(
            schema=SCHEMA, epsilon=1.0, bounds_y=(0, 120), random_state=seed, **given
        ).fit(people(unlisted), "y")
        named = model.feature_names_out_[[8, 9, 11]].tolist()
        assert named == ["region is another value", "region is missing", "age is missing"]
        found.append(model.coef_[[8, 9, 11]] - [effect, 0.0, 0.0])
    return np.sqrt(np.mean(np.square(found), axis=0))


@pytest.mark.parametrize("block", [None, 1])
def test_coefficients_of_values_that_nobody_has_are_not_noise_alone(block):
    """They were 25 off, four deviations of y."""
    assert (errors(0, 0.0, solver=CoordinateDescent(block=block)) < DEVIATION).all()


def test_what_many_rows_have_is_learned():
    assert errors(500, 6.0)[0] < 1.0


def test_log_odds_of_an_unlisted_value_stay_near_the_others():
    rows = people(0).assign(y=np.where(np.random.default_rng(1).random(20_000) < 0.05, "yes", "no"))
    new = pd.DataFrame({"region": ["Mayotte"], "age": [40.0]})
    for seed in range(FITS):
        known = {"schema": SCHEMA, "classes": ["no", "yes"], "random_state": seed}
        model = LogisticRegression(epsilon=1.0, **known).fit(rows, "y")
        assert 0.01 < model.predict_proba(new)[0, 1] < 0.2


def test_which_columns_may_be_empty_follows_from_the_schema():
    kinds = {
        "list": Category(["a", "b"]),
        "others": Category(["a", "b"], other=True),
        "gaps": Category(["a", "b"], missing="flag"),
        "both": Category(["a", "b"], missing="flag", other=True),
        "bins": Category(hashed=2, missing="flag"),
        "filled": Number(0, 9, "fill"),
        "number": Number(0, 9, "flag"),
        "flag": Flag("flag"),
        "day": Date("2020-01-01", "2021-01-01", "flag"),
    }
    encoding = encoding_of([*kinds], kinds, shifted=True)
    named = np.array(encoding.features)[encoding.rare].tolist()
    assert named == [
        "others is another value",
        "gaps is missing",
        "both is another value",
        "both is missing",
        "bins is missing",
        "number is missing",
        "flag is missing",
        "day is missing",
    ]


def test_lists_that_are_found_have_a_place_for_others_too():
    pending = encoding_of(["town"], {"town": Category(missing="flag")}, shifted=True)
    assert pending.rare.tolist() == [False] * 20 + [True, True]
