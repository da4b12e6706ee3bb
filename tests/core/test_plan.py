"""Plans, the Releaser, charging: what is not planned does not leave."""

import copy
import math
import pickle
from dataclasses import replace

import numpy as np
import pytest

from privlearn import LinearRegression
from privlearn._core.calibration import calibrate
from privlearn._core.mechanisms import GAUSSIAN, GUMBEL, LAPLACE, MECHANISMS, SPHERICAL
from privlearn._core.norms import L1, L2, LINF, OUTER, UNIT_BOX
from privlearn._core.numerics import BlockSum, summation_error
from privlearn._core.plan import Plan, Release
from privlearn._core.problem import Adjacency, Budget
from privlearn._core.releaser import Releaser, charge_and_open
from privlearn._core.sampling import Disjoint, Permuted, Poisson, WithReplacement
from privlearn.audit.contract import off_grid
from privlearn.audit.law import noise_agrees
from privlearn.exceptions import DeltaWarning, InvalidBudgetError, PlanViolationError
from support import regression

NORMS = {"Gaussian": L2, "Laplace": L1, "spherical": L2, "Gumbel": LINF}
BUDGET = Budget(1.0, 1e-6)


def plan_of(*releases, adjacency=Adjacency.ZERO_OUT, scale=2.0, rows=1_000):
    return Plan(releases, adjacency, scale, rows)


def one(mechanism=GAUSSIAN, shape=(4,), **options):
    return Release("sum", shape, 3.0, NORMS[mechanism.name], mechanism, **options)


@pytest.fixture(params=MECHANISMS, ids=lambda mechanism: mechanism.name)
def mechanism(request):
    return request.param


@pytest.mark.parametrize("wrong", [1.0, 2 / 3, 3 / 2])
def test_noise_of_every_mechanism_has_the_declared_scale(mechanism, wrong):
    plan = plan_of(one(mechanism, count=400))
    release = Releaser(plan, BUDGET, seed=1)
    statistic = np.array([1.0, -2.5, 0.1, 100.0])
    found = np.array([release._emit(plan.releases[0], statistic) for _ in range(400)])
    noise = (found - statistic) / (plan.noise_scale(plan.releases[0]) * wrong)
    assert noise_agrees(noise, mechanism.name) == (wrong == 1.0)
    assert not off_grid(found, plan.grid(plan.releases[0]))


def test_every_mechanism_can_be_accounted_in_every_relation(mechanism):
    for relation in Adjacency:
        plan = plan_of(one(mechanism, count=3), adjacency=relation, scale=6.0)
        assert 0 < plan.epsilon(1e-6) < 10
        louder = plan_of(one(mechanism, count=3), adjacency=relation, scale=12.0)
        assert louder.epsilon(1e-6) < plan.epsilon(1e-6)


def test_relation_turns_clips_into_sensitivities():
    for norm, ratio in ((L2, 2), (L1, 2), (OUTER, math.sqrt(2)), (UNIT_BOX, 1)):
        release = Release("sum", (2,), 3.0, norm)
        zero, add, replace = (
            plan_of(release, adjacency=relation).sensitivity(release) for relation in Adjacency
        )
        assert zero == add == pytest.approx(3.0, rel=1e-5)
        assert zero > 3.0, "floating point costs something"
        assert replace == pytest.approx(3.0 * ratio, rel=1e-5)


def test_sampling_is_cheaper_and_replace_one_has_its_own_pair():
    full = plan_of(one(), scale=2.0)
    sampled = one(sampling=Poisson(0.01))
    zero = plan_of(sampled, scale=2.0).epsilon(1e-6)
    replace = plan_of(sampled, scale=2.0, adjacency=Adjacency.REPLACE_ONE).epsilon(1e-6)
    doubled = plan_of(sampled, scale=1.0).epsilon(1e-6)
    assert zero < 0.5 * full.epsilon(1e-6)
    assert zero < replace < doubled


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 20.0])
@pytest.mark.parametrize("relation", Adjacency)
def test_calibrate_spends_the_budget_and_no_more(epsilon, relation):
    budget = Budget(epsilon, 1e-7)
    plan = calibrate(lambda scale: plan_of(one(), adjacency=relation, scale=scale), budget)
    assert plan.delta(epsilon) <= 1e-7
    assert plan.delta(epsilon * 0.999) > 1e-7
    mixed = calibrate(
        lambda scale: plan_of(one(), Release("more", (2,), 1.0, weight=2.0, count=3), scale=scale),
        budget,
    )
    assert mixed.delta(epsilon) <= 1e-7


def test_pure_plans_need_no_delta_and_gaussian_ones_do():
    budget = Budget(1.0, 0.0)
    plan = calibrate(lambda scale: plan_of(one(LAPLACE), scale=scale), budget)
    assert plan.epsilon(0.0) <= 1.0
    assert plan.scale == pytest.approx(1.0, rel=1e-4)
    with pytest.raises(InvalidBudgetError, match="delta=0, but Gaussian noise needs delta > 0"):
        calibrate(lambda scale: plan_of(one(), scale=scale), budget)


