"""Output perturbation: SGD's optimum without noise; a bound on one row that is kept and tight."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import binom
from sklearn import linear_model as sk

from privlearn import ElasticNet, Lasso, LinearRegression, LinearSVC, LogisticRegression, Ridge
from privlearn._core.sampling import Permuted, WithReplacement
from privlearn.accounting.gaussian import gaussian_delta
from privlearn.audit.replay import moved
from privlearn.audit.tape import record, replay_on
from privlearn.exceptions import MissingFactError, UnsupportedCombinationError
from privlearn.solvers import OutputPerturbation
from privlearn.solvers.output_perturbation import rules as output_rule
from support import exact, facts, sloped, tilted

# Rows of length at most 1 and y in [-1, 1]: the solver's coordinates are then the data's own.
PLAIN = {"data_norm": 1.0, "fit_intercept": False}
NUMBER = {"bounds_y": (-1, 1)}


def weights_plan(model, n=1_000, p=4):
    plan = model.plan(n=n, n_features=p)
    return plan, plan.releases[-1]


# The optimum


def test_squared_loss_reaches_ridge():
    X, y = sloped("squared")
    best = sk.Ridge(alpha=3.0).fit(X, y)
    solver = OutputPerturbation(epochs=300, step_size=0.01, clip=1e3)
    ours = exact(Ridge(alpha=3.0, solver=solver, random_state=0, **facts(X, y, "squared")), X, y)
    np.testing.assert_allclose(ours.coef_, best.coef_, atol=2e-3)
    assert ours.intercept_ == pytest.approx(best.intercept_, abs=5e-3)


def test_uncut_slopes_reach_least_squares():
    X, y = sloped("squared")
    best = sk.LinearRegression().fit(X, y)
    solver = OutputPerturbation(epochs=300, step_size=0.01, clip=math.inf)
    ours = exact(LinearRegression(solver=solver, random_state=0, **facts(X, y, "squared")), X, y)
    np.testing.assert_allclose(ours.coef_, best.coef_, atol=2e-3)


def test_logistic_loss_reaches_the_penalised_optimum():
    X, y = sloped("logistic")
    best = sk.LogisticRegression(C=0.5, fit_intercept=False, tol=1e-8).fit(X, y)
    solver = OutputPerturbation(epochs=400, step_size=0.015, clip=1.0)
    given = {"C": 0.5, "fit_intercept": False, "solver": solver, "random_state": 0}
    ours = exact(LogisticRegression(**given, **facts(X, y, "logistic")), X, y)
    np.testing.assert_allclose(ours.coef_, best.coef_, atol=5e-3)


def test_squared_hinge_reaches_the_penalised_optimum():
    X, y = sloped("squared hinge")
    solver = OutputPerturbation(epochs=300, step_size=0.01, clip=1e3)
    given = {"C": 0.5, "fit_intercept": False, "random_state": 0, **facts(X, y, "")}
    ours = exact(LinearSVC(solver=solver, **given), X, y)
    signs = 2.0 * y - 1.0
    short = np.maximum(1 - signs * (X @ ours.coef_[0]), 0)
    slope = ours.coef_[0] / 0.5 - X.T @ (signs * short) * _slopes_of_squared_hinge()
    assert np.linalg.norm(slope) < 0.02 * np.linalg.norm(X.T @ signs)


def _slopes_of_squared_hinge():
    """Its derivative at 0 for y = 1, whatever factor the loss has."""
    from privlearn._objective.losses import SquaredHinge

    return -float(SquaredHinge().derivative(np.ones(1), np.zeros(1))[0])


def test_three_classes_come_near():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (1_000, 2))
    y = np.argmax(X @ rng.normal(size=(2, 3)) * 3 + rng.gumbel(size=(1_000, 3)), axis=1)
    theirs = sk.LogisticRegression(C=1.0, fit_intercept=False, tol=1e-8).fit(X, y)
    given = {"solver": OutputPerturbation(epochs=60, step_size=0.02), "bounds_X": (-1, 1)}
    ours = exact(LogisticRegression(C=1.0, fit_intercept=False, **given), X, y)
    centred = ours.coef_ - ours.coef_.mean(axis=0)
    np.testing.assert_allclose(centred, theirs.coef_, atol=0.1)


def test_l1_leaves_out_what_does_not_matter():
    X, y = tilted(2_000)
    solver = OutputPerturbation(epochs=60, step_size=0.01, clip=1e3)
    given = {"bounds_X": (-4, 4), "bounds_y": (-5, 5), "solver": solver, "random_state": 0}
    ours = exact(Lasso(alpha=0.1, **given), X, y)
    theirs = sk.Lasso(alpha=0.1).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=0.02)


# One row: how far it may move the weights


def distance(model, first, second):
    """How far the weights move between two data sets, relative to what is declared."""
    tape = record(model, *first)
    again = replay_on(tape, model, *second)
    release = tape.plan.releases[-1]
    entry = tape.entries[-1]
    sampling = release.sampling
    visits = sampling.epochs if isinstance(sampling, Permuted) else entry.row_came
    return moved(tape.plan, entry, again.entries[-1]) / tape.plan.sensitivity(release, visits)


def with_last(X, y, x, target):
    return np.vstack([X[:-1], x]), np.append(y[:-1], target)


def apart(n=100, p=4):
    """Rows that leave the first direction alone, so that nothing there is forgotten."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    X[:, 0] = 0.0
    return X / np.linalg.norm(X, axis=1, keepdims=True), rng.uniform(-1, 1, n)


