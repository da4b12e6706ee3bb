"""The moments solver: exact without noise, and as noisy as forecast with it."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import linear_model as sk

import privlearn
from privlearn._core.problem import Bounds
from privlearn.solvers import SufficientStatistics
from privlearn.solvers._common.moment_equations import inverse_eigenvalues, stack, unstack
from privlearn.solvers._common.scaling import Scaling
from support import regression, without_noise

RELATIONS = ["zero_out", "add_remove", "replace_one"]
LinearRegression = partial(privlearn.LinearRegression, solver="moments")
Ridge = partial(privlearn.Ridge, solver="moments")


def facts(X, y):
    """Bounds that clip nothing; a test may look at its own data."""
    return {"bounds_X": (X.min(axis=0) - 0.5, X.max(axis=0) + 0.5), "bounds_y": (y.min(), y.max())}


def hard(n=3_000, p=7, seed=1):
    """Correlated features on very different scales, away from zero."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) @ rng.standard_normal((p, p)) * 10.0 ** np.arange(-3, p - 3)
    X += 5.0 * X.std(axis=0)
    return X, X @ (1.0 / X.std(axis=0)) + rng.standard_normal(n) + 3.0


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("alpha", [None, 0.0, 1.0, 1e3])
@pytest.mark.parametrize("bounds", ["box", "norm", "both"])
def test_equals_scikit_learn_without_noise(relation, intercept, alpha, bounds):
    X, y = regression(2_000, 5)
    known = {} if bounds == "norm" else facts(X, y)
    if bounds != "box":
        known["data_norm"] = 50.0
    known["bounds_y"] = (y.min(), y.max())
    shared = {"adjacency": relation, "fit_intercept": intercept, **known}
    ours = LinearRegression(**shared) if alpha is None else Ridge(alpha=alpha, **shared)
    theirs = (
        sk.LinearRegression(fit_intercept=intercept)
        if alpha is None
        else sk.Ridge(alpha=alpha, fit_intercept=intercept, solver="cholesky")
    ).fit(X, y)
    with without_noise():
        ours.fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("alpha", [None, 10.0])
def test_equals_scikit_learn_on_badly_scaled_features(alpha):
    X, y = hard()
    ours = LinearRegression(**facts(X, y)) if alpha is None else Ridge(alpha=alpha, **facts(X, y))
    theirs = sk.LinearRegression() if alpha is None else sk.Ridge(alpha=alpha, solver="svd")
    with without_noise():
        ours.fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.fit(X, y).predict(X), rtol=1e-8)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8)


@pytest.mark.parametrize("kind", ["float32", "fortran", "list", "pandas", "polars", "csr", "coo"])
def test_every_kind_of_input_gives_one_answer(kind):
    X, y = regression(1_500, 3)
    X = X.astype(np.float32).astype(np.float64)
    model = LinearRegression(bounds_X=(-1, 1), bounds_y=(-1, 1), random_state=0)
    expected = model.fit(X, y).coef_
    names = ["a", "b", "c"]
    if kind in ("pandas", "polars"):
        frames = pytest.importorskip(kind)
    given = {
        "float32": lambda: X.astype(np.float32),
        "fortran": lambda: np.asfortranarray(X),
        "list": lambda: X.tolist(),
        "pandas": lambda: frames.DataFrame(X, columns=names),
        "polars": lambda: frames.DataFrame(X, schema=names),
        "csr": lambda: sp.csr_array(X),
        "coo": lambda: sp.coo_matrix(X),
    }[kind]()
    again = model.fit(given, y)
    np.testing.assert_allclose(again.coef_, expected, rtol=1e-9)
    np.testing.assert_allclose(again.predict(given), X @ expected + again.intercept_, rtol=1e-6)
    if kind in ("pandas", "polars"):
        assert list(model.feature_names_in_) == names


@pytest.mark.parametrize("relation", RELATIONS)
def test_dropped_rows_leave_no_trace_without_noise(relation):
    X, y = regression(1_000)
    holes = X.copy()
    holes[::7, 1] = np.nan
    holes[1::50, 2] = np.inf
    kept = np.isfinite(holes).all(axis=1)
    model = LinearRegression(
        adjacency=relation, bounds_X=(-1, 1), bounds_y=(-1, 1), on_invalid="drop"
    )
    with without_noise():
        model.fit(holes, y)
    theirs = sk.LinearRegression().fit(X[kept], y[kept])
    np.testing.assert_allclose(model.coef_, theirs.coef_, rtol=1e-8)
    np.testing.assert_allclose(model.intercept_, theirs.intercept_, rtol=1e-8)


