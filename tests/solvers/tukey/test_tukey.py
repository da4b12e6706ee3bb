"""The Tukey mechanism: depth, distance, draw, models of groups, failure, accuracy."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from scipy.sparse import csr_array

from privlearn import Ledger, LinearRegression
from privlearn._core.mechanisms.tukey_boxes import LIMIT, STEP, Boxes, in_order
from privlearn._core.plan import Plan, Release
from privlearn._core.problem import Adjacency, Bounds, Budget, Problem
from privlearn._core.releaser import Releaser
from privlearn._core.sampling import Batches
from privlearn.audit.draws import depth_of, divergences, places
from privlearn.audit.replay import ranks_moved
from privlearn.audit.tape import record
from privlearn.exceptions import (
    InvalidBudgetError,
    PlanViolationError,
    PrivacyTestFailedError,
    UnsupportedCombinationError,
)
from privlearn.noise import NoiseSource
from privlearn.solvers import Tukey
from privlearn.solvers._common.row_count import fewest_rows, fewest_rows_release
from privlearn.solvers.tukey import rules as tukey_rule
from privlearn.solvers.tukey import solver as tukey
from privlearn.solvers.tukey.group_models import group_models

RELATIONS = [relation.value for relation in Adjacency]


def linear(n=20_000, p=3, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    coef = np.linspace(1.0, -1.0, p)
    return X, X @ coef + 0.5 + noise * rng.standard_normal(n), coef


def small_lattices(trials, seed=0):
    """Models on a few lattice points, with many ties, one of them exchanged; and two budgets."""
    rng = np.random.default_rng(seed)
    for _ in range(trials):
        d, m, span = rng.integers(1, 4), rng.integers(8, 21), rng.choice([2, 5, 20, 1000])
        models = rng.integers(0, span, (m, d)).astype(float)
        for k in range(2):
            if rng.random() < 0.6:
                models[rng.integers(m, size=m // 2)] = models[k]
        other = models.copy()
        far = rng.choice([0.0, 5.0 * span, -5.0 * span, models[0, 0]], size=d)
        other[rng.integers(m)] = far
        budgets = rng.uniform(0.3, 3.0), rng.uniform(0.3, 6.0), rng.choice([0.01, 0.1, 0.3])
        yield in_order(models * STEP), in_order(other * STEP), budgets


def brute_depths(ordered, points):
    return np.array([depth_of(point, ordered) for point in points])


def test_boxes_hold_the_points_of_their_depth():
    rng = np.random.default_rng(1)
    models = rng.integers(0, 6, (9, 2))
    ordered = in_order(models * STEP)
    grid = np.stack(np.meshgrid(np.arange(6), np.arange(6)), axis=-1).reshape(-1, 2)
    depths = np.array(
        [
            min(min((models[:, j] <= y[j]).sum(), (models[:, j] >= y[j]).sum()) for j in (0, 1))
            for y in grid
        ]
    )
    assert np.array_equal(depths, brute_depths(ordered, grid * STEP))
    boxes = Boxes.of(ordered)
    volumes = boxes.mantissas * 2.0**boxes.exponents
    for i in range(1, 6):
        assert volumes[i] == (depths >= i).sum()
    assert volumes[0] == pytest.approx((2 * LIMIT / STEP + 1) ** 2)
    weights = np.exp(boxes.log_weights(1.4))
    direct = sum(math.exp(0.7 * (depth - 2)) for depth in depths if depth >= 2)
    assert boxes.shallowest == 2
    assert weights.sum() == pytest.approx(direct)


def test_distance_follows_its_definition_and_one_model_moves_it_by_one():
    met, moved = set(), set()
    for ordered, other, (_, epsilon, delta) in small_lattices(400):
        found = []
        for one in (ordered, other):
            boxes = Boxes.of(one)
            V = boxes.mantissas * 2.0**boxes.exponents
            t, slope = boxes.shallowest, epsilon / 2
            bar = delta / (delta + math.exp(slope))
            U = [
                V[s]
                + sum(
                    (1 - math.exp(-slope)) * math.exp(slope * (i - s)) * V[i]
                    for i in range(s + 1, len(V))
                )
                for s in range(len(V))
            ]
            good = [k for k in range(t) if V[t - k - 1] / U[t + k] <= bar]
            found.append(boxes.safe_distance(epsilon, delta))
            assert found[-1] == max(good, default=-1)
        assert ranks_moved(ordered, other) <= 1
        met |= set(found)
        moved.add(abs(found[0] - found[1]))
    assert met >= {-1, 0, 1, 2}
    assert moved == {0, 1}


def passes(distance, epsilon, delta):
    bar = math.log(0.5 / delta) / epsilon - 1.0
    return stats.laplace.sf(bar - distance, scale=1.0 / epsilon)


def test_exact_privacy_of_test_and_draw_on_small_lattices():
    """Hockey-stick divergence of the whole, at the sum of both epsilons, by exact volumes."""
    told, safe = [], 0
    for ordered, other, (test, draw, delta) in small_lattices(400, seed=5):
        distances = [Boxes.of(one).safe_distance(draw, delta) for one in (ordered, other)]
        if max(distances) >= 0:
            safe += 1
            assert max(divergences(ordered, other, draw / 2, draw)) <= delta
        first, second = (passes(distance, test, delta) for distance in distances)
        for there, back, way in ((first, second, 0), (second, first, 1)):
            level = test + draw + math.log(back / there)
            drawn = there * divergences(ordered, other, draw / 2, level)[way]
            failed = max(0.0, (1 - there) - math.exp(test + draw) * (1 - back))
            told.append((drawn + failed) / delta)
    assert safe > 100
    assert 0.9 < max(told) <= 1.0


def test_a_bar_of_delta_alone_is_not_enough():
    """rho* must be smaller than delta by about e^(eps/2): points that only D' may draw."""
    told = 0.0
    for ordered, other, (_, epsilon, delta) in small_lattices(400, seed=5):
        boxes = Boxes.of(ordered)
        V = boxes.mantissas * 2.0**boxes.exponents
        t = boxes.shallowest
        total = np.exp(boxes.log_weights(epsilon)).sum()
        if V[t - 1] / total <= delta * math.exp(epsilon):
            told = max(told, max(divergences(ordered, other, epsilon / 2, epsilon)) / delta)
    assert told > 1.0


