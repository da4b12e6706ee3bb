"""What coordinate descent plans: from public facts, at the right price, refused in words."""

import math
import warnings

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from privlearn import (
    HuberRegressor,
    Lasso,
    LinearRegression,
    LinearSVC,
    Ridge,
)
from privlearn._core.problem import Budget
from privlearn._core.releaser import progress
from privlearn.audit.law import noise_agrees, standard_noise
from privlearn.audit.tape import record
from privlearn.exceptions import MissingFactError, UnsupportedCombinationError
from privlearn.solvers import CoordinateDescent
from privlearn.solvers.coordinate_descent import rules as cd_rule
from support import SHORT, regression

MODES = {
    "all": CoordinateDescent(block="all"),
    "cyclic": CoordinateDescent(block=1),
    "greedy": CoordinateDescent(selection="greedy"),
}
RELATIONS = ["zero_out", "add_remove", "replace_one"]
BOX = {"bounds_X": (-1.0, 1.0), "bounds_y": (-1.0, 1.0)}
ESTIMATED = {
    "all": ["feature magnitudes", "curvature", "gradient norms", "clipped gradient"],
    "cyclic": ["feature magnitudes", "gradient norms", "clipped gradient"],
    "greedy": ["feature magnitudes", "gradient norms", "largest step", "clipped gradient"],
}


def names(plan):
    return [release.name for release in plan.releases]


def planned(solver, n=10_000, n_features=4, **parameters):
    return Ridge(solver=solver, **BOX, **parameters).plan(n=n, n_features=n_features)


# Public facts


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("mode", MODES)
def test_what_is_estimated(mode, relation):
    counted = ["number of rows"] if relation == "add_remove" else []
    assert names(planned(MODES[mode], adjacency=relation)) == counted + ESTIMATED[mode]


@pytest.mark.parametrize("mode", MODES)
def test_what_is_given_is_not_estimated(mode):
    """And the budget that it would have cost goes to the gradients."""
    solver, estimated = MODES[mode], planned(MODES[mode], epsilon=1.0)
    block, selection = solver.block, solver.selection
    for field, value, name in (
        ("clip", 2.0, "gradient norms"),
        ("smoothness", [0.3] * 4, "feature magnitudes"),
    ):
        given = CoordinateDescent(block=block, selection=selection, **{field: value})
        plan = planned(given, epsilon=1.0)
        assert names(plan) == [one for one in ESTIMATED[mode] if one != name]
        less, more = (one.noise_multiplier(one.releases[-1]) for one in (plan, estimated))
        assert less < 0.995 * more


def test_plan_and_settings_do_not_depend_on_data():
    X, y = regression(600)
    for solver in MODES.values():
        model = Ridge(solver=solver, random_state=0, **BOX)
        plans = [record(model, *given).plan for given in ((X, y), (0 * X, y), (X, 0 * y))]
        assert plans[0] == plans[1] == plans[2] == model.plan(n=600, n_features=4)


def test_a_private_n_changes_neither_plan_nor_work():
    X, y = regression(900)
    for solver in MODES.values():
        model = Ridge(solver=solver, adjacency="add_remove", **BOX)
        assert model.plan(n=10, n_features=4) == model.plan(n=10**6, n_features=4)
        seen = []
        for n in (900, 500):
            steps = []
            with progress(lambda done, total, steps=steps: steps.append((done, total))):
                model.fit(X[:n], y[:n])
            seen.append(steps)
        assert seen[0] == seen[1]


@pytest.mark.parametrize("mode", MODES)
def test_given_steps_are_what_is_planned(mode):
    solver = CoordinateDescent(
        passes=7, outer=3, block=MODES[mode].block, selection=MODES[mode].selection
    )
    plan = planned(solver)
    counts = {release.name: release.count for release in plan.releases}
    assert counts["clipped gradient"] == (35 if mode == "cyclic" else 7)
    assert counts["gradient norms"] == (4 if mode == "all" else 3)  # the intercept's own first
    assert counts.get("largest step", 7) == 7


@pytest.mark.parametrize("passes", [1, 2, 3, 10, 61])
@pytest.mark.parametrize("outer", [1, 2, 5, 60, 61])
def test_loops_hold_every_step_once(passes, outer):
    settings = cd_rule.Settings("all", passes, outer, 1.0, None, None)
    loops = cd_rule.loops(settings)
    assert sum(loops) == passes
    assert min(loops) >= 1
    assert len(loops) == min(passes, outer)


