import numpy as np
import pytest

from privlearn.losses import LOSSES

Y = np.array([-1.0, 1.0, 0.3, 2.0])
Z = np.linspace(-3, 3, 41)


@pytest.fixture(params=LOSSES, ids=lambda loss: loss.name)
def loss(request):
    return request.param


def test_derivative_is_the_slope_of_the_value(loss):
    h = 1e-6
    for y in Y:
        slope = (loss.value(y, Z + h) - loss.value(y, Z - h)) / (2 * h)
        np.testing.assert_allclose(loss.derivative(y, Z), slope, atol=1e-7)


def test_convex_and_nowhere_steeper_than_declared(loss):
    for y in Y:
        rise = np.diff(loss.derivative(y, Z)) / np.diff(Z)
        assert (rise >= -1e-12).all()
        assert (rise <= loss.smoothness + 1e-12).all()
        assert rise.max() >= 0.9 * loss.smoothness, "the declared smoothness is far from tight"
        assert (np.abs(loss.derivative(y, Z)) <= loss.lipschitz).all()


def test_names_are_unique():
    assert len({loss.name for loss in LOSSES}) == len(LOSSES)