def test_draws_follow_the_density():
    rng = np.random.default_rng(0)
    source = NoiseSource(seed=4)
    ordered = in_order(rng.standard_normal((60, 2)))
    boxes = Boxes.of(ordered)
    points = np.array([boxes.draw(source, 0.8) for _ in range(700)])
    right = np.array([places(point, ordered, 0.8, rng) for point in points])
    wrong = np.array([places(point, ordered, 1.6, rng) for point in points])
    assert all(stats.kstest(column, "uniform").pvalue > 1e-5 for column in right.T)
    assert stats.kstest(wrong[:, 0], "uniform").pvalue < 1e-9
    assert brute_depths(ordered, points).min() >= 15


def test_a_drawn_point_may_need_more_than_64_bits():
    ordered = in_order([[-LIMIT], [-LIMIT], [LIMIT], [LIMIT]])
    source = NoiseSource(seed=0)
    points = np.array([Boxes.of(ordered).draw(source, 1.0)[0] for _ in range(300)])
    assert stats.kstest(points, stats.uniform(-LIMIT, 2 * LIMIT).cdf).pvalue > 1e-5
    same = in_order(np.ones((5, 3)) * 0.3)
    assert np.array_equal(Boxes.of(same).draw(source, 1.0), np.rint(0.3 / STEP * np.ones(3)) * STEP)


def test_distance_does_not_overflow_in_many_dimensions():
    rng = np.random.default_rng(0)
    boxes = Boxes.of(in_order(1e9 * rng.standard_normal((4_000, 120))))
    assert boxes.exponents[0] > 10_000
    assert 0 < boxes.safe_distance(3.0, 1e-6) < 1_000
    assert boxes.safe_distance(1e9, 1e-6) < 1_000  # e^epsilon is no number


