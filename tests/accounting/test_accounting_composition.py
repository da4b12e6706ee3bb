"""Compositions against exact references: never below the truth, and within 0.1 % of epsilon."""

import itertools
import math

import accounting_reference as reference
import numpy as np
import pytest
from scipy import stats

from privlearn.accounting import (
    BoundedRange,
    Gaussian,
    GaussianMixture,
    Laplace,
    PureLoss,
    SampledGaussian,
    compose,
    pld,
    smallest_scale,
)
from privlearn.accounting.directed import directions

RATES = (1e-4, 1e-3, 1e-2, 0.1, 0.5, 0.9, 0.999)
PROMISES = tuple(itertools.product((0.01, 0.1, 1.0, 5.0, 20.0), (1e-10, 1e-5, 1e-3)))


def builder(pair, kind):
    if isinstance(pair, SampledGaussian):
        kind = "replace" if pair.replace else kind
        return reference.sampled(pair.rate, pair.noise_multiplier, kind)
    if isinstance(pair, Gaussian):
        return reference.gaussian(pair.mu)
    if isinstance(pair, GaussianMixture):
        return reference.mixture(pair.mus, pair.weights)
    shapes = {
        Laplace: reference.laplace,
        PureLoss: reference.pure,
        BoundedRange: reference.bounded_range,
    }
    return shapes[type(pair)](pair.epsilon)


def true_delta(terms, epsilon):
    """The exact delta; a direction that the reference cannot resolve is left out (too small)."""
    found = []
    for kind in ("there", "gone"):
        try:
            found.append(
                reference.inverted_delta([(builder(p, kind), n) for p, n in terms], epsilon)
            )
        except reference.UnresolvedError:
            continue
    return max(found)


def excess(terms, epsilon):
    """How far the reported epsilon lies above the true one at the same delta, relative."""
    reported = compose(terms).delta(epsilon)
    true, shifted = true_delta(terms, epsilon), true_delta(terms, epsilon * 1.001)
    slope = math.log(true / shifted) / 0.001
    return math.log(reported / true) / slope


def demand(terms, epsilon):
    assert -1e-8 < excess(terms, epsilon) < 1e-3


def check_promise(rate, steps, replace, epsilon, delta):
    def plan(noise):
        return [(SampledGaussian(rate, noise, replace), steps)]

    demand(plan(smallest_scale(plan, epsilon, delta)), epsilon)


STEPS = [(rate, 100_000) for rate in RATES] + [(0.01, 1000), (0.3, 1000), (0.5, 30), (0.97, 100)]
SAMPLED = list(itertools.product(STEPS, (False, True), PROMISES))


@pytest.mark.parametrize(("step", "replace", "promise"), SAMPLED[::23])
def test_sampled_steps_are_never_below_and_within_a_thousandth(step, replace, promise):
    check_promise(*step, replace, *promise)


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
def test_sampled_steps_in_full(step):
    for replace, (epsilon, delta) in itertools.product((False, True), PROMISES[::2]):
        check_promise(*step, replace, epsilon, delta)


MIXED = [
    [(Gaussian(0.3), 1), (SampledGaussian(0.01, 1.0), 1000)],
    [
        (SampledGaussian(0.01, 1.0), 1000),
        (Gaussian(0.3), 1),
        (Laplace(0.1), 3),
        (BoundedRange(0.1), 10),
        (GaussianMixture((0.0, 0.1, 0.2), (0.5, 0.3, 0.2)), 2),
    ],
    [(SampledGaussian(0.02, 1.2, True), 500), (PureLoss(0.2), 4), (Laplace(0.5), 1)],
    [(SampledGaussian(0.02, 1.2), 500), (SampledGaussian(0.3, 9.0), 40), (PureLoss(0.05), 7)],
    [(GaussianMixture((0.0, 0.2, 0.4), (0.6, 0.3, 0.1)), 30)],
    [(BoundedRange(0.1), 10)],
    [(BoundedRange(0.3), 40), (Gaussian(0.2), 5)],
    [(Laplace(0.05), 200), (Gaussian(0.1), 1)],
]


@pytest.mark.parametrize(
    "terms",
    [MIXED[0], *(pytest.param(terms, marks=pytest.mark.slow) for terms in MIXED[1:])],
    ids=range(len(MIXED)),
)
def test_mixed_plans(terms):
    composition = compose(terms)
    for delta in (1e-10, 1e-6, 1e-3):
        epsilon = composition.epsilon(delta)
        assert composition.delta(epsilon) <= delta
        demand(terms, epsilon)


