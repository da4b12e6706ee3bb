"""The filter: an adversary who chooses the next charge after seeing the last gains nothing."""

import math

import numpy as np
import pytest
from scipy.special import log_ndtr
from scipy.stats import norm

from privlearn import Ledger
from privlearn._core.mechanisms import LAPLACE
from privlearn._core.norms import L1
from privlearn._core.plan import Plan, Release
from privlearn._core.problem import Adjacency, Budget
from privlearn.accounting import (
    ApproximateLoss,
    BoundedRange,
    Gaussian,
    GaussianMixture,
    Laplace,
    PureLoss,
    SampledGaussian,
    compose,
)
from privlearn.accounting.gaussian import equivalent_mu
from privlearn.exceptions import BudgetExceededError
from privlearn.ledger import filter as rules
from privlearn.ledger.dominate import dominating_mu, failure_mass
from privlearn.ledger.filter import GAUSSIAN, NOTHING, OPEN, PURE, WHOLE, Cost, Filter, kind_of

ISSUE = Budget(1.0, 1e-6)


# Profiles, independent of the code under test: delta at any real loss, and the loss distribution


def gaussian_delta(mu):
    def delta(loss):
        a, b = mu / 2 - loss / mu, -mu / 2 - loss / mu
        return np.exp(log_ndtr(a)) - np.exp(loss + log_ndtr(b))

    return delta


def pure_delta(epsilon):
    def delta(loss):
        inside = (math.exp(epsilon) - np.exp(loss)) / (math.exp(epsilon) + 1)
        return np.where(loss >= epsilon, 0.0, np.where(loss <= -epsilon, -np.expm1(loss), inside))

    return delta


def sampled_delta(rate, noise, leaves):
    """One Poisson-sampled Gaussian step, both directions, straight from its two laws."""
    grid = np.linspace(-15 * noise, 15 * noise + 1, 6001)
    width = grid[1] - grid[0]
    absent = norm.pdf(grid, scale=noise) * width
    there = (1 - rate) * absent + rate * norm.pdf(grid, 1.0, noise) * width
    p, q = (there, absent) if leaves else (absent, there)

    def delta(loss):
        loss = np.atleast_1d(loss)
        return np.array([np.maximum(p - math.exp(min(e, 600.0)) * q, 0).sum() for e in loss])

    return delta


def gaussian_losses(mu, points=8001, reach=11.0):
    x = np.linspace(-reach, reach, points)
    mass = norm.pdf(x) * (x[1] - x[0])
    return mu * mu / 2 + mu * x, mass


def pure_losses(epsilon):
    high = math.exp(epsilon) / (1 + math.exp(epsilon))
    return np.array([epsilon, -epsilon]), np.array([high, 1 - high])


def both(*laws):
    """Losses of independent releases."""
    loss, mass = laws[0]
    for other, more in laws[1:]:
        loss, mass = np.add.outer(loss, other).ravel(), np.multiply.outer(mass, more).ravel()
    return loss, mass


def adaptive_delta(seen, choices, epsilon):
    """E over the loss of what was seen of the best choice's delta for what is left of epsilon."""
    loss, mass = seen
    best = np.maximum.reduce([delta(epsilon - loss) for delta in choices])
    return float(np.sum(mass * best))


def pure_at_limit(mu):
    """The pure epsilon that takes a Gaussian leftover of mu."""
    half = norm.cdf(mu / 2)
    return math.log(half / (1 - half))


def left_after(first, budget, taken=NOTHING):
    filter_ = Filter(budget, GAUSSIAN)
    return filter_.mu(filter_.cap(first).square - taken.square)


# Two-stage adversaries


def test_the_old_rule_exceeds_delta_on_the_example_of_the_issue():
    first, whole = equivalent_mu(0.52, 1e-6), equivalent_mu(1.0, 1e-6)
    last = math.sqrt(whole**2 - first**2)  # a fit with epsilon = 0.83
    gaussian, pure = gaussian_delta(last), pure_delta(0.494)
    seen = gaussian_losses(first)
    for path in ([gaussian], [pure]):
        assert 0.99e-6 < adaptive_delta(seen, path, 1.0) <= 1.001e-6
    assert adaptive_delta(seen, [gaussian, pure], 1.0) > 1.9e-6
    new = pure_delta(pure_at_limit(left_after(((Gaussian(first), 1),), ISSUE)))
    assert adaptive_delta(seen, [gaussian, new], 1.0) <= 1.001e-6


