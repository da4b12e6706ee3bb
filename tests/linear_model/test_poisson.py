"""Counts: scikit-learn's objective, means that end at the largest count, and hostile tables."""

import json
import math

import numpy as np
import pytest
from scipy.stats import poisson
from sklearn.linear_model import PoissonRegressor as Reference
from sklearn.metrics import d2_tweedie_score

from linear_model.test_after_charge import forget_compiled
from privlearn import PoissonRegressor
from privlearn._objective.losses import Poisson
from privlearn._objective.losses.poisson import SPAN
from privlearn.audit.after_charge import observed_fit
from privlearn.cli import main
from privlearn.exceptions import UnsupportedCombinationError
from privlearn.solvers import SGD, CoordinateDescent
from privlearn.solvers._common.histograms import moments_from
from support import checks_for, without_noise

SOLVERS = {
    "cd": "cd",
    "cyclic": CoordinateDescent(passes=150, selection="cyclic"),
    "greedy": CoordinateDescent(passes=120, selection="greedy"),
    "sgd": SGD(steps=1000, batch_size=4_000, clip=9.0),
}
COEF = np.array([0.8, -0.5, 0.2])


def people(n=4_000, seed=0, intercept=0.4, coef=COEF):
    rng = np.random.default_rng(seed)
    X = rng.uniform([-1.0, 0.0, 2.0], [1.0, 1.0, 5.0], (n, 3))
    return X, rng.poisson(np.exp(X @ coef + intercept)).astype(float)


BOX = {"bounds_X": ([-1.0, 0.0, 2.0], [1.0, 1.0, 5.0])}
KNOWN = {**BOX, "bounds_y": (0, 20)}


# The objective is scikit-learn's


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.0, 0.3])
@pytest.mark.parametrize("solver", SOLVERS)
def test_without_noise_it_is_scikit_learns(solver, alpha, intercept):
    X, y = people()
    wanted = Reference(alpha=alpha, fit_intercept=intercept, tol=1e-8, max_iter=1000).fit(X, y)
    model = PoissonRegressor(
        alpha=alpha, fit_intercept=intercept, solver=SOLVERS[solver], epsilon=1e3, **KNOWN
    )
    with without_noise():
        model.fit(X, y)
    found, best = (means(one, X) for one in (model, wanted))
    way = objective(y, np.full(len(y), y.mean()), 0 * COEF, alpha)
    least = objective(y, best, wanted.coef_, alpha)
    assert objective(y, found, model.coef_, alpha) - least < 1e-3 * (way - least)
    np.testing.assert_allclose(found, best, rtol=0.1)


def means(model, X):
    return np.exp(X @ model.coef_ + model.intercept_)


def objective(y, mean, coef, alpha):
    return np.mean(mean - y * np.log(mean)) + alpha / 2 * coef @ coef


@pytest.mark.parametrize("solver", ["cd", "sgd"])
def test_other_units_of_y_move_the_intercept_alone(solver):
    X, y = people()
    fits = [
        PoissonRegressor(
            alpha=0, solver=solver, random_state=3, **BOX, bounds_y=(0, 20 * unit)
        ).fit(X, y * unit)
        for unit in (1.0, 64.0)
    ]
    np.testing.assert_allclose(fits[1].coef_, fits[0].coef_, rtol=1e-9)
    assert fits[1].intercept_ - fits[0].intercept_ == pytest.approx(math.log(64), abs=1e-9)
    np.testing.assert_allclose(fits[1].predict(X), 64 * fits[0].predict(X), rtol=1e-9)


@pytest.mark.parametrize("solver", ["auto", "sgd"])
def test_with_noise_and_nothing_declared(solver):
    X, y = people(20_000)
    model = PoissonRegressor(alpha=1e-3, epsilon=3, solver=solver, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.coef_, COEF, atol=0.1)
    low, high = model.bounds_y_
    assert low == 0
    assert 5 <= high <= 40
    assert model.privacy_.spent() <= 3.0 + 1e-6


