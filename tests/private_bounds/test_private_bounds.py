"""Estimated ranges: what noisy counts tell, and models that need nothing but epsilon and delta."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression as LeastSquares
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from privlearn import (
    ElasticNet,
    HuberRegressor,
    KernelClassifier,
    Lasso,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    Ridge,
)
from privlearn._core.problem import Budget
from privlearn.private_bounds import ranges, with_private_bounds
from privlearn.private_bounds.declared import widened
from privlearn.private_bounds.powers import POWERS, SIGNED_BINS, coarse_range
from privlearn.private_bounds.ranges import (
    LAST_BINS,
    CoarseRange,
    located_range,
    refined_range,
    zoom_bins,
)
from privlearn.private_bounds.selection import (
    KEPT,
    PER_COLUMN,
    PER_KEPT,
    TOO_MANY,
    number_to_keep,
)
from privlearn.solvers import SOLVERS
from privlearn.solvers._common.snr import gdp_mu
from support import exact

ZERO = POWERS


def least_squares(X, y):
    """Standardised, for scikit-learn leaves out directions that are small beside others."""
    return make_pipeline(StandardScaler(), LeastSquares()).fit(X, y)


def powers(**filled):
    """Counts of one column: octave exponents, "n" for negative ones, to rows."""
    counts = np.zeros((1, SIGNED_BINS))
    for name, rows in filled.items():
        exponent = int(name[1:]) + POWERS // 2
        counts[0, ZERO + (exponent if name[0] == "p" else -exponent)] = rows
    return counts


def test_octaves_tell_the_ends():
    coarse = coarse_range(powers(p3=500.0, p5=500.0), noise=10.0)
    assert (coarse.low[0], coarse.high[0]) == (4.0, 32.0)
    coarse = coarse_range(powers(n1=500.0, p1=500.0), noise=10.0)
    assert (coarse.low[0], coarse.high[0]) == (-2.0, 2.0)


def test_few_rows_next_to_many_are_believed_and_alone_they_are_not():
    near = coarse_range(powers(p3=500.0, p4=45.0), noise=10.0)
    assert near.high[0] == 16.0
    far = coarse_range(powers(p3=500.0, p40=45.0), noise=10.0)
    assert far.high[0] == 8.0


def test_octaves_with_few_of_the_rows_stand_for_both_sides_of_zero():
    counts = powers(p3=300.0)
    coarse = coarse_range(counts, noise=10.0, rows=1_000)
    assert (coarse.low[0], coarse.high[0]) == (-8.0, 8.0)
    for rows in (310, None):  # most are there; or nobody may know how many there are
        coarse = coarse_range(counts, noise=10.0, rows=rows)
        assert (coarse.low[0], coarse.high[0]) == (4.0, 8.0)


def test_a_column_of_which_only_zeros_are_seen_keeps_room_for_an_indicator():
    counts = np.zeros((1, SIGNED_BINS))
    counts[0, ZERO] = 1_000.0
    coarse = coarse_range(counts, noise=10.0)
    even = np.zeros((1, LAST_BINS))
    even[0, LAST_BINS // 2] = 1_000.0
    coarse = refined_range(even, 10.0, coarse)
    assert (coarse.low[0], coarse.high[0]) == (-1.0, 1.0)


def test_zooming_moves_the_ends_within_the_outermost_octaves_only():
    coarse = coarse_range(powers(p11=1_000.0), noise=10.0)  # years: [1024, 2048)
    even = np.zeros((1, LAST_BINS))
    even[0, 29:31] = 500.0
    found = refined_range(even, 10.0, coarse)
    assert (found.low[0], found.high[0]) == (1024.0 + 29 * 32.0, 1024.0 + 31 * 32.0)
    coarse = coarse_range(powers(n2=500.0, p2=500.0), noise=10.0)  # believed on both sides
    even = np.zeros((1, LAST_BINS))
    even[0, 16] = 1_000.0
    found = refined_range(even, 10.0, coarse)
    assert (found.low[0], found.high[0]) == (-2.0, 2.0)


@pytest.mark.parametrize("near", [1.0, 50.0])
def test_no_range_is_inside_out_whatever_the_levels(near, monkeypatch):
    """Without a lower level beside believed bins, inner ends of one thin window cross."""
    monkeypatch.setattr(ranges, "EVEN_NEXT", near)
    even = np.zeros((1, LAST_BINS))
    even[0, 12:20] = 18.5  # stands out as a window of eight, and only as a whole
    found = refined_range(even, 10.0, coarse_range(powers(p11=1_000.0), noise=10.0))
    assert found.low[0] < found.high[0]


def test_rows_spread_thinly_are_within_the_range():
    coarse = coarse_range(powers(p11=1_000.0), noise=10.0)
    even = np.zeros((1, LAST_BINS))
    even[0, 8:24] = 25.0  # no bin stands out, only all of them together do
    found = refined_range(even, 10.0, coarse)
    assert found.low[0] < found.high[0]
    assert found.low[0] <= 1024.0 + 10 * 32.0
    assert found.high[0] >= 1024.0 + 22 * 32.0


def zeros_and(**filled):
    """Counts of a column that is mostly zeros."""
    counts = powers(**filled)
    counts[0, ZERO] = 30_000.0
    return counts


def test_the_bin_of_zero_is_next_to_nothing():
    """Its neighbours are 2^-64: believing one there made a rare flag's range [0, 5e-20]."""
    for filled in ({"p-63": 45.0}, {"n-63": 45.0}, {"p-63": 45.0, "n-63": 25.0}):
        coarse = coarse_range(zeros_and(**filled), noise=10.0, rows=30_100)
        assert (coarse.low[0], coarse.high[0]) == (-1.0, 1.0)
    coarse = coarse_range(powers(p3=500.0, p2=45.0) + zeros_and(p1=0.0), noise=10.0)
    assert (coarse.low[0], coarse.high[0]) == (0.0, 8.0)