def test_what_is_not_planned_is_refused():
    release = Releaser(
        plan_of(one(), one(GUMBEL, (3,)).__class__("pick", (3,), 1.0, LINF, GUMBEL)), BUDGET
    )
    with pytest.raises(PlanViolationError, match="not in the plan"):
        release("mean", np.zeros(4), clip=3.0)
    with pytest.raises(PlanViolationError, match=r"shape \(5,\)"):
        release("sum", np.zeros(5), clip=3.0)
    with pytest.raises(PlanViolationError, match=r"clipped to 3\.1"):
        release("sum", np.zeros(4), clip=3.1)
    with pytest.raises(PlanViolationError, match="use select"):
        release("pick", np.zeros(3), clip=1.0)
    with pytest.raises(PlanViolationError, match="solver bug"):
        release("sum", np.full(4, np.nan), clip=3.0)


def test_no_release_too_many_and_a_failed_one_counts():
    release = Releaser(plan_of(one()), BUDGET)
    assert release("sum", np.zeros(4), clip=3.0).shape == (4,)
    with pytest.raises(PlanViolationError, match="planned 1 times"):
        release("sum", np.zeros(4), clip=3.0)
    failed = Releaser(plan_of(one()), BUDGET)
    with pytest.raises(PlanViolationError, match="solver bug"):
        failed("sum", np.full(4, np.inf), clip=3.0)
    with pytest.raises(PlanViolationError, match="planned 1 times"):
        failed("sum", np.zeros(4), clip=3.0)


def test_sampled_releases_get_their_rows_with_their_noise():
    release = Releaser(plan_of(one(sampling=Poisson(0.5), count=3)), BUDGET)
    with pytest.raises(PlanViolationError, match="of drawn rows"):
        release("sum", np.zeros(4), clip=3.0)
    release = Releaser(plan_of(one(sampling=Poisson(0.5), count=3)), BUDGET)
    steps = release.steps("sum", 1_000, clip=3.0, at_most=2)
    assert steps.taken == 2
    assert 300 < len(steps.rows(0)) < 700
    assert not np.array_equal(steps.rows(0), steps.rows(1))
    assert release.steps("sum", 1_000, clip=3.0, at_most=2).taken == 1
    with pytest.raises(PlanViolationError, match="planned 3 times"):
        release.steps("sum", 1_000, clip=3.0, at_most=2)


def test_releases_that_share_a_draw_are_handed_out_together_and_charged_once():
    shared = one(SPHERICAL, sampling=Disjoint(5), count=5)
    plan = plan_of(shared)
    assert Releaser(plan, BUDGET).steps("sum", 100, clip=3.0, at_most=2).taken == 5
    assert plan.epsilon(0.0) == plan_of(one(SPHERICAL)).epsilon(0.0)
    again = plan_of(one(SPHERICAL, count=5))
    assert again.epsilon(0.0) == pytest.approx(5 * plan.epsilon(0.0))


@pytest.mark.parametrize(
    "sampling", [Permuted(3, blocks=2), WithReplacement(3, population=1_000, blocks=2)]
)
def test_visits_multiply_what_one_row_moves(sampling):
    plan = plan_of(one(sampling=sampling), scale=20.0)
    once = plan_of(one(), scale=20.0)
    certain = isinstance(sampling, Permuted)
    if certain:
        assert plan.epsilon(1e-6) == pytest.approx(plan_of(one(), scale=20.0 / 3).epsilon(1e-6))
    else:
        mixed = sum(
            weight * plan_of(one(), scale=20.0 / k).delta(1.0) for k, weight in sampling.visits if k
        )
        assert mixed <= plan.delta(1.0) <= 1.001 * mixed
    assert plan.epsilon(1e-6) > once.epsilon(1e-6)


def level(epsilon, weight, **options):
    return Release(f"sum at {epsilon}", (4,), 3.0, L2, SPHERICAL, level=epsilon, weight=weight)


def test_levels_are_charged_by_the_largest_and_told_apart():
    plan = plan_of(level(0.1, 10.0), level(1.0, 1.0), scale=1.0)
    assert plan.levels == (0.1, 1.0)
    assert plan.epsilon(0.0) == pytest.approx(1.0, rel=1e-5)
    assert plan.epsilon_at_level(0.1, 0.0) == pytest.approx(0.1, rel=1e-5)
    assert len(plan.pairs()) == 1
    common = Release("count", (1,), 1.0, L2, SPHERICAL, weight=10.0)
    both = plan_of(common, level(0.1, 10.0), level(1.0, 1.0), scale=1.0)
    assert both.epsilon_at_level(0.1, 0.0) == pytest.approx(0.2, rel=1e-5)
    assert both.epsilon(0.0) == pytest.approx(1.1, rel=1e-5)


def test_levels_that_do_not_order_are_refused():
    with pytest.raises(ValueError, match="less for more"):
        plan_of(level(0.1, 1.0), level(1.0, 10.0))
    with pytest.raises(ValueError, match="noise alone"):
        plan_of(level(0.1, 10.0), replace(level(1.0, 1.0), clip=4.0))


