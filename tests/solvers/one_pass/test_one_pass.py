"""One pass over disjoint batches: the optimum without noise, documented steps, the least noise."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn import linear_model as sk

from privlearn import HuberRegressor, LinearRegression, LinearSVC, LogisticRegression, Ridge
from privlearn._core.mechanisms import GAUSSIAN, SPHERICAL
from privlearn._core.sampling import Disjoint
from privlearn._objective.losses import Hinge, Logistic, Squared, SquaredHinge
from privlearn.audit.tape import record
from privlearn.exceptions import InvalidBudgetError, MissingFactError, UnsupportedCombinationError
from privlearn.solvers import OnePassSGD
from support import NUMBERS, exact, facts, sloped, tilted

LOSSES = {
    "squared": Squared(),
    "logistic": Logistic(),
    "squared hinge": SquaredHinge(),
    "hinge": Hinge(),
}
MODELS = {"squared": Ridge, "logistic": LogisticRegression}
MUCH = {"epsilon": 1e6}
WHOLE = {"clip": 1e3}  # longer than any gradient below


def model_of(loss, strength, **parameters):
    """An estimator whose penalty is strength / 2 |w|^2 beside the sum of the losses."""
    if loss == "squared":
        return Ridge(alpha=strength, **parameters)
    if "hinge" in loss:
        return LinearSVC(C=1 / strength, loss=loss.replace(" ", "_"), **parameters)
    return LogisticRegression(C=1 / strength, **parameters)


def objective(loss, strength, X, y, weights):
    """Mean loss and penalty; the last weight is the intercept."""
    signs = y if loss in NUMBERS else 2.0 * y - 1.0
    z = X @ weights[:-1] + weights[-1]
    return LOSSES[loss].value(signs, z).mean() + strength / len(y) / 2 * weights[:-1] @ weights[:-1]


def optimum(loss, strength, X, y):
    """Best objective, to far more digits than one pass can have."""
    start = np.zeros(X.shape[1] + 1)
    polished = {"xatol": 1e-10, "fatol": 1e-13, "maxiter": 20_000, "maxfev": 40_000}
    found = minimize(lambda w: objective(loss, strength, X, y, w), start, method="BFGS")
    return minimize(
        lambda w: objective(loss, strength, X, y, w),
        found.x,
        method="Nelder-Mead",
        options=polished,
    )


def weights_of(model):
    return np.append(np.ravel(model.coef_), model.intercept_)


# The optimum


@pytest.mark.parametrize("loss", LOSSES)
def test_many_copies_of_the_rows_lead_to_the_optimum(loss):
    """A pass over copies is many epochs over the rows; what is left is the batches' own noise."""
    X, y = sloped(loss)
    strength, copies = 3.0, 2_000
    best = optimum(loss, strength, X, y)
    solver = OnePassSGD(batch_size=150 * copies // 600, **WHOLE)
    given = {"solver": solver, "random_state": 0, **MUCH, **facts(X, y, loss)}
    many, labels = np.tile(X, (copies, 1)), np.tile(y, copies)
    ours = weights_of(exact(model_of(loss, strength * copies, **given), many, labels))
    above = objective(loss, strength, X, y, ours) / best.fun - 1
    assert 0 <= above < (1e-3 if loss == "hinge" else 5e-5)
    np.testing.assert_allclose(ours, best.x, atol=0.1 if loss == "hinge" else 0.02)


@pytest.mark.parametrize("relation", ["zero_out", "add_remove", "replace_one"])
@pytest.mark.parametrize("loss", LOSSES)
def test_one_pass_of_the_rule_comes_near(loss, relation):
    """Within 2 % of the room between predicting nothing and the optimum."""
    X, y = sloped(loss, n=20_000)
    best = optimum(loss, 1.0, X[:4_000], y[:4_000]).x
    given = {"adjacency": relation, "solver": "one-pass", "epsilon": 100.0, "random_state": 1}
    ours = weights_of(exact(model_of(loss, 1.0, **given, **facts(X, y, loss)), X, y))
    values = [objective(loss, 1.0, X, y, w) for w in (np.zeros(5), best, ours)]
    assert values[2] - values[1] < 0.02 * (values[0] - values[1])


def test_huber_comes_near_too():
    X, y = sloped("huber", n=20_000)
    theirs = sk.HuberRegressor(alpha=0.0).fit(X, y)
    given = {"solver": "one-pass", "epsilon": 100.0, "alpha": 0.0, "random_state": 0}
    ours = exact(HuberRegressor(**given, **facts(X, y, "huber")), X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=0.05)


def test_three_classes_come_near_too():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (20_000, 2))
    y = np.argmax(X @ rng.normal(size=(2, 3)) * 3 + rng.gumbel(size=(20_000, 3)), axis=1)
    theirs = sk.LogisticRegression(C=1e6).fit(X, y)
    given = {"solver": "one-pass", "epsilon": 100.0, "bounds_X": (-1, 1), "random_state": 0}
    ours = exact(LogisticRegression(C=1e6, **given), X, y)
    assert ours.score(X, y) > theirs.score(X, y) - 0.005


