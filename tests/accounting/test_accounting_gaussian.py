"""The Gaussian mechanism alone: exact curve, exact composition, exact calibration."""

import math

import mpmath as mp
import pytest

from privlearn.accounting import Gaussian, SampledGaussian, compose, smallest_scale

CURVE = [
    (0.0, 1e-6),
    (0.0, 0.3),
    (1e-3, 1e-3),
    (0.01, 0.0016),
    (0.1, 0.2499),
    (0.1, 0.2501),
    (1.0, 0.3),
    (1.0, 4.0),
    (5.0, 0.9),
    (20.0, 2.5),
    (20.0, 12.0),
    (300.0, 20.0),
]


def exact_delta(epsilon, mu):
    with mp.workdps(60):
        epsilon, mu = mp.mpf(epsilon), mp.mpf(mu)
        a = mu / 2 - epsilon / mu
        return mp.ncdf(a) - mp.exp(epsilon) * mp.ncdf(a - mu)


@pytest.mark.parametrize(("epsilon", "mu"), CURVE)
def test_curve_is_exact_and_rounded_up(epsilon, mu):
    exact = exact_delta(epsilon, mu)
    found = compose([(Gaussian(mu), 1)]).delta(epsilon)
    assert found >= exact
    assert found <= exact * (1 + 1e-11)


def test_tiny_deltas_keep_their_digits():
    exact = exact_delta(5.0, 0.15)
    assert exact < 1e-200
    found = compose([(Gaussian(0.15), 1)]).delta(5.0)
    assert exact <= found <= exact * (1 + mp.mpf("1e-9"))


def test_releases_add_in_squares():
    many = compose([(Gaussian(0.1), 30), (Gaussian(0.2), 5), (SampledGaussian(1.0, 4.0), 3)])
    mu = math.sqrt(30 * 0.1**2 + 5 * 0.2**2 + 3 / 16)
    exact = exact_delta(2.0, mu)
    assert exact <= many.delta(2.0) <= exact * (1 + 1e-11)
    wrong = exact_delta(2.0, 30 * 0.1 + 5 * 0.2 + 3 / 4)
    assert many.delta(2.0) < 0.5 * wrong


def test_full_sampling_is_no_sampling():
    for replace, factor in ((False, 1.0), (True, 2.0)):
        sampled = compose([(SampledGaussian(1.0, 1.7, replace), 12)])
        plain = compose([(Gaussian(factor / 1.7), 12)])
        assert sampled.delta(3.0) == pytest.approx(plain.delta(3.0), rel=1e-13)
        assert type(sampled.terms[0][0]) is Gaussian


@pytest.mark.parametrize("delta", [1e-10, 1e-5, 1e-3, 0.2])
@pytest.mark.parametrize("mu", [0.002, 0.3, 4.0])
def test_epsilon_inverts_delta(mu, delta):
    composition = compose([(Gaussian(mu), 1)])
    epsilon = composition.epsilon(delta)
    assert composition.delta(epsilon) <= delta
    if epsilon > 0:
        assert exact_delta(epsilon * (1 - 1e-9), mu) > delta
    else:
        assert exact_delta(0.0, mu) <= delta * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 10.0, 20.0])
@pytest.mark.parametrize("delta", [1e-10, 1e-6, 1e-3])
def test_calibration_is_valid_and_smallest(epsilon, delta):
    scale = smallest_scale(lambda z: [(Gaussian(1 / z), 7)], epsilon, delta)
    assert exact_delta(epsilon, math.sqrt(7) / scale) <= delta
    assert exact_delta(epsilon, math.sqrt(7) / (scale * (1 - 1e-6))) > delta


def test_the_textbook_formula_is_false_for_large_epsilon():
    worst = max(
        exact_delta(10.0, 10.0 / math.sqrt(2 * math.log(1.25 / delta))) / delta
        for delta in (1e-10, 1e-8, 1e-6, 1e-5, 1e-4, 1e-3)
    )
    assert 3.3 < worst < 3.4  # at delta = 1e-3
    ours = compose([(Gaussian(10.0 / math.sqrt(2 * math.log(1.25 / 1e-10))), 1)])
    assert ours.delta(10.0) > 1e-10  # the accountant sees through it


def test_delta_zero_is_impossible():
    with pytest.raises(ValueError, match=r"delta=0\.0, but Gaussian noise needs delta > 0"):
        smallest_scale(lambda z: [(Gaussian(1 / z), 1)], 1.0, 0.0)
    assert compose([(Gaussian(1.0), 1)]).epsilon(0.0) == math.inf


def test_calibration_evaluates_few_plans_and_transforms_nothing(monkeypatch):
    from scipy import fft

    for name in ("rfft", "irfft", "fft", "ifft"):
        monkeypatch.setattr(fft, name, None)
    for k in range(1, 9):
        plans = []
        smallest_scale(lambda z, k=k, p=plans: p.append(z) or [(Gaussian(1 / z), k)], 1.0, 1e-5)
        assert len(plans) <= 14