def test_selection_releases_an_index_that_follows_the_scores():
    plan = plan_of(Release("pick", (3,), 1.0, LINF, GUMBEL, count=2_000), scale=1.0)
    release = Releaser(plan, BUDGET, seed=2)
    chosen = [release.select("pick", [0.0, 1.0, 2.0], clip=1.0) for _ in range(2_000)]
    odds = np.bincount(chosen, minlength=3) / 2_000
    np.testing.assert_allclose(odds, np.exp([0, 1, 2]) / np.exp([0, 1, 2]).sum(), atol=0.04)


def test_a_releaser_cannot_be_copied():
    release = Releaser(plan_of(one()), BUDGET)
    for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="repeat its noise"):
            duplicate(release)


def test_spherical_and_matrix_shapes_survive():
    plan = plan_of(Release("w", (2, 3), 1.0, L2, SPHERICAL))
    assert Releaser(plan, BUDGET)("w", np.zeros((2, 3)), clip=1.0).shape == (2, 3)


class Till:
    """A ledger that notes the order of things, and may refuse."""

    def __init__(self, refuse=False):
        self.charged, self.refuse = [], refuse

    def charge(self, plan, dataset):
        if self.refuse:
            raise RuntimeError("over budget")
        self.charged.append((plan, dataset))

    def __deepcopy__(self, memo):
        return self


def test_the_ledger_is_charged_before_anything_is_released():
    plan, till = plan_of(one()), Till()
    with charge_and_open(plan, BUDGET, ledger=till, dataset="people") as release:
        assert till.charged == [(plan, "people")]
        assert not release.certificate().made
    X, y = regression(100)
    known = {"bounds_X": (-1, 1), "bounds_y": (-1, 1), "dataset": "people"}
    refused = LinearRegression(ledger=Till(refuse=True), **known)
    with pytest.raises(RuntimeError, match="over budget"):
        refused.fit(X, y)
    assert not hasattr(refused, "coef_")
    fitted = LinearRegression(ledger=till, **known).fit(X, y)
    assert till.charged[-1][0] == fitted.privacy_.plan


def test_bad_data_is_refused_before_the_charge():
    till = Till()
    X, y = regression(100)
    X[3, 1] = np.nan
    model = LinearRegression(ledger=till, bounds_X=(-1, 1), bounds_y=(-1, 1))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(X, y)
    assert not till.charged


def test_a_crash_refunds_nothing(monkeypatch):
    till = Till()
    X, y = regression(100)
    model = LinearRegression(solver="moments", bounds_X=(-1, 1), bounds_y=(-1, 1))
    model.fit(X, y)  # a rehearsal before the charge would meet the crash first
    monkeypatch.setattr(np.linalg, "eigh", lambda matrix: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        model.set_params(ledger=till).fit(X, y)
    assert len(till.charged) == 1


def test_a_large_delta_is_warned_about():
    X, y = regression(100)
    model = LinearRegression(delta=0.02, bounds_X=(-1, 1), bounds_y=(-1, 1))
    with pytest.warns(DeltaWarning, match="delta=0.02 is above 1/n"):
        model.fit(X, y)
    private_n = LinearRegression(
        delta=0.02, adjacency="add_remove", bounds_X=(-1, 1), bounds_y=(-1, 1)
    )
    private_n.fit(X, y)  # a warning here would tell about n; warnings are errors in these tests


def test_plans_say_what_they_hold():
    model = LinearRegression(bounds_X=(0, 1), bounds_y=(0, 1), solver="moments")
    plan = model.plan(n=1_000, n_features=2)
    text = str(plan)
    for words in (
        "nothing has been released",
        "second moments: 1 x Gaussian",
        "forecast",
        "clip 4",
    ):
        assert words in text
    with pytest.raises(ValueError, match="one name"):
        plan_of(one(), one())
    for wrong in ({"clip": 0.0}, {"clip": math.nan}, {"count": 0}, {"weight": -1.0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            Release(**{"name": "x", "shape": (1,), "clip": 1.0, **wrong})
    with pytest.raises(ValueError, match="rows="):
        plan_of(one(), rows=2**31)


def test_sums_stay_within_the_stated_error():
    """Adversarial terms in float64 against exact rational sums."""
    from fractions import Fraction

    rng = np.random.default_rng(0)
    terms = rng.uniform(-1, 1, (200, 64)) * 10.0 ** rng.integers(-12, 1, (200, 64))
    total = BlockSum(())
    for block in terms:
        total.add(np.asarray(np.sum(block)))
    exact = sum(Fraction(float(term)) for term in terms.ravel())
    error = abs(float(Fraction(float(total.value())) - exact))
    assert error <= summation_error(terms.size)
    naive = np.float32(0)
    for term in terms.ravel():
        naive += np.float32(term)
    assert abs(float(Fraction(float(naive)) - exact)) > summation_error(terms.size)