def test_the_score_is_the_explained_deviance():
    X, y = people()
    model = PoissonRegressor(random_state=0, **KNOWN).fit(X, y)
    weight = np.random.default_rng(1).random(len(y))
    for given in (None, weight):
        wanted = d2_tweedie_score(y, model.predict(X), power=1, sample_weight=given)
        assert model.score(X, y, given) == pytest.approx(wanted, rel=1e-12)
    again = Reference()
    again.coef_, again.intercept_ = model.coef_, model.intercept_
    again._base_loss = again._get_loss()
    assert model.score(X, y) == pytest.approx(again.score(X, y), rel=1e-9)
    assert model.score(X, 0 * y) == 0.0  # nothing to explain, and it is not explained


# Means end at the largest count


def test_the_loss_is_a_line_beyond_its_ends():
    loss, h = Poisson(threshold=1.5), 1e-6
    for y in (0.0, 0.2, 1.0):
        z = 1.5 + np.concatenate([np.linspace(-SPAN - 9, -SPAN - h, 50), np.linspace(h, 9, 50)])
        slope = (loss.value(y, z + h) - loss.value(y, z - h)) / (2 * h)
        np.testing.assert_allclose(loss.derivative(y, z), slope, atol=1e-7)
        np.testing.assert_allclose(loss.derivative(y, z[:50]), math.exp(-SPAN) - y)
        np.testing.assert_allclose(loss.derivative(y, z[50:]), 1.0 - y)
        ends = 1.5 + np.array([-SPAN, 0.0])
        for side in (-1e-9, 1e-9):
            np.testing.assert_allclose(loss.value(y, ends + side), loss.value(y, ends), atol=1e-7)


@pytest.mark.parametrize("declared", [True, False])
def test_predictions_are_within_the_ends_of_training(declared):
    X, y = people(20_000)
    model = PoissonRegressor(epsilon=5, random_state=0, **(KNOWN if declared else {})).fit(X, y)
    model.coef_ = np.array([1e3, 0.0, 0.0])
    found = model.predict([[1.0, 0, 2], [-1.0, 0, 2]])
    largest = model.bounds_y_[1]
    assert largest <= 20 or not declared
    if declared:  # a solver that is named takes bounds as they are
        named = PoissonRegressor(epsilon=5, random_state=0, solver="cd", **KNOWN).fit(X, y)
        assert named.bounds_y_[1] == 20
    np.testing.assert_allclose(found, [largest, largest * math.exp(-SPAN)])
    assert (found > 0).all()


def test_parameters_changed_after_a_fit_do_not_move_predictions():
    X, y = people()
    model = PoissonRegressor(random_state=0, **KNOWN).fit(X, y)
    before = model.predict(X)
    np.testing.assert_array_equal(model.set_params(bounds_y=(0, 1)).predict(X), before)


# What is refused


def test_bounds_below_zero_are_refused_in_words():
    X, y = people(50)
    model = PoissonRegressor(bounds_X=(0, 5), bounds_y=(-1, 5))
    words = r"bounds_y=\(-1, 5\), but counts are never negative; give a lower end of at least 0"
    for refused in (lambda: model.fit(X, y), lambda: model.plan(50, n_features=3)):
        with pytest.raises(ValueError, match=words):
            refused()


def test_negative_counts_are_invalid_cells():
    X, y = people(500)
    y[7] = -3.75
    model = PoissonRegressor(random_state=0, **KNOWN)
    with pytest.raises(ValueError, match="counts of at least 0 are needed") as caught:
        model.fit(X, y)
    assert "3.75" not in str(caught.value)
    assert not hasattr(model, "coef_")
    dropped, empty = (PoissonRegressor(random_state=0, on_invalid="drop", **KNOWN) for _ in "ab")
    dropped.fit(X, y)
    y[7] = np.nan
    np.testing.assert_array_equal(dropped.coef_, empty.fit(X, y).coef_)
    y[7] = 0.0
    assert (dropped.coef_ != empty.fit(X, y).coef_).any()
    with pytest.raises(ValueError, match="counts of at least 0"):
        dropped.score(X, -y - 1.0)


def test_counts_above_their_bound_are_clipped():
    X, y = people(500)
    model = PoissonRegressor(random_state=0, bounds_y=(1, 5), **BOX)
    first = model.fit(X, y).coef_
    np.testing.assert_array_equal(first, model.fit(X, np.clip(y, 1, 5)).coef_)


@pytest.mark.parametrize("solver", ["scd", "moments", "output", "boosted", "tukey"])
def test_solvers_without_a_proof_for_counts(solver):
    with pytest.raises(UnsupportedCombinationError, match="'poisson'"):
        PoissonRegressor(solver=solver, **KNOWN).plan(100, n_features=3)


