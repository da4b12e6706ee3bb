"""The running bound of a ledger: never below the exact price, and close to it."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import gammaln, logsumexp
from scipy.stats import norm

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
from privlearn.accounting.composition import evaluate
from privlearn.ledger import price
from privlearn.ledger.bound import Orders
from privlearn.ledger.moments import log_moments, lost_mass
from privlearn.ledger.serial import pair_from_text, pair_to_text, terms_from_text, terms_to_text
from privlearn.problem import Budget

PAIRS = [
    Gaussian(0.1 + 0.2),
    SampledGaussian(0.003, 2.0),
    SampledGaussian(1 / 3, 0.7, replace=True),
    Laplace(0.1),
    PureLoss(1e-9),
    ApproximateLoss(0.3, 1e-7),
    BoundedRange(math.pi),
    GaussianMixture((0.1, 0.7), (0.25, 0.5)),
]
T = np.array([0.4, 1.0, 2.0, 5.0, 17.3, 60.0])


# Moments


def moment(pair, t):
    """log E[exp(t L)], through exact expectations with nothing in common with the code."""
    if isinstance(pair, Laplace):
        e = pair.epsilon  # Mironov 2017, proposition 6
        return np.log(
            (t + 1) / (2 * t + 1) * np.exp(t * e) + t / (2 * t + 1) * np.exp(-(t + 1) * e)
        )
    if isinstance(pair, PureLoss):
        e = pair.epsilon
        return np.logaddexp(e + t * e, -t * e) - np.log1p(np.exp(e))
    law = compose([(pair, 1)])

    def density(loss):  # t (t + 1) integral of e^(t l) delta(l), and of the reversed pair below 0
        return (math.exp(t * loss) + math.exp(-(t + 1) * loss)) * law.delta(loss)

    area = quad(density, 0, pair.epsilon, epsabs=0, epsrel=1e-10)[0]
    return math.log1p(t * (t + 1) * area)


@pytest.mark.parametrize(
    "pair",
    [kind(e) for kind in (Laplace, PureLoss, BoundedRange) for e in (0.01, 0.5, 4.0)],
    ids=str,
)
def test_moments_of_bounded_losses(pair):
    found = log_moments(((pair, 1),), T, T * math.inf)
    for t, value in zip(T, found, strict=True):
        wanted = moment(pair, t)
        assert wanted - 1e-15 <= value
        assert value <= wanted * (1 + 1e-8) + 1e-12 or t * pair.epsilon > 60
        assert value <= t * pair.epsilon * (1 + 1e-9)


@pytest.mark.parametrize(("rate", "noise"), [(0.003, 2.0), (0.1, 1.0), (0.001, 0.5), (0.5, 10.0)])
def test_moments_of_sampled_gaussians(rate, noise):
    """Integer orders have a binomial sum (Mironov, Talwar and Zhang 2019, equation 10)."""
    for t in (1, 2, 5, 40):
        k = np.arange(t + 2)
        terms = gammaln(t + 2) - gammaln(k + 1) - gammaln(t + 2 - k) + (k * k - k) / 2 / noise**2
        wanted = logsumexp(terms + (t + 1 - k) * math.log1p(-rate) + k * math.log(rate))
        (value,) = log_moments(((SampledGaussian(rate, noise), 1),), np.array([t]), np.array([1e9]))
        assert wanted * (1 - 1e-9) - 1e-14 <= value <= wanted * (1 + 1e-9) + 3e-13


@pytest.mark.parametrize("replaced", [False, True])
@pytest.mark.parametrize(("rate", "noise"), [(0.01, 2.0), (0.2, 1.0), (0.6, 3.0)])
def test_moments_cover_both_directions_of_sampling(rate, noise, replaced):
    def ratio(x, sign=1):
        return math.log1p(rate * math.expm1((sign * x - 0.5) / noise**2))

    for t in (0.4, 3.0, 8.0):
        (value,) = log_moments(
            ((SampledGaussian(rate, noise, replaced), 1),), np.array([t]), np.array([1e9])
        )
        for there in (True, False):

            def density(x, t=t, there=there):
                if replaced:
                    exponent = (t + 1) * ratio(x) - t * ratio(x, -1)
                else:
                    exponent = (t + 1) * ratio(x) if there else -t * ratio(x)
                return math.exp(norm.logpdf(x, scale=noise) + exponent)

            wanted = quad(density, -12 * noise, 40 * noise + 20, limit=400, epsabs=0)[0]
            assert math.log(wanted) <= value + 1e-11
            if there:
                assert value == pytest.approx(math.log(wanted), rel=1e-7, abs=1e-11)


def test_mixtures_keep_what_they_lose_apart():
    mixture = GaussianMixture((0.1, 0.3), (0.5, 0.499))
    assert lost_mass(((mixture, 3),)) == pytest.approx(0.003)
    (value,) = log_moments(((mixture, 1),), np.array([4.0]), np.array([1e9]))
    assert value == pytest.approx(math.log(0.5 * math.exp(0.1) + 0.499 * math.exp(0.9)))


# The bound


def random_terms(rng, count):
    kinds = [
        lambda: (Gaussian(rng.uniform(0.005, 0.05)), int(rng.integers(1, 9))),
        lambda: (SampledGaussian(rng.choice([0.001, 0.01]), rng.uniform(1.5, 5)), 300),
        lambda: (SampledGaussian(0.01, rng.uniform(3, 6), True), 100),
        lambda: (Laplace(rng.uniform(0.002, 0.05)), int(rng.integers(1, 9))),
        lambda: (PureLoss(rng.uniform(0.002, 0.03)), 3),
        lambda: (BoundedRange(rng.uniform(0.002, 0.05)), 3),
        lambda: (GaussianMixture((0.01, 0.05), (0.5, 0.5 - 1e-10)), 2),
    ]
    return tuple(kinds[rng.integers(len(kinds))]() for _ in range(count))


def exact(terms, budget):
    """delta at the budget's epsilon, in the finest way."""
    return evaluate(price.balanced(compose(terms).terms), budget.epsilon).delta


