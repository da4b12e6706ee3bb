import numpy as np
import pytest

from privlearn._objective.losses import LOSSES, Hinge, SquaredHinge, Target

NUMBERS = np.array([-1.0, 1.0, 0.3, 2.0])
SIGNS = np.array([-1.0, 1.0])
COUNTS = np.array([0.0, 1.0])  # relative to the largest
Z = np.linspace(-3, 3, 422)  # misses the kinks at -1 and 1
SCALAR = [loss for loss in LOSSES if loss.target is not Target.CLASS]


def called(loss):
    return f"{loss.name} of {loss.outputs}"


@pytest.fixture(params=SCALAR, ids=called)
def loss(request):
    return request.param


@pytest.fixture(params=[loss for loss in LOSSES if loss not in SCALAR], ids=called)
def class_loss(request):
    return request.param


def targets(loss):
    if loss.name == "poisson":
        return COUNTS
    return NUMBERS if loss.target is Target.NUMBER else SIGNS


def test_derivative_is_the_slope_of_the_value(loss):
    h = 1e-6
    for y in targets(loss):
        slope = (loss.value(y, Z + h) - loss.value(y, Z - h)) / (2 * h)
        np.testing.assert_allclose(loss.derivative(y, Z), slope, atol=1e-7)


def test_convex_and_nowhere_steeper_than_declared(loss):
    for y in targets(loss):
        rise = np.diff(loss.derivative(y, Z)) / np.diff(Z)
        assert (rise >= -1e-12).all()
        assert (rise <= loss.smoothness + 1e-12).all()
        if np.isfinite(loss.smoothness):
            assert rise.max() >= 0.9 * loss.smoothness, "the declared smoothness is far from tight"
        steepest = np.abs(loss.derivative(y, 100 * Z)).max()
        assert steepest <= loss.lipschitz
        if np.isfinite(loss.lipschitz):
            assert steepest >= 0.99 * loss.lipschitz, "the declared Lipschitz constant is not tight"


def test_slopes_of_class_losses(class_loss):
    h = 1e-6
    z = np.random.default_rng(0).normal(size=(20, class_loss.outputs))
    for y in range(class_loss.outputs):
        labels = np.full(20, float(y))
        for k in range(class_loss.outputs):
            step = h * np.eye(class_loss.outputs)[k]
            slope = (class_loss.value(labels, z + step) - class_loss.value(labels, z - step)) / (
                2 * h
            )
            np.testing.assert_allclose(class_loss.derivative(labels, z)[:, k], slope, atol=1e-7)


def test_constants_of_class_losses(class_loss):
    rng = np.random.default_rng(1)
    labels = np.zeros(4000)
    a, b = (rng.normal(scale=30, size=(4000, class_loss.outputs)) for _ in range(2))
    b = np.where(np.arange(4000)[:, None] % 2, b, a + 0.01 * b)  # far and near pairs
    rise = np.linalg.norm(
        class_loss.derivative(labels, a) - class_loss.derivative(labels, b), axis=1
    )
    apart = np.linalg.norm(a - b, axis=1)
    assert (rise <= class_loss.smoothness * apart + 1e-9).all()
    steepest = np.linalg.norm(class_loss.derivative(labels, a), axis=1).max()
    assert steepest <= class_loss.lipschitz + 1e-12
    if np.isfinite(class_loss.lipschitz):
        assert steepest >= 0.99 * class_loss.lipschitz
    else:
        assert (rise / apart).max() >= 0.9 * class_loss.smoothness, "not even smooth"


ONE_VERSUS_REST = [(Hinge(), Hinge(4)), (SquaredHinge(), SquaredHinge(4))]


@pytest.mark.parametrize(("binary", "joint"), ONE_VERSUS_REST, ids=["hinge", "squared hinge"])
def test_one_versus_rest_is_the_sum_of_binary_losses(binary, joint):
    rng = np.random.default_rng(2)
    z, labels = rng.normal(scale=2, size=(50, 4)), rng.integers(4, size=50).astype(float)
    signs = [np.where(labels == k, 1.0, -1.0) for k in range(4)]
    values = sum(binary.value(signs[k], z[:, k]) for k in range(4))
    slopes = np.column_stack([binary.derivative(signs[k], z[:, k]) for k in range(4)])
    np.testing.assert_allclose(joint.value(labels, z), values)
    np.testing.assert_array_equal(joint.derivative(labels, z), slopes)


def test_names_and_codes_are_unique():
    assert len({(loss.name, loss.outputs) for loss in LOSSES}) == len(LOSSES)
    pairs = {(loss.name, loss.code) for loss in LOSSES}
    assert len(pairs) == len({name for name, _ in pairs}) == len({code for _, code in pairs})