# Steps as documented, on coordinates that are the data's own


SPHERE = {"data_norm": 1.0, "fit_intercept": False}


def on_the_sphere(n=2_000, p=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X, (X @ [1.0, -1.0, 0.5, 0.0] + 0.3 * rng.standard_normal(n) > 0).astype(int)


def iterates(released, rows, paces, penalty, momentum=0.0):
    """Heavy ball, the penalty's proximal map and the ball of section IV.B, written out."""
    w = before = np.zeros(released.shape[1])
    found = []
    for gradient, pace in zip(released / (rows / len(released)), paces, strict=True):
        w, before = (w + momentum * (w - before) - pace * gradient) / (1 + pace * penalty), w
        w = w / max(1.0, penalty * np.linalg.norm(w))
        found.append(w)
    return np.array(found)


@pytest.mark.parametrize("strength", [1e-2, 40.0])
@pytest.mark.parametrize("schedule", ["constant", "sqrt", "inverse", None])
def test_schedules_are_as_documented(schedule, strength):
    X, y = on_the_sphere()
    solver = OnePassSGD(batch_size=100, step_size=0.7, schedule=schedule)
    given = {"C": 1 / strength, "solver": solver, "random_state": 3, "delta": 0.0, **SPHERE}
    model = LogisticRegression(epsilon=1e-3, **given)  # so that noise reaches the ball
    tape = record(model, X, y)
    released = np.array([entry.released for entry in tape.entries])
    assert released.shape == (20, 4)
    penalty, t = strength / 2_000, np.arange(1, 21)
    paces = {"sqrt": 0.7 / np.sqrt(t), "inverse": 0.7 / (penalty * t)}.get(schedule, 0.7 + 0 * t)
    found = iterates(released, 2_000, paces, penalty, momentum=0.0 if schedule else 0.9)
    wanted = found[-1] if schedule else found[10:].mean(axis=0)
    np.testing.assert_allclose(model.coef_[0], wanted, rtol=1e-6)
    at_the_surface = np.abs(penalty * np.linalg.norm(found, axis=1) - 1) < 1e-9
    assert at_the_surface.any() or schedule != "inverse"


def test_steps_over_lambda_t_stay_in_the_ball():
    """The noise of the first ones is so large that most models end on its surface."""
    X, y = on_the_sphere()
    solver = OnePassSGD(batch_size=1_000, schedule="inverse")
    given = {"C": 5.0, "solver": solver, "delta": 0.0, "epsilon": 1e-4, **SPHERE}
    models = [LogisticRegression(random_state=k, **given).fit(X, y) for k in range(10)]
    pulls = np.array([0.2 / 2_000 * np.linalg.norm(model.coef_) for model in models])
    assert (pulls <= 1 + 1e-9).all()
    assert np.median(pulls) > 1 - 1e-9


def test_the_default_step_goes_no_further_than_its_noise_allows():
    """Without curvature the last iterate would carry noise of `REACH` = 2 on a score."""
    X, y = on_the_sphere()
    noise_alone = {"epsilon": 1e-3, "C": 1e9, "delta": 0.0, "solver": OnePassSGD(batch_size=100)}
    ends = [
        LogisticRegression(random_state=k, **noise_alone, **SPHERE).fit(X, y).coef_
        for k in range(100)
    ]
    # In truth the mean of the second half has 0.73 of the last iterate's noise, and momentum
    # has not yet run its course in 20 steps.
    assert 0.3 < np.std(ends) < 2.0


# Noise and price


def plan_of(p=3, n=10_000, **parameters):
    given = {"solver": "one-pass", "bounds_X": (0, 1), "classes": [0, 1]} | parameters
    return LogisticRegression(**given).plan(n=n, n_features=p)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("relation", ["zero_out", "replace_one"])
def test_without_delta_the_whole_promise_is_spent(relation, epsilon):
    X, y = sloped("logistic", n=500)
    given = {"epsilon": epsilon, "delta": 0.0, "adjacency": relation, "solver": "auto"}
    privacy = LogisticRegression(**given, **facts(X, y, "logistic")).fit(X, y).privacy_
    assert "One-pass" in privacy.paper
    assert privacy.spent() <= epsilon
    assert privacy.spent() == pytest.approx(epsilon, rel=1e-6)
    assert privacy.delta_at(epsilon) == 0.0
    assert privacy.delta_at(epsilon * (1 - 1e-3)) > 0.0
    assert {release["mechanism"] for release in privacy.releases} == {"spherical"}


def test_a_private_count_is_paid_for():
    plan = plan_of(adjacency="add_remove", delta=0.0)
    assert [r.name for r in plan.releases] == ["number of rows", "clipped gradient"]
    costs = [plan.sensitivity(r) / plan.noise_scale(r) for r in plan.releases]
    assert sum(costs) == pytest.approx(1.0, rel=1e-6)
    assert costs[0] == pytest.approx(0.05, rel=1e-3)


@pytest.mark.parametrize(
    ("model", "facts"),
    [
        (LinearRegression, {"bounds_y": (0, 1)}),
        (HuberRegressor, {"bounds_y": (0, 1)}),
        (LinearSVC, {}),
    ],
)
def test_auto_takes_it_without_delta(model, facts):
    plan = model(delta=0.0, bounds_X=(0, 1), **facts).plan(n=1_000, n_features=2)
    assert isinstance(plan.releases[0].sampling, Disjoint)
    plan = model(bounds_X=(0, 1), **facts).plan(n=1_000, n_features=2)
    assert not isinstance(plan.releases[0].sampling, Disjoint)


@pytest.mark.parametrize(("delta", "weights"), [(1e-3, 6), (1e-5, 13), (1e-6, 17), (1e-8, 26)])
def test_gaussian_noise_is_taken_where_it_is_smaller(delta, weights):
    """The intercept is one of the weights."""
    chosen = [plan_of(d - 1, n=500, delta=delta).releases[0].mechanism for d in range(2, 30)]
    assert chosen == [SPHERICAL] * (weights - 2) + [GAUSSIAN] * (30 - weights)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_replaced_rows_need_twice_the_noise_of_removed_ones(delta):
    given = {"delta": delta, "solver": OnePassSGD(clip=0.5, noise=None if delta else "spherical")}
    scales = [
        plan.noise_scale(plan.releases[-1])
        for plan in (plan_of(adjacency=r, **given) for r in ("zero_out", "replace_one"))
    ]
    assert scales[1] == pytest.approx(2 * scales[0], rel=1e-5)


def test_pure_noise_is_the_clip_over_epsilon():
    """Song et al. 2013, eq. (5), has 2 / alpha for a clip of 1, under replace_one."""
    given = {"delta": 0.0, "epsilon": 0.5, "solver": OnePassSGD(clip=1.0)}
    plan = plan_of(adjacency="replace_one", **given)
    assert plan.noise_scale(plan.releases[0]) == pytest.approx(2 / 0.5, rel=1e-6)


def test_rows_are_dealt_one_by_one_where_their_number_is_private():
    """Cut evenly, one row less would move a row at every cut."""
    for relation in ("zero_out", "replace_one", "add_remove"):
        sampling = plan_of(adjacency=relation).releases[-1].sampling
        assert sampling.dealt == (relation == "add_remove")
        assert (
            not sampling.dealt
            or sampling == plan_of(n=77, adjacency=relation).releases[-1].sampling
        )


def test_batches_and_their_number():
    plan = plan_of(n=10_000, solver=OnePassSGD(batch_size=250))
    assert plan.releases[0].count == plan.releases[0].sampling.batches == 40
    assert 10 <= plan_of(n=1_000, epsilon=0.01).releases[0].count <= 11
    assert plan_of(n=10**7, epsilon=10.0, delta=1e-9).releases[0].count == 1_000
    assert plan_of(n=7).releases[0].count == 7


# Refusals


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"batch_size": 0}, "batch_size=0, but a whole number"),
        ({"batch_size": 2.5}, "batch_size=2.5"),
        ({"step_size": -1.0}, "step_size=-1.0, but a finite number above 0"),
        ({"clip": math.inf}, "clip=inf"),
        ({"schedule": "cosine"}, "schedule='cosine', but None or one of .*sqrt"),
        ({"noise": "laplace"}, "noise='laplace', but None or one of .*spherical"),
    ],
)
def test_numbers_that_make_no_sense(wrong, words):
    with pytest.raises(ValueError, match=words):
        OnePassSGD(**wrong)


