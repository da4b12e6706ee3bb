"""The size of errors, with noise on it: intervals of rows cover, however large the noise is."""

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from privlearn.solvers._common.residuals import Residual

NOISE = 10.0 ** np.linspace(-3, 3, 25)  # over the variance of y about the prediction
U = ndtri((np.arange(20_000) + 0.5) / 20_000)  # evenly likely draws of the noise


def coverage(level, noise, square):
    """Of errors of variance 1, in the mean over draws of the noise on the released square."""
    taken = np.array([square(Residual(1.0 + noise * u, noise)) for u in U[::20]])
    return np.mean(2.0 * ndtr(ndtri((1.0 + level) / 2) * np.sqrt(taken)) - 1.0)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_rows_are_covered_in_the_mean_over_fits(level):
    found = [coverage(level, noise, lambda one: one.largest(level)) for noise in NOISE]
    assert min(found) >= level
    assert found[0] == pytest.approx(level, abs=1e-3), "without noise there is nothing to add"
    plain = [coverage(level, noise, lambda one: max(one.square, 0.0)) for noise in NOISE]
    assert min(plain) < level - 0.02, "what was released alone does not do"


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_errors_are_larger_than_told_in_a_fifth_of_what_the_level_leaves(level):
    told = np.array([Residual(1.0 + 0.3 * u, 0.3).largest(level) for u in U])
    assert np.mean(told < 1.0) == pytest.approx(0.2 * (1.0 - level), abs=1e-3)


def test_a_square_that_noise_brought_below_0_is_not_taken_for_0():
    hidden = Residual(-5.0, 1.0)
    assert hidden.largest(0.95) == pytest.approx(ndtri(0.99))
    assert not hidden.clear(0.95)
    assert Residual(5.0, 1.0).clear(0.95)
    assert hidden.in_units(10.0) == Residual(-500.0, 100.0)


@pytest.mark.parametrize("variance", [0.05, 0.5, 2.0, 20.0])
def test_errors_that_were_cut_are_taken_back(variance):
    left = float(np.mean(np.minimum(variance * U**2, 1.0)))
    found = Residual(left * 3.0, 0.0, cut=3.0).largest(0.95)
    assert found == pytest.approx(3.0 * variance, rel=0.01)


def test_nothing_is_told_where_all_was_cut():
    all_cut = Residual(0.97, 0.0, cut=1.0)
    assert all_cut.largest(0.95) == np.inf
    assert not all_cut.clear(0.95)
    assert Residual(0.9, 0.0, cut=1.0).clear(0.95)
