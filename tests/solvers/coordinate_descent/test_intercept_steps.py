"""The last step of classes: mean predictions are the classes' shares, as far as noise tells."""

import numpy as np
import pytest

from privlearn import LogisticRegression
from privlearn._objective.losses import Logistic, Softmax
from privlearn.solvers import CoordinateDescent
from privlearn.solvers.coordinate_descent import intercept_steps
from privlearn.solvers.coordinate_descent.gaussian_rows import shift_of_scores
from support import exact

RNG = np.random.default_rng(3)
ROWS = np.column_stack([RNG.normal(size=(100_000, 2)) @ [[1.0, 0.4], [0.0, 0.8]], np.ones(100_000)])
MOMENTS = ROWS.T @ ROWS / len(ROWS)
TWO = np.array([[0.6, -0.3, -3.0]])
THREE = np.array([[0.0, 0.0, 1.5], [0.6, -0.3, -1.0], [0.2, 0.5, -0.5]])
USUAL = 0.2


def shares(loss, weights, shift):
    return loss.mean_shares(ROWS @ weights.T + shift)


@pytest.mark.parametrize(("loss", "weights"), [(Logistic(), TWO), (Softmax(3), THREE)])
def test_without_noise_scores_move_to_the_wanted_shares(loss, weights):
    before = shares(loss, weights, 0.0)
    change = np.array([0.015]) if loss.outputs == 1 else np.array([-0.03, 0.02, 0.01])
    shift = shift_of_scores(loss, MOMENTS, weights, change, 0.0, USUAL)
    moved = shares(loss, weights, shift) - before
    np.testing.assert_allclose(moved[-loss.outputs :], change, rtol=0.05, atol=2e-4)


@pytest.mark.parametrize(("loss", "weights"), [(Logistic(), TWO), (Softmax(3), THREE)])
def test_a_change_counts_by_how_far_it_stands_out_of_the_noise(loss, weights):
    change = np.array([0.02]) if loss.outputs == 1 else np.array([-0.02, 0.02, 0.0])
    usual = USUAL * shares(loss, weights, 0.0).max()
    sizes = [
        np.abs(shift_of_scores(loss, MOMENTS, weights, change, noise * usual, USUAL)).max()
        for noise in (0.0, 1.0, 30.0)
    ]
    assert sizes[0] > sizes[1] > sizes[2]
    assert sizes[2] < 0.02 * sizes[0]


def test_noise_makes_no_class_rarer_than_it_would_hide():
    share, noise = shares(Logistic(), TWO, 0.0)[1], 0.002
    shift = shift_of_scores(Logistic(), MOMENTS, TWO, np.array([-0.5]), noise, 1e3)
    np.testing.assert_allclose(shares(Logistic(), TWO, shift)[1], noise, rtol=0.1)
    hidden = shift_of_scores(Logistic(), MOMENTS, TWO, np.array([-0.5]), 10 * share, 1e3)
    np.testing.assert_allclose(hidden, 0.0, atol=1e-6)


@pytest.mark.parametrize("size", [1e150, 1e200, np.inf, np.nan])
@pytest.mark.parametrize("loss", [Logistic(), Softmax(3)])
def test_weights_that_noise_threw_far_out_stay(loss, size):
    weights = np.full((loss.outputs, 3), size) * np.arange(1.0, loss.outputs + 1)[:, None]
    for change in (0.0, -0.5, 1e150):
        shift = shift_of_scores(loss, MOMENTS, weights, np.full(loss.outputs, change), 0.1, USUAL)
        assert np.isfinite(shift).all()


@pytest.mark.parametrize("apart", [-90.0, -45.0, -36.0, -25.0, 25.0, 36.0, 45.0, 90.0])
@pytest.mark.parametrize("loss", [Logistic(), Softmax(3)])
def test_classes_that_gaussian_rows_would_not_have_stay_where_they_are(loss, apart):
    """Rows may be far from Gaussian, as rare flags are: their class is there, and not in these."""
    weights = np.zeros((loss.outputs, 3))
    weights[0] = 0.5, 0.5, apart
    change = np.full(loss.outputs, 1e-3)
    change[0] = -1e-3
    shift = shift_of_scores(loss, MOMENTS, weights, change, 5e-4, USUAL)
    assert np.ptp(np.append(shift, 0.0) if loss.outputs == 1 else shift) < 1e-3


@pytest.mark.parametrize("apart", [50.0, 700.0, 710.0, 730.0, 745.0, 800.0])
@pytest.mark.parametrize("loss", [Logistic(), Softmax(3), Softmax(7)])
def test_scores_too_far_apart_for_any_doubt_stay_finite(loss, apart):
    """Probabilities are then as small as numbers get, and so are second derivatives."""
    weights = np.zeros((loss.outputs, 3))
    weights[0, -1] = apart
    for change in (0.0, -0.5):
        shift = shift_of_scores(loss, MOMENTS, weights, np.full(loss.outputs, change), 0.1, USUAL)
        assert np.isfinite(shift).all()


def rare(classes):
    rng = np.random.default_rng(classes)
    X = rng.normal(size=(4_000, 3))
    scores = X @ rng.normal(size=(3, classes)) + np.append(3.0, np.linspace(0, -0.5, classes - 1))
    return X, (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)


def model_of(classes, solver):
    told = {"classes": list(range(classes)), "bounds_X": (-6.0, 6.0)}
    return LogisticRegression(epsilon=1.0, delta=1e-6, solver=solver, **told)


@pytest.mark.parametrize("classes", [2, 3])
def test_shortened_gradients_leave_rare_classes_as_frequent_as_they_are(classes, monkeypatch):
    X, y = rare(classes)

    def rates(clip):
        model = model_of(classes, CoordinateDescent(passes=200, clip=clip))
        found = exact(model, X, y).predict_proba(X)
        return found.mean(axis=0) / (np.bincount(y) / len(y))

    np.testing.assert_allclose(rates(0.3), 1.0, atol=0.05)
    monkeypatch.setattr(intercept_steps, "last_step", lambda prepared, weights, *_: weights)
    assert rates(0.3).min() < 0.85  # that is what it is for
    np.testing.assert_allclose(rates(1e3), 1.0, atol=0.02)


@pytest.mark.parametrize("classes", [2, 3])
def test_rows_contribute_slopes_to_the_intercept_and_nothing_else(classes, monkeypatch):
    """Far weights put every row on the wrong side, with the steepest slopes there are."""
    X, y = rare(classes)
    seen = []
    own = intercept_steps.last_step

    def watched(prepared, weights, moments, release):
        class Watch:
            noise_scale = staticmethod(release.noise_scale)

            def __call__(self, name, sums, clip):
                seen.append((name, np.array(sums), clip))
                return release(name, sums, clip=clip)

        return own(prepared, far, moments, Watch())

    monkeypatch.setattr(intercept_steps, "last_step", watched)
    outputs = 1 if classes == 2 else classes
    far = np.zeros((outputs, 4))
    far[0, -1] = 500.0
    far = far.ravel()
    y[:] = 0 if classes == 2 else 1
    exact(model_of(classes, "cd"), X, y)
    name, sums, clip = seen[-1]  # others are of the rehearsal
    places = 4 * np.arange(1, outputs + 1) - 1
    assert (name, clip) == ("clipped gradient", 1.0)
    assert not np.delete(sums, places).any()
    assert 0.999 * len(y) <= np.linalg.norm(sums[places]) <= len(y)
