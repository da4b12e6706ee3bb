"""What is said before any data: errors of predictions, what is kept, and which epsilon will do."""

import math
import pickle
import warnings

import numpy as np
import pytest
from benchmarks.derive import forecast as derived

from privlearn import (
    ElasticNet,
    HuberRegressor,
    KernelRegressor,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    PoissonRegressor,
)
from privlearn._core.forecast import Forecast, smallest_epsilon
from privlearn.schema import Category, Number

KNOWN = {"bounds_X": (0, 1), "bounds_y": (0, 100)}


def forecast(n=10_000, model=LinearRegression, n_features=8, **parameters):
    return model(**parameters).plan(n=n, n_features=n_features).forecast()


def test_errors_fall_with_rows_and_epsilon_and_grow_with_features():
    usual = forecast().relative
    assert 0.005 < usual < 0.1
    assert forecast(n=40_000).relative < usual / 2
    assert forecast(epsilon=3).relative < usual
    assert forecast(n_features=30).relative > usual
    assert forecast(adjacency="replace_one").relative > usual


@pytest.mark.parametrize(
    ("model", "most"),
    [(LinearRegression, 0.27), (LogisticRegression, 0.086), (PoissonRegressor, 0.18)],
)
def test_errors_fall_slower_than_noise_and_have_a_limit(model, most):
    """Numbers found on generated tables; what is selected and shrunk lets no more through."""
    many, more = (forecast(n, model).relative for n in (20_000, 80_000))
    assert 2.5 < many / more < 3.0, "noise itself is a quarter"
    few = [forecast(n, model, n_features=40).relative for n in (4_000, 2_000, 1_000)]
    assert few == sorted(few)
    assert 0.5 * most < few[-1] < most


def test_columns_of_zeros_and_ones_have_less_error_than_others():
    """Undeclared ones are between: nobody knows what they are."""
    for model in (LinearRegression, LogisticRegression):
        flags, others = (forecast(model=model, bounds_X=box).relative for box in ((0, 1), (0, 2)))
        assert 0.4 < flags / others < 0.6
        assert flags < forecast(model=model).relative < others


def test_numbers_of_a_schema_are_no_zeros_and_ones():
    """Though a schema brings all columns between 0 and 1."""
    numbers = {name: Number(0, 100) for name in "abcd"}
    words = {"e": Category(["x", "y", "z", "w"])}

    def told(schema):
        return LinearRegression(schema=schema).plan(n=10_000).forecast().relative

    few = forecast(n_features=4, bounds_X=(0, 2)).relative
    assert told(numbers) == pytest.approx(few)
    assert told(words) == pytest.approx(forecast(n_features=4, bounds_X=(0, 1)).relative, rel=0.1)


def test_nothing_is_told_below_what_generated_tables_agree_on():
    """Of numbers, where noise is very small; what it is probably below is said all the same."""
    told, many = forecast(100_000), forecast(1_000_000)
    assert not told.withheld
    assert "noise is so small" in many.withheld
    assert math.isnan(many.relative)
    assert math.isnan(told.least)
    assert many.least == forecast(500_000).least
    assert 0.5 * told.relative < many.least < told.relative
    assert f"probably less than {200 * many.least:.2g} % of" in str(many)
    assert not forecast(1_000_000, **KNOWN).withheld
    assert not forecast(1_000_000, LogisticRegression).withheld


def test_the_epsilon_of_a_wanted_error_is_found_where_large_ones_are_withheld():
    plan, least = LinearRegression().plan(n=28_155, n_features=8), forecast(10**6).least
    assert "noise is so small" in forecast(28_155, epsilon=10).withheld
    found = plan.for_accuracy(1.01 * least)
    told = forecast(28_155, epsilon=0.95 * found)
    assert not told.withheld
    assert 1.01 * least < told.relative < 1.1 * least
    with pytest.raises(ValueError, match=r"because noise is so small .*; it takes"):
        plan.for_accuracy(0.9 * least)


def test_units_are_those_that_are_known():
    told = forecast(**KNOWN)
    assert told.unit == "y"
    ten_times = forecast(bounds_X=(0, 1), bounds_y=(0, 1000))
    assert ten_times.prediction == pytest.approx(10 * told.prediction)
    assert ten_times.relative == told.relative
    nothing = forecast()
    assert nothing.unit == "standard deviations of y"
    assert nothing.prediction == nothing.relative
    assert "% of the target's standard deviation;" in str(nothing)
    classes = forecast(model=LogisticRegression)
    assert "percentage points of the probability" in str(classes)
    assert classes.relative == classes.prediction < 0.1


@pytest.mark.parametrize("model", [LinearSVC, PoissonRegressor, HuberRegressor, ElasticNet])
@pytest.mark.parametrize("solver", ["auto", "sgd"])
def test_every_model_tells_something(model, solver):
    told = forecast(model=model, solver=solver)
    assert 0 < told.relative < math.inf
    assert 0 < told.prediction < math.inf
    assert "collinearity" in str(told)


