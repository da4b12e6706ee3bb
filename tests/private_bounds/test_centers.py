"""Columns whose ranges are estimated are centred where that shortens them."""

import numpy as np
import pytest

from privlearn import LinearRegression
from privlearn.private_bounds.declared import centers
from privlearn.private_bounds.ranges import Range


def of_column(values, low, high, bins=32, noise=0.0):
    """The centre of one column, from a histogram between its ends."""
    counts = np.histogram(values, bins, (low, high))[0][None, :].astype(float)
    ends = Range(np.array([low]), np.array([high]))
    return float(centers(counts, noise, ends, ends)[0])


def test_the_mean_where_it_is_far_from_zero():
    values = np.random.default_rng(0).normal(8.0, 2.0, 10_000)
    assert of_column(values, 0.0, 16.0) == pytest.approx(8.0, abs=0.1)
    assert of_column(-values, -16.0, 0.0) == pytest.approx(-8.0, abs=0.1)


def test_zero_where_most_rows_are_near_it():
    flags = np.zeros(10_000)
    flags[:100] = 1.0
    assert of_column(flags, 0.0, 1.0) == 0.0
    assert of_column(np.random.default_rng(0).normal(0.5, 1.0, 10_000), -3.0, 4.0) == 0.0


def test_a_mean_that_noise_hides_is_not_believed():
    values = np.random.default_rng(0).normal(8.0, 1.0, 1_000)
    assert of_column(values, 0.0, 16.0, noise=100.0) == 0.0
    assert of_column(values, 4.0, 12.0, noise=100.0) == 8.0  # the middle of what excludes zero


def test_a_column_far_from_zero_costs_no_more_than_one_around_it():
    """0 to 15 with a mean of 7.5: about zero its rows are four times as long."""
    rng = np.random.default_rng(1)
    X = rng.integers(0, 16, (8_000, 6)).astype(float)
    y = X @ rng.normal(size=6) + rng.normal(size=8_000)

    def median(X):
        fits = (LinearRegression(epsilon=0.3, random_state=seed).fit(X, y) for seed in range(5))
        return np.median([model.score(X, y) for model in fits])

    assert median(X) > median(X - 7.5) - 0.02


@pytest.mark.parametrize("low", [-1.0, 0.0, -0.9])
def test_a_column_of_zeros_is_centred_at_zero(low):
    """Not in the middle of its bin: a rare flag would be a constant, and its steps far too long."""
    assert of_column(np.zeros(10_000), low, 1.0, noise=20.0) == 0.0
