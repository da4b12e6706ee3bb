"""Profiles of single releases against 50-digit integrals, and their stated rounding bounds."""

import math

import mpmath as mp
import numpy as np
import pytest

from privlearn.accounting import (
    BoundedRange,
    Gaussian,
    GaussianMixture,
    Laplace,
    PureLoss,
    SampledGaussian,
    compose,
)
from privlearn.accounting.directed import directions
from privlearn.accounting.profiles import gaussian_profile, gaussian_rounding

SAMPLED = [
    (rate, noise, replace)
    for rate in (1e-4, 0.03, 0.5, 0.999)
    for noise in (0.2, 0.9, 9.9, 1e4)
    for replace in (False, True)
]


def mp_gauss(epsilon, mu):
    a = mu / 2 - epsilon / mu
    return mp.ncdf(a) - mp.exp(epsilon) * mp.ncdf(a - mu)


def mp_sampled(rate, noise, kind, loss):
    """P(L > loss) - e^loss Q(L > loss), the output threshold found by bisection of the ratio."""
    q, mu, loss = mp.mpf(rate), 1 / mp.mpf(noise), mp.mpf(loss)

    def mixture_tail(v, sign):
        return (1 - q) * mp.ncdf(-v) + q * mp.ncdf(sign * mu - v)

    def ratio(v, sign):
        return 1 - q + q * mp.exp(sign * mu * v - mu * mu / 2)

    def root(f):
        low, high = mp.mpf(-60) - 2 * mu, mp.mpf(60) + 2 * mu
        if f(low) > 0 or f(high) < 0:
            return None
        for _ in range(130):
            middle = (low + high) / 2
            low, high = (middle, high) if f(middle) < 0 else (low, middle)
        return low

    if kind == "there":
        v = root(lambda v: mp.log(ratio(v, 1)) - loss)
        return mixture_tail(v, 1) - mp.exp(loss) * mp.ncdf(-v)
    if kind == "gone":
        v = root(lambda v: mp.log(ratio(v, 1)) + loss)
        if v is None:
            return mp.mpf(0)
        below = (1 - q) * mp.ncdf(v) + q * mp.ncdf(v - mu)
        return mp.ncdf(v) - mp.exp(loss) * below
    v = root(lambda v: mp.log(ratio(v, 1) / ratio(v, -1)) - loss)
    return mixture_tail(v, 1) - mp.exp(loss) * mixture_tail(v, -1)


def typical_losses(rate, noise):
    mu = 1 / noise
    return [math.log1p(rate * math.expm1(mu * v + mu * mu / 2)) for v in (0.3, 2.0, 6.0)]


@pytest.mark.parametrize(("rate", "noise", "replace"), SAMPLED)
def test_one_sampled_step_is_the_closed_form(rate, noise, replace):
    composition = compose([(SampledGaussian(rate, noise, replace), 1)])
    kinds = ("replace",) if replace else ("there", "gone")
    for loss in typical_losses(rate, noise):
        with mp.workdps(50):
            exact = max(mp_sampled(rate, noise, kind, loss) for kind in kinds)
            found = mp.mpf(composition.delta(loss))
            assert found >= exact
            assert found <= exact * (1 + mp.mpf("1e-9")) + mp.mpf("1e-250")


@pytest.mark.parametrize(("rate", "noise", "replace"), SAMPLED)
def test_stated_rounding_bounds_hold(rate, noise, replace):
    pair = SampledGaussian(rate, noise, replace)
    kinds = ("replace", "replace") if replace else ("there", "gone")
    for direction, kind in zip(directions(pair), kinds, strict=True):
        other = {"there": "gone", "gone": "there", "replace": "replace"}[kind]
        for loss in typical_losses(rate, noise):
            for side, name, place in (
                (direction.upper, kind, loss),
                (direction.lower, other, -loss),
            ):
                gap = np.array([place - direction.anchor])
                value, error = side(gap)
                with mp.workdps(50):
                    # the anchor is log(1 - q) in exact arithmetic, and gap the exact float
                    end = mp.log(1 - mp.mpf(rate)) if direction.anchor else mp.mpf(0)
                    end = end if direction.anchor <= 0 else -end
                    exact = mp_sampled(rate, noise, name, abs(end + mp.mpf(float(gap[0]))))
                    assert abs(mp.mpf(float(value[0])) - exact) <= mp.mpf(float(error[0]))
                assert error[0] <= 1e-8 * value[0] + 1e-290