def groups_of(X, y, starts, intercept, finite=True):
    from privlearn._data.bounded import BoundedData, Table

    none = Bounds(None, None, None, None)
    data = BoundedData(Table(X, y, finite), none, intercept)
    return group_models(data, Batches(np.arange(len(y)), np.array(starts)), intercept)


@pytest.mark.parametrize("intercept", [True, False])
def test_models_of_groups_are_least_squares(intercept):
    X, y, _ = linear(900, 4)
    X[:, 1] *= 1e12
    X[:, 2] = 1e6 + X[:, 2]
    starts = [0, 5, 12, 300, 900]
    models = groups_of(X, y, starts, intercept)
    for k, (a, b) in enumerate(pairwise(starts)):
        Z = np.column_stack([np.ones(b - a), X[a:b]]) if intercept else X[a:b]
        unit = np.linalg.norm(Z, axis=0)
        exact = np.linalg.lstsq(Z / unit, y[a:b], rcond=None)[0]
        assert np.allclose(models[k] * unit, exact, rtol=1e-5, atol=1e-6)


def test_models_of_few_or_dependent_rows_follow_a_rule():
    X = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0], [np.nan, 1.0], [1e308, 5e-324], [0.0, 0.0]])
    y = np.array([2.0, 4.0, 6.0, 1.0, 1e308, 7.0])
    models = groups_of(X, y, [0, 3, 3, 4, 5, 6], False, finite=False)
    assert np.allclose(X[:3] @ models[0], y[:3])
    assert np.count_nonzero(models[0]) == 1  # the second column says nothing new
    assert not models[1].any()  # no row
    assert not models[2].any()  # an empty row
    assert np.isfinite(in_order(models)).all()
    assert not models[4].any()


def test_groups_do_not_touch_each_other():
    X, y, _ = linear(600, 3)
    starts = [0, 4, 9, 300, 600]
    before = groups_of(X, y, starts, True)
    X[5], y[5] = 1e300, -1e300
    after = groups_of(X, y, starts, True)
    same = [before[k].tobytes() == after[k].tobytes() for k in range(4)]
    assert same == [True, False, True, True]


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("intercept", [True, False])
def test_accuracy_without_any_bounds(relation, intercept):
    X, y, coef = linear()
    X, y = X * [1.0, 1e6, 1e-3] + intercept * 1e-3, y if intercept else y - 0.5
    model = LinearRegression(
        solver="tukey", adjacency=relation, fit_intercept=intercept, random_state=1
    ).fit(X, y)
    assert model.score(X, y) > 0.6
    assert model.coef_[0] == pytest.approx(coef[0], abs=0.1)
    assert model.privacy_.spent() <= 1.0
    assert model.privacy_.verify().holds
    names = [release.name for release in model.privacy_.plan.releases]
    assert (len(names) == 3) == (relation == "add_remove")


def test_outliers_do_little():
    X, y, coef = linear()
    X[::400], y[::400] = 1e12, -1e12
    model = LinearRegression(solver="tukey", random_state=0).fit(X, y)
    assert np.abs(model.coef_ - coef).max() < 0.2


def test_given_models_and_degenerate_columns():
    X, y, _ = linear()
    X = np.column_stack([X, np.zeros(len(y)), X[:, 0]])
    model = LinearRegression(solver=Tukey(models=1_500), random_state=0).fit(X, y)
    assert model.coef_[3] == 0.0
    assert model.score(X[:, :5], y) > 0.55


def test_a_failed_test_spends_the_budget_and_tells_nothing(tmp_path):
    X, y, _ = linear(400)
    ledger = Ledger.create(tmp_path / "ledger.db", epsilon=2.0, delta=1e-5)
    model = LinearRegression(solver="tukey", ledger=ledger, dataset="d", adjacency="add_remove")
    with pytest.raises(PrivacyTestFailedError, match="budget of this fit is spent") as failure:
        model.fit(X, y)
    assert not any(digit in str(failure.value) for digit in "0123456789")
    assert "fewer features" in str(failure.value)
    assert 0.9 < ledger.spent("d") <= 1.0
    assert not hasattr(model, "coef_")


