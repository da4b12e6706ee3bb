"""Kernel models of arrays on a device: the plan of NumPy's, the same promise, nearly the curve."""

from dataclasses import replace

import numpy as np
import pytest

from planting import rewritten
from privlearn import KernelClassifier, KernelRegressor, Ledger
from privlearn._core.problem import Budget
from privlearn._core.releaser import Releaser
from privlearn._data import device as devices
from privlearn.audit.replay import moved
from privlearn.audit.tape import record, replay_on
from privlearn.kernel_model import ranks
from privlearn.linear_model import from_device
from privlearn.solvers import SufficientStatistics
from privlearn.solvers._device import wave_launch, waves
from support import without_noise

RNG = np.random.default_rng(0)
N = 900
X = RNG.uniform(-1.0, 1.0, (N, 3))
Y = np.sin(3.0 * X[:, 0]) + 0.5 * X[:, 1] ** 2 + 0.1 * RNG.standard_normal(N)
ENDS = {"bounds_X": (-1.0, 1.0), "bounds_y": (-1.2, 1.5)}


class OnDevice(np.ndarray):
    """NumPy's memory in the place of a GPU's: names are those of CuPy."""


def put(values):
    return np.asarray(values).view(OnDevice)


@pytest.fixture(autouse=True)
def device(monkeypatch):
    """Arrays of that class count as on a device, where rows come in several blocks."""

    def on_device(values):
        return isinstance(values, OnDevice)

    monkeypatch.setattr(devices, "is_on_device", on_device)
    monkeypatch.setattr(from_device, "is_on_device", on_device)
    monkeypatch.setattr(from_device, "as_tensor", np.asarray)
    monkeypatch.setattr(from_device, "to_host", np.asarray)
    monkeypatch.setattr(waves, "BLOCK", 256)


@pytest.fixture
def stays(monkeypatch):
    """Which fits stayed on the device."""
    found, plain = [], from_device.learned_on_device

    def learned(*given):
        found.append(plain(*given))
        return found[-1]

    monkeypatch.setattr(from_device, "learned_on_device", learned)
    return found


def model(**given):
    facts = {"solver": "moments", "n_components": 30, "bandwidth": 0.7, "epsilon": 3.0, **ENDS}
    return KernelRegressor(**{**facts, **given})


FORMS = [
    {},
    {"fit_intercept": False, "orthogonal": True},
    {"adjacency": "add_remove"},
    {"adjacency": "replace_one", "alpha": 1.0},
    {"bandwidth": None},
    {"bandwidth": None, "adjacency": "add_remove"},
    {"bandwidth": None, "bounds_X": None, "bounds_y": None},
    {"bounds_y": None, "solver": SufficientStatistics(ridge="adassp")},
]


@pytest.mark.parametrize("given", FORMS)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_models_are_nearly_those_of_numpy(given, kind, stays):
    rows = X.astype(kind)
    there = model(**given, random_state=0).fit(put(rows), put(Y))
    here = model(**given, random_state=0).fit(rows, Y)
    assert stays == [True]
    assert there.privacy_.releases == here.privacy_.releases
    assert there.privacy_.epsilon == here.privacy_.epsilon
    assert there.privacy_.to_dict()["assumptions"] == here.privacy_.to_dict()["assumptions"]
    assert there.privacy_.spent(1e-6) == here.privacy_.spent(1e-6)
    spread = np.std(here.predict(X))
    assert np.abs(there.predict(X) - here.predict(X)).max() < 0.05 * spread


@pytest.mark.parametrize("given", FORMS[:6])
def test_without_noise_curves_are_the_same(given):
    with without_noise():
        there = model(**{"alpha": 1.0, **given}).fit(put(X), put(Y))
        here = model(**{"alpha": 1.0, **given}).fit(X, Y)
    np.testing.assert_allclose(there.predict(X), here.predict(X), atol=3e-3)


@pytest.mark.parametrize("given", FORMS[:7])
def test_no_statistic_moves_further_than_declared(given):
    """One row replaced by the worst that there are; where rows may come and go, one left out."""
    far = [(np.full(3, 9.0), 1e9), (np.full(3, -9.0), -1e9), (np.zeros(3), 0.0)]
    one = model(**given, random_state=0)
    for place in (0, 300, N - 1):
        tape = record(one, put(X), put(Y), place=place)
        others = []
        for row, target in far:
            rows, y = X.copy(), Y.copy()
            rows[place], y[place] = row, target
            others.append((rows, y))
        if given.get("adjacency") == "add_remove":
            others.append((np.delete(X, place, axis=0), np.delete(Y, place)))
        for rows, y in others:
            again = replay_on(tape, one, put(rows), put(y))
            replaced = len(y) == N and given.get("adjacency") != "replace_one"
            for first, second in zip(tape.entries, again.entries, strict=True):
                declared = tape.plan.sensitivity(first.release)
                distance = moved(tape.plan, first, second)
                assert distance <= declared * (1.41422 if replaced else 1.0)
            for name, value in tape.published.items():
                assert value.tobytes() == again.published[name].tobytes()


