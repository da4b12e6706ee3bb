"""Every audit of fits whose rows stay on a device."""

import pytest

from privlearn import audit
from privlearn.linear_model import from_device
from source_models import arrays_elsewhere, on_device
from support import N_FEATURES, checks_for, run_quickly

arrays_elsewhere()

MODELS = dict(on_device())


@pytest.mark.parametrize("name", MODELS)
def test_fits_on_a_device_are_replayed_on_neighbours(name, monkeypatch):
    stayed, own = [], from_device.learned_on_device
    monkeypatch.setattr(
        from_device, "learned_on_device", lambda *given: stayed.append(own(*given)) or stayed[-1]
    )
    place = list(MODELS).index(name)
    audit.check_replay(MODELS[name], n_features=N_FEATURES, first=7 * place, every=40)
    assert any(stayed)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_fits_on_a_device_pass_the_audits(name):
    for check in checks_for(MODELS[name]):
        run_quickly(check, MODELS[name])
