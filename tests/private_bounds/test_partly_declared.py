"""Ranges of some columns declared, those of others estimated: who is counted, and at what price."""

import json
from dataclasses import replace

import numpy as np
import pytest

from privlearn import (
    KernelRegressor,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
)
from privlearn._core.problem import Bounds
from privlearn.exceptions import (
    MissingFactError,
    PrivacyTestFailedError,
    UnsupportedCombinationError,
)
from privlearn.private_bounds.declared import CentredRange, beside_declared, counted_columns
from privlearn.schema import Category, Number
from privlearn.solvers import SOLVERS

pd = pytest.importorskip("pandas")
N = 5_000


def frame(n=N, seed=0):
    rng = np.random.default_rng(seed)
    age, pay, flag = rng.uniform(20, 70, n), rng.normal(3_000, 200, n), rng.integers(0, 2, n)
    y = 0.02 * (age - 45) + (pay - 3_000) / 400 + 0.2 * flag + rng.normal(0, 0.05, n)
    return pd.DataFrame({"pay": pay, "age": age, "flag": flag}), np.clip(y, -2, 2)


def histograms(plan):
    return [r for r in plan.releases if "histogram" in r.name and r.name.endswith("the features")]


def test_only_what_is_missing_is_counted_for_a_named_solver():
    model = Ridge(bounds_X={"age": (20, 70), "flag": (0, 1)}, bounds_y=(-2, 2), solver="cd")
    counted = histograms(model.plan(n=N, n_features=3))
    assert {r.shape[0] for r in counted} == {1}
    assert {r.clip for r in counted} == {1.0}
    everything = histograms(Ridge(bounds_y=(-2, 2), solver="cd").plan(n=N, n_features=3))
    assert {r.shape[0] for r in everything} == {3}
    assert not histograms(
        Ridge(bounds_X=(0, 1), bounds_y=(-2, 2), solver="cd").plan(n=N, n_features=3)
    )


def test_auto_looks_inside_declared_ranges_too():
    known = {"bounds_X": {"age": (20, 70)}, "bounds_y": (-2, 2)}
    assert {r.shape[0] for r in histograms(Ridge(**known).plan(n=N, n_features=3))} == {3}
    schema = {"age": Number(20, 70), "pay": Number(), "sex": Category(["F", "M"])}
    plan = Ridge(schema=schema, bounds_y=(-2, 2)).plan(n=N)
    assert {r.shape[0] for r in histograms(plan)} == {2}  # nothing is spent on the list


@pytest.mark.parametrize("solver", ["auto", "cd", "moments", "sgd", "boosted"])
def test_what_is_declared_stays_and_the_rest_is_found(solver):
    X, y = frame()
    model = Ridge(
        alpha=0.1,
        epsilon=20,
        solver=solver,
        bounds_X={"age": (20, 70), "flag": (0, 1)},
        bounds_y=(-2, 2),
        random_state=0,
    ).fit(X, y)
    low, high = model.bounds_X_
    assert 1_500 < low[0] < 2_900 < 3_100 < high[0] < 4_500
    if solver != "auto":  # only what was estimated is clipped in predictions
        assert np.isinf([low[1:], high[1:]]).all()
    assert model.score(X, y) > 0.8
    assert "bounds_X and bounds_y were chosen" in str(model.privacy_)


def test_names_not_places_count():
    X, y = frame()
    known = {"bounds_y": (-2, 2), "solver": "cd", "epsilon": 20, "random_state": 0}
    model = Ridge(bounds_X={"age": (20, 70)}, **known).fit(X, y)
    turned = Ridge(bounds_X={"age": (20, 70)}, **known).fit(X[["age", "flag", "pay"]], y)
    assert np.isinf(model.bounds_X_[0]).tolist() == [False, True, False]
    assert np.isinf(turned.bounds_X_[0]).tolist() == [True, False, False]


def test_a_schema_s_open_ranges_and_bounds_by_name():
    X, y = frame()
    known = {"bounds_y": (-2, 2), "solver": "cd", "epsilon": 20, "random_state": 0}
    schema = {"age": Number(), "flag": Number(0, 1)}
    model = Ridge(schema=schema, bounds_X={"age": (20, 70)}, **known).fit(X, y)
    other = Ridge(schema={"age": Number(20, 70), "flag": Number(0, 1)}, **known).fit(X, y)
    assert np.array_equal(model.coef_, other.coef_)
    assert np.isinf(model.bounds_X_[0]).tolist() == [False, True, True]
    assert model.score(X, y) > 0.8
    text = json.dumps(model.to_dict(), allow_nan=False)  # no infinity: JSON has none
    again = Ridge.from_dict(json.loads(text))
    assert np.array_equal(again.bounds_X_, model.bounds_X_)
    assert np.array_equal(again.predict(X), model.predict(X))


def test_a_norm_limits_what_has_no_range():
    """Nothing is estimated then: a row's length says how large each feature can be."""
    X, y = frame()
    model = LinearRegression(
        bounds_X={"flag": (0, 1)}, data_norm=4_000.0, bounds_y=(-2, 2), solver="cd"
    )
    assert not histograms(model.plan(n=N, n_features=3))
    assert not hasattr(model.fit(X, y), "bounds_X_")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"agee": (0, 1)}, "bounds_X has 'agee', but X has no such column"),
        ({"age": (1, 0)}, r"bounds_X\['age'\]=\(1.0, 0.0\)"),
        ({"age": 5}, r"bounds_X\['age'\] must be a pair"),
        ({"age": (0, float("inf"))}, "finite"),
        ({name: (0, 1) for name in "abcd"}, "ranges of 4 columns, but X has 3"),
    ],
)
def test_ranges_by_name_that_cannot_be_used(given, said):
    X, y = frame(100)
    with pytest.raises(ValueError, match=said):
        Ridge(bounds_X=given).fit(X, y)