def test_what_may_be_noise_beside_zeros_leaves_room_for_an_indicator():
    barely = coarse_range(zeros_and(**{"p-40": 68.0}), noise=10.0)
    assert (barely.low[0], barely.high[0]) == (0.0, 1.0)
    surely = coarse_range(zeros_and(**{"p-40": 400.0}), noise=10.0)
    assert (surely.low[0], surely.high[0]) == (0.0, 2.0**-40)


@pytest.mark.parametrize("rows", [100, None])
def test_zeros_of_a_flag_that_most_have_are_within_its_range(rows):
    """They do not stand out among all bins, but they are missed: else 0 would be clipped to 1."""
    counts = powers(p1=70.0)
    counts[0, ZERO] = 50.0 if rows is None else 30.0
    flag = coarse_range(counts, noise=10.0, rows=rows)
    assert (flag.low[0], flag.high[0]) == (0.0, 2.0)
    assert not flag.may_be_narrow[0]
    alone = coarse_range(powers(p1=70.0), noise=10.0, rows=rows and 80)
    assert (alone.low[0], alone.high[0]) == (1.0, 2.0)


def test_a_column_in_one_power_of_two_may_be_narrow():
    narrow = [{"p30": 1e4}, {"n30": 1e4}, {"p30": 5e3, "p31": 5e3}, {"p30": 1e4, "p31": 40.0}]
    wide = [{"p30": 5e3, "p32": 5e3}, {"p1": 5e3, "n1": 5e3}, {"p-4": 5e3, "p2": 5e3}]
    for columns, expected in ((narrow, True), (wide, False)):
        for column in columns:
            assert coarse_range(powers(**column), noise=10.0).may_be_narrow[0] == expected
    assert not coarse_range(zeros_and(p30=1e4), noise=10.0).may_be_narrow[0]


def even(bins, filled, noise=0.0):
    """Counts of one column in even bins."""
    counts = noise * np.random.default_rng(0).standard_normal((1, bins))
    for place, rows in filled.items():
        counts[0, place] += rows
    return counts