AXIS = np.array([1.0, 0.0, 0.0, 0.0])


@pytest.mark.parametrize("sampling", ["permuted", "with_replacement"])
@pytest.mark.parametrize("relation", ["zero_out", "replace_one"])
@pytest.mark.parametrize("epochs", [1, 3])
def test_the_bound_is_tight(epochs, relation, sampling):
    """A row that pulls at its cut, alone in its direction, moves the mean by all that is declared.

    Unless it comes late in the last epoch: hence several orders.
    """
    X, y = apart()
    solver = OutputPerturbation(epochs=epochs, step_size=0.05, clip=0.5, sampling=sampling)
    known = {"solver": solver, "adjacency": relation, "on_invalid": "drop", **PLAIN, **NUMBER}
    first = with_last(X, y, AXIS, 1.0)
    second = with_last(X, y, np.full(4, np.nan), np.nan)
    if relation == "replace_one":
        second = with_last(X, y, AXIS, -1.0)
    found = [distance(LinearRegression(random_state=k, **known), first, second) for k in range(12)]
    assert 0.95 < max(found) <= 1.0


@pytest.mark.parametrize(("alpha", "share"), [(20.0, 0.8), (100.0, 0.55)])
def test_the_bound_is_nearly_tight_with_a_strong_penalty(alpha, share):
    """A stronger one forgets more between a visit and the blocks that are averaged."""
    X, y = apart()
    solver = OutputPerturbation(epochs=12, step_size=0.02, clip=0.5)
    known = {"solver": solver, "adjacency": "replace_one", "alpha": alpha, **PLAIN, **NUMBER}
    first, second = with_last(X, y, AXIS, 1.0), with_last(X, y, AXIS, -1.0)
    found = [distance(Ridge(random_state=k, **known), first, second) for k in range(12)]
    assert share < max(found) <= 1.0


def hostile(rng, p, target):
    """A row of length 1 or less, or far beyond what is declared."""
    x = rng.standard_normal(p)
    x *= rng.choice([0.3, 1.0, 1e6]) / np.linalg.norm(x)
    return np.where(rng.random(p) < rng.choice([0.0, 0.6]), 0.0, x), target


SEARCHED = {
    "squared": (LinearRegression, {}, (-1.0, 1.0)),
    "squared, uncut": (LinearRegression, {"clip": math.inf}, (-1.0, 1.0)),
    "ridge, uncut": (Ridge, {"clip": math.inf}, (-1.0, 1.0)),
    "strong ridge": (Ridge, {"alpha": 50.0}, (-1.0, 1.0)),
    "elastic net": (ElasticNet, {"alpha": 0.01}, (-1.0, 1.0)),
    "logistic": (LogisticRegression, {"C": 0.01}, (0, 1)),
    "squared hinge": (LinearSVC, {}, (0, 1)),
    "softmax": (LogisticRegression, {"classes": [0, 1, 2]}, (0, 1, 2)),
}