# Saving, and the command line


def test_saved_models_predict_the_same():
    X, y = people()
    for known in (KNOWN, {}):
        model = PoissonRegressor(random_state=0, **known).fit(X, y)
        content = json.loads(json.dumps(model.to_dict()))
        again = PoissonRegressor.from_dict(content)
        np.testing.assert_array_equal(again.predict(9 * X), model.predict(9 * X))
        assert again.bounds_y_ == model.bounds_y_
    content.pop("clip_y")
    with pytest.raises(ValueError, match="'clip_y' is missing"):
        PoissonRegressor.from_dict(content)


def test_seeded_fits_predict_the_same():
    X, y = people()
    model = PoissonRegressor(random_state=4, **KNOWN)
    np.testing.assert_array_equal(model.fit(X, y).predict(X), model.fit(X, y).predict(X))


@pytest.mark.parametrize(
    "more", [["--bounds", "age=20:80", "--bounds-y", "0:20", "--solver", "cd"], []]
)
def test_from_file_to_predictions(tmp_path, more):
    rng = np.random.default_rng(0)
    age = rng.uniform(20, 80, 5_000)
    visits = rng.poisson(np.exp(0.02 * age - 0.5))
    lines = [f"{a:.3f},{k}" for a, k in zip(age, visits, strict=True)]
    data, model, out = (str(tmp_path / name) for name in ("a.csv", "m.json", "p.csv"))
    (tmp_path / "a.csv").write_text("\n".join(["age,visits", *lines]))
    (tmp_path / "b.csv").write_text("age\n30\n70\n1000\n")
    options = ["--model", "poisson", "--target", "visits", "--epsilon", "4", "--alpha", "0", *more]
    assert main(["fit", data, *options, "-o", model]) == 0
    assert main(["predict", model, str(tmp_path / "b.csv"), "-o", out]) == 0
    head, *found = (tmp_path / "p.csv").read_text().split()
    assert head == "predicted_visits"
    young, old, far = map(float, found)
    assert young == pytest.approx(math.exp(0.1), rel=0.15)
    assert old == pytest.approx(math.exp(0.9), rel=0.15)
    end = json.loads((tmp_path / "m.json").read_text())["clip_prediction"][1]
    assert far == pytest.approx(end) or (not more and far <= end)