def test_many_bins_find_a_column_a_million_deviations_from_zero():
    found = coarse_range(powers(p20=1e4, p21=40.0), noise=10.0, rows=10_000)
    assert found.high[0] == 2.0**21  # a false alarm beside it costs nothing
    at = 1e6  # deviations
    for bins in (4_096, 128):
        place = int((at - found.low[0]) / (found.high[0] - found.low[0]) * bins)
        found = located_range(even(bins, {place: 1e4}, 10.0), 10.0, found)
        assert found.low[0] <= at <= found.high[0]
        assert found.may_be_narrow[0]  # one bin tells nothing about its inside
    assert found.high[0] - found.low[0] < 10.0


def test_a_column_that_fills_many_bins_is_left_to_few():
    coarse = coarse_range(powers(p11=10_000.0), noise=10.0)
    filled = dict.fromkeys(range(500, 510), 1_000.0)
    found = located_range(even(1_000, filled), 10.0, coarse)
    width = 1024.0 / 1_000
    assert not found.may_be_narrow[0]  # and there is room for tails on either side
    assert found.low[0] == pytest.approx(1024.0 + (500 - 9) * width)
    assert found.high[0] == pytest.approx(1024.0 + (510 + 9) * width)
    again = located_range(even(1_000, {3: 10_000.0}), 10.0, found)
    assert (again.low[0], again.high[0]) == (found.low[0], found.high[0])


def test_wide_columns_are_not_located():
    coarse = coarse_range(powers(n2=5e3, p2=5e3), noise=10.0)
    found = located_range(even(1_000, {700: 1e4}), 10.0, coarse)
    assert (found.low[0], found.high[0]) == (-4.0, 4.0)


def test_rows_piled_up_in_one_bin_do_not_hide_the_others():
    coarse = coarse_range(powers(p11=10_000.0), noise=10.0)
    counts = even(2_048, dict.fromkeys(range(2_048), 4_000.0 / 2_048))
    counts[0, 1_900] += 6_000.0  # all of them stand out here, the others nowhere
    assert located_range(counts, 10.0, coarse).low[0] < 1024.0 + 0.3 * 1024.0


def test_rows_that_are_surely_elsewhere_keep_a_pile_from_being_all_there_is():
    """Two thirds have one value, the others are spread over 400 bins, five in each."""
    values = np.append(np.full(4_000, 1.5), 1.0 + np.arange(2_000) / 2_000)
    ends = (np.array([1.0]), np.array([2.0]))
    outer = CoarseRange(*ends, *reversed(ends), np.array([6_000.0]), np.array([True]))
    counts = np.histogram(values, 400, (1.0, 2.0))[0][None] * 1.0
    found = located_range(counts, 100.0, outer)
    assert (found.low, found.high) == (1.0, 2.0)
    assert not found.may_be_narrow
    spread = np.random.default_rng(0).normal(1.5, 1.5 / 400, 6_000)  # bins beside hold the others
    near = located_range(np.histogram(spread, 400, (1.0, 2.0))[0][None] * 1.0, 300.0, outer)
    assert near.high - near.low < 0.1


def test_what_no_bin_tells_is_not_fixed():
    """Ends that one zoom could not see may still move in the next."""
    coarse = coarse_range(powers(p11=10_000.0), noise=10.0)
    unseen = located_range(np.zeros((1, 2_048)), 10.0, coarse)
    assert (unseen.low[0], unseen.high[0]) == (1024.0, 2048.0)
    found = refined_range(even(LAST_BINS, {8: 5_000.0, 9: 5_000.0}), 10.0, unseen)
    assert (found.low[0], found.high[0]) == (1024.0 + 8 * 32.0, 1024.0 + 10 * 32.0)