def test_forecast_covers_the_noise():
    """95 % of coefficients and predictions lie within 1.96 forecast deviations, 1.4 cover less."""
    n, p, fits = 20_000, 4, 150
    rng = np.random.default_rng(5)
    low, high = np.array([0.0, -3.0, 10.0, -0.1]), np.array([1.0, 3.0, 30.0, 0.1])
    X = rng.uniform(low, high, (n, p))
    signal = ((X - (low + high) / 2) / (high - low)).sum(axis=1)
    y = np.clip(signal + rng.standard_normal(n) * signal.std(), -1.73 * 0.82, 1.73 * 0.82)
    model = LinearRegression(epsilon=0.5, bounds_X=(low, high), bounds_y=(y.min(), y.max()))
    forecast = model.plan(n=n, n_features=p).forecast()
    with without_noise():
        exact = LinearRegression(**model.get_params()).fit(X, y)
    rows = X[:200]
    errors, misses = [], []
    for seed in range(fits):
        model.set_params(random_state=seed).fit(X, y)
        errors.append((model.coef_ - exact.coef_) / forecast.coefficient)
        misses.append((model.predict(rows) - exact.predict(rows)) / forecast.prediction)
    for standardised in (np.array(errors), np.array(misses)):
        assert 0.9 < np.mean(np.abs(standardised) < 1.96) < 0.985
        assert np.mean(np.abs(standardised) < 1.96 / 1.4) < 0.9
        assert np.mean(np.abs(standardised) < 1.96 * 1.4) > 0.97


def test_forecast_grows_as_it_should():
    model = LinearRegression(bounds_X=(0, 1), bounds_y=(0, 1))
    one, ten = (model.plan(n=n, n_features=3).forecast() for n in (10_000, 100_000))
    np.testing.assert_allclose(one.coefficient, 10 * ten.coefficient, rtol=0.05)
    tight = LinearRegression(epsilon=0.1, bounds_X=(0, 1), bounds_y=(0, 1))
    assert (tight.plan(n=10_000, n_features=3).forecast().coefficient > 3 * one.coefficient).all()
    assert "10,000 rows" in str(one)
    with pytest.raises(ValueError, match=r"n=\.\.\."):
        model.plan(n_features=3).forecast()


def test_stack_is_an_isometry():
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((6, 6))
    matrix += matrix.T
    assert np.linalg.norm(stack(matrix)) == pytest.approx(np.linalg.norm(matrix))
    np.testing.assert_allclose(unstack(stack(matrix), 6), matrix, rtol=1e-15)


def test_no_row_is_longer_than_its_scaling_says():
    """Random rows of the feasible set, and the knapsack's own optimum, against squared_norm."""
    rng = np.random.default_rng(3)
    low, high = np.array([0.0, 0.0, -4.0, 0.0]), np.array([1.0, 0.3, 2.0, 0.0])
    for norm in (1.05, 1.5, 2.5, 10.0):
        bounds = Bounds.declared(4, bounds_X=(low, high), bounds_y=(0, 2), data_norm=norm)
        scaling = Scaling.for_moments(bounds, 4, True)
        X = rng.uniform(low, high, (4_000, 4)) * rng.choice([0.0, 1.0, 1.0], (4_000, 4))
        corners = np.where(rng.random((500, 4)) < 0.5, low, high)
        X = np.vstack([X, corners])
        limit = np.sqrt(norm**2 - 1)
        X *= np.minimum(1.0, limit / np.maximum(np.linalg.norm(X, axis=1), 1e-300))[:, None]
        u = (X - scaling.center) / np.where(scaling.scale > 0, scaling.scale, np.inf)
        longest = 2.0 + np.max(np.sum(u**2, axis=1))
        assert longest <= scaling.squared_norm
        assert longest > 0.75 * scaling.squared_norm, "the bound is far from tight"


def test_one_hot_rows_are_not_centred():
    """A one-hot row of 100 columns is short; centring it would make it long."""
    bounds = Bounds.declared(100, bounds_X=(0, 1), bounds_y=(0, 1), data_norm=np.sqrt(2.0))
    scaling = Scaling.for_moments(bounds, 100, True)
    assert scaling.squared_norm == pytest.approx(3.0)
    assert not scaling.center.any()


@pytest.mark.parametrize("ridge", ["noise", "adassp", 0.3])
def test_ridges_are_finite_and_ordered(ridge):
    values = np.array([-5.0, 0.0, 1.0, 50.0, 1e4])
    gain = inverse_eigenvalues(values, values * 0.3, 2.0, ridge)
    assert np.isfinite(gain).all()
    assert (gain >= 0).all()
    assert gain[-1] == pytest.approx(1e-4, rel=0.02), "strong directions are left alone"
    if ridge != 0.3:
        assert gain.max() < 1.0, "weak directions are damped"


def test_noise_that_hides_everything_gives_a_near_constant_model():
    X, y = regression(60, 8)
    for seed in range(20):
        model = LinearRegression(
            epsilon=0.05, bounds_X=(-1, 1), bounds_y=(-1, 1), random_state=seed
        ).fit(X, y)
        assert np.abs(model.predict(X)).max() < 5.0


@pytest.mark.parametrize("ridge", ["nois", -1.0, float("nan")])
def test_bad_ridge_is_refused(ridge):
    with pytest.raises(ValueError, match="ridge="):
        SufficientStatistics(ridge=ridge)


def test_features_without_room_get_no_coefficient():
    X, y = regression(500, 3)
    X[:, 1] = 2.0
    model = LinearRegression(bounds_X=([-1, 2, -1], [1, 2, 1]), bounds_y=(-1, 1)).fit(X, y)
    assert model.coef_[1] == 0.0
    assert np.isfinite(model.plan(n=500, n_features=3).forecast().coefficient).all()