def test_what_must_fail_is_refused_before_anything_is_spent(tmp_path):
    X, y, _ = linear(400)
    ledger = Ledger.create(tmp_path / "ledger.db", epsilon=2.0, delta=1e-5)
    model = LinearRegression(solver="tukey", ledger=ledger, dataset="d")
    with pytest.raises(PrivacyTestFailedError, match=r"100 models .* nothing was spent"):
        model.fit(X, y)
    with pytest.raises(PrivacyTestFailedError, match="about 576 are needed"):
        model.plan(n=400, n_features=3)
    assert ledger.spent("d") == 0.0
    budget = Budget(1.0, 1e-6)
    chances = [tukey_rule.best_chance(m, 4, budget) for m in (4, 250, 330, 400, 576)]
    assert chances == sorted(chances)
    assert chances[1] < tukey_rule.HOPELESS < chances[2] < 0.9 < chances[3]


def test_unsafe_models_pass_as_rarely_as_promised():
    """The bar of the real fit: a distance of -1 passes with probability delta."""
    rng = np.random.default_rng(0)
    problem = Problem(
        n=None,
        n_features=1,
        bounds=Bounds(None, None, None, None),
        loss=LinearRegression()._loss(0),
        penalty=LinearRegression()._penalty(),
        adjacency=Adjacency.ADD_REMOVE,
        fit_intercept=False,
    )
    delta = 0.02
    settings = tukey.Settings(models=8, enough=8, delta=delta)
    plan = Tukey(models=8).plan(problem, settings, 1.0 / 3.0)  # epsilons 2 and 3
    ordered = in_order(rng.standard_normal((8, 1)))
    assert Boxes.of(ordered).safe_distance(3.0, delta) == -1
    passed = 0
    for seed in range(2_000):
        try:
            tukey._test(ordered, Releaser(plan, Budget(1.0, delta), seed))
            passed += 1
        except PrivacyTestFailedError:
            pass
    assert stats.binomtest(passed, 2_000, delta).pvalue > 1e-4


def releaser(relation, seed=0):
    plan = Plan((fewest_rows_release(),), Adjacency(relation), scale=2.0)
    return Releaser(plan, Budget(1.0, 1e-6), seed)


@pytest.mark.parametrize("relation", RELATIONS)
def test_rows_are_dealt_to_one_group_each(relation):
    n, groups = 1_003, 40
    rows, starts = releaser(relation).partition(n, groups)
    assert sorted(rows) == list(range(n))
    assert not np.array_equal(rows, np.arange(n))
    sizes = np.diff(starts)
    assert sizes.size == groups
    assert (np.ptp(sizes) <= 1) == (relation != "add_remove")


def test_the_number_of_rows_is_seldom_overestimated():
    found = np.array([fewest_rows(None, 500, releaser("add_remove", k)) for k in range(300)])
    assert (found <= 500).all()
    assert np.median(found) == pytest.approx(500 - 2 * math.log(5_000), abs=1)
    assert fewest_rows(700, 500, releaser("zero_out")) == 700
    assert fewest_rows(None, 0, releaser("add_remove")) == 0


def test_forecast_is_about_right():
    X, _, coef = linear(40_000)
    rng = np.random.default_rng(0)
    errors = []
    for seed in range(25):
        y = X @ coef + rng.standard_normal(len(X))
        model = LinearRegression(solver="tukey", random_state=seed)
        errors.append(model.fit(X, y).coef_ - coef)
    told = model.plan(n=len(X), n_features=3).forecast().coefficient[0]
    assert 0.5 < told / np.sqrt(np.mean(np.square(errors))) < 2.0