def bound(account):
    return math.exp(account.log_delta().min()) + account.lost


@pytest.mark.parametrize("seed", range(5))
def test_bound_is_above_the_exact_price_with_and_without_checkpoint(seed):
    rng = np.random.default_rng(seed)
    past, more = random_terms(rng, 3), random_terms(rng, 1)
    epsilon = price.epsilon(past + more, Budget(1.0, 1e-6), rough=True)
    budget = Budget(epsilon, 1e-6)
    orders = Orders.of(budget)
    account = orders.fresh().after(orders.moments(past), lost_mass(past))
    now = exact(past, budget)
    assert now <= bound(account) * (1 + 1e-9)
    tilt = orders.t[account.log_delta().argmin()]
    checked = account.checked(orders, price.curve(past, budget, tilt))
    assert now <= bound(checked) * (1 + 1e-9) <= bound(account) * (1 + 1e-8)
    after = checked.after(orders.moments(more), lost_mass(more))
    assert exact(past + more, budget) <= bound(after) * (1 + 1e-9)


def test_a_checkpoint_makes_the_bound_nearly_exact():
    past = ((Gaussian(0.15), 1), (SampledGaussian(0.003, 2.0), 6000), (Laplace(0.02), 9))
    budget = Budget(price.epsilon(past, Budget(1.0, 1e-6)), 1e-6)
    orders = Orders.of(budget)
    account = orders.fresh().after(orders.moments(past), 0.0)
    tilt = orders.t[account.log_delta().argmin()]
    checked = account.checked(orders, price.curve(past, budget, tilt))
    now = exact(past, budget)
    assert bound(account) > 4 * now
    assert bound(checked) < 1.4 * now


def test_moments_that_are_too_small_would_be_noticed():
    """The tests above can fail: nine tenths of the moments give a bound below the truth."""
    budget = Budget(1.0, 1e-6)
    orders = Orders.of(budget)
    past = ((Gaussian(0.3), 1),)
    account = orders.fresh().after(0.7 * orders.moments(past), 0.0)
    assert exact(past, budget) > bound(account)


# Exact prices in bounded time


def test_many_pairs_are_rounded_to_the_private_side():
    noise = np.random.default_rng(0).uniform(2, 3, 40)
    terms = tuple((SampledGaussian(0.003, float(z)), 600) for z in noise)
    few = price.composed(terms)
    assert len(few.terms) <= price.MANY < len(compose(terms).terms)
    truth = compose(terms).delta(0.8)
    assert truth <= few.delta(0.8) <= 1.3 * truth


def test_joined_pairs_cost_at_least_as_much_in_every_way():
    pairs = [
        SampledGaussian(0.1, 2.0), SampledGaussian(0.2, 3.0), SampledGaussian(0.1, 2.0, True),
        SampledGaussian(0.1, 2.5, True), Laplace(0.1), Laplace(0.2), PureLoss(0.3), PureLoss(0.2),
        BoundedRange(0.1), BoundedRange(0.5), Gaussian(0.2), GaussianMixture((0.1,), (0.9,)),
    ]  # fmt: skip
    found = 0
    for first in pairs:
        for second in pairs:
            joined = price._joined((first, 2), (second, 3))
            if joined is None:
                continue
            found += 1
            pair, count = joined
            assert count == 5
            for loss in (0.0, 0.05, 0.15):
                worst = max(compose([(one, 1)]).delta(loss) for one in (first, second))
                assert compose([(pair, 1)]).delta(loss) >= worst
    assert found == 5 * 4  # within each of five families, and nothing across


def test_one_wide_gaussian_among_many_narrow_steps():
    """Composed in pieces the price is below the sum of the two, as it must be."""
    wide, narrow = (Gaussian(0.35), 1), (SampledGaussian(0.003, 2.0), 18000)
    budget = Budget(5.0, 1e-6)
    together = price.epsilon((wide, narrow), budget)
    assert 1.81 < together < 1.83
    assert together < compose([wide]).epsilon(1e-6) + compose([narrow]).epsilon(1e-6)


def test_price_agrees_with_the_accountant():
    terms = ((SampledGaussian(0.01, 1.0), 500), (Laplace(0.1), 3))
    wanted = compose(terms).epsilon(1e-5)
    assert wanted * (1 - 1e-4) <= price.epsilon(terms, Budget(9.0, 1e-5)) <= wanted * 1.001


# What is written down


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: type(pair).__name__)
def test_pairs_come_back_to_the_last_bit(pair):
    assert pair_from_text(pair_to_text(pair)) == pair
    assert terms_from_text(terms_to_text([(pair, 7)])) == ((pair, 7),)


def test_every_kind_of_pair_is_written():
    from typing import get_args

    from privlearn.accounting import Pair

    assert {type(pair) for pair in PAIRS} == set(get_args(Pair))
    with pytest.raises(TypeError, match="cannot write down"):
        pair_to_text("a text")
