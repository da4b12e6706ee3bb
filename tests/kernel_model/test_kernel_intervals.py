"""Intervals of a curve: right without noise, paid for when asked for, and about what they say."""

import json

import numpy as np
import pytest
from scipy.stats import norm

from privlearn import KernelRegressor
from privlearn._core.releaser import use_releaser
from privlearn.exceptions import MissingFactError, UnsupportedCombinationError
from privlearn.solvers.coordinate_descent.private_scales import BENDS, SQUARES
from support import NoNoise

BOX = {"bounds_X": (-1, 1), "bounds_y": (-4, 4), "intervals": True}
N, ERROR = 4_000, 0.5
REACH = norm.ppf(0.975)


class Quiet(NoNoise):
    """No noise, and a certificate all the same: what is looked at are the errors."""

    def certificate(self):
        return super(NoNoise, self).certificate()


def rows(n=N, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 2))
    return X, np.sin(3 * X[:, 0]) + X[:, 1] + ERROR * rng.standard_normal(n)


def features_of(model, X):
    return np.column_stack([model.feature_map_.transform(X), np.ones(len(X))])


@pytest.mark.parametrize("bandwidth", [None, 1.0])
def test_without_noise_errors_are_those_of_ridge_on_the_features(bandwidth):
    X, y = rows()
    alpha = 5.0
    model = KernelRegressor(alpha=alpha, bandwidth=bandwidth, n_components=20, **BOX)
    with use_releaser(Quiet):
        model.fit(X, y)
    Z = features_of(model, X)
    curvature = Z.T @ Z
    steep = curvature + np.diag(np.append(np.full(Z.shape[1] - 1, alpha), 0.0))
    weights = np.linalg.solve(steep, Z.T @ y)
    np.testing.assert_allclose(model.predict(X), Z @ weights, atol=2e-3)
    inverse = np.linalg.inv(steep)
    square = np.mean((y - Z @ weights) ** 2)
    spread = np.sqrt(square * np.einsum("ij,jk,ik->i", Z, inverse @ curvature @ inverse, Z))
    low, high = model.predict_interval(X)
    np.testing.assert_allclose((high - low) / 2, REACH * spread, rtol=0.03)
    low, high = model.predict_interval(X, of="row")
    np.testing.assert_allclose(
        (high - low) / 2, REACH * np.hypot(spread, np.sqrt(square)), rtol=0.01
    )


def test_a_line_before_the_curve_is_a_released_value():
    X, y = rows(20_000)
    model = KernelRegressor(epsilon=3.0, random_state=0, **BOX).fit(X, y)
    features = model.feature_map_.n_features_out
    assert len(model.coef_) == features + 2
    of_line = slice(features, features + 2)
    assert not model._errors.total[of_line].any()
    assert not model._errors.total[:, of_line].any()
    low, high = model.predict_interval(X)
    narrow = (high - low).mean()
    assert ((low < model.predict(X)) & (model.predict(X) < high)).all()
    low, high = model.predict_interval(X, of="row")
    assert np.mean((low < y) & (y < high)) > 0.94
    assert (high - low).min() > narrow


def test_where_noise_allows_a_line_alone_intervals_are_of_the_line():
    X, y = rows(2_000)
    model = KernelRegressor(epsilon=0.2, random_state=0, **BOX).fit(X, y)
    assert model.feature_map_.n_features_out == 0
    low, high = model.predict_interval(X[:20])
    told = np.isfinite(low)
    assert (high - low)[told].min(initial=1.0) > 0


def test_nobody_pays_unasked_and_the_plan_says_what_is_paid():
    names = [one.name for one in KernelRegressor(**BOX).plan(20_000, n_features=2).releases]
    assert {BENDS, SQUARES} <= set(names)
    plain = KernelRegressor(**BOX | {"intervals": False})
    names = [one.name for one in plain.plan(20_000, n_features=2).releases]
    assert not {BENDS, SQUARES} & set(names)
    with pytest.raises(MissingFactError, match=r"KernelRegressor\(intervals=True\)"):
        plain.fit(*rows()).predict_interval(rows()[0][:3])


@pytest.mark.parametrize("solver", ["scd", "sgd", "moments", "output"])
def test_solvers_that_tell_no_errors_are_refused(solver):
    with pytest.raises(UnsupportedCombinationError, match="intervals=True"):
        KernelRegressor(solver=solver, **BOX).fit(*rows(200))


def test_kernels_have_no_table_of_coefficients():
    assert not hasattr(KernelRegressor(), "summary")
    assert hasattr(KernelRegressor(), "predict_interval")


def test_intervals_come_back_from_files():
    X, y = rows()
    model = KernelRegressor(epsilon=3.0, random_state=0, **BOX).fit(X, y)
    again = KernelRegressor.from_dict(json.loads(json.dumps(model.to_dict(), allow_nan=False)))
    for of in ("mean", "row"):
        found, known = (one.predict_interval(X[:50], of=of) for one in (again, model))
        np.testing.assert_array_equal(found, known)


@pytest.mark.slow
def test_intervals_cover_the_curve_of_the_population():
    """Of the penalised curve of what the released line leaves; and half as wide ones do not."""
    X, y = rows(50_000, seed=1)
    at, rng = np.random.default_rng(2).uniform(-1, 1, (40, 2)), np.random.default_rng(3)
    covered, too_narrow = [], []
    for seed in range(60):
        own = rng.integers(len(X), size=3_000)
        model = KernelRegressor(epsilon=3.0, random_state=seed, **BOX).fit(X[own], y[own])
        low, high = model.predict_interval(at)
        right, middle = curve_of(model, X, y, 3_000, at), (low + high) / 2
        covered.append((low <= right) & (right <= high))
        too_narrow.append(np.abs(middle - right) <= (high - low) / 8)
    assert np.mean(covered) > 0.93
    assert np.mean(too_narrow) < 0.9


def curve_of(model, X, y, n, at):
    """The minimiser over a population, clipped as a fit did, in its features beside its line."""
    X, at, clip = *map(model._within_limits, (X, at)), getattr(model, "_clip_bounds", None)
    y = y if clip is None or clip.target is None else np.clip(y, *clip.target)
    solver = model._prepare(n, 2, 0, None).solver
    solver = getattr(solver, "inner", solver)  # the same within ranges that it estimates
    size, Z = model.feature_map_.n_features_out, features_of(model, X)
    line = model.coef_[size:]
    penalty = np.append(np.full(size, solver.penalty.l2 / n), 0.0)
    weights = np.linalg.solve(Z.T @ Z / len(X) + np.diag(penalty), Z.T @ (y - X @ line) / len(X))
    return features_of(model, at) @ weights + at @ line
