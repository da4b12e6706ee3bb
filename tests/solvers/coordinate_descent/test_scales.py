"""Scales of features from noisy histograms of their magnitudes."""

import numpy as np
import pytest

from privlearn.solvers._common.histograms import MAGNITUDE_BINS, _shrunk, scales_from


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


@pytest.mark.parametrize("noise", [0.0, 1.0, 100.0])
def test_numbers_are_drawn_to_their_mean_as_far_as_noise_explains_them(noise):
    found = _shrunk(np.array([0.0, 2.0, 4.0, 6.0]), noise)
    assert found.mean() == pytest.approx(3.0)
    assert np.ptp(found) == pytest.approx(6.0 * max(0.0, 1.0 - noise**2 / 5.0))


def test_equal_numbers_stay():
    np.testing.assert_array_equal(_shrunk(np.full(3, 2.0), 1.0), np.full(3, 2.0))