def test_the_rule_chooses_a_mode_by_public_facts():
    def mode(model, n, n_features, epsilon=1.0):
        problem = model._problem(n, n_features, n_classes=2)
        return CoordinateDescent().configure(problem, Budget(epsilon, 1e-6)).mode

    few, many = (10_000, 10), (10_000, 5_000)
    assert mode(Ridge(**BOX), *few) == "all"
    assert mode(Lasso(**BOX), *few) == "all"
    assert mode(Ridge(**BOX), *many) == "cyclic"
    assert mode(Lasso(**BOX), *many) == "greedy"
    assert mode(Lasso(**BOX), 1_000, 100) == "greedy"
    assert mode(Lasso(**BOX), 1_000_000, 100) == "all"


@pytest.mark.parametrize("mode", MODES)
def test_rule_plans_fewer_steps_for_smaller_budgets(mode):
    counts = [
        planned(MODES[mode], n=2_000, epsilon=epsilon).releases[-1].count
        for epsilon in (0.05, 1.0, 20.0)
    ]
    assert counts == sorted(counts)
    assert mode == "all" or counts[0] < counts[-1]


def swept(solver=MODES["cyclic"], n=10_000, n_features=4, epsilon=1.0):
    problem = Ridge(**BOX)._problem(n, n_features, n_classes=2)
    return solver.configure(problem, Budget(epsilon, 1e-6))


def test_sweeps_are_as_many_as_a_coordinate_has_effective_rows_for():
    few, some, many = (swept(n=n) for n in (30, 1_000, 10**7))
    assert (few.passes, many.passes) == (cd_rule.LEAST_SWEEPS, cd_rule.MOST_SWEEPS)
    assert few.passes < some.passes < many.passes
    assert swept(n=2_000, n_features=9).passes == some.passes  # with the intercept
    assert (few.outer, many.outer) == (1, cd_rule.OUTER)


def test_steps_are_shortened_where_noise_allows_less_than_the_least_sweeps():
    one, other = swept(n=30), swept(n=60)
    assert one.shortened
    assert one.step_size == pytest.approx(other.step_size / 2)
    assert not swept().shortened
    for given in ({"passes": 7}, {"step_size": 0.5}):
        settings = swept(CoordinateDescent(block=1, **given), n=30)
        assert not settings.shortened
        assert settings.step_size == given.get("step_size", 1.0)


def test_limits_are_narrower_where_noise_is_large():
    shares = [swept(n=n).coordinate_clip for n in (30, 600, 10**6)]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (cd_rule.NARROWEST, cd_rule.COORDINATE_CLIP)
    assert shares[0] < shares[1] < shares[2]
    given = CoordinateDescent(block=1, clip=1.0)
    assert swept(given, n=30).coordinate_clip == cd_rule.COORDINATE_CLIP


def test_sweeps_do_not_list_their_rows():
    """A list of all rows for each release would fill the memory."""
    X, y = regression(600)
    tape = record(Ridge(solver=MODES["cyclic"], **BOX), X, y)
    series = [item.steps for item in tape.made if hasattr(item, "steps")]
    assert series
    assert all(steps.batches.rows.size == 0 for steps in series)


# The price

DIAMETERS = {"curvature": math.sqrt(2), "feature magnitudes": math.sqrt(2)}
DIAMETERS |= {"gradient norms": math.sqrt(2), "clipped gradient": 2.0, "largest step": 2.0}


def renyi(plan, delta):
    """An upper bound of epsilon by concentrated privacy.

    A Gaussian release costs (movement / noise)^2 / 2, a selection whose log-odds move by at most
    eta costs eta^2 / 8; converted as in Canonne, Kamath, Steinke 2020, Proposition 12.
    """
    rho = 0.0
    for release in plan.releases:
        replaced = plan.adjacency.value == "replace_one"
        moves = (DIAMETERS[release.name] if replaced else 1.0) / plan.noise_multiplier(release)
        one = (2 * moves) ** 2 / 8 if release.name == "largest step" else moves**2 / 2
        rho += release.count * one

    def bound(log_order):
        order = 1.0 + math.exp(log_order)
        rest = math.log1p(-1.0 / order) - math.log(delta * order) / (order - 1.0)
        return rho * order + rest

    return minimize_scalar(bound, bounds=(-10, 15), method="bounded").fun


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 6.0])
def test_epsilon_agrees_with_concentrated_privacy(mode, relation, epsilon):
    plan = planned(MODES[mode], adjacency=relation, epsilon=epsilon)
    for delta in (1e-6, 1e-9):
        assert 0.8 * renyi(plan, delta) <= plan.epsilon(delta) <= renyi(plan, delta)
    assert epsilon * 0.999 <= plan.epsilon(1e-6) <= epsilon