def test_the_command_refuses_bounds_below_zero(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("age,visits\n30,1\n")
    options = ["--model", "poisson", "--target", "visits", "--epsilon", "4", "--bounds-y=-1:9"]
    assert main(["fit", str(tmp_path / "a.csv"), *options, "-o", str(tmp_path / "m.json")]) == 1
    assert "counts are never negative" in capsys.readouterr().err


# Hostile tables, and what the rule makes of them


def lost(model, X, y):
    """Part of the way from the mean of y to the optimum, by the deviance."""
    best = Reference(alpha=1e-3, max_iter=1000).fit(X, y).score(X, y)
    return 1.0 - model.score(X, y) / best


def test_bounds_that_are_far_too_wide_do_not_shorten_the_steps():
    """The curvature at the largest count is hundreds of times that at the mean."""
    X, y = people(20_000)
    for high in (20, 2_000):
        model = PoissonRegressor(alpha=1e-3, solver="cd", random_state=0, bounds_y=(0, high), **BOX)
        assert lost(model.fit(X, y), X, y) < 0.03
        scaled = model.set_params(scale_X=np.sqrt(np.mean(X**2, axis=0)))
        assert lost(scaled.fit(X, y), X, y) < 0.03


def tables():
    X, y = people(20_000, seed=1)
    rng = np.random.default_rng(2)
    yield "no events", X, 0 * y, {"bounds_y": (0, 10)}
    yield "no events, nothing declared", X, 0 * y, {}
    heavy = np.minimum(y * rng.pareto(1.2, len(y)), 1e4).round()
    yield "heavy tails", X, heavy, {"bounds_y": (0, 1e4)}
    yield "heavy tails, nothing declared", X, heavy, {}
    one = np.where(np.arange(len(y)) == 5, 1e6, y)
    yield "one huge count", X, one, {"bounds_y": (0, 1e6)}
    yield "one huge count, nothing declared", X, one, {}
    rare = rng.poisson(0.01 * np.exp(X[:, 0]))
    yield "rare events", X, rare, {"bounds_y": (0, 3)}
    yield "few rows", X[:30], y[:30], {"bounds_y": (0, 20)}
    yield "one row", X[:1], y[:1], {"bounds_y": (0, 20)}
    yield "the same count", X, 0 * y + 7, {"bounds_y": (7, 8)}
    yield "tiny numbers", X, y * 1e-90, {"bounds_y": (0, 2e-89)}
    yield "large numbers", X, y * 1e90, {"bounds_y": (0, 2e91)}


TABLES = {name: given for name, *given in tables()}


@pytest.mark.parametrize("solver", ["cd", "cyclic", "greedy", "sgd"])
@pytest.mark.parametrize("name", TABLES)
def test_hostile_tables(name, solver):
    """Numbers come out, and means of the right size where there are rows enough to tell it."""
    X, y, facts = TABLES[name]
    known = {**BOX, **facts} if facts else {}
    modes = {"cyclic": CoordinateDescent(block=1), "greedy": CoordinateDescent(selection="greedy")}
    for seed in range(3):
        model = PoissonRegressor(
            alpha=1e-3, solver=modes.get(solver, solver), random_state=seed, **known
        ).fit(X, y)
        found = model.predict(X)
        assert np.isfinite([*model.coef_, model.intercept_]).all()
        assert ((found > 0) & (found <= model.bounds_y_[1])).all()
        if solver == "cd" and name in ("rare events", "the same count", "large numbers"):
            assert 0.5 < found.mean() / y.mean() < 2.0
        if solver == "cd" and "no events" in name:
            assert found.mean() < 0.01 * model.bounds_y_[1]


def test_nothing_compiles_after_the_charge_with_scales_or_without():
    """With scales, the histogram of y alone is counted: another kind of run."""
    X, y = people(50)
    forget_compiled()
    for given in ([0.3, 0.3, 13.0], None):
        model = PoissonRegressor(solver=CoordinateDescent(smoothness=given), **KNOWN)
        assert observed_fit(model, X, y) is None


@pytest.mark.parametrize("relation", ["zero_out", "add_remove", "replace_one"])
def test_audits_with_given_scales(relation):
    """Then the histogram of y is released alone, which no other loss asks for."""
    solver = CoordinateDescent(passes=4, smoothness=[0.3, 0.3, 13.0])
    model = PoissonRegressor(solver=solver, adjacency=relation, **KNOWN)
    (release,) = [r for r in model.plan(100, n_features=3).releases if "magnitudes" in r.name]
    assert (release.shape, release.clip) == ((1, 24), 1.0)
    for check in checks_for(model):
        check(model, n_features=3)


def test_moments_from_a_histogram_of_counts():
    sizes = np.repeat(0.5 ** np.arange(24), 1000) * 0.75
    counts = np.full((1, 24), 1000.0)
    mean, square = moments_from(counts, 0.0, 24_000)
    assert mean == pytest.approx(sizes.mean(), rel=0.05)
    assert square == pytest.approx(np.mean(sizes**2), rel=0.05)
    nothing = np.zeros((1, 24))
    assert moments_from(nothing, 10.0, 24_000) == pytest.approx((30 / 24_000, 15 / 24_000))
    assert moments_from(nothing, 10.0, 199) is None  # noise on a count is 5 % of the rows
    loss = Poisson().with_moments(0.01, 0.005)
    assert (loss.curvature, loss.least_slope) == pytest.approx((0.01, 0.49))


def test_the_forecast_says_what_scores_are():
    for solver in ("cd", "sgd"):
        plan = PoissonRegressor(solver=solver, **KNOWN).plan(10_000, n_features=3)
        assert "scores are logarithms of means" in str(plan.forecast())
        assert "log-odds" not in str(plan.forecast())


def test_the_documented_objective_is_a_likelihood():
    """Up to a constant, minus its logarithm."""
    y, z = np.arange(6.0), np.linspace(-2, 1, 6)
    likelihood = -poisson.logpmf(y, np.exp(z)) + poisson.logpmf(y, 1.0)
    own = 20 * Poisson(math.log(20)).value(y / 20, z)
    np.testing.assert_allclose(own - 1.0, likelihood)
