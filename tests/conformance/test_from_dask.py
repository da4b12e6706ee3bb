"""Every audit of fits whose rows are added up by tasks of dask."""

import pytest

from privlearn import audit
from source_models import from_dask
from support import N_FEATURES, checks_for, run_quickly

pytest.importorskip("dask.array", reason="needs dask: pip install 'privlearn[dask]'")

MODELS = dict(from_dask())


@pytest.mark.parametrize("name", MODELS)
def test_fits_by_tasks_are_replayed_on_neighbours(name):
    place = list(MODELS).index(name)
    audit.check_replay(MODELS[name], n_features=N_FEATURES, first=7 * place, every=60)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_fits_by_tasks_pass_the_audits(name):
    for check in checks_for(MODELS[name]):
        run_quickly(check, MODELS[name])
