"""Noise for a promise: valid, smallest, quick, and refused when impossible."""

import math

import pytest

from privlearn.accounting import (
    BoundedRange,
    Gaussian,
    Laplace,
    PureLoss,
    SampledGaussian,
    compose,
    smallest_scale,
)

CORNERS = [
    (1e-4, 100_000, 20.0, 1e-10),
    (1e-4, 100_000, 20.0, 1e-3),
    (1e-4, 100_000, 0.01, 1e-10),
    (1e-4, 100_000, 1.0, 1e-10),
    (1e-4, 1000, 0.1, 1e-10),
    (1e-4, 1000, 0.01, 1e-3),
    (1e-3, 2, 0.01, 1e-3),
    (0.01, 1, 0.01, 1e-10),
    (0.5, 1, 20.0, 1e-3),
    (1.0, 100_000, 0.01, 1e-10),
    (0.999, 1000, 20.0, 1e-5),
    (0.9, 100_000, 0.01, 1e-10),
]


@pytest.mark.parametrize(("rate", "steps", "epsilon", "delta"), CORNERS)
def test_sampled_noise_is_valid_and_smallest(rate, steps, epsilon, delta):
    replace = steps % 3 == 1 and epsilon != 0.01

    def plan(noise):
        return [(SampledGaussian(rate, noise, replace), steps)]

    noise = smallest_scale(plan, epsilon, delta)
    assert compose(plan(noise)).delta(epsilon) <= delta
    assert compose(plan(noise * (1 - 1.5e-4))).delta(epsilon) > delta
    if steps < 1000:
        assert compose(plan(noise)).epsilon(delta) <= epsilon * (1 + 1e-6)


def test_a_plan_with_several_noises():
    def plan(scale):
        return [
            (Gaussian(0.5 / scale), 2),
            (SampledGaussian(0.05, 0.8 * scale), 200),
            (Laplace(0.1 / scale), 3),
        ]

    scale = smallest_scale(plan, 1.0, 1e-6)
    assert compose(plan(scale)).delta(1.0) <= 1e-6
    assert compose(plan(scale * (1 - 2e-4))).delta(1.0) > 1e-6


def test_a_part_of_the_plan_may_be_fixed():
    def plan(scale):
        return [(Laplace(0.2), 1), (SampledGaussian(0.05, scale), 200)]

    scale = smallest_scale(plan, 1.0, 1e-6)
    assert compose(plan(scale)).delta(1.0) <= 1e-6 < compose(plan(scale * 0.9997)).delta(1.0)


def test_pure_plans_at_delta_zero():
    scale = smallest_scale(lambda s: [(Laplace(1 / s), 3), (PureLoss(0.2 / s), 5)], 0.8, 0.0)
    assert 4 / scale <= 0.8
    assert scale == pytest.approx(5.0, rel=1e-6)
    better = smallest_scale(lambda s: [(BoundedRange(1 / s), 10)], 0.69, 1e-6)
    assert better == pytest.approx(10, rel=0.01)


def test_impossible_promises_are_refused():
    with pytest.raises(ValueError, match=r"delta=0\.0, but Gaussian noise needs delta > 0"):
        smallest_scale(lambda z: [(SampledGaussian(0.1, z), 5), (Laplace(1 / z), 1)], 1.0, 0.0)
    with pytest.raises(ValueError, match="no noise scale reaches it"):
        smallest_scale(lambda z: [(Gaussian(3.0), 1), (Laplace(1 / z), 1)], 1.0, 1e-6)
    with pytest.raises(ValueError, match="no noise scale reaches it"):
        smallest_scale(lambda z: [(PureLoss(2.0), 1), (Laplace(1 / z), 1)], 1.0, 0.0)
    for epsilon, delta, words in (
        (-1.0, 1e-6, "epsilon=-1"),
        (math.inf, 1e-6, "epsilon=inf"),
        (1.0, 1.0, "delta=1"),
        (1.0, -1e-9, "delta=-1e-09"),
    ):
        with pytest.raises(ValueError, match=words):
            smallest_scale(lambda z: [(Gaussian(1 / z), 1)], epsilon, delta)


def test_no_noise_is_needed_when_delta_exceeds_the_chance_of_being_sampled():
    scale = smallest_scale(lambda z: [(SampledGaussian(1e-4, z), 5)], 1.0, 1e-3)
    assert scale < 1e-3
    assert compose([(SampledGaussian(1e-4, scale), 5)]).delta(1.0) <= 1e-3


@pytest.mark.parametrize(
    ("rate", "steps", "epsilon", "delta", "replace", "points"),
    [(0.01, 1000, 1.0, 1e-5, False, 4e5), (1e-4, 100_000, 1.0, 1e-10, True, 2e7)],
)
def test_calibration_is_quick(monkeypatch, rate, steps, epsilon, delta, replace, points):
    """Counted in plans that are looked at and points that are Fourier transformed.

    A second of one core, about, is 5e7 points (`python -m benchmarks speed/start` takes the time).
    """
    from scipy import fft

    from privlearn.accounting import composition

    composition.evaluate.cache_clear()  # what other tests asked for is remembered
    plans, lengths = [], []
    for name in ("rfft", "irfft", "fft", "ifft"):
        monkeypatch.setattr(fft, name, _counting(getattr(fft, name), lengths))

    def pairs_at(scale):
        plans.append(scale)
        return [(SampledGaussian(rate, scale, replace), steps)]

    smallest_scale(pairs_at, epsilon, delta)
    assert len(plans) <= 24
    assert 0 < sum(lengths) < points


def _counting(transform, lengths):
    def counted(values, n=None, *others, **named):
        lengths.append(len(values) if n is None else n)
        return transform(values, n, *others, **named)

    return counted
