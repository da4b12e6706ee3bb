"""The loss grid and the transform: every stated bound is checked against exact arithmetic."""

import math
from dataclasses import replace
from fractions import Fraction

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
)
from privlearn.accounting.convolve import delta_bound
from privlearn.accounting.directed import directions
from privlearn.accounting.discretise import LatticeLoss, dots, profile_on_grid
from privlearn.accounting.spectrum import _suffix_sums, spectrum
from privlearn.accounting.tilt import (
    CumulantTable,
    Frame,
    Summand,
    _weight_square,
    choose_frame,
)

PAIRS = [
    Gaussian(0.7),
    Gaussian(1e-3),
    SampledGaussian(0.01, 0.8),
    SampledGaussian(0.3, 40.0),
    SampledGaussian(0.02, 0.7, True),
    Laplace(0.3),
    PureLoss(0.4),
    BoundedRange(0.5),
    GaussianMixture((0.0, 0.4, 0.8), (0.5, 0.3, 0.2)),
    GaussianMixture((0.2, 0.9), (0.7, 0.29)),
]
DIRECTED = [(pair, side) for pair in PAIRS for side in (0, 1)]


def grid_of(pair, side, bins=300, growth=1 / 64):
    direction = directions(pair)[side]
    low, high = direction.support(1e-12, 1e-14)
    step = math.ldexp(round(math.ldexp((high - low) / bins, 40)), -40)
    return direction, profile_on_grid(direction, step, growth, 1e-12, 1e-14)


def lattice_delta(loss, epsilon):
    values = loss.anchor + loss.step * loss.index
    return loss.infinite + loss.mass @ np.maximum(-np.expm1(epsilon - values), 0)