@pytest.mark.parametrize(
    "sampling", ["permuted", pytest.param("with_replacement", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("case", SEARCHED)
def test_no_row_moves_further_than_declared(case, sampling):
    """Random search: data, order, steps up to the largest stable ones, and what one row becomes."""
    kind, options, targets = SEARCHED[case]
    options = dict(options)
    rng, largest = np.random.default_rng(len(case)), 0.0
    clip = options.pop("clip", None)
    known = {"adjacency": "replace_one", **options, **PLAIN}
    known |= NUMBER if targets == (-1.0, 1.0) else {"classes": list(targets)} | options
    for k in range(25):
        n = int(rng.integers(2, 20))
        step = float(rng.choice([0.02, 0.3, 0.9]))
        epochs = int(rng.integers(1, 4))
        solver = OutputPerturbation(epochs, step_size=step, clip=clip, sampling=sampling)
        X = np.array([hostile(rng, 4, 0)[0] for _ in range(n)])
        y = rng.choice(targets, n)
        model = kind(solver=solver, random_state=k, **known)
        others = [with_last(X, y, *hostile(rng, 4, t)) for t in rng.choice(targets, 2)]
        largest = max(largest, distance(model, *others))
    assert 0.2 < largest <= 1.0


def test_uncut_weights_grow_as_fast_as_the_bound_says_and_no_faster():
    """An adversary who knows the weights chooses each row so that they grow the most."""
    for step in (0.01, 0.5, 1.0, 1.7):
        w, rng = np.zeros(400), np.random.default_rng(0)
        for t in range(1, 301):
            y = rng.choice([-1.0, 1.0])
            score = y * (1 - 1 / (2 - step))  # where h^2 r^2 - 2 h r (r + y) is largest
            length = np.linalg.norm(w)
            along = np.clip(score / length, -1, 1) if length else 0.0
            aside = rng.standard_normal(400)
            aside -= w * (aside @ w) / length**2 if length else 0.0
            x = along * w / (length or 1.0) + math.sqrt(1 - along**2) * aside / np.linalg.norm(
                aside
            )
            w -= step * (x @ w - y) * x
            assert np.linalg.norm(w) <= (output_rule.growth(step, t) - 1) * (1 + 1e-9)
        if step <= 1.0:
            assert np.linalg.norm(w) >= 0.95 * (output_rule.growth(step, 300) - 1)


def test_a_strong_penalty_needs_less_noise_and_tends_to_that_of_the_minimiser():
    """Chaudhuri et al. 2011: one row moves the exact minimiser by at most G / (lambda n)."""
    solver = OutputPerturbation(epochs=2_000, step_size=5e-4, clip=0.5)

    def moves(alpha, **other):
        known = PLAIN | NUMBER | other
        plan, release = weights_plan(Ridge(alpha=alpha, solver=solver, **known))
        return plan.sensitivity(release, release.sampling.epochs)

    free = 2_000 * 5e-4 * 0.5
    assert moves(1e-9) == pytest.approx(free, rel=1e-3)
    for alpha in (20.0, 100.0):
        assert moves(alpha) == pytest.approx(0.5 / alpha, rel=0.1)
    assert moves(100.0, fit_intercept=True, data_norm=1.5) == pytest.approx(free, rel=1e-3)
    assert moves(100.0, adjacency="add_remove") > 0.99 * free
    assert moves(100.0, adjacency="replace_one") == pytest.approx(2 * 0.5 / 100, rel=0.1)


# Price


@pytest.mark.parametrize(("relation", "epsilon"), [("zero_out", 0.3), ("replace_one", 4.0)])
def test_draws_with_replacement_are_priced_as_a_mixture(relation, epsilon):
    """delta = E_K delta_Gauss(epsilon; K s / sigma), K ~ Binomial(T, 1 / n): and no looser."""
    solver = OutputPerturbation(epochs=2, sampling="with_replacement")
    model = Ridge(epsilon=epsilon, delta=1e-5, solver=solver, adjacency=relation, **PLAIN, **NUMBER)
    plan, release = weights_plan(model)
    assert isinstance(release.sampling, WithReplacement)
    visits = np.arange(0, 60)
    law = binom.pmf(visits, 2_000, 1 / 1_000)

    def delta(noise):
        ratio = plan.sensitivity(release) / noise
        return sum(w * gaussian_delta(epsilon, k * ratio) for k, w in zip(visits, law, strict=True))

    noise = plan.noise_scale(release)
    assert delta(noise) <= 1e-5
    assert delta(noise) >= 0.999e-5
    assert delta(noise * 2 / 3) > 1.5e-5


@pytest.mark.parametrize("epochs", [1, 4])
def test_permuted_epochs_are_one_gaussian(epochs):
    model = Ridge(delta=1e-5, solver=OutputPerturbation(epochs=epochs), **PLAIN, **NUMBER)
    plan, release = weights_plan(model)
    mu = plan.sensitivity(release, epochs) / plan.noise_scale(release)
    assert gaussian_delta(1.0, mu) <= 1e-5
    assert gaussian_delta(1.0, mu) >= 0.999e-5
    assert gaussian_delta(1.0, mu * 3 / 2) > 2e-5


def test_draws_with_replacement_need_more_noise_than_permuted_epochs():
    noises = []
    for sampling in ("permuted", "with_replacement"):
        solver = OutputPerturbation(epochs=1, step_size=0.01, clip=0.5, sampling=sampling)
        plan, release = weights_plan(LinearRegression(solver=solver, **PLAIN, **NUMBER))
        noises.append(plan.noise_scale(release))
    assert 3.0 < noises[1] / noises[0] < 8.0


def test_without_delta_the_noise_is_spherical_and_all_is_spent():
    model = Ridge(delta=0.0, epsilon=0.5, solver=OutputPerturbation(epochs=2), **PLAIN, **NUMBER)
    plan, release = weights_plan(model)
    assert release.mechanism.name == "spherical"
    assert 2 * plan.sensitivity(release) / plan.noise_scale(release) <= 0.5
    assert plan.epsilon(0.0) == pytest.approx(0.5, rel=1e-6)


def test_a_private_number_of_rows_is_estimated_and_rows_are_dealt():
    for delta in (0.0, 1e-6):
        solver = OutputPerturbation(epochs=2)
        given = {"delta": delta, "adjacency": "add_remove", "solver": solver, **PLAIN, **NUMBER}
        plan, release = weights_plan(Ridge(**given))
        assert [one.name for one in plan.releases] == ["number of rows", "weights"]
        assert release.sampling.dealt
        assert plan == Ridge(**given).plan(n=77, n_features=4)
        count = plan.sensitivity(plan.releases[0]) / plan.noise_scale(plan.releases[0])
        whole = 2 * plan.sensitivity(release) / plan.noise_scale(release)
        share = count / (count + whole) if delta == 0 else count**2 / (count**2 + whole**2)
        assert share == pytest.approx(output_rule.COUNT_SHARE, rel=1e-3)
    assert not weights_plan(Ridge(solver="output", **PLAIN, **NUMBER))[1].sampling.dealt


# Refusals


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"epochs": 0}, "epochs=0, but a whole number"),
        ({"step_size": 0.0}, "step_size=0.0, but a finite number above 0"),
        ({"clip": -1.0}, "clip=-1.0, but a finite number above 0"),
        ({"clip": math.nan}, "clip=nan"),
        ({"sampling": "shuffled"}, "sampling='shuffled', but one of .*permuted"),
    ],
)
def test_numbers_that_make_no_sense(wrong, words):
    with pytest.raises(ValueError, match=words):
        OutputPerturbation(**wrong)


