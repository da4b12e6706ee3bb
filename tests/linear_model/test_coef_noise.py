"""Noise of each coefficient after the fit, from what was released."""

import pickle

import numpy as np
import pytest

from privlearn import Lasso, LinearRegression, LogisticRegression, Ridge
from privlearn.private_bounds.ranges import Range
from privlearn.private_bounds.solver import _in_all_columns
from privlearn.solvers.base import Solution

KNOWN = {"bounds_X": (-1, 1), "bounds_y": (-2, 2)}


def table(n=8_000, p=4, seed=0):
    """Two columns that go together, and a target that is not centred."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, p))
    X[:, 0] = 0.2 * X[:, 0] + 0.8 * X[:, 1]
    return X, np.clip(X @ np.arange(p) / p + 0.3 + 0.2 * rng.standard_normal(n), -2, 2)


@pytest.mark.parametrize(
    ("model", "parameters"),
    [
        (LinearRegression, {}),
        (LinearRegression, {"fit_intercept": False}),
        (Ridge, {"adjacency": "add_remove", "epsilon": 3}),
        (LinearRegression, {"adjacency": "replace_one"}),
        (LinearRegression, {"bounds_X": (-1, [1, 2, 4, 8])}),
    ],
)
def test_it_is_the_spread_of_fits(model, parameters):
    X, y = table()
    one = model(solver="moments", **(KNOWN | parameters))
    coefs, told = [], []
    for _ in range(40):
        coefs.append(one.fit(X, y).coef_)
        told.append(one.coef_noise())
    ratio = np.median(told, axis=0) / np.std(coefs, axis=0, ddof=1)
    assert (ratio > 0.65).all(), ratio
    assert (ratio < 1.5).all(), ratio
    assert told[0].shape == one.coef_.shape


def test_collinear_features_get_more():
    X, y = table()
    noise = LinearRegression(solver="moments", **KNOWN).fit(X, y).coef_noise()
    assert noise[0] > 2 * noise[3]


def test_ranges_that_are_estimated_change_the_units_only():
    X, y = table()
    model = LinearRegression(solver="moments", epsilon=5)
    noise = model.fit(X, y).coef_noise()
    thousand = model.fit(1000 * X, y).coef_noise()
    np.testing.assert_allclose(thousand, noise / 1000, rtol=0.7)


def test_features_that_are_not_selected_have_none():
    found = Solution(np.ones((1, 2)), np.zeros(1), coef_noise=np.array([[1.0, 2.0]]))
    box = {"features": Range(np.zeros(2), np.ones(2))}
    whole = _in_all_columns(found, np.array([0, 2]), 3, box)
    np.testing.assert_array_equal(whole.coef_noise, [[1.0, np.nan, 2.0]])
    all_columns = _in_all_columns(found, np.array([0, 1]), 2, box)
    np.testing.assert_array_equal(all_columns.coef_noise, found.coef_noise)


def test_it_is_copied_pickled_and_replaced():
    X, y = table()
    model = LinearRegression(solver="moments", **KNOWN).fit(X, y)
    noise = model.coef_noise()
    model.coef_noise()[:] = 0.0
    np.testing.assert_array_equal(model.coef_noise(), noise)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).coef_noise(), noise)
    model.set_params(solver="sgd").fit(X, y)
    with pytest.raises(AttributeError, match="not known of this fit"):
        model.coef_noise()


@pytest.mark.parametrize(
    "model",
    [
        LinearRegression(solver="boosted", **KNOWN),
        Lasso(alpha=0.01, solver="moments", **KNOWN),
        LogisticRegression(solver="sgd", bounds_X=(-1, 1)),
    ],
)
def test_what_is_not_known_is_refused(model):
    X, y = table(500)
    y = (y > 0).astype(int) if isinstance(model, LogisticRegression) else y
    with pytest.raises(AttributeError, match="moments"):
        model.fit(X, y).coef_noise()
