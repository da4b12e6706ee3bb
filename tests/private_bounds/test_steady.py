"""Ends of ranges that noise hardly moves, and how far it does."""

import numpy as np
import pytest

from privlearn.private_bounds import steady
from privlearn.private_bounds.declared import noise_of, widened
from privlearn.private_bounds.powers import POWERS, SIGNED_BINS, coarse_range
from privlearn.private_bounds.ranges import LAST_BINS, CoarseRange, Range, refined_range

N, FITS = 20_000, 60


def counts_of(values, edges):
    """Of sorted values; those outside are in the outermost bins."""
    places = np.searchsorted(values, edges[1:-1])
    return np.diff(np.concatenate([[0], places, [len(values)]])).astype(float)


def signed_counts(values):
    found = np.zeros(SIGNED_BINS)
    size = np.frexp(np.abs(values))[1] - 1 + POWERS // 2 + 1
    np.add.at(found, POWERS + np.where(values == 0.0, 0, np.sign(values) * size).astype(int), 1.0)
    return found


def ranges(values, noise, fits=FITS, seed=0):
    """Ends of one column in many fits, by noisy powers of two and noisy even bins."""
    rng, values = np.random.default_rng(seed), np.sort(values)
    noisy = signed_counts(values) + noise * rng.standard_normal((fits, SIGNED_BINS))
    outer = coarse_range(noisy, noise, float(len(values)))
    edges = np.linspace(outer.low, outer.high, LAST_BINS + 1, axis=1)
    even = np.array([counts_of(values, own) for own in edges])
    even += noise * rng.standard_normal(even.shape)
    return widened(even, noise, outer, refined_range(even, noise, outer), 0.25)


def laws(n=N):
    rng = np.random.default_rng(1)
    return {
        "normal": rng.standard_normal(n),
        "exponential": rng.exponential(size=n),
        "log-normal": np.exp(rng.standard_normal(n)),
        "Pareto": rng.pareto(2.0, n) + 1.0,
        "Student": rng.standard_t(3.0, n),
    }


@pytest.mark.parametrize("law", laws())
@pytest.mark.parametrize("rows_per_noise", [500, 1_000, 4_000])
def test_noise_moves_them_less(law, rows_per_noise, monkeypatch):
    values, noise = laws()[law], N / rows_per_noise
    now = ranges(values, noise)
    assert now.steady[1].all()
    monkeypatch.setattr(steady, "STEADY_ROWS", -1.0)  # the ends of what stands out
    before = ranges(values, noise)
    assert not before.steady.any()
    assert now.high.std() / now.high.mean() < 0.8 * before.high.std() / before.high.mean()
    assert np.mean(values > np.median(now.high)) < 0.03


@pytest.mark.parametrize("law", laws())
@pytest.mark.parametrize("rows_per_noise", [500, 1_000, 4_000])
def test_how_far_noise_moves_them_is_told(law, rows_per_noise):
    values = laws()[law]
    found = ranges(values, N / rows_per_noise, fits=200)
    told = np.sqrt(np.mean(found.deviation[1] ** 2)) / found.high.std()
    assert 0.5 < told < 2.3
    beyond = np.mean(values > np.median(found.high))
    assert 0.5 < np.median(found.beyond[1]) / N / beyond < 3.5


def test_flags_zeros_and_rare_values_keep_their_ends():
    rng = np.random.default_rng(2)
    common, rare = ((rng.random(N) < share).astype(float) for share in (0.2, 0.01))
    for values in (common, rare):
        found = ranges(values, 20.0)
        np.testing.assert_array_equal(found.low, 0.0)
        assert (found.high >= 1.0).all()
    amounts = np.where(rng.random(N) < 0.8, 0.0, np.exp(3.0 + rng.standard_normal(N)))
    assert (ranges(amounts, 20.0).high > np.quantile(amounts, 0.99)).all()


def test_amounts_that_may_reach_another_power_are_not_told():
    """Most have none, some a little, and as many as noise may hide or show have a lot."""
    rng = np.random.default_rng(5)
    amounts = np.where(rng.random(N) < 0.9, 0.0, rng.uniform(1_000.0, 3_900.0, N))
    few = amounts.copy()
    few[:70] = 9_000.0  # 3.5 deviations
    assert np.isnan(ranges(few, 20.0).deviation[1]).mean() > 0.8
    assert np.isnan(ranges(amounts, 20.0).deviation[1]).mean() < 0.4


def test_without_noise_and_where_noise_hides_rows_ends_are_what_stands_out():
    values = laws()["log-normal"]
    exact = ranges(values, 1e-9, fits=1)
    assert exact.high[0] > 0.9 * values.max()
    assert not ranges(values, N / 50).steady.any()


def test_nothing_is_told_where_powers_of_two_tell_nothing():
    ends = np.array([-4.0]), np.array([4.0])
    seen = CoarseRange(*ends, *reversed(ends), np.array([1_000.0]), np.array([False]))
    found = steady.steady_range(np.full((1, 32), 30.0), 1.0, seen, seen, np.zeros((2, 1), bool))
    assert (found.low[0], found.high[0]) == (-4.0, 4.0)
    assert not found.steady.any()
    assert not found.deviation.any()


def test_declared_ends_and_zero_do_not_move():
    found = ranges(laws()["log-normal"], 20.0)
    cut = Range(found.low, np.minimum(found.high, 5.0))
    noise = noise_of(found, cut, np.full(FITS, float(N)))
    assert not noise.deviation.any()  # the lower ends are zero
    whole = noise_of(found, found, np.full(FITS, float(N)))
    np.testing.assert_array_equal(whole.deviation[1], found.deviation[1])
    assert ((whole.beyond[1] > 0.0) & (whole.beyond[1] < 0.03)).all()


def test_range_is_never_empty():
    rng = np.random.default_rng(3)
    for values in (np.full(N, 5.0), rng.choice([4.0, 5.0], N), 5.0 + 1e-3 * rng.random(N)):
        found = ranges(values, 20.0)
        assert (found.low < found.high).all()
