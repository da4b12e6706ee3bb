"""Dual coordinate descent without noise finds the optimum; its dual variables stay hidden."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog, minimize, minimize_scalar
from sklearn import linear_model as sk
from sklearn.svm import SVC

from privlearn import HuberRegressor, LinearRegression, LinearSVC, LogisticRegression, Ridge
from privlearn._core.releaser import Releaser, use_releaser
from privlearn._objective.losses import Hinge, Huber, Logistic, Squared, SquaredHinge
from privlearn._objective.penalties import PENALTIES
from privlearn.solvers import DualCoordinateDescent
from privlearn.solvers._common.objective import Objective
from support import NUMBERS, NoNoise, exact, facts, sloped, tilted, with_penalty

# All rows in every step, no row shortened, and weights that resist no more than curvature asks for:
# what is left is the optimiser.
EXACT = DualCoordinateDescent(epochs=2_000, batch_size=10**9, clip=1.0)
LONGER = replace(EXACT, epochs=10_000)  # for slopes that jump
MUCH = {"epsilon": 1e4}
LOSSES = {
    "squared": Squared(),
    "huber": Huber(1.35),
    "logistic": Logistic(),
    "squared hinge": SquaredHinge(),
    "hinge": Hinge(),
}
SMOOTH = [loss for loss in LOSSES if loss != "hinge"]
HEAVIER = 5.0  # times the penalties of the list, so that they matter to the rows below


def model_of(loss, penalty, **parameters):
    """An estimator with that loss and any penalty of the list."""
    base = {"squared": LinearRegression, "huber": HuberRegressor, "logistic": LogisticRegression}
    if "hinge" in loss:
        parameters["loss"] = loss.replace(" ", "_")
    return with_penalty(base.get(loss, LinearSVC), penalty, **parameters)


def heavier(penalty):
    return replace(penalty, l1=HEAVIER * penalty.l1, l2=HEAVIER * penalty.l2)


def truth(loss, y):
    return y if loss in NUMBERS else 2.0 * y - 1.0


def losses_at(loss, y, z, scale=1.0):
    """Sum of losses; Huber's is (scale + 2 scale H(error / scale)) / 2, half of scikit-learn's."""
    if loss != "huber":
        return float(LOSSES[loss].value(truth(loss, y), z).sum())
    return float((scale / 2 + scale * LOSSES[loss].value(y / scale, z / scale)).sum())


def objective(loss, penalty, X, y, model):
    coef = np.clip(np.ravel(model.coef_), penalty.low, penalty.high)
    np.testing.assert_allclose(np.ravel(model.coef_), coef, rtol=1e-12)
    z, size = X @ coef + model.intercept_, penalty.value(coef)
    if loss != "huber":
        return losses_at(loss, y, z) + size
    best = minimize_scalar(
        lambda scale: losses_at(loss, y, z, scale), bounds=(1e-3, 10), options={"xatol": 1e-12}
    )
    return best.fun + size


def box_of(penalty, p):
    """Limits of the positive and negative parts of the coefficients."""
    low, high = (np.broadcast_to(side, p) for side in (penalty.low, penalty.high))
    parts = [*zip(np.maximum(low, 0), np.maximum(high, 0), strict=True)]
    return [*parts, *zip(np.maximum(-high, 0), np.maximum(-low, 0), strict=True)]


def by_scipy(loss, penalty, X, y, intercept):
    """Best objective and coefficients of a smooth loss: halves of either sign, by L-BFGS-B."""
    p, signs = X.shape[1], truth(loss, y)

    def value(v):
        up, down, level, scale = v[:p], v[p : 2 * p], v[-2], v[-1]
        w, t = up - down, scale if loss == "huber" else 1.0
        z = X @ w + level
        slope = LOSSES[loss].derivative(signs / t, z / t)
        inner = X.T @ slope + penalty.l2 * w
        along = 0.5 * np.sum(1.0 - slope**2) if loss == "huber" else 0.0
        size = penalty.l1 * (up + down).sum() + penalty.l2 / 2 * w @ w
        ends = [slope.sum() * intercept, along]
        whole = np.concatenate([inner + penalty.l1, -inner + penalty.l1, ends])
        return losses_at(loss, y, z, t) + size, whole

    limits = [*box_of(penalty, p), (None, None) if intercept else (0, 0), (1e-3, None)]
    start = np.append(np.zeros(2 * p + 1), 1.0)
    tight = {"ftol": 1e-16, "gtol": 1e-12, "maxiter": 50_000, "maxfun": 10**6}
    found = minimize(value, start, jac=True, method="L-BFGS-B", bounds=limits, options=tight)
    return found.fun, found.x[:p] - found.x[p : 2 * p]


def hinge_by_scipy(penalty, X, y, intercept):
    """Best objective of the hinge: linear programmes with a slack per row and tangents of w^2."""
    (n, p), signs = X.shape, 2.0 * y - 1.0
    margins = signs[:, None] * np.column_stack([X, -X, np.full(n, float(intercept))])
    short = np.column_stack([-margins, -np.eye(n), np.zeros((n, p))])  # 1 - margin <= slack
    costs = np.concatenate([np.full(2 * p, penalty.l1), [0.0], np.ones(n), np.full(p, penalty.l2)])
    limits = [*box_of(penalty, p), (None, None), *[(0.0, None)] * (n + p)]
    above, sides, best = [short], [-np.ones(n)], np.inf
    for _ in range(100):
        found = linprog(costs, np.vstack(above), np.concatenate(sides), bounds=limits)
        w, least = found.x[:p] - found.x[p : 2 * p], found.fun
        best = min(best, least + penalty.l2 * (w @ w / 2 - found.x[-p:].sum()))
        if best - least <= 1e-9 * best:
            return best
        tangent = np.diag(w)  # w^2 / 2 >= c w - c^2 / 2
        above.append(np.column_stack([tangent, -tangent, np.zeros((p, n + 1)), -np.eye(p)]))
        sides.append(w * w / 2)
    raise AssertionError("tangents did not close the gap")


# The optimum


@pytest.mark.parametrize("intercept", [True, False], ids=["with 1", "no 1"])
@pytest.mark.parametrize("penalty", PENALTIES, ids=lambda penalty: penalty.name)
@pytest.mark.parametrize("loss", SMOOTH)
def test_the_optimum_is_reached(loss, penalty, intercept):
    X, y = sloped(loss)
    penalty = heavier(penalty)
    best, coef = by_scipy(loss, penalty, X, y, intercept)
    given = {"solver": EXACT, "fit_intercept": intercept, **MUCH, **facts(X, y, loss)}
    ours = exact(model_of(loss, penalty, **given), X, y)
    assert objective(loss, penalty, X, y, ours) == pytest.approx(best, rel=1e-9)
    np.testing.assert_allclose(np.ravel(ours.coef_), coef, atol=1e-4)


@pytest.mark.parametrize("intercept", [True, False], ids=["with 1", "no 1"])
@pytest.mark.parametrize("penalty", PENALTIES, ids=lambda penalty: penalty.name)
def test_the_optimum_of_the_hinge_is_reached(penalty, intercept):
    X, y = sloped("hinge", n=60)
    best = hinge_by_scipy(penalty, X, y, intercept)
    given = {"solver": LONGER, "fit_intercept": intercept, **MUCH, **facts(X, y, "hinge")}
    ours = exact(model_of("hinge", penalty, **given), X, y)
    assert objective("hinge", penalty, X, y, ours) == pytest.approx(best, rel=1e-7)


@pytest.mark.parametrize("relation", ["zero_out", "add_remove", "replace_one"])
@pytest.mark.parametrize("loss", SMOOTH)
def test_every_relation_reaches_it(loss, relation):
    """With a private number of rows the penalty meets a count, and the grid is for any number."""
    X, y = sloped(loss)
    penalty = heavier(PENALTIES[3])
    best, _ = by_scipy(loss, penalty, X, y, True)
    solver = DualCoordinateDescent(epochs=2_000, clip=1.0)
    given = {"solver": solver, "adjacency": relation, **MUCH, **facts(X, y, loss)}
    ours = exact(model_of(loss, penalty, **given), X, y)
    assert objective(loss, penalty, X, y, ours) == pytest.approx(best, rel=1e-7)


@pytest.mark.parametrize("loss", SMOOTH)
def test_batches_reach_it_too(loss):
    """Dual variables remember the rows that are not in the batch: nothing is left of sampling."""
    X, y = sloped(loss)
    penalty = heavier(PENALTIES[2])
    best, _ = by_scipy(loss, penalty, X, y, True)
    solver = DualCoordinateDescent(epochs=1_000, batch_size=30, clip=1.0)
    given = {"solver": solver, "random_state": 0, "epsilon": 100.0, **facts(X, y, loss)}
    ours = exact(model_of(loss, penalty, **given), X, y)
    assert objective(loss, penalty, X, y, ours) == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("loss", SMOOTH)
def test_rows_that_are_shortened_follow_when_they_are_drawn_again(loss):
    """All steps together reach twice as far as the longest gradient, a single one hardly moves."""
    X, y = sloped(loss)
    penalty = heavier(PENALTIES[2])
    best, _ = by_scipy(loss, penalty, X, y, True)
    given = {**MUCH, **facts(X, y, loss)}
    short, shorter = (replace(EXACT, clip=clip) for clip in (4e-3, 1e-5))
    reached = exact(model_of(loss, penalty, solver=short, **given), X, y)
    assert objective(loss, penalty, X, y, reached) == pytest.approx(best, rel=1e-6)
    held_back = exact(model_of(loss, penalty, solver=shorter, **given), X, y)
    assert objective(loss, penalty, X, y, held_back) > 1.05 * best


@pytest.mark.parametrize("scale", [1.0, 1_000.0])
def test_huber_and_its_scale_as_in_scikit_learn(scale, monkeypatch):
    X, y = sloped("huber")
    y, alpha, seen = scale * y, 2.0 / scale, []
    solution = Objective.solution
    monkeypatch.setattr(
        Objective, "solution", lambda self, w: seen.append(w[-1]) or solution(self, w)
    )
    ours = HuberRegressor(alpha=alpha, solver=EXACT, **MUCH, **facts(X, y, "huber"))
    exact(ours, X, y)
    theirs = sk.HuberRegressor(alpha=alpha, tol=1e-10, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4 * scale)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-4 * scale)
    half_range = np.ptp(facts(X, y, "huber")["bounds_y"]) / 2
    learned = seen[-1] * Huber(1.35).auxiliary.dual_unit * half_range
    assert learned == pytest.approx(theirs.scale_, rel=1e-4)


def test_hinge_and_logistic_as_in_scikit_learn():
    X, y = sloped("hinge")
    known = {"solver": LONGER, **MUCH, **facts(X, y, "hinge")}
    ours = exact(LinearSVC(C=0.5, loss="hinge", **known), X, y)
    theirs = SVC(C=0.5, kernel="linear", tol=1e-10).fit(X, y)  # its intercept is not penalised
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)
    ours = exact(LogisticRegression(C=0.3, **known), X, y)
    theirs = sk.LogisticRegression(C=0.3, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)


def three_classes(n=150):
    X, _ = sloped("hinge", n)
    noise = np.random.default_rng(5).standard_normal(n)
    return X, np.digitize(X @ [1.5, -1.0, 0.3, 0.0] + 0.4 * noise, [-0.5, 0.5])


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_three_classes_are_three_fits_of_one_against_the_rest(loss):
    X, y = three_classes()
    known = {"C": 0.5, "loss": loss, "solver": LONGER, **MUCH, **facts(X, y, "hinge")}
    ours = exact(LinearSVC(**known), X, y)
    assert ours.coef_.shape == (3, 4)
    for k in range(3):
        alone = exact(LinearSVC(**known), X, (y == k).astype(int))
        room = 1e-3 if loss == "hinge" else 1e-6
        np.testing.assert_allclose(ours.coef_[k], alone.coef_[0], atol=room)
        assert ours.intercept_[k] == pytest.approx(alone.intercept_[0], abs=room)


# Kinds of data


def numbers(model):
    return np.append(model.coef_, model.intercept_)


@pytest.mark.parametrize("noisy", [True, False], ids=["with noise", "without noise"])
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_matrix, np.float32, np.asfortranarray])
@pytest.mark.parametrize("loss", LOSSES)
def test_sparse_float32_and_order_give_the_same_model(loss, kind, noisy):
    X, y = sloped(loss)
    X[np.abs(X) < 0.6] = 0.0
    known = {"solver": DualCoordinateDescent(epochs=20), "data_norm": 3.0, "random_state": 0}
    known |= {"bounds_y": (-2, 7)} if loss in NUMBERS else {"classes": [0, 1]}
    model = model_of(loss, heavier(PENALTIES[2]), **known)
    given = X.astype(np.float32) if kind is np.float32 else kind(X)
    with use_releaser(Releaser if noisy else NoNoise):
        dense, again = numbers(model.fit(X, y)), numbers(model.fit(given, y))
    np.testing.assert_allclose(again, dense, atol=1e-5)
    assert np.abs(dense).max() > 0.05


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_dropped_rows_leave_no_trace(loss, sparse):
    """Where the box excludes zero, an empty row in the solver's coordinates is not zero."""
    X, y = sloped(loss)
    X = X + (0.0 if sparse else 7.0)
    solver = DualCoordinateDescent(epochs=1_000)
    known = {"solver": solver, "on_invalid": "drop", "adjacency": "add_remove"} | facts(X, y, loss)
    kept = np.arange(len(X)) % 5 > 0
    holes = np.where(kept[:, None], X, np.nan)
    model = model_of(loss, heavier(PENALTIES[2]), **known)
    as_given = sp.csr_array if sparse else np.asarray
    want = numbers(exact(model, as_given(X[kept]), y[kept]))
    np.testing.assert_allclose(numbers(exact(model, as_given(holes), y)), want, rtol=1e-7)


