"""Scales of features and clips of gradients, from noisy histograms."""

import numpy as np
import pytest

from privlearn import LinearRegression, LogisticRegression, Ridge
from privlearn.solvers._common.histograms import MAGNITUDE_BINS, _shrunk, scales_from
from privlearn.solvers._common.integer_rows import IntegerRows
from privlearn.solvers.coordinate_descent import private_scales


def test_common_flags_among_rare_ones_keep_their_scale():
    """One fit in thousands diverged: all flags had the scale of a sum in which most are rare."""
    rows, noise = 2_178, 136.5
    counts = np.zeros((46, MAGNITUDE_BINS))
    counts[:, 0] = rows * np.append(np.full(6, 0.3), np.full(40, 0.005))
    counts[6:, 3] = 60.0
    rng = np.random.default_rng(0)
    for _ in range(200):
        noisy = counts + noise * rng.standard_normal(counts.shape)
        scales, _ = scales_from(noisy, noise, rows, close=True)
        assert scales[:6].min() > 0.2  # the root of their share is 0.55; 0.001 had occurred


@pytest.mark.parametrize("place", [6, 8, 11])
def test_a_rare_flag_around_a_mean_that_is_noise_has_a_scale_near_that_of_its_limit(place):
    """Its zeros are all that is seen, near the mean; a scale of theirs made its ones 26 long."""
    rows, noise = 30_000, 70.0
    counts = np.zeros((60, MAGNITUDE_BINS))
    counts[1:, place] = rows
    noisy = counts + noise * np.random.default_rng(0).standard_normal(counts.shape)
    scales, squares = scales_from(noisy, noise, rows, close=True)
    hidden = noise / rows  # its mean square, of rows at the limit
    np.testing.assert_allclose(scales**2 * squares, hidden)
    np.testing.assert_allclose(scales[0], hidden**0.25)  # where nothing is seen
    np.testing.assert_allclose(scales[1:], hidden**0.3125)  # it was the root of `hidden`


def test_amounts_that_are_seen_far_out_keep_their_scale():
    """Rows at the limit outweigh them, too, and would make their scale half as large again."""
    rows, noise = 30_000, 180.0
    counts = np.zeros((2, MAGNITUDE_BINS))
    counts[:, 12], counts[0, 3], counts[1, 9] = rows - 2_000, 2_000, 2_000
    scales, _ = scales_from(counts, noise, rows, close=True)
    hidden = noise / rows
    assert scales[0] == pytest.approx(hidden**0.25 * 0.125**0.5)  # seen between 1/16 and 1/8
    assert scales[1] == pytest.approx(hidden**0.3125)


def test_clips_do_not_follow_the_noise_on_means_of_rare_flags(monkeypatch):
    """They were up to 14.9, where these rows ask for 5 to 7; noise on all weights follows them."""
    rng = np.random.default_rng(0)
    X = np.hstack([rng.standard_normal((20_000, 3)), rng.random((20_000, 60)) < 4e-4])
    y = (X[:, :3].sum(axis=1) + rng.standard_normal(20_000) > 0).astype(int)
    found, clip_of = [], private_scales.clip_for

    def spied(*counts, **facts):
        found.append(clip_of(*counts, **facts))
        return found[-1]

    LogisticRegression(epsilon=10.0, random_state=0).fit(X, y)  # rehearses
    monkeypatch.setattr(private_scales, "clip_for", spied)
    last = []
    for seed in range(4):
        LogisticRegression(epsilon=10.0, random_state=seed).fit(X, y)
        last.append(found[-1])
    assert max(last) < 8.0


@pytest.mark.parametrize("noise", [0.0, 1.0, 100.0])
def test_numbers_are_drawn_to_their_mean_as_far_as_noise_explains_them(noise):
    found = _shrunk(np.array([0.0, 2.0, 4.0, 6.0]), noise)
    assert found.mean() == pytest.approx(3.0)
    assert np.ptp(found) == pytest.approx(6.0 * max(0.0, 1.0 - noise**2 / 5.0))


def test_equal_numbers_stay():
    np.testing.assert_array_equal(_shrunk(np.full(3, 2.0), 1.0), np.full(3, 2.0))


def test_a_clip_never_grows_from_loop_to_loop(monkeypatch):
    asked = []

    def longer_and_longer(counts, noise, **facts):
        asked.append(len(asked) + 1.0)
        return 10.0 * asked[-1]

    used = []
    summed = IntegerRows.gradient_sum

    def spied(rows, objective, weights, clip):
        used.append(clip)
        return summed(rows, objective, weights, clip)

    X = np.random.default_rng(0).uniform(-1, 1, (400, 2))
    facts = {"bounds_X": (-1, 1), "bounds_y": (-1, 1), "solver": "cd", "random_state": 0}
    LinearRegression(**facts).fit(X, X[:, 0])  # rehearses
    monkeypatch.setattr(private_scales, "clip_for", longer_and_longer)
    monkeypatch.setattr(IntegerRows, "gradient_sum", spied)
    LinearRegression(**facts).fit(X, X[:, 0])
    assert len(asked) > 1
    assert used == [10.0] * len(used)


@pytest.mark.parametrize("seed", [14, 57, 65, 67])
def test_noise_on_gradient_norms_stops_no_descent(seed):
    """Where few rows leave the histogram to noise, its clip could be a hundredth of what is due.

    With these draws it was: R^2 of -0.02 to 0.17, where others had 0.8, and nobody was told.
    """
    rng = np.random.default_rng(0)
    X = rng.standard_normal((900, 6))
    y = X @ [0.1, 0.5, 0.3, -0.4, 0.4, 0.4] + 0.3 * rng.standard_normal(900)
    assert Ridge(epsilon=1.0, random_state=seed).fit(X, y).score(X, y) > 0.7
