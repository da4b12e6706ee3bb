"""Noise leads back to the best constant, not to zero; and a rare class takes no features along."""

import numpy as np
import pytest
from sklearn.metrics import log_loss

from privlearn import LogisticRegression
from privlearn._objective.prox import WeightPenalty
from privlearn.solvers.coordinate_descent.quadratic_model import Curvature, QuadraticModel

WIDTH = 4
EXPECTED = np.array([0.0, 0.0, 0.0, -3.0])
RNG = np.random.default_rng(0)
ROOT = RNG.normal(size=(WIDTH, WIDTH))
WITHIN = ROOT @ ROOT.T + np.eye(WIDTH)


def model_of(noise_std, *, absolute=0.0, outputs=1):
    size = outputs * WIDTH
    free = np.full(size, np.inf)
    model = QuadraticModel(
        WeightPenalty(np.full(size, absolute), np.zeros(size), -free, free), outputs
    )
    expected = np.tile(EXPECTED, outputs)
    model.shrink_to(expected)
    between = np.eye(outputs)
    best = np.arange(1.0, size + 1)
    gradient = (np.kron(between, WITHIN) @ (expected - best)).ravel()
    model.add(expected, gradient, Curvature(between, WITHIN), share=1.0, noise_std=noise_std)
    return model, expected, best


@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize("absolute", [0.0, 1e-9])
def test_where_noise_is_all_there_is_the_constant_stays(absolute, outputs):
    model, expected, _ = model_of(1e6, absolute=absolute, outputs=outputs)
    np.testing.assert_allclose(model.minimiser(expected), expected, atol=1e-3)


@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize("absolute", [0.0, 1e-9])
def test_without_noise_what_is_expected_changes_nothing(absolute, outputs):
    model, expected, best = model_of(0.0, absolute=absolute, outputs=outputs)
    np.testing.assert_allclose(model.minimiser(expected), best, rtol=1e-5)


def test_between_the_two_it_is_between_the_two():
    model, expected, best = model_of(3.0)
    found = model.minimiser(expected)
    left, whole = found - expected, best - expected
    assert 0.0 < left @ WITHIN @ left < whole @ WITHIN @ whole


def rare_in_rare(n=12_000):
    """Sixteen regions, four of them with a hundredth of the people; a class of 2.4 %."""
    rng = np.random.default_rng(1)
    shares = np.append(np.full(12, 8.0), np.full(4, 0.8))
    region = np.eye(16)[rng.choice(16, n, p=shares / shares.sum())]
    age = rng.integers(15, 90, n)
    share = 1.0 / (1.0 + np.exp(3.6 + 0.03 * (age - 40.0)))
    return np.column_stack([region, age]), (rng.random(n) < share).astype(int), share


def test_rare_categories_do_not_wreck_the_model_of_a_rare_class():
    X, y, share = rare_in_rare()
    constant, best = log_loss(y, np.full(len(y), y.mean())), log_loss(y, share)
    kept = []
    for seed in range(7):
        model = LogisticRegression(epsilon=1, classes=[0, 1], random_state=seed).fit(X, y)
        reached = log_loss(y, model.predict_proba(X)[:, 1])
        kept.append((constant - reached) / (constant - best))
    assert np.median(kept) > 0.4  # shrunk to zero -0.2
    assert min(kept) > 0.0
