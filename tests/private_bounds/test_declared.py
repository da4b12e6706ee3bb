"""Declared ranges are looked into by "auto", and never left."""

import numpy as np
import pytest

from privlearn import HuberRegressor, LinearRegression, LogisticRegression, Ridge
from privlearn._core.problem import Bounds
from privlearn.private_bounds.declared import coarse_inside, inside, of_use_together
from privlearn.private_bounds.ranges import CoarseRange, Range
from support import regression


def coarse(low, high, latest_low, earliest_high, rows=100.0):
    ends = (np.array([float(end)]) for end in (low, high, latest_low, earliest_high))
    return CoarseRange(*ends, rows=np.array([rows]), may_be_narrow=np.array([False]))


def test_a_range_is_cut_at_the_declared_one():
    declared = Range(np.array([0.0, 0.0, 5.0]), np.array([10.0, 10.0, 5.0]))
    found = inside(Range(np.array([-3.0, 20.0, 0.0]), np.array([4.0, 30.0, 9.0])), declared)
    np.testing.assert_array_equal(found.low, [0.0, 0.0, 5.0])  # where nothing is left: declared
    np.testing.assert_array_equal(found.high, [4.0, 10.0, 5.0])


def test_where_nothing_is_seen_the_declared_range_stays():
    declared = Range(np.array([0.0]), np.array([1000.0]))
    unseen = coarse_inside(coarse(-1.0, 1.0, -1.0, 1.0, rows=0.0), declared)
    assert (unseen.low, unseen.high) == (0.0, 1000.0)
    assert unseen.latest_low == 1000.0  # ends may move as far as counts say
    zeros = coarse_inside(coarse(-1.0, 1.0, -1.0, 1.0), declared)
    assert (zeros.low, zeros.high) == (0.0, 1.0)  # as with nothing declared
    assert (zeros.latest_low, zeros.earliest_high) == (0.0, 1.0)  # ends stay
    seen = coarse_inside(coarse(-4.0, 8.0, -2.0, 4.0), declared)
    assert (seen.low, seen.high, seen.latest_low, seen.earliest_high) == (0.0, 8.0, 0.0, 4.0)


def test_a_declared_range_cuts_at_powers_of_two_unless_it_is_far_narrower():
    """Values of most rows at one end, and a thin tail: in narrower bins it would not show."""
    like_nothing = coarse_inside(coarse(64, 256, 128, 64), Range(np.array([70.0]), np.array([200])))
    assert (like_nothing.low, like_nothing.high) == (64.0, 256.0)
    ends = Range(np.array([-3.0]), np.array([-1.0]))
    below = coarse_inside(coarse(-64, 64, 1, -1), ends)
    assert (below.low, below.high) == (-4.0, -1.0)
    far = coarse_inside(coarse(512, 1024, 1024, 512), Range(np.array([1000.0]), np.array([1010])))
    assert (far.low, far.high) == (1000.0, 1010.0)


def test_a_column_in_small_units_is_not_flattened_by_its_penalty():
    """It decides the label; in its own units the default penalty would be 100 million times that
    of a standardised column.
    """
    rng = np.random.default_rng(1)
    X = rng.normal(size=(8_000, 3)) * [1e-4, 1.0, 1.0] + [2e-4, 0.0, 0.0]
    y = (1e4 * X[:, 0] + 0.3 * X[:, 1] + 0.5 * rng.normal(size=8_000) > 2.0).astype(int)
    known = {"bounds_X": ([0.0, -4.0, -4.0], [1e-3, 4.0, 4.0]), "random_state": 0}
    undeclared = LogisticRegression(random_state=0).fit(X, y).score(X, y)
    assert LogisticRegression(**known).fit(X, y).score(X, y) > undeclared - 0.005
    assert undeclared > 0.8


def test_a_box_in_which_no_row_is_as_short_as_declared_is_left_out():
    declared = Bounds(np.array([-9.0]), np.array([9.0]), None, 2.0)
    found = Bounds(np.array([5.0]), np.array([6.0]), None, 2.0, estimated=True)
    kept = of_use_together(found, declared, fit_intercept=True)
    assert (kept.low, kept.high) == (-9.0, 9.0)
    near = Bounds(np.array([0.5]), np.array([6.0]), None, 2.0, estimated=True)
    assert of_use_together(near, declared, fit_intercept=True) is near


