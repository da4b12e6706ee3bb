"""Planted bugs in sums over rows on a device: an audit or a fit in memory finds each."""

from types import SimpleNamespace

import numpy as np
import pytest

from planting import rewritten
from privlearn import LinearRegression, audit
from privlearn._data.device import Namespace
from privlearn.exceptions import PlanViolationError
from privlearn.solvers._common.loops import integer_rows as loops
from privlearn.solvers._device import rows as device_rows
from source_models import LinearOnDevice, arrays_elsewhere, bits, on_device
from support import N_FEATURES

arrays_elsewhere()

MODELS = dict(on_device())
AUDITED = MODELS["LinearOnDevice-box"], MODELS["LinearOnDevice-None"]
Rows = device_rows.DeviceRows


def a_block_counts_twice(patch):
    own = Rows._parts

    def twice(self):
        for part in own(self):
            yield part
            yield part

    patch.setattr(Rows, "_parts", twice)


def rows_are_multiplied_by_what_a_block_lacks(patch):
    own = Rows._parts

    def relative(self):
        for values, targets, norms in own(self):
            largest = float(self.xp.module.max(self.xp.abs(values)))
            yield self.xp.rint(values * (2.0**15 / max(largest, 1.0))), targets, norms

    patch.setattr(Rows, "_parts", relative)


def lengths_are_those_of_half_a_row(patch):
    own = device_rows._store

    def halved(rows, *given):
        own(rows, *given)
        rows.norms[:, :] = rows.norms * 0.5

    patch.setattr(device_rows, "_store", halved)


@pytest.mark.parametrize(
    "plant",
    [
        a_block_counts_twice,
        rows_are_multiplied_by_what_a_block_lacks,
        lengths_are_those_of_half_a_row,
    ],
    ids=lambda plant: plant.__name__,
)
def test_an_audit_finds(plant, monkeypatch):
    plant(monkeypatch)
    with pytest.raises((audit.AuditFailure, PlanViolationError)):
        _audit()


def _audit():
    for model in AUDITED:
        audit.check_replay(model, n_features=N_FEATURES, every=3)


def a_block_is_lost(patch):
    own = Rows._parts

    def fewer(self):
        found = own(self)
        next(found)
        yield from found

    patch.setattr(Rows, "_parts", fewer)


def sums_are_in_single_precision(patch):
    own = Namespace.matmul

    def single(self, x, y):
        return self.astype(
            own(self, self.astype(x, "float32"), self.astype(y, "float32")), "float64"
        )

    patch.setattr(Namespace, "matmul", single)


def slopes_are_cut_before_they_are_rounded(patch):
    right, wrong = "np.rint(np.abs(slope) * per_unit), limit", "np.abs(slope) * per_unit, limit"
    cut = SimpleNamespace(py_func=rewritten(loops.integer_slope.py_func, right, wrong))
    own = device_rows.on_arrays
    patch.setattr(
        device_rows, "on_arrays", lambda f, xp: own(cut if f is loops.integer_slope else f, xp)
    )


DATA = np.random.default_rng(3).normal(size=(700, 3))


@pytest.mark.parametrize(
    "plant",
    [
        a_block_counts_twice,
        a_block_is_lost,
        sums_are_in_single_precision,
        slopes_are_cut_before_they_are_rounded,
    ],
    ids=lambda plant: plant.__name__,
)
def test_a_fit_in_memory_finds(plant, monkeypatch):
    how = {"random_state": 0, "epsilon": 1e3, "solver": "cd"}
    y = DATA.sum(axis=1)
    expected = bits(LinearRegression(**how).fit(DATA, y))
    monkeypatch.setattr(device_rows, "AT_ONCE", 256 * 3)  # some rows at a time
    assert bits(LinearOnDevice(**how).fit(DATA, y)) == expected
    plant(monkeypatch)
    assert bits(LinearOnDevice(**how).fit(DATA, y)) != expected
