"""Fits of arrays on a device: the models of NumPy's arrays, or the same refusals."""

import warnings

import numpy as np
import pytest

from privlearn import Lasso, Ledger, LinearRegression, LinearSVC, LogisticRegression
from privlearn._data import device as devices
from privlearn.linear_model import from_device
from source_models import arrays_elsewhere

RNG = np.random.default_rng(0)
X = RNG.standard_normal((900, 4))
X[:, 2] *= np.exp(2.0 * RNG.standard_normal(900))
SIGNS = np.where(X[:, 0] + RNG.standard_normal(900) > 0.0, "yes", "no")
CLASSES = (SIGNS == "yes").astype(int)
NUMBERS = X[:, 0] + 0.1 * RNG.standard_normal(900)
ENDS = np.array([4.0, 4.0, 500.0, 4.0])
BOX = {"bounds_X": (-ENDS, ENDS), "random_state": 0}


class OnDevice(np.ndarray):
    """NumPy's memory in the place of a GPU's: names are those of CuPy."""


def put(values):
    return np.asarray(values).view(OnDevice)


@pytest.fixture(autouse=True)
def device(monkeypatch):
    """Arrays of that class, or of the standard's other device, count as on a device."""

    def on_device(values):
        return isinstance(values, OnDevice)

    monkeypatch.setattr(devices, "is_on_device", on_device)
    monkeypatch.setattr(from_device, "is_on_device", on_device)
    monkeypatch.setattr(from_device, "as_tensor", np.asarray)
    monkeypatch.setattr(from_device, "to_host", np.asarray)


@pytest.fixture
def stays(monkeypatch):
    """Which fits stayed on the device."""
    found, plain = [], from_device.learned_on_device

    def learned(*given):
        found.append(plain(*given))
        return found[-1]

    monkeypatch.setattr(from_device, "learned_on_device", learned)
    return found


MODELS = [
    (LogisticRegression(random_state=0), CLASSES),
    (LogisticRegression(**BOX, solver="cd"), CLASSES),
    (LogisticRegression(**BOX), CLASSES),
    (LogisticRegression(**BOX, classes=[0, 1], adjacency="replace_one"), CLASSES),
    (LogisticRegression(**BOX, adjacency="add_remove", fit_intercept=False), CLASSES),
    (LinearRegression(**BOX, bounds_y=(-5.0, 5.0), solver="cd"), NUMBERS),
    (Lasso(**BOX, bounds_y=(-5.0, 5.0), alpha=0.01, solver="cd"), NUMBERS),
]


@pytest.mark.parametrize(("model", "y"), MODELS)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_models_are_those_of_numpy(model, y, kind, stays):
    rows = X.astype(kind)
    there = model.fit(put(rows), put(y))
    coef, intercept, told = there.coef_, there.intercept_, there.privacy_
    here = model.fit(rows, y)
    np.testing.assert_array_equal(coef, here.coef_)
    np.testing.assert_array_equal(intercept, here.intercept_)
    assert told.releases == here.privacy_.releases
    assert told.epsilon == here.privacy_.epsilon
    assert stays == [True]


COPIED = [
    (LogisticRegression(random_state=0, data_norm=3.0), CLASSES),
    (LinearSVC(**BOX), CLASSES),
    (LinearRegression(**BOX, bounds_y=(-5.0, 5.0), solver="moments"), NUMBERS),
    (LogisticRegression(**BOX, on_invalid="drop"), CLASSES),
    (LogisticRegression(**BOX), np.arange(900) % 3),
]


@pytest.mark.parametrize(("model", "y"), COPIED)
def test_what_has_no_form_on_a_device_is_copied(model, y, stays):
    there = model.fit(put(X), put(y)).coef_
    np.testing.assert_array_equal(there, model.fit(X, y).coef_)
    assert stays == [False]


def test_predictions_and_parts_may_be_elsewhere(stays):
    model = LogisticRegression(**BOX).fit(X, put(CLASSES))
    np.testing.assert_array_equal(model.coef_, LogisticRegression(**BOX).fit(X, CLASSES).coef_)
    assert stays == [False]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_bad_rows_are_refused_before_the_charge(bad, tmp_path):
    ledger = Ledger.create(tmp_path / "ledger", epsilon=5.0, delta=1e-5)
    rows, y = X.copy(), NUMBERS.copy()
    rows[3, 1] = bad
    model = LinearRegression(**BOX, bounds_y=(-5, 5), solver="cd", ledger=ledger, dataset="a")
    with pytest.raises(ValueError, match="Input X contains NaN or infinity"):
        model.fit(put(rows), put(y))
    y[4] = bad
    with pytest.raises(ValueError, match="Input y contains NaN or infinity"):
        model.fit(put(X), put(y))
    assert not ledger.history("a")
    assert not hasattr(model, "coef_")


def test_labels_are_read_as_others_are():
    with pytest.raises(ValueError, match="continuous"):
        LogisticRegression(**BOX).fit(put(X), put(NUMBERS))
    with pytest.raises(ValueError, match="not among the 2 declared classes"):
        LogisticRegression(**BOX, classes=[1, 2]).fit(put(X), put(CLASSES))
    one = LogisticRegression(**BOX, classes=[0, 1])
    np.testing.assert_array_equal(
        one.fit(put(X), put(np.zeros(900))).coef_, one.fit(X, np.zeros(900)).coef_
    )


def test_one_charge_for_a_fit(tmp_path):
    ledger = Ledger.create(tmp_path / "ledger", epsilon=5.0, delta=1e-5)
    model = LogisticRegression(bounds_X=(-ENDS, ENDS), ledger=ledger, dataset="a")
    assert model.fit(put(X), put(CLASSES)).privacy_.private
    assert len(ledger.history("a")) == 1


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_arrays_of_the_standard_fit(kind, monkeypatch):
    strict = arrays_elsewhere()
    monkeypatch.undo()
    device = strict.Device("device1")
    rows, y = (strict.asarray(one, device=device) for one in (X.astype(kind), CLASSES))
    there = LogisticRegression(**BOX).fit(rows, y).coef_
    np.testing.assert_array_equal(
        there, LogisticRegression(**BOX).fit(X.astype(kind), CLASSES).coef_
    )


@pytest.mark.parametrize("solver", ["cd", "sgd"])  # which stay there, and which do not
def test_the_order_of_two_classes_is_told_once(solver, stays):
    model = LogisticRegression(**BOX, classes=[1, 0], solver=solver)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model.fit(put(X), put(CLASSES))
    assert stays == [solver == "cd"]
    assert sum("classes=[1, 0]" in str(one.message) for one in told) == 1
