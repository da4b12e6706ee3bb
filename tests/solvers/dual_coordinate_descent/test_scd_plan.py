"""What dual coordinate descent plans: from public facts, at the right price, refused in words."""

import math

import numpy as np
import pytest

from privlearn import HuberRegressor, LinearSVC, LogisticRegression, Ridge
from privlearn._core.problem import Budget
from privlearn._core.releaser import progress
from privlearn._core.sampling import FULL, Poisson
from privlearn.audit.law import noise_agrees, standard_noise
from privlearn.audit.tape import record
from privlearn.exceptions import MissingFactError, UnsupportedCombinationError
from privlearn.solvers import DualCoordinateDescent
from privlearn.solvers._common.histograms import count_lengths
from privlearn.solvers.dual_coordinate_descent import lengths as scd_lengths
from privlearn.solvers.dual_coordinate_descent import rules as scd_rule
from support import SHORT, regression

RELATIONS = ["zero_out", "add_remove", "replace_one"]
BOX = {"bounds_X": (-1.0, 1.0)}
FACTS = {
    Ridge: BOX | {"bounds_y": (-1.0, 1.0)},
    HuberRegressor: BOX | {"bounds_y": (-1.0, 1.0)},
    LogisticRegression: BOX | {"classes": [0, 1]},
    LinearSVC: BOX | {"classes": [0, 1]},
}
LENGTHS, COUNT, STEP = "row and gradient norms", "number of rows", "dual step"


def model_of(estimator=Ridge, **parameters):
    return estimator(**{"solver": "scd", **FACTS[estimator], **parameters})


def planned(estimator=Ridge, n=10_000, n_features=4, **parameters):
    return model_of(estimator, **parameters).plan(n=n, n_features=n_features)


def named(plan):
    return {release.name: release for release in plan.releases}


# Public facts


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("estimator", FACTS)
def test_what_is_estimated(estimator, relation):
    counted = [COUNT] if relation == "add_remove" else []
    plan = planned(estimator, adjacency=relation)
    assert [release.name for release in plan.releases] == [*counted, LENGTHS, STEP]
    given = planned(estimator, adjacency=relation, solver=DualCoordinateDescent(clip=0.1))
    assert [release.name for release in given.releases] == [*counted, STEP]
    more, less = (plan.noise_multiplier(plan.releases[-1]) for plan in (plan, given))
    assert less < 0.995 * more, "what the lengths would have cost goes to the steps"


@pytest.mark.parametrize(
    ("estimator", "n_classes", "size"),
    [(Ridge, 0, 5), (HuberRegressor, 0, 6), (LogisticRegression, 2, 5), (LinearSVC, 3, 15)],
)
def test_one_release_holds_all_classes_and_the_scale(estimator, n_classes, size):
    labels = {"classes": list(range(n_classes))} if n_classes else {}
    releases = named(planned(estimator, **labels))
    assert releases[STEP].shape == (size,)
    assert releases[STEP].clip == 1.0, "in units of the clip that is chosen after it"
    kinds = 2 if estimator is Ridge else 1
    assert releases[LENGTHS].shape == (kinds, 48)
    assert releases[LENGTHS].clip == math.sqrt(kinds)


@pytest.mark.parametrize(
    ("given", "count", "sampling"),
    [
        ({"epochs": 20, "batch_size": 50}, 4_000, Poisson(0.005)),
        ({"epochs": 3, "batch_size": 10_000}, 3, FULL),
        ({"epochs": 7, "batch_size": 10**9}, 7, FULL),
        ({"epochs": 25}, 1_000, Poisson(0.025)),
        ({"epochs": 999}, 1_000, Poisson(0.999)),
        ({"epochs": 2_500}, 2_500, FULL),
        ({"epochs": 1, "batch_size": 3_333}, 4, Poisson(0.3333)),
    ],
)
def test_given_epochs_and_batches_are_what_is_planned(given, count, sampling):
    step = named(planned(solver=DualCoordinateDescent(**given)))[STEP]
    assert (step.count, step.sampling) == (count, sampling)
    assert step.count * step.sampling.rate >= given["epochs"]


def test_given_batches_get_the_rules_epochs():
    """Here ten, as the rule's batches do; a step more where they do not divide."""
    step = named(planned(epsilon=0.2, solver=DualCoordinateDescent(batch_size=300)))[STEP]
    assert step.sampling == Poisson(0.03)
    rule = named(planned(epsilon=0.2))[STEP]
    assert step.count * 0.03 == pytest.approx(rule.count * rule.sampling.rate, abs=0.03)


