"""Rows on a device: every library's arrays give the integers that NumPy gives."""

import gc
import importlib
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from planting import rewritten
from privlearn._core.problem import Bounds
from privlearn._data.bounded import BoundedData, Table
from privlearn._data.device import Namespace, is_on_device, namespace_of, to_host
from privlearn._data.device_data import DeviceData
from privlearn._objective.losses import Logistic, Squared
from privlearn.solvers._common.counting import count_magnitudes
from privlearn.solvers._common.integer_rows import store_integers
from privlearn.solvers._common.scaling import Scaling
from privlearn.solvers._device import launch, passes, rehearsal
from privlearn.solvers._device import rows as device_rows
from privlearn.solvers._device.rows import any_order, store_on_device
from source_models import arrays_elsewhere

BINS = 48


def arrays_of(library):
    """What puts NumPy's arrays where a library has its own."""
    if library == "numpy":  # as CuPy, whose names are the same
        return np.asarray
    module = arrays_elsewhere() if "strict" in library else pytest.importorskip(library)
    if library == "torch":
        return module.as_tensor
    return lambda values: module.asarray(values, device=module.Device("device1"))


LIBRARIES = pytest.mark.parametrize("library", ["numpy", "array_api_strict", "torch"])


def made_up(library, loss, n=700, kind=np.float64, wide=True, intercept=True):
    """The same bounded rows for NumPy and for a library."""
    rng = np.random.default_rng(n)
    limits = np.array([1.5, 3.0, 200.0 if wide else 3.0, 3.0, 3.0])
    X = (2.0 * rng.standard_normal((n, 5))).astype(kind)
    signs = isinstance(loss, Logistic)
    y = rng.choice([-1, 1], n).astype(np.int8) if signs else rng.standard_normal(n)
    one, units = np.ones(5), (0.0, 1.0) if signs else (0.1, 0.8)
    scaling = Scaling(0.0 * one, one, one, float(intercept), *units, 0.0, 1.0, 1.0, 1.0)
    bounds = Bounds(-limits, limits, None if signs else (-0.7, 0.9), None)
    put = arrays_of(library)
    array, numbers = put(X), put(y)
    nothing = Table(np.empty((0, 5)), np.empty(0), True)
    there = DeviceData(nothing, bounds, intercept, array, numbers, namespace_of(array))
    here = BoundedData(Table(X, y, True), bounds, intercept)
    return scaling, limits, here, there


def everything(rows, loss, clip=2.0):
    model = SimpleNamespace(loss=loss)
    width = rows.n_features + bool(rows.intercept_value)
    weights = np.random.default_rng(1).standard_normal(width)
    return (
        rows.gradient_sum(model, weights, clip),
        rows.count_lengths(model, weights, 100.0, BINS),
        rows.second_moments(4.0),
    )


@LIBRARIES
@pytest.mark.parametrize("loss", [Squared(), Logistic()])
@pytest.mark.parametrize("wide", [False, True])
def test_every_library_gives_the_bits_of_numpy(library, loss, wide, monkeypatch):
    for n, kind, intercept, at_once in (
        (700, np.float64, True, 2**22), (512, np.float32, False, 2**22), (999, np.float32, True, 1),
    ):  # fmt: skip
        monkeypatch.setattr(device_rows, "AT_ONCE", at_once)
        scaling, limits, here, there = made_up(library, loss, n, kind, wide, intercept)
        expected = everything(store_integers(scaling, limits, here), loss)
        found = everything(store_on_device(scaling, limits, there), loss)
        for one, other in zip(expected, found, strict=True):
            np.testing.assert_array_equal(one, other)


@LIBRARIES
def test_counts_are_those_of_numpy(library):
    scaling, limits, here, there = made_up(library, Squared())
    facts = scaling.center, 1.0 / limits
    expected = count_magnitudes(here, "features", *facts, 24)
    np.testing.assert_array_equal(count_magnitudes(there, "features", *facts, 24), expected)
    facts = np.array([0.1]), np.array([1.25])
    expected = count_magnitudes(here, "target", *facts, 24)
    np.testing.assert_array_equal(count_magnitudes(there, "target", *facts, 24), expected)


@LIBRARIES
def test_blocks_and_single_rows_are_copies(library):
    _, _, here, there = made_up(library, Squared())
    for one, other in zip(here.blocks(at_once=300), there.blocks(at_once=300), strict=True):
        np.testing.assert_array_equal(one.X, other.X)
        np.testing.assert_array_equal(one.y, other.y)
    some = np.array([5, 3])
    one, other = (next(data.take(some).blocks()) for data in (here, there))
    np.testing.assert_array_equal(one.X, other.X)
    assert there.present().all()
    assert there.count_present() == here.n


