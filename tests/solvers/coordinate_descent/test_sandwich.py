"""Noise on moments is not taken for errors of coefficients, and errors are not taken for noise."""

from types import SimpleNamespace

import numpy as np
import pytest

from privlearn._objective.losses.poisson import Poisson
from privlearn._objective.losses.squared import Squared
from privlearn.solvers.coordinate_descent.gaussian_rows import curvature_at
from privlearn.solvers.coordinate_descent.private_scales import RowMoments
from privlearn.solvers.coordinate_descent.sandwich import (
    DRAWN,
    MomentsAt,
    drawn_together,
    middle,
    semidefinite,
    square_without_noise,
)
from privlearn.solvers.coordinate_descent.standard_errors import _curvature_of_errors

# Two columns that correlate by 0.8, one alone, and the intercept.
CURVATURE = np.array([[1, 0.8, 0, 0], [0.8, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])
SIZE, NOISE, DRAWS = 0.7, 0.4, 2_000


def noise_matrix(rng, noise):
    above = np.triu(rng.standard_normal((4, 4)), 1) / np.sqrt(2)
    return noise * (above + above.T + np.diag(rng.standard_normal(4)))


def variances(between):
    inverse = np.linalg.inv(CURVATURE)
    return np.diag(inverse @ between @ inverse)


def told(true, noise, rule, seed=0):
    """Mean of the variances of coefficients, over those that are right."""
    rng = np.random.default_rng(seed)
    found = [variances(rule(true + noise_matrix(rng, noise))) for _ in range(DRAWS)]
    return np.mean(found, axis=0) / variances(true)


def shrunk(noise):
    known = MomentsAt(CURVATURE, 0.0)
    return lambda noisy: middle(MomentsAt(noisy, noise), np.zeros(4), known)


def test_noise_does_not_widen_errors_of_one_size():
    bias = told(SIZE * CURVATURE, NOISE, shrunk(NOISE)) - 1.0
    cut = told(SIZE * CURVATURE, NOISE, semidefinite) - 1.0
    assert cut[:2].min() > 1.0  # of the two that correlate: more than twice what is right
    assert np.all(bias[:2] < 0.4 * cut[:2])
    assert np.all(np.abs(bias[2:]) < 0.15)


@pytest.mark.parametrize("noise", [0.01, 0.1])
def test_errors_of_different_sizes_stay_as_they_are(noise):
    direction = np.array([0.5, -0.5, 1.0, 0.0])
    true = SIZE * CURVATURE + np.outer(direction, direction)
    np.testing.assert_allclose(told(true, noise, shrunk(noise)), 1.0, atol=0.06)


def test_without_noise_nothing_is_shrunk():
    gradient = np.array([0.1, 0.0, -0.2, 0.0])
    true = SIZE * CURVATURE + np.diag([0, 3.0, 0, 0.1])
    found = middle(
        MomentsAt(true + np.outer(gradient, gradient), 0.0), gradient, MomentsAt(CURVATURE, 0.0)
    )
    np.testing.assert_allclose(found, true, atol=1e-12)


def test_where_noise_hides_all_errors_are_not_taken_for_zero():
    below = MomentsAt(-CURVATURE, NOISE)
    found = middle(below, np.zeros(4), MomentsAt(CURVATURE, 0.05))
    assert np.linalg.eigvalsh(found)[0] >= -1e-12
    assert np.trace(found) > 0.0


def test_a_step_is_measured_without_its_own_noise():
    rng, inverse = np.random.default_rng(1), np.diag([1.0, 2.0, 10.0])
    slope = np.array([2.0, 0.5, 0.0])
    noisy = slope + rng.standard_normal((DRAWS, 3))
    found = [np.trace(square_without_noise(inverse @ one, one, 1.0)) for one in noisy]
    whole, true = np.mean(np.sum((noisy @ inverse) ** 2, axis=1)), np.sum((inverse @ slope) ** 2)
    assert true < np.mean(found) < 0.6 * whole
    nothing = [np.trace(square_without_noise(inverse @ one, one, 1.0)) for one in noisy - slope]
    assert np.mean(nothing) < 0.5 * np.mean(np.sum(((noisy - slope) @ inverse) ** 2, axis=1))


def test_without_noise_a_step_is_what_it_is_and_without_a_slope_there_is_none():
    step = np.array([5.0, 1.0, 0.0])
    square = np.outer(step, step)
    np.testing.assert_array_equal(square_without_noise(step, step, 0.0), square)
    np.testing.assert_array_equal(square_without_noise(step, np.ones(3), 1.5), 0.0 * square)
    np.testing.assert_array_equal(square_without_noise(0.0 * step, np.zeros(3), 0.0), 0.0 * square)


LOSS, WEIGHTS = Poisson(threshold=3.0), np.array([0.4, -0.2, 0.3, 0.1])
OF_ROWS, OF_FOUND = 0.01, 0.03


def of_errors(loss, true, rng, intercept=1.0):
    rows = RowMoments(CURVATURE, CURVATURE + noise_matrix(rng, OF_ROWS), OF_ROWS, 0.0)
    found = MomentsAt(true + noise_matrix(rng, 0.1 * OF_FOUND), 0.1 * OF_FOUND)
    objective = SimpleNamespace(loss=loss, scaling=SimpleNamespace(intercept_value=intercept))
    steep = MomentsAt(found.mean.copy(), found.noise)
    return _curvature_of_errors(objective, rows, WEIGHTS, found, steep), found, steep


def test_the_curvature_of_counts_is_surer_where_rows_are_as_gaussian():
    true = curvature_at(LOSS, CURVATURE, True, WEIGHTS[None, :]).within
    rng, off, before = np.random.default_rng(2), [], []
    for _ in range(200):
        known, found, _ = of_errors(LOSS, true, rng)
        off.append(np.sum((known.mean - true) ** 2))
        before.append(np.sum((found.mean - true) ** 2))
    assert np.mean(off) < 0.5 * np.mean(before)


def test_where_rows_are_not_what_was_found_counts():
    true = curvature_at(LOSS, CURVATURE, True, WEIGHTS[None, :]).within
    other = 1.5 * true + np.diag([0.05, 0, 0, 0])
    known, found, _ = of_errors(LOSS, other, np.random.default_rng(3))
    assert np.sum((known.mean - found.mean) ** 2) < 0.01 * np.sum((found.mean - true) ** 2)


@pytest.mark.parametrize(("loss", "intercept"), [(Squared(), 1.0), (LOSS, 0.0)])
def test_others_keep_the_curvature_of_the_step(loss, intercept):
    known, _, steep = of_errors(loss, CURVATURE, np.random.default_rng(4), intercept)
    assert known is steep


@pytest.mark.parametrize("size", [0.0, 1e-300, 1e200])
def test_numbers_without_a_square_stop_nothing(size):
    """A fit that is charged ends with a model, whatever was released."""
    own = MomentsAt(size * np.eye(3), size)
    with np.errstate(all="ignore"):
        found = middle(own, np.zeros(3), own)
    assert np.isfinite(found).all()


def test_eigenvalues_that_noise_pushed_apart_are_drawn_together():
    rng, pushed, left = np.random.default_rng(5), [], []
    true = np.array([1.0, 1.2, 1.4, 3.0])
    for _ in range(DRAWS):
        noisy = np.diag(true) + noise_matrix(rng, NOISE)
        pushed.append(np.linalg.eigvalsh(noisy) - true)
        left.append(np.linalg.eigvalsh(drawn_together(MomentsAt(noisy, NOISE))) - true)
    pushed, left = np.mean(pushed, axis=0), np.mean(left, axis=0)
    assert pushed[0] < -0.2
    assert pushed[2] > 0.1
    assert np.all(np.abs(left[[0, 2, 3]]) < np.abs(pushed[[0, 2, 3]]))
    assert left[0] < 0.0  # not all the way: DRAWN
    assert 0.0 < DRAWN < 1.0


@pytest.mark.parametrize("noise", [0.0, 1e-9])
def test_without_noise_eigenvalues_stay(noise):
    np.testing.assert_allclose(drawn_together(MomentsAt(CURVATURE, noise)), CURVATURE, atol=1e-12)