def test_ranges_by_name_need_names():
    X, y = frame(100)
    with pytest.raises(ValueError, match="bounds_X names columns, but X has no names"):
        Ridge(bounds_X={"age": (0, 1)}).fit(X.to_numpy(), y)


def test_without_a_delta_every_range_is_needed():
    X, y = frame()
    model = LogisticRegression(delta=0, bounds_X={"age": (20, 70)}, classes=[0, 1])
    with pytest.raises(MissingFactError, match="leave out some columns"):
        model.fit(X, (y > 0).astype(int))


def test_as_nothing_declared_where_nothing_is():
    """An empty dictionary, or Number() everywhere, is what None is, bit by bit."""
    X, y = frame()
    known = {"random_state": 3, "epsilon": 2.0}
    plain = Ridge(**known).fit(X, y)
    for given in ({"bounds_X": {}}, {"schema": {"age": Number()}}):
        assert np.array_equal(Ridge(**known, **given).fit(X, y).coef_, plain.coef_)


def test_columns_beside_declared_ones():
    bounds = Bounds(
        np.array([-np.inf, 0.0, 17.0]),
        np.array([np.inf, 1.0, 90.0]),
        None,
        None,
        known=np.array([False, True, False]),
    )
    assert not bounds.limit_features
    assert counted_columns(replace(bounds, known=None), closer=True) is None
    counted = counted_columns(bounds, closer=False)
    found = CentredRange(np.array([5.0]), np.array([6.0]), np.array([5.5]))
    both = beside_declared(found, counted, bounds)
    assert both.low.tolist() == [5.0, 0.0, 17.0]
    assert both.center.tolist() == [5.5, 0.0, 53.5]
    assert both.estimated.tolist() == [True, False, False]


def test_many_columns_are_selected_before_they_are_counted():
    """How many of those that are chosen need a range is not known before; the price is."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(5, 1, (600, 60)), columns=[f"c{k}" for k in range(60)])
    known = {f"c{k}": (0, 10) for k in range(40)}
    schema = {name: Category(["0", "1"]) for name in ("a", "b", "c")}
    X = X.assign(**{name: rng.integers(0, 2, 600) for name in schema})
    model = LinearRegression(bounds_X=known, schema=schema, bounds_y=(-3, 3), random_state=0)
    plan = model.plan(n=600, n_features=63)
    chosen = [r for r in plan.releases if r.name == "relevant features"]
    assert chosen
    assert {r.shape[0] for r in histograms(plan)} == {min(chosen[0].count, 60)}
    fitted = model.fit(X, X["c1"] - 5)
    assert fitted.privacy_.plan.releases == plan.releases
    assert fitted.coef_.shape == (66,)


def test_every_solver_s_plan_holds_wherever_open_ranges_lie():
    X, y = frame(800)
    for solver in sorted(SOLVERS):
        made = LogisticRegression if solver in ("output", "one-pass") else Ridge
        target = (y > 0).astype(int) if made is LogisticRegression else y
        more = {"classes": [0, 1]} if made is LogisticRegression else {"bounds_y": (-2, 2)}
        model = made(solver=solver, bounds_X={"age": (20, 70)}, epsilon=8, random_state=0, **more)
        try:
            plan = model.plan(n=800, n_features=3)
        except (UnsupportedCombinationError, PrivacyTestFailedError):
            continue  # there is no proof, or too little to go by
        for times in (1e-6, 1.0, 1e6):
            scaled = X.assign(pay=X["pay"] * times)
            assert model.fit(scaled, target).privacy_.plan.releases == plan.releases


def test_kernels_and_counts_take_ranges_by_name():
    X, y = frame(2_000)
    known = {"bounds_X": {"age": (20, 70), "flag": (0, 1)}, "epsilon": 8, "random_state": 0}
    few = {"n_components": 32, "solver": "scd", "bandwidth": [500.0, 20.0, 1.0]}
    model = KernelRegressor(**known, **few, bounds_y=(-2, 2)).fit(X, y)
    assert np.isinf(model.bounds_X_[0]).tolist() == [False, True, True]
    assert model.score(X, y) > 0.5
    counts = PoissonRegressor(alpha=1e-3, bounds_y=(0, 8), **known).fit(X, np.rint(np.exp(y)))
    assert counts.score(X, np.rint(np.exp(y))) > 0.3


@pytest.mark.parametrize(("n", "looks"), [(5_000, True), (500, False)])
def test_beside_lists_a_norm_tells_enough_only_where_little_is_seen(n, looks):
    """The norm that lists leave to a row replaces ranges of numbers only where those are hidden."""
    lists = {f"l{k}": Category([str(value) for value in range(10)]) for k in range(3)}
    model = LogisticRegression(schema={"age": Number(0, 100), **lists}, classes=[0, 1])
    assert bool(histograms(model.plan(n=n))) == looks
