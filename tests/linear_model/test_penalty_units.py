"""One fact, one penalty: a range in a schema and in `bounds_X` are the same declaration."""

import numpy as np
import pandas as pd
import pytest

from privlearn import Lasso, LogisticRegression, PoissonRegressor, Ridge
from privlearn._core.problem import Adjacency, Bounds, Penalised, Problem
from privlearn._objective.losses import Logistic
from privlearn._objective.penalties import Penalty
from privlearn.schema import Category, Number
from privlearn.solvers._common.scaling import Scaling
from support import exact

RNG = np.random.default_rng(0)
ROWS = pd.DataFrame(RNG.uniform([0.0, -3.0], [100.0, 2.0], (600, 2)), columns=["a", "b"])
LINE = 1.0 + 0.05 * ROWS["a"] - 0.4 * ROWS["b"] + RNG.normal(0.0, 0.5, 600)
COUNTS = pd.Series(RNG.poisson(np.exp(-1.0 + 0.02 * ROWS["a"])).astype(float))
RANGES = {"a": (0.0, 100.0), "b": (-3.0, 2.0)}
SCHEMA = {name: Number(*ends) for name, ends in RANGES.items()}
KNOWN = {"delta": 1e-6, "epsilon": 1.0}


@pytest.mark.parametrize("solver", ["cd", "moments", "scd", "sgd", "auto"])
def test_heavy_ridge_penalties_mean_the_same(solver):
    told = {"alpha": 1e5, "solver": solver, "bounds_y": (-10.0, 20.0), **KNOWN}
    by_schema = exact(Ridge(schema=SCHEMA, **told), ROWS, LINE)
    by_bounds = exact(Ridge(bounds_X=RANGES, **told), ROWS, LINE)
    np.testing.assert_allclose(by_schema.coef_, by_bounds.coef_, rtol=0.1)
    without = exact(Ridge(schema=SCHEMA, **(told | {"alpha": 1e-9})), ROWS, LINE)
    assert np.abs(by_schema.coef_ / without.coef_).max() < 1.1
    assert np.abs(by_schema.coef_[1] / without.coef_[1]) < 0.7  # it is a penalty


def test_a_lasso_in_own_units_keeps_what_scikit_learn_keeps():
    from sklearn.linear_model import Lasso as Plain

    told = {"alpha": 1.0, "solver": "cd", "bounds_y": (-10.0, 20.0), **KNOWN}
    found = exact(Lasso(schema=SCHEMA, **told), ROWS, LINE)
    np.testing.assert_allclose(found.coef_, Plain(alpha=1.0).fit(ROWS, LINE).coef_, atol=2e-3)


def test_counts_are_not_flattened_by_the_default_penalty():
    found = exact(PoissonRegressor(schema=SCHEMA, bounds_y=(0, 20), **KNOWN), ROWS, COUNTS)
    np.testing.assert_allclose(found.coef_[0], 0.02, rtol=0.2)


@pytest.mark.parametrize("penalised", Penalised)
def test_columns_of_a_list_are_penalised_as_they_are(penalised):
    """And others as that says; in units of a solver, where a weight of 1 is so much of them."""
    known, units = np.array([True, False, False]), np.array([1.0, 50.0, 0.01])
    bounds = Bounds(
        np.zeros(3), np.ones(3), None, None, known=known, own_units=units, penalised=penalised
    )
    problem = Problem(100, 3, bounds, Logistic(), Penalty(l2=1.0), Adjacency.ZERO_OUT)
    squares = np.array([1e-4, 0.09, 0.09])
    found = Scaling.for_coordinates(problem).divided(np.ones(3), squares)._penalised
    own, root = 1.0 / units, np.sqrt(squares)
    expected = {
        Penalised.OWN_UNITS: own,
        Penalised.NOT_TOO_SMALL: np.append(own[:1], np.minimum(own, 4.0 * root)[1:]),
        Penalised.STANDARDISED: np.append(own[:1], root[1:]),
    }
    np.testing.assert_allclose(found, expected[penalised])


def test_a_rare_category_has_the_penalty_of_a_flag():
    """As `OneHotEncoder` and C=1 have it, though the range beside it is looked into."""
    rng = np.random.default_rng(2)
    region = rng.choice(["many", "few"], 4_000, p=[0.99, 0.01])
    frame = pd.DataFrame({"region": region, "x": rng.uniform(0, 10, 4_000)})
    y = ((frame["region"] == "few") & (rng.random(4_000) < 0.5)).astype(int)
    schema = {"region": Category(["many", "few"]), "x": Number(0, 10)}
    strong, weak = (
        exact(LogisticRegression(schema=schema, classes=[0, 1], C=C, **KNOWN), frame, y)
        for C in (1e-3, 1e3)
    )
    assert np.ptp(strong.coef_[0][:2]) < 0.1 * np.ptp(weak.coef_[0][:2])
