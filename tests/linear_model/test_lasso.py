"""Lasso, elastic net and boxes from moments: scikit-learn's without noise, sensible with it."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn import linear_model as sk

from privlearn import ElasticNet, Lasso, LinearRegression, Ridge
from privlearn._objective.penalties import Penalty
from privlearn.audit.tape import record, replay_on
from privlearn.solvers import SGD, SufficientStatistics
from privlearn.solvers._common.quadratic import minimise_quadratic
from support import without_noise

RELATIONS = ["zero_out", "add_remove", "replace_one"]
SHARES = [0.0, 0.3, 1.0]


def correlated(n=1_500, p=8, seed=2):
    """Features of different spread, some of them useless, away from zero; y in its own unit."""
    rng = np.random.default_rng(seed)
    mix = np.eye(p) + 0.4 * rng.standard_normal((p, p))
    X = rng.standard_normal((n, p)) @ mix * 2.0 ** np.arange(-3, p - 3) + 3.0
    coef = np.where(np.arange(p) % 3 == 0, 40.0, 0.0) / X.std(axis=0)
    return X, X @ coef + 20.0 * rng.standard_normal(n) - 500.0


def facts(X, y):
    """Bounds that clip nothing; a test may look at its own data."""
    room = 0.1 * (X.max(axis=0) - X.min(axis=0))
    box = (X.min(axis=0) - room, X.max(axis=0) + room)
    return {"bounds_X": box, "bounds_y": (y.min() - 7.0, y.max()), "solver": "moments"}


def objective(model, X, y, alpha, share):
    error = y - X @ model.coef_ - model.intercept_
    size = share * np.abs(model.coef_).sum() + (1 - share) / 2 * np.sum(model.coef_**2)
    return np.mean(error**2) / 2 + alpha * size


def exact(model, X, y):
    with without_noise():
        return model.fit(X, y)


def agree(ours, theirs, X, y, alpha, share):
    ours_is, theirs_is = (objective(model, X, y, alpha, share) for model in (ours, theirs))
    assert ours_is == pytest.approx(theirs_is, rel=1e-6)
    size = np.abs(theirs.coef_).max()
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6, atol=1e-6 * size)
    np.testing.assert_array_equal(ours.coef_ == 0, theirs.coef_ == 0)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, rel=1e-6, abs=1e-6 * np.abs(y).max())


def reference(share, **parameters):
    kind = sk.Lasso if share == 1.0 else sk.ElasticNet
    own = {} if share == 1.0 else {"l1_ratio": share}
    return kind(tol=1e-13, max_iter=200_000, **own, **parameters)


def ours_with(share, **parameters):
    return Lasso(**parameters) if share == 1.0 else ElasticNet(l1_ratio=share, **parameters)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:With alpha=0")
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("alpha", [0.01, 3.0])
def test_equals_scikit_learn_without_noise(relation, intercept, share, alpha):
    X, y = correlated()
    shared = {"alpha": alpha, "fit_intercept": intercept}
    theirs = reference(share, **shared).fit(X, y)
    ours = exact(ours_with(share, adjacency=relation, **shared, **facts(X, y)), X, y)
    agree(ours, theirs, X, y, alpha, share)


@pytest.mark.parametrize("share", [0.5, 1.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_positive_equals_scikit_learn(share, intercept):
    X, y = correlated()
    shared = {"alpha": 0.5, "positive": True, "fit_intercept": intercept}
    theirs = reference(share, **shared).fit(X, y)
    ours = exact(ours_with(share, **shared, **facts(X, y)), X, y)
    agree(ours, theirs, X, y, 0.5, share)
    assert (ours.coef_ == 0).any()


def by_scipy(X, y, alpha, share, low, high):
    """Coefficients as differences of non-negative halves; L-BFGS-B in standard units."""
    X, y = X - X.mean(axis=0), y - y.mean()
    units, unit = X.std(axis=0), y.std()
    Z, t = X / units, y / unit
    l1, l2 = alpha * share / units / unit, alpha * (1 - share) / units**2

    def value(halves):
        up, down = np.split(halves, 2)
        w = up - down
        error = Z @ w - t
        slope = Z.T @ error / len(t) + l2 * w
        loss = np.mean(error**2) / 2 + l1 @ (up + down) + l2 @ w**2 / 2
        return loss, np.concatenate([slope + l1, -slope + l1])

    low, high = low * units / unit, high * units / unit
    limits = [*zip(np.maximum(low, 0), np.maximum(high, 0), strict=True)]
    limits += zip(np.maximum(-high, 0), np.maximum(-low, 0), strict=True)
    tight = {"ftol": 1e-16, "gtol": 1e-13, "maxiter": 100_000, "maxfun": 10**6}
    start = np.array([side[0] for side in limits])
    halves = minimize(value, start, jac=True, method="L-BFGS-B", bounds=limits, options=tight).x
    return (halves[: len(units)] - halves[len(units) :]) * unit / units


@pytest.mark.parametrize("share", [None, *SHARES])
def test_boxes_equal_a_general_optimiser(share):
    X, y = correlated(p=6)
    units = y.std() / X.std(axis=0)
    low, high = (
        np.array([-0.1, -1, 0.02, -1, -1, 0]) * units,
        np.array([1, 0, 0.3, 0.2, 1, 1]) * units,
    )
    alpha = 0.0 if share is None else 0.5
    own = {"coef_bounds": (low, high), **facts(X, y)}
    ours = LinearRegression(**own) if share is None else ours_with(share, alpha=alpha, **own)
    exact(ours, X, y)
    expected = by_scipy(X, y, alpha, share or 0.0, low, high)
    np.testing.assert_allclose(ours.coef_ / units, expected / units, atol=1e-6)
    assert (ours.coef_ >= low - 1e-12 * units).all()
    assert (ours.coef_ <= high + 1e-12 * units).all()
    assert np.isclose(ours.coef_, low).any() or np.isclose(ours.coef_, high).any()
    assert ours.intercept_ == pytest.approx(y.mean() - X.mean(axis=0) @ ours.coef_)


def test_ridge_in_a_wide_box_is_ridge():
    X, y = correlated()
    boxed = Ridge(alpha=100.0, coef_bounds=(-1e6, 1e6), **facts(X, y))
    plain = Ridge(alpha=100.0, **facts(X, y))
    np.testing.assert_allclose(exact(boxed, X, y).coef_, exact(plain, X, y).coef_, rtol=1e-7)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("share", [0.5, 1.0])
def test_one_hot_columns_that_add_up_to_one(share):
    """Without curvature in one direction the penalty alone decides, as in scikit-learn."""
    rng = np.random.default_rng(0)
    X = np.eye(5)[rng.integers(0, 5, 2_000)]
    y = X @ [1.0, 1.0, 3.0, 1.0, 1.2] + 0.1 * rng.standard_normal(2_000)
    theirs = reference(share, alpha=0.01).fit(X, y)
    known = {"bounds_X": (0, 1), "bounds_y": (-2, 5), "solver": "moments"}
    ours = exact(ours_with(share, alpha=0.01, **known), X, y)
    found, best = (objective(model, X, y, 0.01, share) for model in (ours, theirs))
    assert found == pytest.approx(best, rel=1e-8)


@pytest.mark.parametrize("kind", [sp.csr_array, sp.coo_matrix])
def test_sparse_equals_dense(kind):
    rng = np.random.default_rng(1)
    X = np.where(rng.random((2_000, 6)) < 0.2, rng.uniform(0, 1, (2_000, 6)), 0.0)
    y = X @ [1.0, 0.0, -1.0, 0.0, 0.5, 0.0] + 0.1 * rng.standard_normal(2_000)
    model = Lasso(alpha=0.01, bounds_X=(0, 1), bounds_y=(-2, 2), solver="moments")
    dense = exact(model, X, y).coef_
    np.testing.assert_allclose(exact(model, kind(X), y).coef_, dense, rtol=1e-9)
    assert (dense == 0).sum() == 3


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("relation", RELATIONS)
def test_dropped_rows_count_in_a_public_n_only(relation, intercept):
    """Where n is public it stays in the objective; where it is private only present rows count."""
    X, y = correlated(1_000)
    holes = X.copy()
    holes[::2, 1] = np.nan
    kept = np.isfinite(holes).all(axis=1)
    model = Lasso(
        alpha=2.0, adjacency=relation, fit_intercept=intercept, on_invalid="drop", **facts(X, y)
    )
    alpha = 2.0 if relation == "add_remove" else 4.0
    theirs = reference(1.0, alpha=alpha, fit_intercept=intercept).fit(X[kept], y[kept])
    agree(exact(model, holes, y), theirs, X[kept], y[kept], alpha, 1.0)


def test_sgd_minimises_the_same_objective():
    """The penalty per row reaches the other solver, too, public number of rows or not."""
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (4_000, 4))
    y = X @ [1.0, -0.5, 0.05, 0.0] + 0.1 * rng.standard_normal(4_000)
    theirs = sk.Lasso(alpha=0.05).fit(X, y)
    solver = SGD(steps=3_000, clip=50.0, momentum=0.9, batch_size=None, average=0.2)
    for relation in ("zero_out", "add_remove"):
        model = Lasso(
            alpha=0.05, solver=solver, adjacency=relation, bounds_X=(-1, 1), bounds_y=(-3, 3)
        )
        ours = exact(model, X, y)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=0.03)


def test_total_multiplies_weights_per_row_only():
    per_row = Penalty(l1=2.0, l2=3.0, low=(-1.0,), high=(4.0,), per_row=True)
    assert per_row.total(10) == Penalty(l1=20.0, l2=30.0, low=(-1.0,), high=(4.0,))
    assert per_row.total(10).total(10) == per_row.total(10)
    plain = Penalty(l1=2.0, l2=3.0, low=(-1.0,))
    assert plain.total(10) is plain
    assert per_row.name == per_row.total(10).name == "elastic net in a box"


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("intercept", [True, False])
def test_a_private_number_of_rows_is_released_only_where_the_matrix_lacks_it(relation, intercept):
    known = {"bounds_X": (-1, 1), "bounds_y": (-1, 1), "fit_intercept": intercept}
    known |= {"solver": "moments", "adjacency": relation}
    needed = relation == "add_remove" and not intercept
    for n in (None, 1_000):
        plan = Lasso(**known).plan(n=n, n_features=3)
        names = [release.name for release in plan.releases]
        assert names == ["second moments", "number of rows"][: 1 + needed]
        assert plan.epsilon(1e-6) == pytest.approx(1.0, rel=1e-3)
        assert len(Ridge(**known).plan(n=n, n_features=3).releases) == 1


# With noise


def sparse_truth(n=20_000, p=10, seed=4):
    """Only the first three of p features matter."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, p))
    return X, X[:, :3] @ [1.0, -0.8, 0.6] + 0.3 * rng.standard_normal(n)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("share", [0.7, 1.0])