def test_plan_and_settings_do_not_depend_on_data():
    X, y = regression(600)
    model = model_of(random_state=0)
    plans = [record(model, *given).plan for given in ((X, y), (0 * X, y), (X, 0 * y))]
    assert plans[0] == plans[1] == plans[2] == model.plan(n=600, n_features=4)


@pytest.mark.parametrize("solver", ["scd", DualCoordinateDescent(epochs=12)], ids=["rule", "given"])
def test_a_private_n_changes_neither_plan_nor_settings_nor_work(solver):
    X, y = regression(900)
    model = model_of(adjacency="add_remove", solver=solver)
    assert model.plan(n=10, n_features=4) == model.plan(n=10**6, n_features=4)
    own = DualCoordinateDescent() if solver == "scd" else solver
    few, many = (
        own.configure(model._problem(n, 4, n_classes=0), Budget(1.0, 1e-6)) for n in (10, 10**6)
    )
    assert few == many
    seen = []
    for n in (900, 500):
        steps = []
        with progress(lambda done, total, steps=steps: steps.append((done, total))):
            model.fit(X[:n], y[:n])
        seen.append(steps)
    assert seen[0] == seen[1]
    assert seen[0][-1] == (1_002, 1_002)


# The price


def by_dp_accounting(plan, step):
    """Epsilon at 1e-6 from what the releases say of themselves, composed by other people's code."""
    accountant = pytest.importorskip("dp_accounting.privacy_accountant")
    oracle = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    replaced = plan.adjacency.value == "replace_one"
    relation = accountant.NeighboringRelation["REPLACE_ONE" if replaced else "ADD_OR_REMOVE_ONE"]
    total = oracle.identity(value_discretization_interval=step)
    for release in plan.releases:
        noise, how = plan.noise_multiplier(release), {"value_discretization_interval": step}
        if release.name == STEP and release.sampling != FULL:
            how |= {"sampling_prob": release.sampling.rate, "neighboring_relation": relation}
        elif replaced:
            noise /= math.sqrt(2) if release.name == LENGTHS else 2.0
        part = oracle.from_gaussian_mechanism(noise, **how)
        total = total.compose(part.self_compose(release.count))
    return total.get_epsilon_for_delta(1e-6)


PRICED = [("zero_out", Ridge, {}), ("add_remove", HuberRegressor, {}), ("replace_one", Ridge, {})]
PRICED += [("add_remove", Ridge, {"epochs": 2_000}), ("replace_one", LinearSVC, {"epochs": 2_000})]


@pytest.mark.parametrize(("relation", "estimator", "given"), PRICED)
def test_epsilon_agrees_with_dp_accounting(relation, estimator, given):
    """Its estimates fall with the grid at least linearly, so the truth lies between the two."""
    solver = DualCoordinateDescent(**given)
    plan = planned(estimator, adjacency=relation, solver=solver, epsilon=1.0)
    coarse, fine = (by_dp_accounting(plan, step) for step in (1e-3, 5e-4))
    found = plan.epsilon(1e-6)
    assert (2 * fine - coarse) * (1 - 1e-5) <= found <= 1.0
    assert found == pytest.approx(fine, rel=0.01)
    assert found > 0.998


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("estimator", [Ridge, LinearSVC])
@pytest.mark.parametrize("epochs", [20, 2_000], ids=["batches", "all rows"])
def test_lengths_and_count_get_their_shares(estimator, relation, epochs):
    """Of mu^2, in which the steps cost what their central limit says (Bu et al. 2020)."""
    solver = DualCoordinateDescent(epochs=epochs)
    plan = planned(estimator, adjacency=relation, solver=solver)
    releases = named(plan)
    replaced = relation == "replace_one"
    step = releases.pop(STEP)
    steps = step.count * (step.sampling.rate * (1 + replaced) / plan.noise_multiplier(step)) ** 2
    moves = math.sqrt(2) if replaced else 1.0
    costs = {name: (moves / plan.noise_multiplier(one)) ** 2 for name, one in releases.items()}
    documented = {LENGTHS: 0.03, COUNT: 0.02}
    for name, cost in costs.items():
        share = cost / (steps + sum(costs.values()))
        assert share == pytest.approx(documented[name], rel=1e-4)  # all but what rounding adds


# Lengths