def test_a_row_moves_the_moments_as_far_as_a_plan_says():
    """The bound is not far from what one row does: the plan does not pay for much else."""
    one = model(adjacency="add_remove", random_state=0)
    rows, y = np.vstack([X, np.ones(3)]), np.append(Y, 5.0)
    tape = record(one, put(rows), put(y), place=N)
    again = replay_on(tape, one, put(X), put(Y))
    distance = moved(tape.plan, tape.entries[0], again.entries[0])
    assert 0.97 < distance / tape.plan.sensitivity(tape.entries[0].release) <= 1.0


def test_rows_that_move_up_change_no_other_integers():
    one = model(adjacency="add_remove", bandwidth=None, random_state=0)
    tape = record(one, put(X), put(Y), place=10)
    order = np.random.default_rng(1).permutation(N)
    again = replay_on(tape, one, put(X[order]), put(Y[order]))
    for first, second in zip(tape.entries, again.entries, strict=True):
        np.testing.assert_array_equal(first.statistic, second.statistic)


COPIED = [
    model(solver="auto"),
    model(solver="scd"),
    model(intervals=True, solver="auto"),
    model(on_invalid="drop"),
    model(data_norm=2.0, bounds_X=None),
    KernelRegressor(**ENDS),
]


@pytest.mark.parametrize("one", COPIED)
def test_what_has_no_form_on_a_device_is_copied(one, stays):
    one.random_state = 0
    there = one.fit(put(X), put(Y)).coef_
    np.testing.assert_array_equal(there, one.fit(X, Y).coef_)
    assert stays == [False]


def test_classifiers_are_copied(stays):
    one = KernelClassifier(bounds_X=(-1, 1), n_components=30, bandwidth=0.7, random_state=0)
    there = one.fit(put(X), put(Y > 0)).coef_
    np.testing.assert_array_equal(there, one.fit(X, Y > 0).coef_)
    assert stays == [False]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_bad_rows_are_refused_before_the_charge(bad, tmp_path):
    ledger = Ledger.create(tmp_path / "ledger", epsilon=5.0, delta=1e-5)
    rows, y = X.copy(), Y.copy()
    rows[3, 1] = y[4] = bad
    one = model(ledger=ledger, dataset="a")
    with pytest.raises(ValueError, match="Input X contains NaN or infinity"):
        one.fit(put(rows), put(Y))
    with pytest.raises(ValueError, match="Input y contains NaN or infinity"):
        one.fit(put(X), put(y))
    assert not ledger.history("a")
    assert not hasattr(one, "coef_")
    one.fit(put(X), put(Y))
    assert len(ledger.history("a")) == 1


def test_what_does_not_fit_is_refused(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (2.0**30, 2.0**31))
    for name in ("memory_reserved", "memory_allocated"):
        monkeypatch.setattr(torch.cuda, name, lambda device: 0)
    rows = torch.zeros((10, 3))
    wave_launch.refuse_too_many_waves(rows, 1000)
    with pytest.raises(Exception, match=r"nothing was charged\. Free some, take fewer"):
        wave_launch.refuse_too_many_waves(rows, 8192)


def released_twice(ahead):
    """What leaves of two statistics of zeros."""
    plan = model().plan(n=N, n_features=3)
    plan = replace(plan, releases=(replace(plan.releases[0], count=2),))
    (one,) = plan.releases
    release, found = Releaser(plan, Budget(3.0, 1e-6), 0), []
    for _ in range(2):
        if ahead:
            release.draw_ahead(one.name)
        found.append(release(one.name, np.zeros(one.shape), clip=one.clip))
        ahead = False
    return found


def test_noise_may_be_drawn_ahead_with_the_same_bits_and_is_used_once():
    np.testing.assert_array_equal(released_twice(True), released_twice(False))
    assert not np.array_equal(*released_twice(True))


def test_noise_that_is_used_again_is_seen(monkeypatch):
    wrong = rewritten(Releaser._emit, "self._ahead.pop(", "self._ahead.get(")
    monkeypatch.setattr(Releaser, "_emit", wrong)
    assert np.array_equal(*released_twice(True))


def counted_as_far_as_the_last_bin_alone(patch):
    def wrong(xp, X, inner):
        return xp.full(tuple(X.shape), 0, "int64")

    patch.setattr("privlearn.solvers._device.ranks._bins_of", wrong)


def test_ranks_are_asked_of_the_device(monkeypatch, stays):
    """Not of copies: a bug there changes what is released."""
    right = model(bandwidth=None, random_state=0).fit(put(X), put(Y)).feature_map_.ranks
    counted_as_far_as_the_last_bin_alone(monkeypatch)
    wrong = model(bandwidth=None, random_state=0).fit(put(X), put(Y)).feature_map_.ranks
    assert not np.array_equal(right, wrong)
    assert stays == [True, True]
    assert right.shape[1] == ranks.BINS + 1