@pytest.mark.parametrize("kind", ["there", "replace"])
@pytest.mark.parametrize(("rate", "noise"), [(1e-4, 0.4), (0.03, 0.9), (0.5, 3.0)])
def test_two_steps_by_quadrature(rate, noise, kind):
    composition = compose([(SampledGaussian(rate, noise, kind == "replace"), 2)])
    kinds = ("replace",) if kind == "replace" else ("there", "gone")
    for delta in (1e-3 * rate, 1e-7):
        epsilon = composition.epsilon(delta)

        def truth(x):
            return max(reference.two_step_delta(rate, noise, name, x) for name in kinds)

        assert truth(epsilon) <= delta * (1 + 1e-9)
        assert truth(epsilon * (1 - 1e-3)) > delta


@pytest.mark.parametrize("loss", [0.0, 0.4, 1.3, 1.9])
def test_two_laplace_releases_are_exact(loss):
    exact = reference.two_laplace_delta(1.0, loss)
    found = compose([(Laplace(1.0), 2)]).delta(loss)
    assert exact <= found <= exact * (1 + 1e-3)


@pytest.mark.parametrize("count", [3, 10, 200])
def test_pure_losses_are_binomial(count):
    step = 0.07
    k = np.arange(count + 1)
    mass = stats.binom.pmf(k, count, 1 / (1 + math.exp(-step)))
    composition = compose([(PureLoss(step), count)])
    assert composition.epsilon(0.0) == pytest.approx(count * step, rel=1e-12)
    assert composition.delta(count * step) == 0
    for share in (0.05, 0.3, 0.6):
        epsilon = share * count * step
        exact = mass @ np.maximum(-np.expm1(epsilon - (2 * k - count) * step), 0)
        assert exact <= composition.delta(epsilon) * (1 + 1e-12)
        assert composition.delta(epsilon) <= exact * (1 + 1e-3)


def test_pure_sums():
    plan = compose([(PureLoss(0.1), 3), (Laplace(0.25), 2), (BoundedRange(0.5), 1)])
    assert plan.epsilon(0.0) == pytest.approx(1.3, rel=1e-12)
    assert plan.epsilon(1e-12) <= plan.epsilon(0.0)
    assert compose([(PureLoss(0.1), 3), (Gaussian(1e-3), 1)]).epsilon(0.0) == math.inf
    assert compose([]).epsilon(0.0) == 0
    assert compose([]).delta(0.0) == 0


def test_bounded_range_costs_less_than_its_sum():
    assert compose([(BoundedRange(0.1), 10)]).epsilon(1e-6) == pytest.approx(0.69, abs=0.005)
    assert compose([(PureLoss(0.1), 10)]).epsilon(1e-6) > 0.95


def test_the_wrong_pair_is_told_apart():
    """replace_one with the add_remove pair, or with twice the noise, is not the same promise."""
    right = compose([(SampledGaussian(0.01, 1.0, replace=True), 1000)]).epsilon(1e-6)
    wrong = compose([(SampledGaussian(0.01, 1.0), 1000)]).epsilon(1e-6)
    doubled = compose([(SampledGaussian(0.01, 0.5), 1000)]).epsilon(1e-6)
    assert wrong < 0.8 * right
    assert abs(doubled - right) > 0.2 * right


@pytest.mark.parametrize("kind", ["there", "gone"])
@pytest.mark.parametrize(("rate", "noise", "steps"), [(0.3, 2.0, 50), (0.05, 0.9, 400)])
def test_each_direction_by_itself(rate, noise, steps, kind):
    direction = directions(SampledGaussian(rate, noise))[("there", "gone").index(kind)]
    build = reference.sampled(rate, noise, kind)
    for epsilon in (0.1, 0.7, 2.0):
        found = pld._one_direction([(direction, steps)], epsilon, pld.FINE, 0.0, 0.0).delta
        exact = reference.inverted_delta([(build, steps)], epsilon)
        shifted = reference.inverted_delta([(build, steps)], epsilon * 0.999)
        assert exact * (1 - 1e-8) <= found <= shifted