def lengths_of(estimator, X, y, relation):
    model = model_of(estimator, adjacency=relation, random_state=0, on_invalid="drop")
    tape = record(model, X, y)
    entry = next(entry for entry in tape.entries if entry.release.name == LENGTHS)
    return entry.statistic, tape.plan.sensitivity(entry.release)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("estimator", FACTS)
def test_a_row_is_in_one_bin_of_each_histogram(estimator, relation):
    """Of every length, the longest and none at all included; two rows may share no bin."""
    kinds = 2 if estimator is Ridge else 1
    target = (lambda y: y) if "bounds_y" in FACTS[estimator] else (lambda y: float(y > 0))
    base_X, base_y = regression(40)
    base_y = np.array([target(y) for y in base_y])
    rows = [(size * np.ones(4), y) for size in (1.0, 0.3, 1e-3, 0.0, 1e308) for y in (-1.0, 0.0)]
    seen = []
    for x, y in rows:
        X, y = np.vstack([base_X, x]), np.append(base_y, target(y))
        counts, allowed = lengths_of(estimator, X, y, relation)
        np.testing.assert_array_equal(counts.sum(axis=1), 41.0)
        seen.append(counts)
    empty, _ = lengths_of(
        estimator, np.vstack([base_X, np.full(4, np.nan)]), np.append(base_y, 0.0), relation
    )
    alone = [counts - empty for counts in seen]
    for one in alone:
        np.testing.assert_array_equal(np.sort(one, axis=1)[:, -2:], [[0.0, 1.0]] * kinds)
        assert np.linalg.norm(one) <= allowed
    apart = max(np.linalg.norm(a - b) for a in alone for b in alone)
    assert apart == pytest.approx(math.sqrt(2 * kinds))
    if relation == "replace_one":
        assert apart <= allowed <= 1.001 * apart, "an honest sensitivity is tight, too"


@pytest.mark.parametrize("size", [0.9, 0.1, 1e-3])
def test_the_typical_length_is_read_off_the_counts(size):
    counts = count_lengths(np.full(5_000, size))
    assert scd_lengths._typical(counts, 10.0, 5_000.0) == pytest.approx(size, rel=0.2)


def test_counts_that_say_nothing_give_half_the_limit():
    noise = np.random.default_rng(0).normal(size=48)
    assert scd_lengths._typical(noise, 1.0, 5.0) == scd_lengths.UNREADABLE


# The rule


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
@pytest.mark.parametrize("relation", RELATIONS)
def test_rule_keeps_sampling_efficient(epsilon, relation):
    """Noise multiplier near 2 or above, at least ten epochs, or all rows."""
    plan = planned(LinearSVC, epsilon=epsilon, adjacency=relation)
    step = plan.releases[-1]
    assert step.sampling.rate * step.count >= 9.99
    assert step.sampling.rate == 1.0 or plan.noise_multiplier(step) > 1.7


def test_all_steps_carry_a_row_as_far_as_its_room_whatever_the_steps():
    problem = model_of(LinearSVC, loss="hinge")._problem(10_000, 4, n_classes=2)
    for epochs, batch_size in ((10, 100), (300, 10_000)):
        settings = DualCoordinateDescent(epochs=epochs, batch_size=batch_size).configure(
            problem, Budget(1.0, 1e-6)
        )
        pace = scd_rule.movement(problem, settings, 0.7, 0.5, 10_000.0)
        assert pace.clip * settings.epochs == pytest.approx(0.7)


def test_noise_multiplier_has_a_floor():
    """One row in a hundred thousand, once: delta alone would keep the promise."""
    solver = DualCoordinateDescent(epochs=1, batch_size=1)
    plan = planned(solver=solver, n=100_000, delta=1e-5, epsilon=40.0)
    assert plan.noise_multiplier(plan.releases[-1]) >= 0.3


# The forecast


def spread(solver, X, y, fits=60, **given):
    """Deviation of coefficients over fits, relative to the forecast, root mean square."""
    model = model_of(alpha=0.0, solver=solver, epsilon=2.0, delta=1e-5, **given)
    told = model.plan(n=len(X), n_features=X.shape[1]).forecast()
    found = [model.set_params(random_state=seed).fit(X, y).coef_ for seed in range(fits)]
    ratio = np.std(found, axis=0, ddof=1) / told.coefficient
    return float(np.sqrt(np.mean(ratio**2)))