def test_ranges_are_widened_where_noise_hides_tails_but_not_across_zero():
    low, high = np.array([-2.0, 1.0, 0.0, 8.0, -4.0, -1.0]), np.array([2.0, 9, 4, 12, -3.5, 1])
    seen = CoarseRange(low, high, low, high, np.full(6, 1_000.0), np.zeros(6, dtype=bool))
    few = np.zeros((6, LAST_BINS))
    found = widened(few, 10.0, seen, seen, 0.25)
    np.testing.assert_allclose(found.low, [-3.0, 0.0, 0.0, 7.0, -4.125, -1.0], rtol=1e-3)
    np.testing.assert_allclose(found.high, [3.0, 11.0, 5.0, 13.0, -3.375, 1.0], rtol=1e-3)
    np.testing.assert_array_equal(widened(few, 0.0, seen, seen, 0.25).low, low)


@pytest.mark.parametrize(
    ("filled", "abrupt"),
    [
        ({8: 500.0, 24: 500.0}, True),  # a flag
        (dict.fromkeys(range(8, 25), 60.0), False),  # too few to tell
        (dict.fromkeys(range(8, 25), 200.0), True),  # even
        ({k: 4_000.0 * 0.5 ** abs(k - 16) for k in range(8, 25)}, False),  # tails
        ({8: 120.0, 9: 500.0, 16: 900.0, 23: 500.0, 24: 120.0}, False),
        # a pile where noise hides what is beyond: years of school, of which many have 12
        ({8: 500.0, 24: 500.0, **dict.fromkeys((*range(3, 8), *range(25, 30)), 30.0)}, False),
    ],
)
def test_where_a_column_ends_abruptly_there_is_no_room_for_tails(filled, abrupt):
    within = CoarseRange(*(np.array([end]) for end in (-64.0, 64.0, 0.0, 0.0, 1e3, False)))
    ends = replace(within, low=np.array([-32.0]), high=np.array([36.0]))
    found = widened(even(LAST_BINS, filled), 10.0, within, ends, 0.25)
    assert (found.low[0] == -32.0, found.high[0] == 36.0) == (abrupt, abrupt)
    moved = replace(ends, low=np.array([-33.0]), high=np.array([37.0]))  # between two bins
    found = widened(even(LAST_BINS, filled), 10.0, within, moved, 0.25)
    assert found.low[0] < -33.0
    assert found.high[0] > 37.0


def spread_rows(values, columns, noise, seed):
    """Noisy counts of columns that have these values."""
    places = POWERS + np.sign(values) * (1.0 + np.floor(np.log2(np.abs(values))) + POWERS // 2)
    counts = np.bincount(places.astype(int), minlength=SIGNED_BINS)
    return counts + noise * np.random.default_rng(seed).standard_normal((columns, SIGNED_BINS))


@pytest.mark.parametrize("noise", [80.0, 115.0, 200.0])
@pytest.mark.parametrize("values", ["normal", "skewed", "above zero"])
def test_rows_too_thin_to_be_seen_are_not_looked_for_where_noise_is(values, noise):
    """Wild coefficients came from such a place, of one column in a thousand."""
    drawn = np.random.default_rng(7).normal(size=2_048)
    drawn = {"normal": 32.0 * drawn, "skewed": np.exp(2.0 * drawn), "above zero": 9.0 + drawn}
    rows = drawn[values]
    sizes = np.abs(rows)
    for seed in range(50):
        found = coarse_range(spread_rows(rows, 40, noise, seed), noise, len(rows))
        far = np.maximum(-found.low, found.high)
        unseen = (found.low == -1.0) & (found.high == 1.0)
        right = (far > np.quantile(sizes, 0.05) / 4.0) & (far < 64.0 * sizes.max())
        assert (unseen | right).all()


@pytest.mark.parametrize("noise", [60.0, 80.0])
def test_a_shape_stands_out_where_no_power_does(noise):
    rng = np.random.default_rng(7)
    for rows, both in ((32.0 * rng.normal(size=2_048), True), (np.exp(rng.normal(size=2_048)), 0)):
        found = coarse_range(spread_rows(rows, 40, noise, seed=1), noise, len(rows))
        ends = np.quantile(np.abs(rows), 0.95)
        assert np.mean((found.high > 0.25 * ends) & (found.high < 8.0 * ends)) > 0.9
        assert not both or np.mean(found.low < -0.25 * ends) > 0.9


def test_there_are_as_many_bins_as_rows_are_seen_in_and_columns_allow():
    assert zoom_bins(5.0, 1) == (LAST_BINS, LAST_BINS)
    assert zoom_bins(48.0, 4) == (1_296, 36)
    assert zoom_bins(1e9, 1) == (2**12, 2**12)
    assert zoom_bins(1e9, 20_000) == (LAST_BINS, LAST_BINS)


def test_noise_alone_is_hardly_ever_believed():
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(100):
        counts = powers(p3=5_000.0) + 10.0 * rng.standard_normal((20, SIGNED_BINS))
        coarse = coarse_range(counts, noise=10.0)
        wrong += int(np.sum(coarse.high > 32.0) + np.sum(coarse.low < 0.0))
    assert wrong <= 2  # of 4,000 ends; a level of 3 deviations lets through hundreds


def test_a_penalty_is_that_of_features_divided_by_their_root_mean_squares():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2_000, 3))
    y = X @ [1.0, 0.5, -0.5] + 0.3 * rng.standard_normal(2_000)
    units = np.array([1e-9, 1e9, 1.0])
    for model in (Ridge(alpha=500.0), Lasso(alpha=0.1), Ridge(alpha=500.0, solver="moments")):
        plain, moved = exact(model, X, y).coef_, exact(model, X * units, y).coef_
        np.testing.assert_allclose(moved * units, plain, rtol=0.2)
        assert abs(plain[0]) < 0.95  # it does penalise
    bounded = exact(Ridge(coef_bounds=(-0.4, 0.4)), X * units, y)
    assert np.abs(bounded.coef_).max() <= 0.4 * (1 + 1e-12)  # in the units of X


