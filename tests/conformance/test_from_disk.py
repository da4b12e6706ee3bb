"""Every audit of fits whose rows are read in passes."""

import pytest

from privlearn import audit
from source_models import from_disk
from support import N_FEATURES, checks_for, run_quickly

MODELS = dict(from_disk())


@pytest.mark.parametrize("name", MODELS)
def test_fits_from_disk_pass_every_audit(name):
    model = MODELS[name]
    for check in checks_for(model):
        run_quickly(check, model)


def test_rows_of_one_batch_change_none_of_another():
    audit.check_row_locality(MODELS["LinearFromDisk-zero_out-box"], n_features=N_FEATURES)