@pytest.mark.parametrize("mode", MODES)
def test_facts_get_their_shares(mode):
    """Shares of mu^2 as the rule says: what is left is the gradients'."""
    plan = planned(MODES[mode], adjacency="replace_one")
    parts = {
        release.name: release.count
        * (DIAMETERS[release.name] / plan.noise_multiplier(release)) ** 2
        for release in plan.releases
    }
    total = sum(parts.values())
    shares = {name: part / total for name, part in parts.items()}
    assert shares["feature magnitudes"] == pytest.approx(cd_rule.MAGNITUDES)
    assert shares["gradient norms"] == pytest.approx(cd_rule.LENGTHS)
    assert shares.get("curvature", cd_rule.CURVATURE) == pytest.approx(cd_rule.CURVATURE)
    assert shares["clipped gradient"] > 0.4


@pytest.mark.slow
@pytest.mark.parametrize("mode", SHORT["cd"])
def test_noise_of_every_release_has_its_law_and_scale(mode):
    """Through the real fit; two thirds and three halves of the scale are rejected."""
    X, y = regression(30, 3)
    model = Lasso(solver=SHORT["cd"][mode], adjacency="add_remove", random_state=5, **BOX)
    plan = model.plan(n_features=3)
    laws = {release.name: release.mechanism.name for release in plan.releases}
    noise = standard_noise(model, X, y, fits=1_200)
    assert noise.keys() == laws.keys()
    for name, drawn in noise.items():
        assert noise_agrees(drawn, laws[name])
        for factor in (2 / 3, 3 / 2):
            assert not noise_agrees(drawn / factor, laws[name]), f"{name} at {factor:.2f}"


# Refusals


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"passes": 0}, "passes=0"),
        ({"passes": 2.5}, "passes=2.5"),
        ({"outer": -1}, "outer=-1"),
        ({"step_size": 0.0}, "step_size=0.0"),
        ({"clip": math.inf}, "clip=inf"),
        ({"clip": -1.0}, "clip=-1.0"),
        ({"block": 2}, "block=2"),
        ({"block": "some"}, "block='some'"),
        ({"selection": "random"}, "selection='random'"),
        ({"block": "all", "selection": "greedy"}, "leave selection out"),
        ({"smoothness": [1.0, 0.0]}, "above 0 per feature"),
        ({"smoothness": [1.0, math.nan]}, "smoothness must be finite numbers"),
        ({"smoothness": 3.0}, "one finite number above 0 per feature"),
    ],
)
def test_wrong_settings_are_refused_in_words(wrong, words):
    with pytest.raises(ValueError, match=words):
        CoordinateDescent(**wrong)


def test_one_mean_square_per_feature_is_needed():
    with pytest.raises(ValueError, match="smoothness has 3 entries, but X has 4 features"):
        planned(CoordinateDescent(smoothness=[1.0, 2.0, 3.0]))


def test_missing_facts_and_unsupported_losses():
    X, y = regression(100)
    with pytest.raises(MissingFactError, match="bounds_X and data_norm"):
        HuberRegressor(solver="cd", bounds_y=(-1, 1), delta=0).fit(X, y)
    with pytest.raises(MissingFactError, match="bounds_y"):
        LinearRegression(solver="cd", bounds_X=(-1, 1), delta=0).fit(X, y)
    three = LinearSVC(solver="cd", bounds_X=(-1, 1), classes=[0, 1, 2])
    with pytest.raises(UnsupportedCombinationError, match="solver='cd' does not support loss"):
        three.fit(X, np.arange(100) % 3)


@pytest.mark.parametrize("mode", MODES)
def test_forecast_and_certificate_are_told(mode):
    plan = planned(MODES[mode])
    assert np.isfinite(plan.forecast().coefficient).all()
    assert (plan.forecast().coefficient > 0).all()
    X, y = regression(500)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = str(Ridge(solver=MODES[mode], **BOX).fit(X, y).privacy_)
    for name in ESTIMATED[mode]:
        assert name in text
    assert "Mangold et al. 2022" in text