def test_no_penalty_hides_other_features():
    """One that is declared to be tiny has a weight of 1e18, which no eigendecomposition bears."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (2_000, 3)) * [1e-9, 1.0, 1.0]
    y = X[:, 1] - X[:, 2]
    model = Ridge(bounds_X=([-1e-9, -1, -1], [1e-9, 1, 1]), bounds_y=(-2, 2), solver="cd")
    np.testing.assert_allclose(exact(model, X, y).coef_[1:], [1.0, -1.0], atol=0.02)


def mixed(n=400, seed=0):
    """Raw columns: a year, a skewed amount, a rare flag, a small measure; and a target."""
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [
            1990 + rng.integers(0, 25, n),
            rng.lognormal(8, 1, n),
            rng.random(n) < 0.05,
            1e-5 * rng.standard_normal(n),
        ]
    )
    y = 1e4 + 50 * (X[:, 0] - 2000) + 0.05 * X[:, 1] + 300 * X[:, 2] + 1e7 * X[:, 3]
    return X, y + 100 * rng.standard_normal(n)


@pytest.mark.parametrize("relation", ["zero_out", "add_remove", "replace_one"])
def test_without_noise_it_is_least_squares(relation):
    X, y = mixed()
    model = exact(LinearRegression(adjacency=relation, solver="moments"), X, y)
    expected = np.clip(least_squares(X, y).predict(X), *model.bounds_y_)
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-6)


def test_nothing_declared_comes_close_to_least_squares():
    X, y = mixed(20_000)
    model = LinearRegression(epsilon=1, delta=1e-6, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9 * least_squares(X, y).score(X, y)


def test_predictions_stay_where_the_model_was_learned():
    X, y = mixed(20_000)
    model = LinearRegression(random_state=0).fit(X, y)
    wild = X[:1] * 1e9
    assert y.min() - np.ptp(y) < model.predict(wild)[0] < y.max() + np.ptp(y)
    low, high = model.bounds_X_
    np.testing.assert_array_equal(model.predict(wild), model.predict(np.clip(wild, low, high)))


def test_declared_bounds_clip_nothing_in_predict():
    X = np.linspace(0, 1, 5_000)[:, None]
    known = {"bounds_X": (0, 1), "bounds_y": (0, 3), "random_state": 0}
    closer = LinearRegression(**known).fit(X, 3 * X[:, 0])
    assert 2.0 < closer.predict([[10.0]])[0] <= 3.0  # "auto" estimates ranges inside
    model = LinearRegression(solver="cd", **known).fit(X, 3 * X[:, 0])
    assert model.predict([[10.0]])[0] > 20.0
    assert not hasattr(model, "bounds_X_")
    assert not hasattr(model, "bounds_y_")


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("estimator", [Ridge, Lasso, ElasticNet, HuberRegressor])
def test_what_is_released_does_not_depend_on_where_the_box_lies(name, estimator):
    """So a price that was paid before ranges were estimated is right after."""
    boxes = [((-1, 1), (-1, 1)), (([-3e5, 2.0], [1e6, 2.5]), (1e4, 1e9))]
    problems = [estimator(bounds_X=X, bounds_y=y)._problem(5_000, 2, 0) for X, y in boxes]
    solver, budget = SOLVERS[name](), Budget(1.0, 1e-6)
    if solver.support.missing(problems[0]) or not solver.support.bounds:
        pytest.skip("nothing to estimate")
    plans = [solver.plan(p, solver.configure(p, budget), 3.0) for p in problems]
    assert plans[0].releases == plans[1].releases


def test_only_what_is_missing_is_estimated():
    X, y = mixed(2_000)
    for known, estimated in (
        ({"bounds_X": (0, 1e5)}, {"target"}),
        ({"data_norm": 1e5}, {"target"}),
        ({"bounds_y": (0, 1e5)}, {"features"}),
        ({}, {"features", "target"}),
    ):
        plan = Ridge(solver="cd", **known).plan(2_000, n_features=4)
        names = [r.name for r in plan.releases]
        assert {name.split()[-1] for name in names if " of the " in name} == estimated
    model = Ridge(bounds_X=(0, 1e5), solver="cd").fit(X, y)
    assert not hasattr(model, "bounds_X_")
    assert model.bounds_y_[0] < np.median(y) < model.bounds_y_[1]


def test_more_is_spent_on_the_target_where_there_are_few_rows():
    def share(n):
        plan = LinearRegression(epsilon=1.0, delta=1e-6).plan(n, n_features=4)
        return sum(plan.share(r) for r in plan.releases if r.name.endswith("the target"))

    assert share(300) == pytest.approx(0.3, abs=0.01)
    assert share(100_000) == pytest.approx(0.1, abs=0.01)


def test_features_are_selected_where_they_are_too_many():
    budget = Budget(1.0, 1e-6)
    problem = LinearRegression()._problem(2_000, 400, 0)
    root = (2_000 * gdp_mu(problem, budget)) ** 0.5
    assert number_to_keep(problem, budget) == round(KEPT * root) < 400
    assert (
        number_to_keep(LinearRegression()._problem(2_000, int(TOO_MANY * root), 0), budget) is None
    )
    seen = 20_000 * gdp_mu(problem, budget)  # now by n mu itself, and no longer by its root
    assert KEPT * seen**0.5 < seen / PER_KEPT < 1_000 < TOO_MANY * seen
    of_many = LinearRegression()._problem(20_000, 1_000, 0)
    assert number_to_keep(of_many, budget) == round(seen / PER_KEPT)
    none_too_many = LinearRegression()._problem(20_000, int(seen / PER_COLUMN), 0)
    assert number_to_keep(none_too_many, budget) is None
    many = {"coef_bounds": (np.zeros(400), np.ones(400))}
    assert number_to_keep(LinearRegression(**many)._problem(2_000, 400, 0), budget) is None
    three = LogisticRegression(classes=[0, 1, 2])._problem(2_000, 400, 3)
    assert number_to_keep(three, budget) is None  # labels of three classes have no order
    solver = SOLVERS["cd"]()
    assert with_private_bounds(solver, problem, budget, automatic=False).keep is None


def test_selected_features_predict_and_the_others_have_no_coefficient():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3_000, 400))
    y = 5.0 * X[:, 7] - 4.0 * X[:, 300] + rng.standard_normal(3_000)
    X[::50] = np.nan  # empty rows: in no pair and in no bin
    model = LinearRegression(random_state=0, on_invalid="drop").fit(X, y)
    assert np.count_nonzero(model.coef_) < 60
    assert {7, 300} <= set(np.argsort(-np.abs(model.coef_))[:2])
    fresh = rng.standard_normal((2_000, 400))
    assert model.score(fresh, 5.0 * fresh[:, 7] - 4.0 * fresh[:, 300]) > 0.8


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(classes=[0, 1]),
        LogisticRegression(classes=[0, 1], C=0.01),
        LinearSVC(classes=[0, 1]),
        KernelClassifier(classes=[0, 1], n_components=100),
    ],
    ids=lambda model: type(model).__name__,
)
def test_classifiers_need_nothing_but_labels(model):
    X, y = mixed(20_000)
    labels = (y > np.median(y)).astype(int)
    model.set_params(random_state=0).fit(X, labels)
    assert model.score(X, labels) > 0.7
    assert np.isfinite(model.coef_).all()


def test_a_narrow_column_within_one_bin_but_for_its_tails_stays_narrow():
    """10^4 +- 0.01 had reached to zero where four fifths of it were in one bin of the last zoom."""
    coarse = coarse_range(powers(p14=10_000.0), noise=130.0, rows=10_000)
    assert coarse.may_be_narrow[0]
    found = refined_range(even(LAST_BINS, {15: 900.0, 16: 8_700.0, 17: 400.0}), 130.0, coarse)
    assert found.low[0] > 8_192.0


def test_one_value_that_nearly_all_have_reaches_to_zero():
    """Noise hides the zeros of a flag; a range as narrow as a bin would make it a wild column."""
    column = coarse_range(powers(p1=9_700.0), noise=50.0, rows=10_000)
    assert column.may_be_narrow[0]
    counts = np.zeros((1, 32))
    counts[0, 12] = 9_700.0
    found = refined_range(counts, 50.0, column)
    assert (found.low[0], found.high[0]) == (0.0, column.low[0] + 13 / 32)
    spread = refined_range(np.full((1, 32), 300.0), 50.0, column)
    assert spread.low[0] == column.low[0]


@pytest.mark.parametrize("share", [0.97, 0.995])
def test_flags_that_nearly_all_have_harm_no_fit(share):
    """Beside their own complement, and centred: three of 24 such fits on real data had failed."""
    rng = np.random.default_rng(0)
    flag = (rng.random(12_000) < share).astype(float)
    X = np.column_stack(
        [flag, 1.0 - flag, rng.normal(size=(12_000, 3)), rng.random((12_000, 3)) < 0.5]
    )
    y = 300.0 + 50.0 * X[:, 2] - 40.0 * X[:, 5] + 30.0 * flag + 60.0 * rng.normal(size=12_000)
    for seed in range(8):
        model = LinearRegression(epsilon=1.0, delta=1e-5, random_state=seed).fit(X, y)
        assert model.score(X, y) > 0.35
        assert np.abs(model.coef_).max() < 3_000.0


def test_amounts_that_few_have_are_looked_for_where_they_must_be():
    """A tenth of the rows is not zero, over three powers of two that do not stand out alone."""
    counts = powers(p10=640.0, p11=700.0, p12=640.0)
    counts[0, ZERO] = 30_000.0
    counts = np.vstack([counts, np.zeros((107, SIGNED_BINS))])  # beside many columns
    found = coarse_range(counts, noise=173.0, rows=32_000)
    assert (found.low[0], found.high[0]) == (0.0, 4096.0)
    assert found.earliest_high[0] == 4096.0  # too thin to be seen closer
    counts[0, ZERO] = 31_500.0  # nearly all are zero: noise may have made the rest
    assert coarse_range(counts, noise=173.0, rows=32_000).high[0] == 1.0
