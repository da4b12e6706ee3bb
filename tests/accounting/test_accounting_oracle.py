"""Against dp_accounting at converged grids: an independent implementation of the same theory.

Its connect-the-dots estimates are pessimistic and fall with the grid step h, at least linearly, so
the truth lies between 2 e(h/2) - e(h) and e(h/2). Its optimistic estimate (privacy buckets) is a
second, looser lower bound.
"""

import pytest

from privlearn.accounting import Gaussian, Laplace, PureLoss, SampledGaussian, compose

pytest.importorskip("dp_accounting", reason="dp_accounting is an optional test oracle")
from dp_accounting import privacy_accountant
from dp_accounting.pld import privacy_loss_distribution as oracle

RELATION = {
    False: privacy_accountant.NeighboringRelation.ADD_OR_REMOVE_ONE,
    True: privacy_accountant.NeighboringRelation.REPLACE_ONE,
}
NOISE = 1e-5  # relative; the oracle's own truncations and roundings


def theirs(terms, interval, pessimistic=True):
    total = None
    for pair, count in terms:
        settings = {
            "value_discretization_interval": interval,
            "pessimistic_estimate": pessimistic,
            "use_connect_dots": pessimistic,
        }
        if isinstance(pair, Gaussian):
            part = oracle.from_gaussian_mechanism(1 / pair.mu, **settings)
        elif isinstance(pair, SampledGaussian):
            part = oracle.from_gaussian_mechanism(
                pair.noise_multiplier,
                sampling_prob=pair.rate,
                neighboring_relation=RELATION[pair.replace],
                **settings,
            )
        elif isinstance(pair, Laplace):
            part = oracle.from_laplace_mechanism(1 / pair.epsilon, **settings)
        else:
            part = oracle.from_privacy_parameters(
                privacy_loss_distribution_parameters(pair), value_discretization_interval=interval
            )
        part = part.self_compose(count)
        total = part if total is None else total.compose(part)
    return total


def privacy_loss_distribution_parameters(pair):
    from dp_accounting.pld import common

    return common.DifferentialPrivacyParameters(pair.epsilon)


def bracket(terms, interval, deltas, ours):
    coarse, fine = theirs(terms, interval), theirs(terms, interval / 2)
    for delta in deltas:
        high = fine.get_epsilon_for_delta(delta)
        low = 2 * high - coarse.get_epsilon_for_delta(delta)
        assert high - low < 5e-4 * high, "the oracle's grid has not converged"
        found = ours.epsilon(delta)
        assert found >= low * (1 - NOISE)
        assert found <= high * (1 + 1e-3)


QUICK = [([(SampledGaussian(0.01, 1.0), 1000)], 4e-4), ([(Laplace(0.2), 30)], 1e-4)]
PLANS = [
    ([(SampledGaussian(0.01, 1.0), 1000)], 2e-4),
    ([(SampledGaussian(0.01, 1.0, True), 1000)], 2e-4),
    ([(SampledGaussian(0.001, 0.7), 1000)], 8e-5),
    ([(SampledGaussian(0.001, 0.8, True), 1000)], 8e-5),
    ([(SampledGaussian(0.2, 3.0), 300)], 4e-4),
    ([(SampledGaussian(0.9, 5.0), 20)], 1e-3),
    ([(SampledGaussian(0.05, 0.5), 2)], 1e-3),
    ([(SampledGaussian(0.05, 0.6, True), 5)], 1e-3),
    ([(SampledGaussian(0.005, 1.0), 20_000)], 1e-4),
    ([(Laplace(0.05), 200)], 1e-4),
    ([(PureLoss(0.1), 40), (Laplace(0.2), 5)], 1e-4),
    ([(SampledGaussian(0.02, 1.2), 500), (Gaussian(0.3), 2), (Laplace(0.1), 3)], 2e-4),
    ([(SampledGaussian(0.02, 1.2, True), 500), (Gaussian(0.2), 1), (PureLoss(0.1), 3)], 2e-4),
]


@pytest.mark.parametrize(("terms", "interval"), QUICK, ids=range(len(QUICK)))
def test_two_plans(terms, interval):
    bracket(terms, interval, (1e-6,), compose(terms))


@pytest.mark.slow
@pytest.mark.parametrize(("terms", "interval"), PLANS, ids=range(len(PLANS)))
def test_many_plans(terms, interval):
    bracket(terms, interval, (1e-10, 1e-6, 1e-3), compose(terms))


@pytest.mark.slow
@pytest.mark.parametrize("replace", [False, True])
def test_optimistic_bound(replace):
    terms = [(SampledGaussian(0.01, 1.0, replace), 1000)]
    low = theirs(terms, 2e-5, pessimistic=False)
    for delta in (1e-8, 1e-4):
        assert compose(terms).epsilon(delta) >= low.get_epsilon_for_delta(delta)


@pytest.mark.slow
def test_the_oracle_tells_a_wrong_pair_apart():
    terms = [(SampledGaussian(0.01, 1.0, True), 1000)]
    with pytest.raises(AssertionError):
        bracket(terms, 4e-4, (1e-6,), compose([(SampledGaussian(0.01, 1.0), 1000)]))
    with pytest.raises(AssertionError):
        bracket(terms, 4e-4, (1e-6,), compose([(SampledGaussian(0.01, 0.5, True), 1000)]))
    with pytest.raises(AssertionError):
        bracket(terms, 4e-4, (1e-6,), compose([(SampledGaussian(0.01, 1.0, True), 1002)]))