def test_gaussian_rounding_bound_holds_everywhere():
    rng = np.random.default_rng(5)
    for mu in (1e-6, 1e-3, 0.2, 0.26, 1.0, 7.0, 60.0):
        losses = mu * rng.uniform(0, 30, 40)
        values, bounds = gaussian_profile(losses, mu), gaussian_rounding(losses, mu)
        with mp.workdps(60):
            for loss, value, bound in zip(losses, values, bounds, strict=True):
                exact = mp_gauss(mp.mpf(float(loss)), mp.mpf(mu))
                if exact > mp.mpf("1e-290"):
                    assert abs(mp.mpf(float(value)) / exact - 1) <= bound / 2


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 8.0])
def test_bounded_profiles(epsilon):
    loss = 0.37 * epsilon
    expected = {
        Laplace: 1 - math.exp((loss - epsilon) / 2),
        PureLoss: (math.exp(epsilon) - math.exp(loss)) / (math.exp(epsilon) + 1),
    }
    for pair, value in expected.items():
        composition = compose([(pair(epsilon), 1)])
        assert composition.delta(loss) == pytest.approx(value, rel=1e-10)
        assert composition.delta(epsilon) == 0
        assert composition.epsilon(0.0) == epsilon


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 8.0])
@pytest.mark.parametrize("share", [0.0, 0.2, 0.9])
def test_bounded_range_is_the_supremum_of_its_envelope(epsilon, share):
    loss = share * epsilon
    t = np.linspace(0, epsilon, 200_001)
    p = -np.expm1(t - epsilon) / -np.expm1(-epsilon)
    first = p * np.maximum(-np.expm1(loss - t), 0)
    second = (1 - p) * np.maximum(-np.expm1(loss - t + epsilon), 0)
    supremum = np.max(first + second)
    found = compose([(BoundedRange(epsilon), 1)]).delta(loss)
    assert found >= supremum * (1 - 1e-15)
    assert found == pytest.approx(supremum, rel=1e-8)
    (direction, _) = directions(BoundedRange(epsilon))
    low, _ = direction.lower(np.array([-loss - epsilon]))  # symmetric pair
    assert low[0] == pytest.approx(found, rel=1e-9)


def test_mixture_is_the_average_of_gaussian_curves():
    mus, weights = (0.0, 0.5, 1.0), (0.2, 0.5, 0.3)
    found = compose([(GaussianMixture(mus, weights), 1)]).delta(1.5)
    exact = sum(
        w * mp_gauss(mp.mpf("1.5"), mp.mpf(m)) for m, w in zip(mus, weights, strict=True) if m
    )
    assert exact <= found <= exact * (1 + 1e-11)


def test_mixture_counts_missing_weight_as_lost():
    whole = compose([(GaussianMixture((0.5, 1.0), (0.6, 0.4)), 1)])
    cut = compose([(GaussianMixture((0.5, 1.0), (0.6, 0.399)), 1)])
    assert cut.delta(30.0) == pytest.approx(1e-3, rel=1e-9)
    assert cut.epsilon(0.9e-3) == math.inf
    assert whole.epsilon(0.9e-3) < 10
    assert 1e-3 * 0.9 < cut.delta(2.0) - whole.delta(2.0) < 1e-3


def test_mixture_folds_a_gaussian_in():
    folded = compose([(GaussianMixture((0.3, 1.0), (0.6, 0.4)), 1), (Gaussian(0.4), 2)])
    exact = 0.6 * mp_gauss(mp.mpf(2), mp.sqrt(mp.mpf("0.41"))) + 0.4 * mp_gauss(
        mp.mpf(2), mp.sqrt(mp.mpf("1.32"))
    )
    assert folded.delta(2.0) == pytest.approx(float(exact), rel=1e-11)
    assert folded.error.discretisation == 0


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Gaussian(-1), "mu=-1"),
        (lambda: Gaussian(math.nan), "finite"),
        (lambda: Gaussian("a"), "real number"),
        (lambda: SampledGaussian(0.0, 1), "0 < rate <= 1"),
        (lambda: SampledGaussian(1.1, 1), "rate=1.1"),
        (lambda: SampledGaussian(0.1, 0), "noise_multiplier=0"),
        (lambda: Laplace(-0.1), "epsilon=-0.1"),
        (lambda: PureLoss(math.inf), "finite"),
        (lambda: BoundedRange(-2), "epsilon >= 0"),
        (lambda: GaussianMixture((1.0,), (0.5, 0.5)), "same length"),
        (lambda: GaussianMixture((1.0, 2.0), (0.9, 0.5)), "normalise"),
        (lambda: GaussianMixture((-1.0,), (1.0,)), r"mus\[0\]"),
        (lambda: compose([(Gaussian(1.0), 0)]), "count=0"),
        (lambda: compose([(Gaussian(1.0), 1.5)]), "whole number"),
        (lambda: compose([("gauss", 1)]), "dominating pair"),
        (lambda: compose([(Gaussian(1.0), 1)]).delta(-0.1), "epsilon=-0.1"),
        (lambda: compose([(Gaussian(1.0), 1)]).epsilon(1.1), "delta=1.1"),
    ],
)
def test_wrong_parameters_say_value_demand_and_remedy(build, words):
    with pytest.raises(ValueError, match=words):
        build()


def test_pairs_are_frozen_and_hashable():
    pairs = {Gaussian(1), Gaussian(1.0), GaussianMixture([1], [1]), SampledGaussian(0.1, 2)}
    assert len(pairs) == 3
    with pytest.raises(AttributeError):
        Gaussian(1.0).mu = 2.0
    assert compose([(Gaussian(1.0), 2)]) == compose([(Gaussian(1.0), 1), (Gaussian(1.0), 1)])