BUDGETS = [Budget(1.0, 1e-6), Budget(0.3, 1e-8), Budget(4.0, 1e-5), Budget(0.05, 1e-4)]


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("share", [0.3, 0.9, 0.99])
def test_two_stages_after_a_gaussian(budget, share):
    whole = equivalent_mu(budget.epsilon, budget.delta)
    mu = share * whole
    left = left_after(((Gaussian(mu), 1),), budget)
    assert left == pytest.approx(math.sqrt(1 - share**2) * whole, rel=1e-3)
    choices = [gaussian_delta(left), pure_delta(pure_at_limit(left))]
    found = adaptive_delta(gaussian_losses(mu), choices, budget.epsilon)
    assert 0.99 * budget.delta < found <= budget.delta


@pytest.mark.slow
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("share", [0.1, 0.6, 0.95])
@pytest.mark.parametrize("rate", [0.001, 0.03])
def test_two_stages_with_sampled_choices(budget, share, rate):
    mu = share * equivalent_mu(budget.epsilon, budget.delta)
    left = left_after(((Gaussian(mu), 1),), budget)
    choices = [gaussian_delta(left), pure_delta(pure_at_limit(left))]
    choices.append(sampled_at_limit(left, rate, budget))
    found = adaptive_delta(gaussian_losses(mu, 2001), choices, budget.epsilon)
    assert 0.99 * budget.delta < found <= budget.delta


def test_two_stages_with_a_sampled_choice():
    test_two_stages_with_sampled_choices(ISSUE, 0.6, 0.01)


def sampled_at_limit(left, rate, budget):
    """A sampled step whose cost, by the filter, is all that is left."""
    slack = 2.0**-18 * budget.delta
    low, high = 1e-3, 1e3
    for _ in range(12):
        noise = math.sqrt(low * high)
        cheap = dominating_mu(((SampledGaussian(rate, noise), 1),), slack) <= left
        low, high = (low, noise) if cheap else (noise, high)
    there, gone = (sampled_delta(rate, high, leaves) for leaves in (True, False))
    return lambda loss: np.maximum(there(loss), gone(loss))


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_two_stages_after_a_pure_charge_with_the_kind_chosen_last(budget, share):
    """The second charge decides on the kind: the better of both, for each outcome of the first."""
    epsilon = share * budget.epsilon
    first = ((PureLoss(epsilon), 1),)
    assert kind_of(first, budget) == OPEN
    caps = [Filter(budget, kind).cap(first) for kind in (GAUSSIAN, PURE)]
    rest = (caps[1].loss / WHOLE - share) * budget.epsilon
    failure = caps[1].failure / WHOLE * budget.delta
    left = left_after(first, budget)
    failing = pure_delta(rest)
    choices = [
        gaussian_delta(left),
        pure_delta(pure_at_limit(left)),
        lambda loss: failure + (1 - failure) * failing(loss),
    ]
    found = adaptive_delta(pure_losses(epsilon), choices, budget.epsilon)
    aside = caps[0].failure / WHOLE * budget.delta
    assert 0.5 * budget.delta < found <= budget.delta - aside * (1 - 1e-6) + failure


@pytest.mark.parametrize("parts", [(0.5, 0.5), (0.2, 0.9), (0.9, 0.2)])
def test_three_stages(parts):
    """A Gaussian, then one of two charges that take a part, then the best that is left."""
    mu = 0.6 * equivalent_mu(1.0, 1e-6)
    first = ((Gaussian(mu), 1),)
    whole = left_after(first, ISSUE)
    ends = []
    for part, second in zip(parts, ("gaussian", "pure"), strict=True):
        share = part * whole
        left = math.sqrt(whole**2 - share**2)
        law = gaussian_losses(share, 801) if second == "gaussian" else pure_losses(
            pure_at_limit(share)
        )  # fmt: skip
        last = [gaussian_delta(left), pure_delta(pure_at_limit(left))]
        ends.append(lambda loss, law=law, last=last: third_stage(loss, law, last))
    found = adaptive_delta(gaussian_losses(mu, 801), ends, 1.0)
    assert 0.9e-6 < found <= 1e-6