def test_refusals_say_what_to_do():
    def planned(cls, relation="zero_out", known=PLAIN | NUMBER, **options):
        known = known if cls is not LogisticRegression else PLAIN
        return cls(solver=OutputPerturbation(**options), adjacency=relation, **known).plan(
            n=100, n_features=2
        )

    with pytest.raises(
        UnsupportedCombinationError, match=r"with_replacement.*use sampling='permuted'"
    ):
        planned(Ridge, "add_remove", sampling="with_replacement")
    with pytest.raises(UnsupportedCombinationError, match=r"clip=inf is only.*give a finite clip"):
        planned(Ridge, "add_remove", clip=math.inf)
    with pytest.raises(ValueError, match=r"step_size=2, but .*stable below.*smaller step_size"):
        planned(Ridge, step_size=2.0)
    planned(LogisticRegression, step_size=2.0)  # its curvature is a quarter
    with pytest.raises(MissingFactError, match="bounds_y"):
        planned(Ridge, known=PLAIN | {"delta": 0.0})
    with pytest.raises(MissingFactError, match="bounds_X and data_norm"):
        planned(Ridge, known=NUMBER | {"delta": 0.0})
    with pytest.raises(UnsupportedCombinationError, match="hinge"):
        LinearSVC(loss="hinge", solver="output", **PLAIN).plan(n=100, n_features=2)