def test_rows_beyond_all_bounds_are_clipped():
    X, y = sloped("squared")
    known = {"bounds_X": (-1, 1), "bounds_y": (-3, 3), "solver": "scd", "random_state": 1}
    X[3], y[3], X[5, 1] = 1e308, -1e308, -1e308
    inside = Ridge(**known).fit(np.clip(X, -1, 1), np.clip(y, -3, 3))
    np.testing.assert_array_equal(numbers(Ridge(**known).fit(X, y)), numbers(inside))


# Private fits


def excess(model, X, y, seeds=5):
    """Mean squared error or share of wrong labels beyond those without privacy, mean of seeds."""
    number = hasattr(model, "bounds_y")
    plain = (sk.LinearRegression() if number else sk.LogisticRegression()).fit(X, y)

    def loss(fitted):
        wrong = fitted.predict(X) - y
        return np.mean(wrong**2)

    found = [loss(model.set_params(random_state=seed).fit(X, y)) for seed in range(seeds)]
    return np.mean(found) - loss(plain)


@pytest.mark.parametrize("loss", LOSSES)
def test_crude_bounds_cost_far_less_than_they_cost_gradients(loss):
    """Ten times too wide, of X and of y: estimated lengths find that out, SGD's clip does not."""
    X, y = tilted()
    known = {"bounds_X": (-40, 40), "epsilon": 1.0}
    known |= {"bounds_y": (-50, 50)} if loss in NUMBERS else {"classes": [0, 1]}
    y = y if loss in NUMBERS else (y > 0).astype(int)
    ours, theirs = (
        excess(model_of(loss, PENALTIES[0], solver=solver, **known), X, y)
        for solver in ("scd", "sgd")
    )
    assert theirs > 3.0 * ours
    assert ours < 0.1 * np.var(y)


