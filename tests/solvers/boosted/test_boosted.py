"""Boosting on a noisy Gram matrix: least squares without noise; its estimates; who survives."""

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import linear_model as sk

from privlearn import LinearRegression, Ridge
from privlearn._core.norms import OUTER
from privlearn._core.problem import Bounds, Budget
from privlearn._data.clipping import clip_rows
from privlearn.exceptions import InvalidBudgetError, MissingFactError, UnsupportedCombinationError
from privlearn.solvers import BoostedStatistics
from privlearn.solvers._common.moment_equations import inverse_eigenvalues, stack, unstack
from privlearn.solvers._common.row_count import COUNT
from privlearn.solvers.boosted.rules import BINS, TOP, residual_clip
from support import exact, facts, regression, sloped

RELATIONS = ["zero_out", "add_remove", "replace_one"]
MANY = BoostedStatistics(rounds=60)
SHORT = BoostedStatistics(rounds=20)
UNIT = {"bounds_X": (-1, 1), "bounds_y": (-1, 1)}


def shares(plan):
    """What each release costs, in mu^2, of the whole."""
    costs = {
        r.name: r.count * (plan.sensitivity(r) / plan.noise_scale(r)) ** 2 for r in plan.releases
    }
    return {name: cost / sum(costs.values()) for name, cost in costs.items()}


