"""Every audit of fits whose rows are read in passes."""

import pytest

from privlearn import audit
from source_models import from_disk
from support import N_FEATURES, checks_for, run_quickly

MODELS = dict(from_disk())
FEW = 15  # of the adversary's data sets, every so many-th


@pytest.mark.parametrize("name", MODELS)
def test_fits_from_disk_pass_the_audits(name):
    model, place = MODELS[name], list(MODELS).index(name)
    for check in checks_for(model):
        few = {"first": 3 * place, "every": FEW} if check is audit.check_replay else {}
        check(model, n_features=N_FEATURES, **few)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(MODELS)[1::2])
def test_fits_from_disk_are_replayed_on_more_neighbours(name):
    run_quickly(audit.check_replay, MODELS[name])


@pytest.mark.slow
def test_rows_of_one_batch_change_none_of_another():
    audit.check_row_locality(MODELS["LinearFromDisk-zero_out-box"], n_features=N_FEATURES)