def test_a_clip_of_the_wrong_size_loses_what_estimated_lengths_win():
    """So that the lengths that were estimated are used, and not only paid for."""
    X, y = tilted()
    known = {"bounds_X": (-40, 40), "bounds_y": (-50, 50), "alpha": 0.0}
    estimated = excess(Ridge(solver="scd", **known), X, y)
    for clip in (1.0, 1e-7):
        given = Ridge(solver=DualCoordinateDescent(clip=clip), **known)
        assert excess(given, X, y) > 3.0 * estimated


def test_the_second_fit_of_a_solver_is_as_the_first():
    """Nothing stays behind: not in the solver, not in the module, not in the model."""
    X, y = tilted(1_009)
    solver = DualCoordinateDescent(epochs=30)
    known = {"bounds_X": (-4, 4), "bounds_y": (-5, 5), "random_state": 4}
    first = numbers(Ridge(solver=solver, **known).fit(X, y))
    Ridge(solver=solver, **known).fit(X[::-1] / 2, -y[::-1])
    model = Ridge(solver=solver, **known)
    fresh = Ridge(solver=DualCoordinateDescent(epochs=30), **known).fit(X, y)
    for _ in range(2):
        np.testing.assert_array_equal(numbers(model.fit(X, y)), first)
    np.testing.assert_array_equal(numbers(fresh), first)
    assert vars(solver) == vars(DualCoordinateDescent(epochs=30))