def test_no_contribution_is_longer_than_the_clip_in_exact_arithmetic():
    """Rows of one each: what a row adds to a gradient is its own, and short."""
    clip, loss = 0.3, Logistic()
    model = SimpleNamespace(loss=loss)
    for n in range(1, 30):
        scaling, limits, _, there = made_up("numpy", loss, n)
        one = DeviceData(
            there.table, there.bounds, True, there.array[-1:], there.numbers[-1:], there.xp
        )
        rows = store_on_device(scaling, limits, one)
        weights = 0.1 * np.random.default_rng(n).standard_normal(6)
        found = rows.gradient_sum(model, weights, clip)
        length = sum(Fraction(float(entry)) ** 2 for entry in found)
        assert 0 < length <= Fraction(clip) ** 2


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (
            "range(0, int(self.values.shape[0]), step)",
            "range(step, int(self.values.shape[0]), step)",
        ),
        ("start + step", "start + step + 1"),
    ],
)
def test_a_lost_block_or_one_counted_twice_is_seen(right, wrong, monkeypatch):
    monkeypatch.setattr(device_rows, "AT_ONCE", 1)
    scaling, limits, here, there = made_up("numpy", Logistic())
    broken = rewritten(device_rows.DeviceRows._parts, right, wrong)
    monkeypatch.setattr(device_rows.DeviceRows, "_parts", broken)
    expected = everything(store_integers(scaling, limits, here), Logistic())
    found = everything(store_on_device(scaling, limits, there), Logistic())
    assert not np.array_equal(expected[0], found[0])


def test_squares_that_round_are_added_in_order():
    one = np.ones(4)
    near, far = 0.25**13 * one, np.array([0.25**13, 0.25**5, 0.25**13, 0.25**13])
    assert any_order(np.stack([one, one, 32767.0 * one, near]))
    assert not any_order(np.stack([one, one, 2.0**23 * one, far]))


def test_what_lies_on_a_device():
    assert not is_on_device(np.zeros(2))
    assert not is_on_device([1.0])
    assert not is_on_device("y")
    assert not is_on_device(None)
    np.testing.assert_array_equal(to_host(np.arange(3)), np.arange(3))


@pytest.mark.parametrize("where", ["CPU_DEVICE", "device1"])
def test_devices_of_the_standard_are_told_apart(where):
    strict = arrays_elsewhere()
    array = strict.asarray([1.0, 2.0], device=strict.Device(where))
    assert is_on_device(array) == (where == "device1")
    np.testing.assert_array_equal(to_host(array), [1.0, 2.0])


@LIBRARIES
@pytest.mark.parametrize("values", [[3.0, 1.0, 3.0], [2.0, 2.0], [5.0, 1.0, 3.0]])
def test_distinct_values_are_sorted(library, values):
    array = arrays_of(library)(np.array(values))
    np.testing.assert_array_equal(namespace_of(array).distinct(array), np.unique(values))


@pytest.fixture
def with_triton(monkeypatch):
    """Kernels on a GPU, or by Triton's interpreter where there is none; the device's name."""
    torch, triton = pytest.importorskip("torch"), pytest.importorskip("triton")
    if torch.cuda.is_available():
        return "cuda"
    if not triton.knobs.runtime.interpret:
        pytest.skip("no GPU here; TRITON_INTERPRET=1 runs kernels without one")
    monkeypatch.setattr(Namespace, "triton", property(lambda self: self.kind == "torch"))
    assert importlib.import_module("privlearn.solvers._device.kernels")
    return "cpu"


@pytest.mark.slow
@pytest.mark.parametrize("columns", [5, 20, 64, 100])
def test_passes_over_extreme_integers_are_those_of_numpy(columns, with_triton, monkeypatch):
    for loss in launch.LOSSES:
        for whole in (True, False):
            assert rehearsal._agree(columns, (loss, 1.0, 0.0), with_triton, whole)
    right = launch.gradients
    monkeypatch.setattr(launch, "gradients", lambda *given: [one + 1 for one in right(*given)])
    assert not rehearsal._agree(columns, (loss, 1.0, 0.0), with_triton, whole)


@pytest.mark.slow
def test_a_pass_is_asked_for_again(with_triton):
    """With other weights, and after rows that are no more."""
    for _ in range(2):
        scaling, limits, here, there = made_up("torch", Logistic(), 700, np.float32)
        there = moved(there, with_triton)
        rows, expected = (
            store_on_device(scaling, limits, there),
            store_integers(scaling, limits, here),
        )
        model, rng = SimpleNamespace(loss=Logistic()), np.random.default_rng(2)
        for _ in range(4):
            weights = rng.standard_normal(6)
            np.testing.assert_array_equal(
                rows.gradient_sum(model, weights, 2.0), expected.gradient_sum(model, weights, 2.0)
            )
    del rows
    gc.collect()
    assert not passes._passes


def moved(there, device):
    array, numbers = there.array.to(device), there.numbers.to(device)
    return DeviceData(there.table, there.bounds, True, array, numbers, namespace_of(array))


@pytest.mark.slow
def test_kernels_give_the_bits_of_numpy(with_triton):
    """Also of features that have two columns."""
    for loss in (Squared(), Logistic()):
        for wide in (False, True):
            scaling, limits, here, there = made_up("torch", loss, 700, np.float32, wide)
            expected = everything(store_integers(scaling, limits, here), loss)
            found = everything(store_on_device(scaling, limits, moved(there, with_triton)), loss)
            for one, other in zip(expected, found, strict=True):
                np.testing.assert_array_equal(one, other)
