"""Planted bugs in sums of random features over rows on a device: an audit finds each."""

import numpy as np
import pytest

from privlearn import audit
from privlearn.exceptions import PlanViolationError
from privlearn.solvers._device import ranks, waves
from source_models import arrays_elsewhere, kernels_on_device
from support import N_FEATURES

arrays_elsewhere()

MODELS = list(dict(kernels_on_device()).values())


def a_block_counts_twice(patch):
    own = waves._blocks

    def twice(*given):
        for block in own(*given):
            yield block
            yield block

    patch.setattr(waves, "_blocks", twice)


def others_are_multiplied_by_the_largest_target(patch):
    own = waves._blocks

    def relative(settings, data):
        for block in own(settings, data):
            numbers = np.asarray(waves.to_host(block), np.float64)
            largest = np.abs(numbers[data.n_features + 1]).max()
            block[:, :] = data.xp.astype(data.xp.put(numbers * largest // 127), "int8")
            yield block

    patch.setattr(waves, "_blocks", relative)


def features_are_longer_than_planned(patch):
    own = waves.WaveData.units
    patch.setattr(waves.WaveData, "units", lambda self: 1.05 * own(self))


def bins_depend_on_how_many_rows_there_are(patch):
    own = ranks._bins_of

    def moved(xp, X, inner):
        return own(xp, X, inner) * 0 + X.shape[1] % 60

    patch.setattr(ranks, "_bins_of", moved)


BUGS = [
    a_block_counts_twice,
    others_are_multiplied_by_the_largest_target,
    features_are_longer_than_planned,
    bins_depend_on_how_many_rows_there_are,
]


@pytest.mark.parametrize("plant", BUGS, ids=lambda plant: plant.__name__)
def test_an_audit_finds(plant, monkeypatch):
    plant(monkeypatch)
    with pytest.raises((audit.AuditFailure, PlanViolationError)):
        _audit()


def _audit():
    for model in MODELS:
        audit.check_replay(model, n_features=N_FEATURES, every=3)