def test_sparse_and_single_precision():
    X, y, _ = linear()
    fits = [
        LinearRegression(solver="tukey", random_state=0).fit(kind(X), y).coef_
        for kind in (np.array, csr_array, lambda X: X.astype(np.float32))
    ]
    assert np.array_equal(fits[0], fits[1])
    assert np.allclose(fits[0], fits[2], atol=1e-4)


def test_what_has_no_proof_is_refused():
    X, y, _ = linear(50)
    with pytest.raises(InvalidBudgetError, match="delta=0"):
        LinearRegression(solver="tukey", delta=0).fit(X, y)
    with pytest.raises(UnsupportedCombinationError, match="20001 coefficients"):
        LinearRegression(solver="tukey").plan(n=10**6, n_features=20_000)
    with pytest.raises(ValueError, match="models=0"):
        Tukey(models=0)


def test_draws_must_be_planned_as_draws():
    plan = Plan((Release("sum", (2,), clip=1.0),), Adjacency.ZERO_OUT, scale=1.0)
    ordered = in_order(np.zeros((8, 2)))
    with pytest.raises(PlanViolationError, match="Gaussian"):
        Releaser(plan, Budget(1.0, 1e-6)).draw("sum", ordered, clip=1.0)
    problem = LinearRegression(solver="tukey")._problem(1_000, 1, 0)
    settings = Tukey().configure(problem, Budget(1.0, 1e-6))
    release = Releaser(Tukey().plan(problem, settings, 1.0), Budget(1.0, 1e-6))
    with pytest.raises(PlanViolationError, match="use draw"):
        release(tukey.DRAW, np.zeros(2), clip=1.0)


def test_number_of_models_is_public():
    """Of n where it is public; of a released number of rows where it is not."""
    X, y, _ = linear(6_000)
    tapes = {}
    for relation in RELATIONS:
        model = LinearRegression(solver="tukey", adjacency=relation, epsilon=3.0, random_state=0)
        tapes[relation] = record(model, X, y)
    enough = tukey_rule.enough_models(4, Budget(3.0, 1e-6))
    public = tukey_rule.models_for(6_000, 4, enough, private=False)
    assert public == 750
    for relation in ("zero_out", "replace_one"):
        assert len(tapes[relation].entries[-1].statistic) == public
    counted, _, drawn = tapes["add_remove"].entries
    scale = tapes["add_remove"].plan.noise_scale(counted.release)
    rows = math.floor(counted.released[0] - scale * math.log(0.5 / 1e-4))
    assert len(drawn.statistic) == tukey_rule.models_for(rows, 4, enough, private=True)
    assert rows < 6_000


def test_rule_for_the_number_of_models():
    budget = Budget(1.0, 1e-6)
    enough = tukey_rule.enough_models(4, budget)
    assert tukey_rule.models_for(10**6, 4, enough, private=False) == 125_000
    assert tukey_rule.models_for(3_000, 4, enough, private=False) == enough
    assert tukey_rule.models_for(100, 4, enough, private=False) == 25
    assert tukey_rule.models_for(0, 4, enough, private=True) == 1
    more = [tukey_rule.enough_models(4, Budget(e, 1e-6)) for e in (3.0, 1.0, 0.3, 0.1, 1e-6)]
    assert more == sorted(more)
    wide = [tukey_rule.enough_models(d, budget) for d in (1, 4, 20, 64, 1_000)]
    assert wide == sorted(wide)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_enough_models_let_the_test_pass(epsilon):
    """At the rule's number of models nearly all fits pass, at half of it nearly none does."""
    budget = Budget(epsilon, 1e-6)
    enough = tukey_rule.enough_models(4, budget)
    outcomes = {}
    for models in (enough, enough // 2):
        passed = 0
        for seed in range(40):
            X, y, _ = linear(8 * enough, seed=seed)
            model = LinearRegression(
                solver=Tukey(models=models), epsilon=epsilon, random_state=seed
            )
            try:
                model.fit(X, y)
                passed += 1
            except PrivacyTestFailedError:
                pass
        outcomes[models] = passed
    assert outcomes[enough] >= 38
    assert outcomes[enough // 2] <= 2