def test_the_worse_direction_is_reported(monkeypatch):
    """Turning both directions round must not change a thing."""
    terms = ((SampledGaussian(0.3, 2.0), 50),)
    expected = pld.evaluate(terms, 0.7)
    monkeypatch.setattr(pld, "directions", lambda pair: directions(pair)[::-1])
    assert pld.evaluate(terms, 0.7).delta == pytest.approx(expected.delta, rel=1e-6)


def test_monotone_in_everything():
    def delta(epsilon=1.0, rate=0.02, noise=1.1, steps=300, replace=False):
        return compose([(SampledGaussian(rate, noise, replace), steps)]).delta(epsilon)

    for name, values in {
        "epsilon": (0.0, 0.02, 0.3, 1.0, 2.5, 6.0),
        "noise": (0.5, 0.8, 1.1, 1.12, 3.0, 40.0),
    }.items():
        found = [delta(**{name: value}) for value in values]
        assert found == sorted(found, reverse=True)
        assert found[0] > found[-1]
    for name, values in {
        "rate": (1e-4, 1e-3, 0.02, 0.021, 0.4, 1.0),
        "steps": (1, 2, 10, 300, 306, 50_000),
    }.items():
        found = [delta(**{name: value}) for value in values]
        assert found == sorted(found)
        assert found[0] < found[-1]
    assert delta(replace=True) > delta()


def test_order_and_grouping_do_not_matter():
    a, b, c = (SampledGaussian(0.1, 2.0), 30), (Laplace(0.1), 2), (Gaussian(0.2), 3)
    first = compose([a, b, c])
    second = compose([c, (a[0], 10), b, (a[0], 20)])
    assert first == second
    assert hash(first) == hash(second)
    assert first.delta(1.0) == second.delta(1.0)


def test_very_small_and_very_large_deltas():
    plan = [(SampledGaussian(0.05, 2.0), 200)]
    composition = compose(plan)
    for epsilon in (0.0, 1e-4, 12.0):
        assert composition.delta(epsilon) == pytest.approx(true_delta(plan, epsilon + 1e-15), 3e-3)
    assert composition.delta(12.0) < 1e-90
    assert composition.delta(1e4) < 1e-290
    assert compose([(SampledGaussian(0.02, 40.0), 300)]).delta(1.0) < 1e-290
    loud = compose([(SampledGaussian(0.9, 0.2), 50)])
    assert 1 - 1e-9 < loud.delta(20.0) <= 1
    assert loud.epsilon(1.0) == 0
    assert composition.epsilon(0.99) == 0


def test_a_row_that_is_hardly_sampled_is_hardly_seen():
    silent = compose([(SampledGaussian(1e-4, 1e-5), 10)])
    assert silent.delta(5.0) == pytest.approx(1 - (1 - 1e-4) ** 10, rel=1e-12)
    nearly = compose([(SampledGaussian(1e-4, 0.05), 10)])
    assert nearly.delta(5.0) <= silent.delta(5.0)


def test_stated_errors():
    composition = compose([(SampledGaussian(0.01, 1.0), 1000)])
    assert composition.error.rounding > 0  # before any evaluation: at delta = 1e-6
    delta = composition.delta(2.0)
    error = composition.error
    assert 0 < error.discretisation < 1e-3 * 2.0
    assert error.discretisation < error.discretisation_bound < 0.5
    assert error.truncation < 1e-4 * delta
    assert error.rounding < 1e-3 * delta
    true = true_delta([(SampledGaussian(0.01, 1.0), 1000)], 2.0)
    assert delta - error.truncation - error.rounding >= true * (1 - 1e-8)
    shifted = true_delta([(SampledGaussian(0.01, 1.0), 1000)], 2.0 - error.discretisation_bound)
    assert delta <= 1.002 * shifted
    assert compose([(Gaussian(1.0), 3)]).error.discretisation == 0


def test_sums_at_delta_zero_are_rounded_up():
    from fractions import Fraction

    for epsilon, count in ((0.1, 10), (0.3, 7), (1 / 3, 99)):
        promised = compose([(PureLoss(epsilon), count)]).epsilon(0.0)
        assert Fraction(promised) >= Fraction(epsilon) * count
        assert promised == pytest.approx(count * epsilon, rel=1e-15)


def test_a_wide_release_beside_many_narrow_ones_is_refined():
    """The first grid fits the wide one and hides the others; dp_accounting says 1.81864."""
    terms = [(Gaussian(0.35), 1), (SampledGaussian(0.003, 2.0), 18_000)]
    assert 1.8186 < compose(terms).epsilon(1e-6) < 1.8195
