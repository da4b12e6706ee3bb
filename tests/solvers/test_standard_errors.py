"""Degrees of freedom: as many as the noise of a noisy covariance leaves, in any units."""

import numpy as np
import pytest

from privlearn.solvers._common.standard_errors import LEAST_DEGREES, SURER, Doubt, StandardErrors

CURVATURE = np.array([[1.0, 0.6, 0.0], [0.6, 1.0, 0.2], [0.0, 0.2, 0.8]])
MIDDLE = np.diag([0.5, 1.0, 2.0]) + 0.1
SUMS = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1.0, -1.0, 0.5]])


def errors(noise, curvature=CURVATURE):
    inverse = np.linalg.inv(curvature)
    total = inverse @ MIDDLE @ inverse
    doubt = Doubt(noise * inverse, total)
    return StandardErrors(total, total, np.zeros((0, 3)), np.eye(3), doubt=doubt)


def test_degrees_are_two_over_the_relative_variance_of_a_variance():
    noise, rng, found = 0.01, np.random.default_rng(0), []
    for _ in range(8_000):
        above = np.triu(rng.standard_normal((3, 3)), 1) / np.sqrt(2)
        moved = CURVATURE + noise * (above + above.T + np.diag(rng.standard_normal(3)))
        total = errors(0.0, moved).total
        found.append(np.einsum("ij,jk,ik->i", SUMS, total, SUMS))
    relative = np.var(found, axis=0) / np.mean(found, axis=0) ** 2
    squared = (errors(noise).degrees(SUMS) - LEAST_DEGREES) / SURER
    np.testing.assert_allclose(np.sqrt(squared), 2.0 / relative, rtol=0.06)


def test_of_one_direction_they_follow_from_signal_over_noise():
    one = np.eye(1)
    for clear in (1.0, 3.0):
        found = StandardErrors(one, one, np.zeros((0, 1)), one, doubt=Doubt(one / clear, one))
        assert found.degrees(one)[0] == pytest.approx(LEAST_DEGREES + SURER * (clear**2 / 2) ** 2)


@pytest.mark.parametrize("unit", [1e-200, 1e-3, 1e8, 1e120])
def test_units_do_not_change_them(unit):
    own = errors(0.3)
    slopes = unit * np.array([[1.0, 0.0], [0.5, 0.0], [0.0, -2.0]])
    mapped = own.mapped(lambda w: w @ slopes, unit=unit)
    np.testing.assert_allclose(mapped.degrees(np.eye(2)), own.degrees(slopes.T / unit))
    np.testing.assert_allclose(own.degrees(unit * SUMS), own.degrees(SUMS))


def test_without_noise_or_without_an_error_there_is_no_doubt():
    assert np.isinf(StandardErrors(*(np.eye(3),) * 4).degrees(SUMS)).all()
    assert np.isinf(errors(0.0).degrees(SUMS)).all()
    assert np.isinf(errors(0.3).degrees(np.zeros((1, 3)))).all()