def test_draws_with_replacement_without_delta_are_refused_in_words():
    solver = OutputPerturbation(sampling="with_replacement")
    with pytest.raises(UnsupportedCombinationError, match="delta"):
        Ridge(delta=0.0, solver=solver, **PLAIN, **NUMBER).plan(n=100, n_features=2)


def test_coefficients_that_may_not_be_zero_need_a_cut():
    """Their projection could lengthen the weights, so nothing would bound a slope."""
    known = {"bounds_X": (-1, 1), "coef_bounds": (0.5, 1.0), **NUMBER}
    with pytest.raises(UnsupportedCombinationError, match="may be 0"):
        LinearRegression(solver=OutputPerturbation(clip=math.inf), **known).plan(n=9, n_features=2)
    LinearRegression(solver=OutputPerturbation(), **known).plan(n=9, n_features=2)


# What comes out


@pytest.mark.parametrize("relation", ["zero_out", "add_remove"])
def test_forecast_and_measured_noise_agree(relation):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (5_000, 3))
    y = np.clip(X @ [0.5, -0.3, 0.0], -1, 1)
    known = {"bounds_X": (-1, 1), "adjacency": relation, "solver": "output", **NUMBER}
    model = Ridge(**known)
    fits = [model.set_params(random_state=k).fit(X, y).coef_ for k in range(40)]
    forecast = model.plan(n=5_000, n_features=3).forecast()
    np.testing.assert_allclose(np.std(fits, axis=0, ddof=1), forecast.coefficient, rtol=0.4)
    assert forecast.kept > 0.9


def test_a_model_with_many_rows_is_accurate():
    X, y = tilted(30_000)
    y = (y > 0).astype(int)
    theirs = sk.LogisticRegression().fit(X, y).score(X, y)
    given = {"solver": "output", "bounds_X": (-4, 4), "classes": [0, 1]}
    scores = [LogisticRegression(random_state=k, **given).fit(X, y).score(X, y) for k in range(3)]
    assert np.mean(scores) > theirs - 0.03


@pytest.mark.parametrize("classes", [[0, 1], [0, 1, 2]])
def test_sparse_rows_give_what_dense_ones_do(classes):
    X, y = tilted(1_000)
    X[np.random.default_rng(0).random(X.shape) < 0.7] = 0.0
    y = np.digitize(y, [0.0, 0.7][: len(classes) - 1])
    given = {"solver": "output", "bounds_X": (-4, 4), "random_state": 5, "classes": classes}
    dense, sparse = (LogisticRegression(**given).fit(Z, y) for Z in (X, sp.csr_array(X)))
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-5, atol=1e-7)


def test_one_visit_bears_the_rounding_of_all_steps():
    """Drawn with replacement a row may come once in ten epochs; rounding is that of all of them."""
    model = Ridge(solver="output", alpha=0.0, **PLAIN, **NUMBER)
    problem = model._problem(10_000, 3, n_classes=0)
    cut, step, epochs = 0.5, 0.01, 10
    exact = output_rule.furthest(problem, step, epochs, cut, 0.0) / epochs * (1 + 2.0**-18)
    shared, alone = (
        output_rule.moved(problem, step, epochs, cut, 0.0, visits=visits) - exact
        for visits in (epochs, 1)
    )
    assert shared > 0
    assert alone == pytest.approx(epochs * shared, rel=1e-3)
    plans = [
        Ridge(
            solver=OutputPerturbation(epochs=epochs, step_size=step, clip=cut, sampling=sampling),
            alpha=0.0,
            **PLAIN,
            **NUMBER,
        ).plan(n=10_000, n_features=3)
        for sampling in ("permuted", "with_replacement")
    ]
    clips = [plan.releases[0].clip for plan in plans]
    assert clips[1] - clips[0] == pytest.approx((epochs - 1) * shared, rel=1e-3)