def third_stage(rest, law, choices):
    loss, mass = law
    best = np.maximum.reduce([delta(np.subtract.outer(rest, loss)) for delta in choices])
    return best @ mass


# What a ledger accepts


def accepted_pure(first, budget):
    """The largest pure loss that the filter accepts after a first charge, by halving."""
    filter_ = Filter(budget, GAUSSIAN)
    low, high = 0.0, 2 * budget.epsilon
    for _ in range(40):
        middle = (low + high) / 2
        cost = filter_.cost(((PureLoss(middle), 1),), 0, first)
        low, high = (middle, high) if cost.within(filter_.cap(first)) else (low, middle)
    return low


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_what_is_accepted_at_the_limit_keeps_delta(share):
    mu = share * equivalent_mu(1.0, 1e-6)
    first = ((Gaussian(mu), 1),)
    choices = [gaussian_delta(left_after(first, ISSUE)), pure_delta(accepted_pure(first, ISSUE))]
    assert 0.99e-6 < adaptive_delta(gaussian_losses(mu), choices, 1.0) <= 1e-6


SMALL = {
    "pure": lambda size: (PureLoss(size), 1),
    "laplace": lambda size: (Laplace(size), 1),
    "bounded range": lambda size: (BoundedRange(size), 1),
    "sampled": lambda size: (SampledGaussian(0.02, 0.1 / size), 20),
}


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.slow] * (kind == "sampled")) for kind in SMALL]
)
@pytest.mark.parametrize("share", [0.1, 0.6])
def test_many_small_charges_at_the_limit_keep_delta(kind, share):
    """40 charges that fill what is left by the filter, composed exactly."""
    times = 40
    first = ((Gaussian(share * equivalent_mu(1.0, 1e-6)), 1),)
    filter_ = Filter(ISSUE, GAUSSIAN)
    cap = filter_.cap(first).square // times
    low, high = 1e-4, 1.0
    for _ in range(12):
        middle = math.sqrt(low * high)
        cheap = filter_.cost((SMALL[kind](middle),), times - 1, first).square <= cap
        low, high = (middle, high) if cheap else (low, middle)
    pair, count = SMALL[kind](low)
    found = compose((*first, (pair, times * count))).delta(1.0)
    assert found <= 1e-6
    assert found > 1e-11


def test_the_ledger_refuses_the_example_of_the_issue(tmp_path):
    ledger = Ledger.create(tmp_path / "a.ledger", epsilon=1, delta=1e-6)
    scale = 1 / equivalent_mu(0.52, 1e-6)
    ledger.charge(Plan((Release("sum", (3,), clip=1.0),), Adjacency.ZERO_OUT, scale, 100), "d")
    release = Release("count", (1,), clip=1.0, norm=L1, mechanism=LAPLACE)
    with pytest.raises(BudgetExceededError):
        ledger.charge(Plan((release,), Adjacency.ZERO_OUT, 1 / 0.49, 100), "d")


# The dominating Gaussian


PLANS = [
    ((SampledGaussian(0.01, 1.0), 100),),
    ((SampledGaussian(0.3, 3.0), 20),),
    ((SampledGaussian(0.05, 3.0, True), 30), (Laplace(0.02), 4)),
    ((Laplace(0.1), 3),),
    ((BoundedRange(0.1), 5),),
    ((PureLoss(0.05), 4), (Gaussian(0.02), 1)),
    ((GaussianMixture((0.1, 0.2, 0.5), (0.9, 0.09, 0.01 - 1e-12)), 2),),
]