@pytest.mark.parametrize("solver", ["moments", "boosted", "cd", "scd", "output", "one-pass", "sgd"])
def test_every_solver_withholds_what_few_rows_do_not_tell(solver):
    told = forecast(n=50, solver=solver, **KNOWN)
    assert "1.3 per\ncoefficient" in told.withheld
    assert "cannot tell, because" in str(told)
    assert math.isnan(told.prediction)
    assert math.isnan(told.relative)
    assert told.kept < 0.05
    assert "next to nothing of what could be explained is kept" in str(told)
    assert np.isfinite(told.coefficient).all()
    many = forecast(n=200_000, solver=solver, **KNOWN)
    assert not many.withheld


def test_nothing_is_told_of_kernels():
    plan = KernelRegressor(n_components=100).plan(n=10_000, n_features=8)
    assert "cannot tell, because the penalty of a kernel" in str(plan)
    with pytest.raises(ValueError, match="no forecast there, because the penalty of a kernel"):
        plan.for_accuracy(0.1)


def test_undeclared_ranges_need_rows_of_their_own():
    """With one feature 50 n mu are 25 per coefficient: enough, unless ranges are to be found."""
    few = {"n": 210, "n_features": 1}
    assert "ranges that nobody declared" in forecast(**few).withheld
    assert not forecast(**few, **KNOWN).withheld
    assert forecast(**few).kept < 0.3 < forecast(**few, **KNOWN).kept


def test_what_is_kept_grows_with_rows():
    kept = [forecast(n=n).kept for n in (50, 300, 1_000, 3_000, 30_000)]
    assert kept == sorted(kept)
    assert kept[0] < 0.05
    assert kept[-1] > 0.98


def test_the_epsilon_of_a_wanted_error():
    plan = LinearRegression(epsilon=5).plan(n=10_000, n_features=8)
    found = plan.for_accuracy(0.05)
    assert forecast(epsilon=found).relative <= 0.05 < forecast(epsilon=0.95 * found).relative
    assert pickle.loads(pickle.dumps(plan)).for_accuracy(0.05) == found
    watched = LinearRegression(ledger=open).plan(n=10_000, n_features=8)  # which pickle by name
    assert b"open" not in pickle.dumps(watched)
    assert plan.for_accuracy(0.1) < found
    assert plan.for_accuracy(1e6) < 1.0, "where a forecast is withheld, no error is reached"


def test_a_plan_does_not_follow_later_parameters():
    model = LinearRegression()
    plan = model.plan(n=10_000, n_features=8)
    found = plan.for_accuracy(0.05)
    model.set_params(adjacency="replace_one")
    assert plan.for_accuracy(0.05) == found


def test_looking_for_an_epsilon_warns_of_nothing():
    plan = LinearRegression().plan(n=10_000, n_features=8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plan.for_accuracy(0.05)


@pytest.mark.parametrize(
    ("n", "words"), [(1_000, "up to 10 .* n = 1,000 rows it is 0.0"), (5, "effective sample size")]
)
def test_an_error_out_of_reach_is_refused(n, words):
    with pytest.raises(ValueError, match=words):
        LinearRegression().plan(n=n, n_features=8).for_accuracy(0.001)


@pytest.mark.parametrize("error", [0, -1, math.nan, math.inf, "much", True, None])
def test_an_error_that_is_none_is_refused(error):
    with pytest.raises(ValueError, match="a number above 0 is needed"):
        LinearRegression().plan(n=1_000, n_features=2).for_accuracy(error)


def test_no_epsilon_without_rows_or_with_one_per_person():
    for plan in (
        LinearRegression().plan(n_features=2),
        LinearRegression(**KNOWN).plan(n=4, n_features=2, sample_epsilon=[0.5, 1, 1, 1]),
    ):
        with pytest.raises(ValueError, match="number of rows, and one epsilon for all"):
            plan.for_accuracy(0.1)


def test_the_smallest_epsilon_of_a_known_curve():
    def at(epsilon):
        return Forecast(np.zeros(1), 0.1 / epsilon, 1.0, 9, "", relative=0.1 / epsilon)

    assert smallest_epsilon(at, 0.05) == pytest.approx(2.0, rel=0.02)
    assert at(smallest_epsilon(at, 0.05)).relative <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("model", ["linear", "logistic", "counts"])
@pytest.mark.parametrize("declared", ["nothing", "bounds"])
def test_errors_of_generated_tables_are_as_told(model, declared):
    """Within a factor of 3 for three of four tables; half and twice the forecast are not."""
    given, logs = type("Given", (), {"fits": 8, "first": 99}), []
    for seed in range(4):
        for kind in ("plain", "one-hot"):
            found = derived.data((kind, model, declared), seed, given)
            if found is not None:
                logs.append(derived.score(found, None, seed, given)[0])
    logs = np.array(logs)[np.isfinite(logs)]
    assert len(logs) >= 5
    assert np.mean(np.abs(logs) < math.log(3)) >= 0.75
    assert abs(np.median(logs)) < math.log(2)