@pytest.mark.parametrize("cls", [LinearRegression, Ridge, HuberRegressor])
def test_auto_looks_inside_and_other_solvers_do_not(cls):
    X, y = regression(3_000)
    known = {"bounds_X": (-50, 50), "bounds_y": (-200, 200), "random_state": 0}
    model = cls(**known).fit(X, y)
    names = [release["name"] for release in model.privacy_.releases]
    assert any("histogram" in name and "features" in name for name in names)
    low, high = model.bounds_X_
    assert (low >= -50).all()
    assert (high <= 50).all()
    assert (high - low < 25).all()
    named = cls(solver="cd", **known).fit(X, y)
    assert not any("of the features" in release["name"] for release in named.privacy_.releases)


def test_ten_rows_are_fitted_in_what_was_declared():
    plan = LinearRegression(bounds_X=(-1, 1), bounds_y=(-5, 5)).plan(n=10, n_features=3)
    assert not any("histogram in powers" in release.name for release in plan.releases)


def test_penalties_stay_in_declared_units():
    """Half the unit and a quarter of the penalty is the same problem; undeclared it is not."""
    X, y = regression(20_000)
    known = {"bounds_X": (-10, 10), "bounds_y": (-20, 20), "epsilon": 100.0, "random_state": 0}
    heavy = Ridge(alpha=20_000.0, **known).fit(X, y).coef_
    half = {"bounds_X": (-5, 5)}
    light = Ridge(alpha=5_000.0, **(known | half)).fit(X / 2, y).coef_
    np.testing.assert_allclose(light, 2 * heavy, rtol=0.05)


def test_wide_declared_bounds_cost_hardly_more_than_none():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(5_000, 6)) * [1, 10, 100, 1, 10, 100]
    y = X @ [1, 0.1, 0.01, -1, 0.1, 0] + 0.5 * rng.normal(size=5_000)
    wide = {"bounds_X": (-1e4, 1e4), "bounds_y": (-1e3, 1e3)}

    def median(**known):
        fits = (LinearRegression(epsilon=0.3, random_state=s, **known).fit(X, y) for s in range(5))
        return np.median([model.score(X, y) for model in fits])

    assert median(**wide) > median() - 0.02


def test_classes_with_a_norm_and_a_box_look_closer_too():
    X, y = regression(3_000)
    model = LogisticRegression(bounds_X=(-9, 9), data_norm=9.0, random_state=0)
    model.fit(X, (y > 0).astype(int))
    assert any("histogram in powers" in release["name"] for release in model.privacy_.releases)


def test_rare_flags_keep_their_declared_range():
    """Only zeros are seen: a range around them would cut the flag off."""
    rng = np.random.default_rng(0)
    X = (rng.random((20_000, 30)) < np.r_[np.full(5, 0.3), np.full(25, 0.002)]).astype(float)
    y = (X[:, 0] + X[:, 1] + rng.normal(size=20_000) > 0.8).astype(int)
    for seed in range(5):
        model = LogisticRegression(epsilon=0.3, bounds_X=(0, 1), random_state=seed).fit(X, y)
        low, high = model.bounds_X_
        np.testing.assert_array_equal(high[low < high], 1.0)
        assert (low == 0.0).all()


@pytest.mark.parametrize("n", [2_000, 50_000])
def test_a_norm_tells_enough_of_features_where_little_is_seen(n):
    """Of the target it tells nothing."""
    known = {"bounds_X": (0, 1), "bounds_y": (0, 1), "data_norm": 2.0}
    plan = Ridge(epsilon=1.0, **known).plan(n=n, n_features=50)
    names = [release.name for release in plan.releases]
    assert any("features" in name and "powers" in name for name in names) == (n == 50_000)
    assert any("target" in name and "powers" in name for name in names)
    loose = Ridge(epsilon=1.0, **known | {"data_norm": 7.0}).plan(n=n, n_features=50)
    assert any("features" in release.name for release in loose.releases)


def test_short_rows_are_learned_from_when_there_are_few():
    """One-hot groups: without their norm a fit keeps hardly anything."""
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 10, (4_000, 4))
    X = np.hstack([np.eye(10)[group] for group in groups.T])
    y = X @ rng.normal(size=40) + 0.5 * rng.normal(size=4_000)
    known = {"bounds_X": (0, 1), "bounds_y": (-20, 20), "data_norm": 5**0.5}
    fits = (Ridge(epsilon=0.1, random_state=seed, **known).fit(X, y) for seed in range(3))
    assert min(model.score(X, y) for model in fits) > 0.5


@pytest.mark.parametrize("ends", [([0, 0], [0, 5]), ([0.5, 0], [0.5, 1]), ([0, 0], [0, 0])])
def test_a_column_that_is_declared_constant_is_not_looked_into(ends):
    """Bins between equal ends have no width: their places were no numbers."""
    X, y = regression(500, 2)
    found = LinearRegression(bounds_X=ends, bounds_y=(-1, 1), random_state=0).fit(X, y)
    assert found.coef_[0] == 0.0