def test_refusals_say_what_to_do():
    with pytest.raises(InvalidBudgetError, match=r"delta=0, but noise='gaussian'.*leave noise out"):
        plan_of(delta=0.0, solver=OnePassSGD(noise="gaussian"))
    with pytest.raises(
        UnsupportedCombinationError, match=r"batch_size=9 .*private.*leave batch_size out"
    ):
        plan_of(adjacency="add_remove", solver=OnePassSGD(batch_size=9))
    with pytest.raises(MissingFactError, match="bounds_X and data_norm"):
        LogisticRegression(solver="one-pass", delta=0).plan(n=9, n_features=1)
    with pytest.raises(MissingFactError, match="bounds_y"):
        Ridge(solver="one-pass", bounds_X=(0, 1), delta=0).plan(n=9, n_features=1)
    X, y = sloped("squared", n=50)
    model = LinearRegression(solver=OnePassSGD(schedule="inverse"), **facts(X, y, "squared"))
    with pytest.raises(UnsupportedCombinationError, match="there is none; choose schedule='sqrt'"):
        model.fit(X, y)


# What comes out


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_forecast_and_measured_noise_agree(loss, delta):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (8_000, 3))
    score = X @ [0.5, -0.3, 0.0]
    y = (score + rng.logistic(size=8_000) > 0).astype(int)
    y = np.clip(score, -1, 1) if loss == "squared" else y
    known = {"bounds_X": (-1, 1)} | ({"bounds_y": (-1, 1)} if loss == "squared" else {})
    model = MODELS[loss](delta=delta, solver="one-pass", **known)
    fits = [model.set_params(random_state=k).fit(X, y).coef_.ravel() for k in range(30)]
    measured = np.std(fits, axis=0, ddof=1)
    forecast = model.plan(n=8_000, n_features=3).forecast().coefficient
    assert (forecast < 2 * measured).all()
    assert (measured < 2 * forecast).all()