@pytest.mark.slow
@pytest.mark.parametrize("terms", PLANS, ids=lambda terms: type(terms[0][0]).__name__)
@pytest.mark.parametrize("slack", [1e-8, 1e-12])
def test_the_gaussian_dominates_everywhere(terms, slack):
    mu = dominating_mu(terms, slack)
    whole, lost = compose(terms), slack + failure_mass(terms)
    top = min(whole.largest_loss, whole.epsilon(max(slack, 1e-11) + failure_mass(terms) * 1.1))
    for loss in np.linspace(0.0, top, 23):
        allowed = lost + (1 - lost) * float(gaussian_delta(mu)(loss))
        assert whole.delta(float(loss)) <= allowed * (1 + 1e-3) + 1e-15
    # and hardly a smaller one does
    smaller = gaussian_delta(0.96 * mu)
    assert any(
        whole.delta(float(loss)) > lost + (1 - lost) * float(smaller(loss))
        for loss in np.linspace(0.0, top, 101)
    )


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 3.0])
def test_a_pure_loss_costs_the_gaussian_of_equal_distance(epsilon):
    wanted = 2 * norm.ppf(math.exp(epsilon) / (1 + math.exp(epsilon)))
    assert dominating_mu(((PureLoss(epsilon), 1),), 0.0) == pytest.approx(wanted, rel=1e-9)


def test_without_slack_sampling_amplifies_nothing():
    assert math.isinf(dominating_mu(((SampledGaussian(0.01, 1.0), 3),), 0.0))


# Caps and sums


def test_gaussian_histories_keep_their_cost():
    filter_ = Filter(ISSUE, GAUSSIAN)
    mu = equivalent_mu(1.0, 1e-6)
    first = ((Gaussian(mu / 2), 1),)
    later = filter_.cost(((Gaussian(mu / 2 * (1 - 2e-6)), 3),), 0, first)
    assert later.within(filter_.cap(first))
    assert filter_.spent(first, later) == pytest.approx(1.0, rel=1e-5)
    assert filter_.spent(first, NOTHING) == pytest.approx(compose(first).epsilon(1e-6), rel=1e-9)


def test_what_is_left_follows_from_the_first_charge_alone():
    first = ((SampledGaussian(0.01, 2.0), 300),)
    filter_ = Filter(ISSUE, GAUSSIAN)
    cap = filter_.cap(first)
    whole = compose((*first, (Gaussian(filter_.mu(cap.square)), 1)))
    aside = cap.failure / WHOLE
    assert whole.delta(1.0) <= 1e-6 * (1 - aside) * (1 + 1e-3)
    assert whole.delta(1.0) > 0.98e-6 * (1 - aside)


def test_slack_never_runs_out_before_a_hundred_thousand_charges():
    for first in (((Gaussian(0.1), 1),), ((SampledGaussian(0.01, 2.0), 300),)):
        cap = Filter(ISSUE, GAUSSIAN).cap(first).failure
        total = sum(rules._slack(number, first) for number in range(1, 20_001))
        assert total <= cap
        assert rules._slack(100_000, first) * 100_000 < cap / 50


def test_failures_enter_the_sum():
    filter_, first = Filter(ISSUE, GAUSSIAN), ((Gaussian(0.1), 1),)
    cost = filter_.cost(((ApproximateLoss(0.001, 1e-8), 1),), 0, first)
    assert cost.failure >= 0.01 * WHOLE
    assert not cost.within(filter_.cap(first))
    assert filter_.cost(((PureLoss(0.001), 1),), 0, first).within(filter_.cap(first))


def test_ten_pure_charges_of_a_tenth_fill_a_budget_of_one():
    filter_ = Filter(ISSUE, PURE)
    first = ((PureLoss(0.1), 1),)
    taken = filter_.first_cost(first)
    for _ in range(9):
        taken = taken + filter_.cost(first, 0, first)
    assert taken.within(filter_.cap(first))
    assert not (taken + filter_.cost(((PureLoss(1e-9), 1),), 0, first)).within(filter_.cap(first))


def test_sums_are_exact_whatever_the_order():
    costs = [Cost(k * k, k, 3 * k) for k in range(50)]
    assert sum(costs, NOTHING) == sum(reversed(costs), NOTHING)