def test_private_fits_find_what_matters(relation, intercept, share):
    """At epsilon 1 the three features are found, and most of the others are exactly 0."""
    X, y = sparse_truth()
    known = {"bounds_X": (-1, 1), "bounds_y": (-3, 3), "fit_intercept": intercept}
    best = reference(share, alpha=0.05, fit_intercept=intercept).fit(X, y)
    zeros = []
    for seed in range(10):
        model = ours_with(
            share, alpha=0.05, solver="moments", adjacency=relation, random_state=seed, **known
        ).fit(X, y)
        assert (model.coef_[:3] != 0).all()
        assert np.abs(model.coef_ - best.coef_).max() < 0.2
        assert model.score(X, y) > 0.97 * best.score(X, y) - 0.02
        zeros.append((model.coef_[3:] == 0).mean())
    assert np.mean(zeros) > 0.6
    plain = LinearRegression(solver="moments", adjacency=relation, random_state=0, **known)
    assert (plain.fit(X, y).coef_ != 0).all()


@pytest.mark.parametrize("ridge", ["noise", "adassp"])
@pytest.mark.parametrize("epsilon", [0.01, 0.3])
def test_noise_that_hides_everything_leaves_small_models(ridge, epsilon):
    X, y = sparse_truth(200, 12)
    known = {"bounds_X": (-1, 1), "bounds_y": (-3, 3), "epsilon": epsilon, "delta": 1e-6}
    for seed in range(5):
        for own in ({"alpha": 1e-3}, {"alpha": 0.0, "coef_bounds": (-5, 5)}):
            model = Lasso(solver=SufficientStatistics(ridge), random_state=seed, **own, **known)
            assert np.abs(model.fit(X, y).coef_).max() < 50.0