# Without noise


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("alpha", [None, 3.0])
def test_reaches_scikit_learn_within_declared_bounds(relation, intercept, alpha):
    X, y = sloped("squared")
    shared = {"adjacency": relation, "fit_intercept": intercept, "solver": MANY}
    shared |= facts(X, y, "squared")
    ours = LinearRegression(**shared) if alpha is None else Ridge(alpha=alpha, **shared)
    theirs = sk.Ridge(alpha=alpha or 0.0, fit_intercept=intercept).fit(X, y)
    exact(ours, X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("intercept", [True, False])
def test_more_rounds_reach_least_squares_on_clipped_rows(intercept):
    """Residuals of up to 8 are cut to 1: it takes many rounds, and gets there."""
    X, y = sloped("squared", n=400)
    clipped = X.copy()
    norm = Bounds(None, None, None, math.sqrt(2.0) if intercept else 1.0)
    clip_rows(clipped, norm, intercept)
    assert (clipped != X).any(axis=1).mean() > 0.2
    y = 8.0 * clipped[:, 0] + 0.2 * np.tanh(y)
    best = sk.LinearRegression(fit_intercept=intercept).fit(clipped, y)
    errors = {}
    for rounds in (2, 20, 200):
        solver = BoostedStatistics(rounds=rounds, clip=1.0)
        model = exact(LinearRegression(solver=solver, fit_intercept=intercept), X, y)
        errors[rounds] = np.abs(model.coef_ - best.coef_).max()
    assert errors[2] > 0.1
    assert errors[200] < 1e-6
    np.testing.assert_allclose(model.predict(X), best.predict(clipped), atol=1e-6)


def test_predictions_clip_as_the_fit_did():
    X, y = sloped("squared")
    model = exact(LinearRegression(solver=BoostedStatistics(rounds=5, clip=1.0)), X, y)
    far = np.array([[30.0, -40.0, 0.0, 0.0]])
    assert model.predict(far) == pytest.approx(model.predict(far / 50.0), rel=1e-9)
    assert model.predict(far / 100.0) != pytest.approx(model.predict(far / 50.0), rel=1e-3)
    declared = LinearRegression(solver=MANY, **facts(X, y, "squared"))
    exact(declared, X, y)
    assert declared.predict(far) == pytest.approx(far @ declared.coef_ + declared.intercept_)


@pytest.mark.parametrize("relation", RELATIONS)
def test_dropped_rows_leave_no_trace(relation):
    X, y = regression(1_500)
    holes = X.copy()
    holes[::7, 1] = np.nan
    kept = np.isfinite(holes).all(axis=1)
    model = LinearRegression(
        adjacency=relation, solver=SHORT, on_invalid="drop", bounds_X=(-1, 1), bounds_y=(-1, 1)
    )
    expected = exact(model, X[kept], y[kept]).predict(X)
    np.testing.assert_allclose(exact(model, holes, y).predict(X), expected, rtol=1e-9)


# The ridge


def test_adassp_ridge_is_what_is_missing_beside_the_noise():
    noise, p = 2.0, 5
    reach = noise * (math.sqrt(2 * p) + math.sqrt(2 * math.log(40)))
    for smallest in (-3.0, 0.5 * reach, 1.4 * reach, 3.0 * reach):
        eigenvalues = np.array([smallest, 50.0, 60.0, 70.0, 80.0])
        ridge = max(0.0, reach - max(0.0, smallest - reach))
        got = inverse_eigenvalues(eigenvalues, np.zeros(p), noise, "adassp")
        np.testing.assert_allclose(got, 1.0 / (np.maximum(eigenvalues, 0.0) + ridge))


@pytest.mark.parametrize("size", [1e-2, 0.5, 1.0, 3.0, 100.0])
def test_what_is_inverted_exceeds_two_thirds_of_the_gram_matrix(size):
    """With probability 95 % or more, whatever the noise is beside the matrix."""
    rng = np.random.default_rng(0)
    p, noise, good = 8, 1.0, 0
    root = rng.standard_normal((p, p))
    gram = size * (root @ root.T + np.eye(p))
    for _ in range(200):
        noisy = unstack(stack(gram) + noise * rng.standard_normal(p * (p + 1) // 2), p)
        values, vectors = np.linalg.eigh(noisy)
        gain = inverse_eigenvalues(values, np.zeros(p), noise, "adassp")
        good += np.linalg.eigvals((vectors * gain) @ vectors.T @ gram).real.max() < 1.5
    assert good >= 190


# The plan


@pytest.mark.parametrize("relation", RELATIONS)
def test_shares_of_the_budget_are_as_documented(relation):
    model = LinearRegression(solver="boosted", adjacency=relation, **UNIT)
    found = shares(model.plan(n=10_000, n_features=6))
    expected = {
        "Gram matrix": 10,
        "clipped residuals times rows": 60,
        "residual magnitudes": 7,
        "clipped residuals": 3,
    }
    assert found == pytest.approx({k: v / 80 for k, v in expected.items()}, rel=1e-3)


def test_what_is_given_is_not_estimated():
    def names(solver="boosted", **known):
        plan = LinearRegression(solver=solver, **known).plan(n=1_000, n_features=3)
        return {release.name for release in plan.releases}

    steps = {"Gram matrix", "clipped residuals times rows"}
    looks = {"residual magnitudes", "clipped residuals"}
    assert names(BoostedStatistics(clip=1.0)) == steps  # and no bounds either
    assert names(**UNIT) == steps | looks
    assert names(**UNIT, fit_intercept=False) == steps | {"residual magnitudes"}
    assert names() > steps | looks  # bounds are estimated by those who sell them


def test_a_private_number_of_rows_is_estimated_for_a_penalty_per_row():
    problem = Ridge(adjacency="add_remove", **UNIT)._problem(None, 3, 0)
    per_row = replace(problem, penalty=replace(problem.penalty, per_row=True))
    for one, counted in ((problem, False), (per_row, True)):
        settings = BoostedStatistics().configure(one, Budget(1.0, 1e-6))
        plan = BoostedStatistics().plan(one, settings, 1.0)
        assert (COUNT in {release.name for release in plan.releases}) == counted


def test_clips_are_those_of_the_proof():
    solver = BoostedStatistics(rounds=100, clip=2.0)
    gram, gradient = LinearRegression(solver=solver).plan(n=100, n_features=9).releases
    assert (gram.clip, gram.norm) == (pytest.approx(2.0, rel=1e-9), OUTER)  # |(1, x / 2)|^2
    assert (gradient.clip, gradient.count) == (pytest.approx(math.sqrt(2.0), rel=1e-9), 100)
    gram, *_ = LinearRegression(solver="boosted", **UNIT).plan(n=100, n_features=9).releases
    assert gram.clip == pytest.approx(10.0, rel=1e-9)  # nine features in [-1, 1] and the 1


def test_refusals():
    for wrong in ({"rounds": 0}, {"rounds": 2.5}, {"clip": 0.0}, {"clip": math.inf}):
        with pytest.raises(ValueError, match="needed"):
            BoostedStatistics(**wrong)
    X, y = regression(100)
    with pytest.raises(InvalidBudgetError, match="delta=0"):
        LinearRegression(solver="boosted", delta=0.0, **UNIT).fit(X, y)
    with pytest.raises(MissingFactError, match="bounds_X"):
        LinearRegression(solver="boosted", delta=0.0).fit(X, y)
    with pytest.raises(UnsupportedCombinationError, match="box"):
        LinearRegression(solver="boosted", positive=True).fit(X, y)


def test_forecast_is_about_right_where_residuals_are_clipped_as_declared():
    n, p, fits = 6_000, 4, 30
    X, y = regression(n, p)
    solver = BoostedStatistics(rounds=10, clip=2.0)
    model = LinearRegression(epsilon=2.0, solver=solver, bounds_X=(-1, 1), bounds_y=(-1, 1))
    outlook = model.plan(n=n, n_features=p).forecast()
    found = np.array([model.set_params(random_state=k).fit(X, y).coef_ for k in range(fits)])
    ratio = found.std(axis=0) / outlook.coefficient
    assert np.all((ratio > 0.6) & (ratio < 1.6)), ratio
    assert 0.9 < outlook.kept <= 1.0


# What histograms tell


def octave(magnitude):
    return TOP - math.frexp(magnitude)[1]


def histogram(**at):
    counts = np.zeros(BINS)
    for magnitude, rows in at.items():
        counts[octave(float(magnitude[1:].replace("_", ".")))] = rows
    return counts


def test_bins_that_may_be_noise_are_not_believed():
    rng = np.random.default_rng(1)
    for _ in range(100):
        counts = histogram(_0_03=5_000) + 10.0 * rng.standard_normal(BINS)
        assert residual_clip(counts, 10.0, 1e-3, 5.0) == 2.0**-5


def test_residuals_are_clipped_where_noise_and_bias_balance():
    counts = histogram(_0_01=9_000, _0_1=900, _0_8=90)
    clips = [residual_clip(counts, 1.0, blur, 5.0) for blur in (0.0, 3.0, 100.0, 1e4)]
    assert clips == sorted(clips, reverse=True)
    assert clips[0] >= 1.0
    assert clips[-1] <= 2.0**-6
    assert residual_clip(counts, 1e5, 1.0, 5.0) == 5.0


# With noise


def mixed(n=20_000, seed=0):
    """Raw units, an offset, a rare flag, a heavy tail; and what they explain."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 5))
    X[:, 3] = rng.random(n) < 0.03
    X[:, 4] = rng.standard_t(2, n)
    y = X[:, :3] @ [0.5, -0.5, 0.3] + 4.0 * X[:, 3] + np.tanh(X[:, 4]) + rng.standard_normal(n)
    return X * [1e-4, 1.0, 1e5, 1.0, 1.0] + [0.0, 2e3, 0.0, 0.0, 0.0], y + 500.0


@pytest.mark.parametrize("relation", RELATIONS)
def test_learns_raw_data_with_nothing_declared(relation):
    X, y = mixed(30_000)
    scores = []
    for seed in range(2):
        model = LinearRegression(solver=SHORT, adjacency=relation, random_state=seed)
        scores.append(model.fit(X[:15_000], y[:15_000]).score(X[15_000:], y[15_000:]))
    best = sk.LinearRegression().fit(X[:15_000], y[:15_000]).score(X[15_000:], y[15_000:])
    assert min(scores) > best - 0.05
    assert model.coef_[3] == pytest.approx(4.0, abs=1.5)  # the rare flag is seen


def test_generous_bounds_of_y_cost_little():
    """Clips are estimated relative to the range, however wide it is."""
    X, y = regression(20_000)
    found = []
    for reach in (1.0, 100.0):
        model = LinearRegression(solver=SHORT, bounds_X=(-1, 1), bounds_y=(-reach, reach))
        fits = [model.set_params(random_state=k).fit(X, y).score(X, y) for k in range(5)]
        found.append(np.mean(fits))
    best = sk.LinearRegression().fit(X, y).score(X, y)
    assert min(found) > best - 0.03


@pytest.mark.parametrize("size", [1e12, 1e300])
def test_single_outliers_do_not_break_it(size):
    X, y = mixed()
    model = LinearRegression(solver=SHORT, random_state=1)
    clean = model.fit(X, y).score(X, y)
    dirty, wrong = X.copy(), y.copy()
    dirty[:5] = size
    wrong[3:8] = -size
    assert model.fit(dirty, wrong).score(X, y) > clean - 0.05


def test_few_rows_give_a_finite_model():
    X, y = mixed(50)
    for seed in range(5):
        model = LinearRegression(solver=SHORT, random_state=seed).fit(X, y)
        assert np.isfinite(model.predict(X)).all()


def test_sparse_rows_give_the_same_model():
    rng = np.random.default_rng(2)
    X = sp.random(3_000, 6, density=0.3, random_state=1, format="csr")
    y = X @ np.arange(6.0) + rng.standard_normal(3_000)
    model = LinearRegression(solver=SHORT, random_state=0)
    expected = model.fit(X.toarray(), y).predict(X.toarray())
    np.testing.assert_allclose(model.fit(X, y).predict(X), expected, rtol=1e-9)


def test_rows_are_computed_anew_where_they_do_not_fit(monkeypatch):
    X, y = mixed(3_000)
    model = LinearRegression(solver=SHORT, random_state=0)
    expected = model.fit(X, y).coef_
    monkeypatch.setattr("privlearn.solvers.boosted.rows.KEPT", 0)
    np.testing.assert_array_equal(model.fit(X, y).coef_, expected)
