"""Noise of each coefficient after the fit, from what was released."""

import pickle

import numpy as np
import pytest

from privlearn import HuberRegressor, Lasso, LinearRegression, LogisticRegression, Ridge
from privlearn.private_bounds.declared import CentredRange
from privlearn.private_bounds.selection import in_all_columns
from privlearn.solvers import CoordinateDescent
from privlearn.solvers.base import Solution
from privlearn.solvers.coordinate_descent.coef_noise import WIDEST, NoiseRecord
from support import without_noise

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
    box = {"features": CentredRange(np.zeros(2), np.ones(2))}
    whole = in_all_columns(found, np.array([0, 2]), 3, box)
    np.testing.assert_array_equal(whole.coef_noise, [[1.0, np.nan, 2.0]])
    all_columns = in_all_columns(found, np.array([0, 1]), 2, box)
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
        Lasso(alpha=0.01, solver="cd", **KNOWN),
        Ridge(positive=True, solver="cd", **KNOWN),
        LinearRegression(solver=CoordinateDescent(block=1), **KNOWN),
        Lasso(alpha=0.01, solver=CoordinateDescent(block=1, selection="greedy"), **KNOWN),
        HuberRegressor(solver="cd", **KNOWN),
    ],
)
def test_what_is_not_known_is_refused(model):
    X, y = table(500)
    y = (y > 0).astype(int) if isinstance(model, LogisticRegression) else y
    with pytest.raises(AttributeError, match="moments"):
        model.fit(X, y).coef_noise()


def related(n=8_000, p=4):
    """Columns that go together, but none of which the others nearly tell."""
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, (n, p))
    X[:, 0] = 0.6 * X[:, 0] + 0.4 * X[:, 1]
    return X, np.clip(X @ np.arange(p) / p + 0.3 + 0.2 * rng.standard_normal(n), -2, 2)


def one_hot(n=8_000):
    """A number, and five categories, which add up to the intercept's column."""
    rng = np.random.default_rng(1)
    groups = rng.choice(5, n, p=[0.4, 0.3, 0.15, 0.1, 0.05])
    X = np.column_stack([rng.uniform(-1, 1, n), np.eye(5)[groups]])
    y = 0.5 * X[:, 0] + 0.1 * groups + 0.2 * rng.standard_normal(n)
    return X, np.clip(y, -2, 2)


def spread_and_told(model, X, y, fits=40):
    """Deviation of each coefficient over fits, and the root mean square of what was told."""
    coefs, told = [], []
    for seed in range(fits):
        model.set_params(random_state=seed).fit(X, y)
        coefs.append(np.ravel(model.coef_))
        told.append(np.ravel(model.coef_noise()))
    return np.std(coefs, axis=0, ddof=1), np.sqrt(np.mean(np.square(told), axis=0))


def classes(y):
    """Two, which overlap."""
    return (y + 0.5 * np.random.default_rng(3).standard_normal(len(y)) > 0.3).astype(int)


@pytest.mark.slow
@pytest.mark.parametrize(("known", "epsilon"), [(KNOWN, 1), (KNOWN, 10), ({}, 1), ({}, 10)])
@pytest.mark.parametrize("model", [LinearRegression, Ridge, LogisticRegression])
def test_cd_tells_the_spread_of_fits(model, known, epsilon):
    """Below epsilon 1 clips and ranges differ from fit to fit, which is not told."""
    X, y = related()
    if model is LogisticRegression:
        y, known = classes(y), {k: v for k, v in known.items() if k != "bounds_y"}
    seen, told = spread_and_told(model(solver="cd", epsilon=epsilon, **known), X, y)
    assert (told > 0.5 * seen).all(), told / seen
    assert (told < 2.0 * seen).all(), told / seen


@pytest.mark.slow
def test_it_would_notice_half_the_noise(monkeypatch):
    """The middle of all ratios is near 1, so half of the noise would show."""
    X, y = related()
    seen, told = spread_and_told(LinearRegression(solver="cd", **KNOWN), X, y)
    assert 0.75 < np.median(told / seen) < 1.4
    add = NoiseRecord.add

    def halved(self, part, noise_std):
        add(self, part, 0.5 * noise_std)

    monkeypatch.setattr(NoiseRecord, "add", halved)
    half = spread_and_told(LinearRegression(solver="cd", **KNOWN), X, y)[1]
    np.testing.assert_allclose(half, 0.5 * told)
    assert np.median(half / seen) < 0.75


def test_directions_that_do_not_converge_are_seen():
    """Categories beside an intercept: a common shift of them wanders; a number stays there."""
    X, y = one_hot()
    seen, told = spread_and_told(LinearRegression(solver="cd", epsilon=3, **KNOWN), X, y)
    assert (seen[1:] > 100 * seen[0]).all()
    assert (told > 0.5 * seen).all(), told / seen
    assert (told[1:] < 2.0 * seen[1:]).all(), told / seen
    assert told[0] < 4.0 * seen[0]  # a hundredth of the shift would be more, if it were its own


def test_cd_tells_it_without_an_intercept_and_without_noise():
    X, y = table()
    model = LinearRegression(solver="cd", fit_intercept=False, **KNOWN)
    assert (model.fit(X, y).coef_noise() > 0).all()
    with without_noise():
        exact = LinearRegression(solver="cd", **KNOWN).fit(X, y)
    np.testing.assert_array_equal(exact.coef_noise(), 0.0)


def test_wide_tables_are_not_told():
    X = np.zeros((50, WIDEST))
    model = LinearRegression(solver="cd", epsilon=5, **KNOWN)
    with pytest.raises(AttributeError, match="not known"):
        model.fit(X, np.zeros(50)).coef_noise()
    assert model.fit(X[:, :-1], np.zeros(50)).coef_noise().shape == (WIDEST - 1,)


@pytest.mark.parametrize("model", [LinearRegression, LogisticRegression])
@pytest.mark.parametrize("seed", range(5))
def test_it_is_a_number_where_noise_is_all_there_is(model, seed):
    X, y = table(12)
    known = {"bounds_X": (-1, 1)} | ({"bounds_y": (-2, 2)} if model is LinearRegression else {})
    y = y if model is LinearRegression else np.arange(12) % 2
    made = model(solver="cd", epsilon=0.1, random_state=seed, **known)
    assert np.isfinite(made.fit(X, y).coef_noise()).all()
