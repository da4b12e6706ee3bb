"""What noise on the ends of estimated ranges does to coefficients."""

from types import SimpleNamespace

import numpy as np
import pytest

from privlearn import LinearRegression
from privlearn._core.problem import Bounds
from privlearn.private_bounds.steady import EndNoise
from privlearn.solvers._common.histograms import mean_length
from privlearn.solvers.coordinate_descent import range_noise
from privlearn.solvers.coordinate_descent.private_scales import RowMoments
from privlearn.solvers.coordinate_descent.range_noise import noise_of_ends

WEIGHTS = np.array([2.0, 0.0, 0.5])


def found(features=None, target=None, weights=WEIGHTS):
    """Two features in [-4, 4] of variance 1 and mean 0, beside an intercept, and y in [-10, 10]."""
    low, high = np.full(2, -4.0), np.full(2, 4.0)
    bounds = Bounds(low, high, (-10.0, 10.0), None, end_noise=features, target_noise=target)
    scaling = SimpleNamespace(
        center=np.zeros(2), inverse_scale=np.ones(2), intercept_value=1.0, target_scale=10.0
    )
    objective = SimpleNamespace(scaling=scaling, loss=SimpleNamespace(curvature=1.0))
    moments = RowMoments(np.eye(3), np.diag([1.0, 1.0, 1.0]), 0.0, 0.0)
    moments.noisy[-1, :-1] = moments.noisy[:-1, -1] = 0.0
    return noise_of_ends(bounds, objective, moments, weights, slope=0.3)


def ends(deviation, beyond):
    return EndNoise(np.array(deviation), np.array(beyond))


def test_declared_ranges_have_none():
    assert found() is None


def test_gradients_and_weights_follow_the_rows_beyond():
    one = found(ends([[0.0, 0.0], [0.5, 0.5]], [[0.0, 0.0], [0.01, 0.02]]))
    part = np.array([0.005, 0.01])
    np.testing.assert_allclose(one.gradient, [*(range_noise.SLOPE * 0.3 * part), 0.0])
    np.testing.assert_allclose(one.weights, [range_noise.OWN * 2.0 * 0.005 * 4.0, 0.0, 0.0])
    both = found(ends([[0.5, 0.0], [0.5, 0.0]], [[0.01, 0.0], [0.01, 0.0]]))
    np.testing.assert_allclose(both.gradient[0], np.sqrt(2.0) * one.gradient[0])


def test_a_moved_end_of_the_target_pulls_all_weights():
    one = found(target=ends([[0.0], [1.0]], [[0.0], [0.01]]))
    np.testing.assert_array_equal(one.gradient, 0.0)
    assert one.weights[0] > 0.0
    assert one.weights[1] == 0.0


def test_nothing_is_divided_by_zero():
    with np.errstate(all="raise"):
        one = found(ends(np.zeros((2, 2)), np.zeros((2, 2))), weights=np.zeros(3))
    np.testing.assert_array_equal(one.weights, 0.0)


def test_nothing_is_told_of_a_feature_whose_end_may_be_elsewhere():
    one = found(ends([[0.0, 0.0], [np.nan, 0.5]], [[0.0, 0.0], [0.01, 0.02]]))
    np.testing.assert_array_equal(np.isnan(one.weights), [True, False, False])
    assert np.isfinite(one.gradient).all()


def test_mean_length_of_gradients():
    lengths = np.random.default_rng(0).exponential(size=50_000).clip(0.0, 16.0)
    bins = np.floor(-2.0 * np.log2(lengths / 16.0)).astype(int).clip(0, 47)
    counts = np.bincount(bins, minlength=48).astype(float)
    assert mean_length(counts, 10.0, 16.0) == pytest.approx(1.0, rel=0.05)
    assert mean_length(np.zeros(48), 10.0, 16.0) is None


def long_tails(n=20_000):
    rng = np.random.default_rng(4)
    X = np.column_stack([np.exp(rng.standard_normal((n, 2))), rng.standard_normal((n, 2))])
    y = np.minimum(X, 4.0) @ [1.0, -1.0, 1.0, 0.5] + rng.standard_normal(n)
    return X, y


def told_over_seen():
    """Of columns with long tails, and of others."""
    X, y = long_tails()
    coefs, told = [], []
    for seed in range(30):
        model = LinearRegression(epsilon=5, random_state=seed).fit(X, y)
        coefs.append(model.coef_)
        told.append(model.coef_noise())
    return np.sqrt(np.mean(np.square(told), axis=0)) / np.std(coefs, axis=0, ddof=1)


@pytest.mark.slow
def test_long_tails_are_told(monkeypatch):
    """Gradients alone tell a fraction of the spread; with ends it is within a factor of 2."""
    ratio = told_over_seen()
    assert ((ratio > 0.5) & (ratio < 2.0)).all(), ratio
    monkeypatch.setattr(range_noise, "noise_of_ends", lambda *_: None)
    assert (told_over_seen()[:2] < 0.5).any()