def linear_data(n=1_500):
    """As the forecast assumes: independent features that fill their bounds, a quadratic loss."""
    X = np.random.default_rng(0).uniform(-1, 1, (n, 3))
    return X, X @ [0.3, -0.2, 0.1]


GIVEN = [
    {"clip": 0.05},
    {"clip": 0.01, "epochs": 100},
    {"clip": 0.01, "epochs": 300, "batch_size": 10**9},
]


@pytest.mark.slow
@pytest.mark.parametrize("given", GIVEN, ids=str)
@pytest.mark.parametrize("relation", ["zero_out", "replace_one"])
def test_forecast_tells_the_noise_of_a_quadratic_problem(given, relation):
    found = spread(DualCoordinateDescent(**given), *linear_data(), adjacency=relation)
    assert found == pytest.approx(1.0, abs=0.25)


def test_forecast_with_estimated_lengths_is_of_the_right_size():
    """It cannot know the errors' size, which decides where their gradients are clipped."""
    assert 0.4 < spread(DualCoordinateDescent(), *linear_data()) < 2.5


def test_forecast_grows_with_noise_and_falls_with_rows():
    def told(n, epsilon):
        return planned(n=n, epsilon=epsilon).forecast().prediction

    assert told(10_000, 0.3) > 1.5 * told(10_000, 1.0)
    assert told(10_000, 1.0) > 1.5 * told(40_000, 1.0)


# Noise


@pytest.mark.slow
@pytest.mark.parametrize("estimator", FACTS)
def test_noise_of_every_release_has_its_law_and_scale(estimator):
    """Through the real fit; two thirds and three halves of the scale are rejected."""
    X, y = regression(30, 3)
    y = y if "bounds_y" in FACTS[estimator] else (y > 0).astype(int)
    model = model_of(estimator, solver=SHORT["scd"]["scd"], adjacency="add_remove", random_state=5)
    laws = {release.name: release.mechanism.name for release in model.plan(n_features=3).releases}
    noise = standard_noise(model, X, y, fits=400)
    assert noise.keys() == laws.keys()
    for name, drawn in noise.items():
        assert noise_agrees(drawn, laws[name])
        for factor in (2 / 3, 3 / 2):
            if drawn.size > 2_000:
                assert not noise_agrees(drawn / factor, laws[name]), f"{name} at {factor:.2f}"


# Refusals


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"epochs": 0}, "epochs=0, but a whole number of at least 1 and at most"),
        ({"epochs": 2.5}, r"epochs=2\.5, but a whole number of at least 1 is needed"),
        ({"batch_size": -1}, "batch_size=-1, but a whole number of at least 1 and at most"),
        ({"batch_size": "8"}, "batch_size='8', but a whole number of at least 1 is needed"),
        ({"clip": 0.0}, r"clip=0\.0, but a finite number above 0 is needed"),
        ({"clip": math.inf}, "clip=inf, but a finite number above 0 is needed"),
        ({"clip": math.nan}, "clip=nan, but a finite number above 0 is needed"),
    ],
)
def test_wrong_settings_are_refused_in_words(wrong, words):
    with pytest.raises(ValueError, match=words):
        DualCoordinateDescent(**wrong)


def test_batch_size_needs_a_public_number_of_rows():
    model = model_of(adjacency="add_remove", solver=DualCoordinateDescent(batch_size=17))
    words = "batch_size=17 needs a public number of rows.*add_remove.*leave batch_size out"
    with pytest.raises(UnsupportedCombinationError, match=words):
        model.plan(n=100, n_features=2)


def test_missing_facts_and_unsupported_losses():
    X, y = regression(100)
    with pytest.raises(MissingFactError, match="bounds_X and data_norm"):
        HuberRegressor(solver="scd", bounds_y=(-1, 1), delta=0).fit(X, y)
    with pytest.raises(MissingFactError, match="bounds_y"):
        Ridge(solver="scd", bounds_X=(-1, 1), delta=0).fit(X, y)
    three = LogisticRegression(solver="scd", bounds_X=(-1, 1), classes=[0, 1, 2])
    with pytest.raises(UnsupportedCombinationError, match="solver='scd' does not support loss"):
        three.fit(X, np.arange(100) % 3)


def test_the_certificate_names_releases_and_the_paper():
    X, y = regression(500)
    text = str(model_of(adjacency="add_remove").fit(X, y).privacy_)
    for words in (COUNT, LENGTHS, STEP, "Poisson batches", "Damaskinos"):
        assert words in text