@pytest.mark.parametrize("solver", ["moments", SGD(steps=20)], ids=["moments", "sgd"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("relation", RELATIONS)
def test_the_model_is_made_of_what_was_released(relation, intercept, solver):
    """The releases of one data set give one model, whoever's rows are there; also with other n."""
    X, y = sparse_truth(3_000, 4)
    known = {"bounds_X": (-1, 1), "bounds_y": (-3, 3), "fit_intercept": intercept}
    model = Lasso(alpha=0.02, adjacency=relation, solver=solver, random_state=0, **known)
    tape = record(model, X, y)
    coef, level = model.coef_.copy(), model.intercept_
    assert coef.any()
    others = slice(None, None, -3) if relation == "add_remove" else slice(None, None, -1)
    replay_on(tape, model, -X[others], y[others])
    np.testing.assert_array_equal(model.coef_, coef)
    assert model.intercept_ == level


def test_features_without_room_get_no_coefficient():
    X, y = sparse_truth(500, 3)
    X[:, 1] = 2.0
    known = {"bounds_X": ([-1, 2, -1], [1, 2, 1]), "bounds_y": (-3, 3), "solver": "moments"}
    for model in (Lasso(alpha=0.01, **known), LinearRegression(coef_bounds=(-1, 1), **known)):
        assert model.fit(X, y).coef_[1] == 0.0


# The quadratic itself


def ill_conditioned(p, condition, seed):
    rng = np.random.default_rng(seed)
    vectors, _ = np.linalg.qr(rng.standard_normal((p, p)))
    A = (vectors * np.geomspace(1.0, 1.0 / condition, p)) @ vectors.T
    A = (A + A.T) / 2
    truth = rng.standard_normal(p) * (rng.random(p) < 0.5)
    return A, A @ truth + 1e-3 * rng.standard_normal(p), rng


def violation(A, b, l1, low, high, w):
    """How far 0 is from the subdifferential, relative to A_jj times the largest |w|."""
    slope = A @ w - b
    least = np.where(w == 0, slope - l1, slope + l1 * np.sign(w))
    most = np.where(w == 0, slope + l1, least)
    least, most = np.where(w <= low, -np.inf, least), np.where(w >= high, np.inf, most)
    distance = np.maximum(np.maximum(least, -most), 0.0)
    return np.max(distance / (np.diag(A) * np.abs(w).max()))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("condition", [1.0, 1e3, 1e6])
def test_quadratic_reaches_the_minimum_of_bad_problems(condition, seed):
    p = 30
    A, b, rng = ill_conditioned(p, condition, seed)
    l1 = np.where(rng.random(p) < 0.8, 10 ** rng.uniform(-5, -2), 0.0)
    low = np.where(rng.random(p) < 0.3, -rng.random(p), -np.inf)
    high = np.where(rng.random(p) < 0.3, rng.random(p), np.inf)
    low[:2], high[:2] = [0.1, -0.3], [0.2, -0.3]  # limits on one side of 0, and a single point
    w = np.zeros(p)
    assert minimise_quadratic(A, b, l1, low, high, w, 10_000, 1e-12) is w
    assert (low <= w).all()
    assert (w <= high).all()
    assert violation(A, b, l1, low, high, w) < 1e-13
    other = minimise_quadratic(A, b, l1, low, high, rng.standard_normal(p), 10_000, 1e-12)
    np.testing.assert_allclose(other, w, atol=1e-9 * np.abs(w).max())


def test_quadratic_without_penalty_is_a_linear_system():
    A, b, _ = ill_conditioned(40, 1e6, 0)
    free = np.full(40, np.inf)
    w = minimise_quadratic(A, b, np.zeros(40), -free, free, np.zeros(40), 10_000, 1e-12)
    expected = np.linalg.solve(A, b)
    np.testing.assert_allclose(w, expected, atol=1e-9 * np.abs(expected).max())


def test_small_steps_are_not_taken_for_the_end():
    """Along a flat direction coordinates creep from the start; only a solved face may end it."""
    A, b, _ = ill_conditioned(20, 1e8, 1)
    b *= 1e-6
    free = np.full(20, np.inf)
    expected = np.linalg.solve(A, b)
    flattest = np.linalg.eigh(A)[1][:, 0] * np.abs(expected).max()
    start = expected + 0.01 * flattest
    w = minimise_quadratic(A, b, np.zeros(20), -free, free, start, 10_000, 1e-6)
    np.testing.assert_allclose(w, expected, atol=1e-5 * np.abs(expected).max())


def test_closed_forms_load_no_compiler():
    code = """
import sys
import numpy as np
from privlearn import LinearRegression, Ridge
from privlearn.solvers._common import moment_equations
from privlearn.solvers._common.scaling import Scaling
from privlearn._objective.penalties import Penalty
from privlearn._core.problem import Bounds
scaling = Scaling.for_moments(Bounds.declared(1, bounds_X=(0, 1), bounds_y=(0, 1)), 1, True)
for penalty in (Penalty(), Penalty(l2=1.0)):
    moment_equations.solve_moments(
        np.diag([9.0, 3.0, 3.0]), intercept=True, penalty=scaling.moment_penalty(penalty),
        noise=0.1, ridge="noise", count=None,
    )
print("numba" in sys.modules)
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"