@pytest.mark.parametrize(("pair", "side"), DIRECTED)
def test_polygon_touches_the_profile_at_dots_and_lies_above_between(pair, side):
    direction, profile = grid_of(pair, side)
    loss = profile.loss()
    values = loss.anchor + loss.step * loss.index
    positive = np.flatnonzero(values > 0)[:-1]
    if positive.size == 0:
        pytest.skip("this direction has no positive loss")
    scale = profile.value[positive[0]]
    for k in positive[:: max(1, positive.size // 25)]:
        found = lattice_delta(loss, values[k])
        assert found == pytest.approx(profile.value[k], rel=1e-9, abs=1e-13 * scale)
        middle = (values[k] + values[k + 1]) / 2
        true, _ = direction.upper(np.array([middle - direction.anchor]))
        assert lattice_delta(loss, middle) >= true[0] * (1 - 1e-12)


@pytest.mark.parametrize(("pair", "side"), DIRECTED)
def test_masses_are_a_law_whose_likelihood_ratio_is_the_loss(pair, side):
    _, profile = grid_of(pair, side)
    loss = profile.loss()
    values = loss.anchor + loss.step * loss.index
    assert 1 <= loss.mass.sum() + loss.infinite <= 1 + 1e-10
    missing = getattr(pair, "missing", 0.0)
    assert loss.mass @ np.exp(-values) == pytest.approx(1 - missing, abs=1e-9)  # Q's total


@pytest.mark.parametrize(("pair", "side"), DIRECTED)
def test_fewer_dots_never_help(pair, side):
    _, profile = grid_of(pair, side)
    loss, thin = profile.loss(), profile.thinned().loss()
    assert thin.mass.size < 0.75 * loss.mass.size
    assert thin.step == 2 * loss.step
    for epsilon in np.linspace(0, loss.anchor + loss.step * loss.index[-1], 9):
        assert lattice_delta(thin, epsilon) >= lattice_delta(loss, epsilon) * (1 - 1e-11)


def test_rounding_goes_up_even_where_the_profile_is_noise():
    """With a step near the rounding error the law may move up, never down."""
    direction = directions(Gaussian(1.0))[0]
    profile = profile_on_grid(direction, 2.0**-46, 1 / 64, 1e-12, 1e-14)
    loss = profile.loss()
    values = loss.anchor + loss.step * loss.index
    assert loss.mass @ values + 50 * loss.infinite >= 0.5 - 1e-6  # the mean of N(1/2, 1)
    assert lattice_delta(loss, 1.0) >= direction.upper(np.array([1.0]))[0][0]


@pytest.mark.parametrize(("pair", "side"), DIRECTED)
def test_errors_of_dots_move_the_law_up(pair, side):
    """Whatever the errors within their bounds, every tail probability is at least the true one."""
    _, profile = grid_of(pair, side)
    exact = profile.loss()
    tails = np.cumsum(exact.mass[::-1])[::-1] + exact.infinite
    rng = np.random.default_rng(9)
    for size in (1e-9, 1e-4):
        error = size * profile.value
        for sign in (-1, 1, rng.uniform(-1, 1, error.size)):
            noisy = replace(profile, value=profile.value + sign * error, error=error).loss()
            found = np.cumsum(noisy.mass[::-1])[::-1] + noisy.infinite
            assert np.all(found >= tails - 1e-13)


def test_dots_are_dense_in_the_middle_and_relative_outside():
    points = dots(-10_000, 200_000, 600, 1 / 32)
    assert points[0] == -10_000
    assert points[-1] == 200_000
    assert np.all(np.diff(points) > 0)
    assert {*range(-64, 65), *range(536, 665)} <= set(points.tolist())
    distance = np.minimum(abs(points[1:]), abs(points[1:] - 600))
    assert np.all(np.diff(points) <= distance / 32 + 3)
    assert points.size < 1500


def lumpy_masses(seed, wide):
    rng = np.random.default_rng(seed)
    index = np.unique(np.concatenate([np.arange(-20, 21), rng.integers(-400, 5000, 60)]))
    mass = np.exp(-((index / (8.0 if wide else 0.7)) ** 2) / 2) + 1e-6 * rng.random(index.size)
    return index, mass / mass.sum()


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("count", [3, 1000, 100_000])
def test_spectrum_error_bound_holds(wide, count):
    index, mass = lumpy_masses(count, wide)
    length = 1200  # shorter than the support: wraps
    found = spectrum(index, mass, count, length)
    with mp.workdps(40):
        total = mp.fsum(mp.mpf(float(m)) for m in mass)
        for k in (0, 1, 2, 7, 40, 199, 600):
            exact = mp.fsum(
                mp.mpf(float(m)) * mp.expjpi(-mp.mpf(2 * int(j) * k) / length)
                for j, m in zip(index, mass, strict=True)
            )
            # masses that sum to 1 within rounding: a factor for all frequencies alike
            exact += 1 - total
            if count * found.log_value[k].real < -700:
                continue  # the power vanishes, and its phase is left out
            value = mp.exp(mp.mpc(complex(found.log_value[k])))
            bound = found.relative[k] + 4e-16 * abs(found.log_value[k])
            if count * float(mp.log(abs(exact))) < -900:  # phi^count vanishes: only its size counts
                assert abs(abs(value / exact) - 1) <= bound + 2e-16
            else:
                assert abs(value / exact - 1) <= bound + 1e-17


def test_high_powers_lose_few_digits():
    """Where |phi|^T matters the error of T log(phi) is far below T roundings."""
    index, mass = lumpy_masses(1, False)
    found = spectrum(index, mass, 100_000, 4096)
    matters = 100_000 * found.log_value.real > -30
    assert np.count_nonzero(matters) > 5
    assert np.max(100_000 * found.relative[matters]) < 3e-11
    plain = spectrum(index, mass, 3, 4096)  # a plain transform for comparison
    assert np.min(100_000 * plain.relative) > 1e-10


def test_suffix_sums():
    values = np.random.default_rng(0).random(1003)
    expected = np.cumsum(values[::-1])[::-1]
    np.testing.assert_allclose(_suffix_sums(values), expected, rtol=1e-13)
    np.testing.assert_allclose(_suffix_sums(values[:1]), values[:1])


def exact_composition(mass, count):
    total = {0: Fraction(1)}
    for _ in range(count):
        step = {}
        for a, x in total.items():
            for b, y in mass.items():
                step[a + b] = step.get(a + b, 0) + x * y
        total = step
    return total


@pytest.mark.parametrize("epsilon", [0.0, 0.8, 2.2])
def test_composed_delta_is_above_exact_arithmetic_and_close(epsilon):
    masses = {-2: Fraction(1, 8), 0: Fraction(1, 2), 1: Fraction(1, 4), 5: Fraction(1, 8)}
    step, anchor, count = 0.125, 0.03125, 6
    total = exact_composition(masses, count)
    exact = sum(
        float(m) * max(0.0, -math.expm1(epsilon - count * anchor - step * k))
        for k, m in total.items()
    )
    loss = LatticeLoss(
        anchor,
        step,
        np.array(list(masses)),
        np.array([float(m) for m in masses.values()]),
        0.0,
    )
    summands = [Summand.of(loss, count)]
    frame = choose_frame(CumulantTable.of(summands), epsilon, math.log(exact), 1e-13, step)
    bound = delta_bound(summands, epsilon, frame)
    assert bound.delta >= exact
    assert bound.delta <= exact * (1 + 5e-6)
    assert bound.rounding < 1e-6 * exact
    # A window that is far too short must still be valid: lost mass is paid for, wrapped mass adds.
    for top in (epsilon, epsilon + 0.3, epsilon + 1.0, epsilon + 2.0):
        for reach in (0.3, 3.0):
            short = Frame(frame.tilt, top - 0.5, top, frame.tilt + reach, frame.tilt - reach)
            assert delta_bound(summands, epsilon, short).delta >= exact


def test_two_different_summands():
    first = {0: Fraction(1, 2), 3: Fraction(1, 2)}
    second = {-1: Fraction(3, 4), 2: Fraction(1, 4)}
    total = {}
    for a, x in exact_composition(first, 4).items():
        for b, y in exact_composition(second, 3).items():
            total[a + b] = total.get(a + b, 0) + x * y
    exact = sum(float(m) * max(0.0, -math.expm1(0.6 - 0.25 * k)) for k, m in total.items())
    summands = [
        Summand.of(
            LatticeLoss(0.0, 0.25, np.array(list(part)), np.array([*map(float, part.values())]), 0),
            count,
        )
        for part, count in ((first, 4), (second, 3))
    ]
    frame = choose_frame(CumulantTable.of(summands), 0.6, math.log(exact), 1e-13, 0.25)
    assert exact <= delta_bound(summands, 0.6, frame).delta <= exact * (1 + 5e-6)


@pytest.mark.parametrize("tilt", [1e-9, 0.3, 7.0, 1e5, 1e8, 1e12])
def test_the_weight_of_any_tilt_is_its_integral(tilt):
    exact = Fraction(1) / (2 * Fraction(tilt)) - Fraction(2) / (2 * Fraction(tilt) + 1)
    exact += Fraction(1) / (2 * (Fraction(tilt) + 1))
    assert _weight_square(tilt, 1e12) == pytest.approx(float(exact), rel=1e-14)
    assert _weight_square(tilt, 0.0) == 0.0
