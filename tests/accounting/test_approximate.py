"""Mechanisms of which only (epsilon, delta) is known: profile, composition, calibration, ledger."""

import math

import numpy as np
import pytest

from privlearn import Ledger
from privlearn._core.mechanisms import LAPLACE, DepthDraw
from privlearn._core.norms import ONE_MODEL
from privlearn._core.plan import Plan, Release
from privlearn._core.problem import Adjacency, Budget
from privlearn._core.verification import verify
from privlearn.accounting import (
    ApproximateLoss,
    Gaussian,
    Laplace,
    PureLoss,
    compose,
    smallest_scale,
)
from privlearn.exceptions import BudgetExceededError
from privlearn.ledger import composition_cost
from privlearn.ledger.serial import pair_from_text, pair_to_text


def composed_exactly(epsilon, delta, times, level):
    """Kairouz, Oh, Viswanath 2015, theorem 3.3: losses are (times - 2 i) epsilon."""
    whole = (1.0 - delta) ** times
    odds = sum(
        math.comb(times, i)
        * max(0.0, math.exp(epsilon * (times - i)) - math.exp(level + epsilon * i))
        for i in range(times // 2 + 1)
    )
    return 1.0 - whole + whole * odds / (1.0 + math.exp(epsilon)) ** times


@pytest.mark.parametrize("level", [0.0, 0.2, 0.4, 0.5, 3.0])
def test_one_mechanism(level):
    exact = composed_exactly(0.5, 0.01, 1, level)
    found = compose([(ApproximateLoss(0.5, 0.01), 1)]).delta(level)
    assert exact * (1 - 1e-12) <= found <= exact * (1 + 1e-9)


@pytest.mark.parametrize("times", [2, 5, 40])
@pytest.mark.parametrize("level", [0.1, 0.7, 1.5])
def test_equal_mechanisms_compose_as_the_optimal_theorem_says(times, level):
    exact = composed_exactly(0.3, 1e-3, times, level)
    found = compose([(ApproximateLoss(0.3, 1e-3), times)]).delta(level)
    assert exact * (1 - 1e-9) <= found <= exact * (1 + 2e-3)


def test_beside_others_it_is_a_failure_and_a_pure_loss():
    others = [(Gaussian(0.4), 2), (Laplace(0.3), 3)]
    for level in (0.5, 2.0, 4.0):
        pure = compose([(PureLoss(0.6), 1), *others]).delta(level)
        found = compose([(ApproximateLoss(0.6, 1e-4), 1), *others]).delta(level)
        assert found == pytest.approx(1e-4 + (1 - 1e-4) * pure, rel=1e-9)
        assert found >= 1e-4


def test_epsilon_and_delta_invert_each_other():
    plan = compose([(ApproximateLoss(0.5, 1e-7), 1), (Laplace(0.5), 1), (Gaussian(0.1), 1)])
    assert plan.epsilon(1e-7) == math.inf
    assert plan.epsilon(0.0) == math.inf
    for delta in (1.5e-7, 1e-6, 1e-3):
        epsilon = plan.epsilon(delta)
        assert plan.delta(epsilon) <= delta
        assert plan.delta(epsilon * 0.999) > delta
    bounded = compose([(ApproximateLoss(0.5, 1e-7), 1), (Laplace(0.25), 2)])
    assert bounded.epsilon(1e-7) == 1.0
    assert bounded.delta(1.0) == 1e-7
    assert bounded.delta(0.999) > 1e-7


def test_without_failure_it_is_a_pure_loss():
    assert compose([(ApproximateLoss(0.5, 0.0), 3)]) == compose([(PureLoss(0.5), 3)])
    only_failing = compose([(ApproximateLoss(0.0, 1e-3), 2)])
    assert only_failing.delta(0.0) == pytest.approx(1 - 0.999**2)


@pytest.mark.parametrize("share", [0.2, 0.9, 0.999, 1.0])
def test_calibration(share):
    def pairs(scale):
        return [(ApproximateLoss(0.6 / scale, share * 1e-6), 1), (Laplace(0.4 / scale), 1)]

    scale = smallest_scale(pairs, 1.0, 1e-6)
    assert compose(pairs(scale)).delta(1.0) <= 1e-6
    assert compose(pairs(scale * 0.999)).delta(1.0) > 1e-6


def test_calibration_says_when_failures_alone_are_too_likely():
    with pytest.raises(ValueError, match="fail with probability"):
        smallest_scale(lambda z: [(ApproximateLoss(1 / z, 1e-5), 1)], 1.0, 1e-6)
    with pytest.raises(ValueError, match="fail with probability"):
        smallest_scale(lambda z: [(ApproximateLoss(1 / z, 1e-5), 1)], 1.0, 0.0)


def test_numbers_are_checked():
    for epsilon, delta in ((-1.0, 0.1), (1.0, 1.0), (1.0, -0.1), (math.inf, 0.1), (1.0, math.nan)):
        with pytest.raises(ValueError, match=r"epsilon=|delta="):
            ApproximateLoss(epsilon, delta)


def drawn(scale, delta=1e-7):
    test = Release("test", (1,), clip=1.0, norm=ONE_MODEL, mechanism=LAPLACE, weight=2.5)
    draw = Release("draw", (3,), clip=1.0, norm=ONE_MODEL, mechanism=DepthDraw(delta))
    return Plan((test, draw), Adjacency.REPLACE_ONE, scale=scale)


def test_oracle_agrees():
    for delta in (2e-7, 1e-4):
        plan = drawn(1.0)
        found = verify(plan, Budget(plan.epsilon(delta), delta))
        assert found.holds
        assert found.recomputed == pytest.approx(found.ours, rel=1e-3)


def test_a_ledger_keeps_and_prices_it(tmp_path):
    pair = ApproximateLoss(0.1, 1e-9)
    assert pair_from_text(pair_to_text(pair)) == pair
    ledger = Ledger.create(tmp_path / "ledger.db", epsilon=3.0, delta=1e-6)
    plan = drawn(2.0)  # epsilons 0.5 and 0.2
    ledger.declare("d", kind="pure")
    ledger.charge(plan, "d")
    assert ledger.spent("d") == pytest.approx(0.7, rel=1e-3)
    for _ in range(3):
        ledger.charge(plan, "d")
    everything = compose([(pair, 4 * count) for pair, count in plan.pairs()])
    assert everything.epsilon(1e-6) <= ledger.spent("d") * (1 + 1e-3)
    with pytest.raises(BudgetExceededError) as refused:
        ledger.charge(drawn(0.5), "d")
    assert refused.value.asked == pytest.approx(2.8, rel=1e-3)
    assert 0 < refused.value.fits < 0.6
    with pytest.raises(BudgetExceededError, match="no such fit"):
        ledger.charge(drawn(2.0, delta=1e-5), "other")


def test_joined_pairs_cost_more_than_both():
    rng = np.random.default_rng(0)
    terms = tuple(
        (ApproximateLoss(float(a), float(b)), 1)
        for a, b in zip(rng.uniform(0.01, 0.02, 40), rng.uniform(1e-9, 2e-9, 40), strict=True)
    )
    assert len(composition_cost.composed(terms).terms) <= composition_cost.MANY
    for level in (0.2, 0.4):
        exact = compose(terms).delta(level)
        assert exact <= composition_cost.composed(terms).delta(level) <= 1.5 * exact + 1e-7