def test_pure_privacy_costs_little_with_many_rows():
    X, y = tilted(40_000)
    y = (y > 0).astype(int)
    theirs = sk.LogisticRegression().fit(X, y).score(X, y)
    given = {"delta": 0.0, "bounds_X": (-4, 4), "classes": [0, 1]}
    scores = [LogisticRegression(random_state=k, **given).fit(X, y).score(X, y) for k in range(5)]
    assert theirs > 0.8
    assert np.mean(scores) > theirs - 0.02
    less = [
        LogisticRegression(random_state=k, **given | {"epsilon": 0.01}).fit(X, y).score(X, y)
        for k in range(5)
    ]
    assert np.mean(less) < np.mean(scores) - 0.02


@pytest.mark.parametrize("relation", ["zero_out", "add_remove"])
def test_sparse_rows_give_what_dense_ones_do(relation):
    X, y = tilted(3_000)
    X[np.random.default_rng(0).random(X.shape) < 0.7] = 0.0
    y = (y > 0).astype(int)
    given = {"adjacency": relation, "delta": 0.0, "bounds_X": (-4, 4), "random_state": 5}
    dense, sparse = (LogisticRegression(**given).fit(Z, y) for Z in (X, sp.csr_array(X)))
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-5, atol=1e-8)


def test_an_empty_row_changes_nothing():
    """Neither a sum nor what sums are divided by, where the number of rows is public."""
    X, y = sloped("logistic", n=200)
    X[5] = np.nan
    model = LogisticRegression(
        delta=0, on_invalid="drop", random_state=0, **facts(np.nan_to_num(X), y, "")
    )
    tape = record(model, X, y)
    other = X.copy()
    other[5], labels = np.inf, y.copy()
    labels[5] = 1 - labels[5]
    again = record(model, other, labels)
    for a, b in zip(tape.entries, again.entries, strict=True):
        np.testing.assert_array_equal(a.statistic, b.statistic)
