"""Noise of the minimiser of averaged models: by formula and by simulation."""

import numpy as np
import pytest

from privlearn.solvers.coordinate_descent.noise import (
    noise_of_minimiser,
    noise_of_outputs,
    noise_of_weights,
)


def curvature(p=5):
    rng = np.random.default_rng(3)
    root = rng.standard_normal((p, p))
    return root @ root.T + 0.1 * np.eye(p)


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_simulated_minimisers_spread_as_told(scale):
    rng, A, std = np.random.default_rng(1), curvature(), 0.01 * scale
    optimum = np.arange(1.0, 6.0)
    found = [np.linalg.solve(A, A @ optimum - std * rng.standard_normal(5)) for _ in range(4_000)]
    told = noise_of_weights(A, std**2)
    np.testing.assert_allclose(np.std(found, axis=0), told, rtol=0.05)


def test_shrunk_directions_carry_less():
    A = curvature()
    values, vectors = np.linalg.eigh(A)
    whole = noise_of_minimiser(vectors, 1.0 / values, 1.0)
    np.testing.assert_allclose(whole, noise_of_weights(A, 1.0), rtol=1e-10)
    np.testing.assert_allclose(noise_of_weights(A, 1.0, gains=0.5 / values), whole / 2, rtol=1e-10)


def test_outputs_that_are_coupled():
    """The Kronecker product of two curvatures, solved as one matrix and output by output."""
    between, within = curvature(3), curvature(4)
    bends, across = np.linalg.eigh(between)
    values, vectors = np.linalg.eigh(bends[:, None, None] * within)
    told = noise_of_outputs(across, vectors, 1.0 / values, 0.25)
    whole = noise_of_weights(np.kron(between, within), 0.25)
    np.testing.assert_allclose(told.ravel(), whole, rtol=1e-8)


def test_a_flat_direction_has_no_infinite_noise():
    assert np.isfinite(noise_of_weights(np.ones((2, 2)), 1.0)).all()
