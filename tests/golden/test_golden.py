"""Moving code moves no number: seeded fits give what they gave, bit by bit."""

import json

import numpy as np
import pytest

from golden.fits import FILE, fits, published, versions

KEPT = json.loads(FILE.read_text(encoding="utf-8"))
PINNED = KEPT["versions"] == versions()
FITS = dict(fits())
FEW = list(FITS)[::2]  # for the fast tests


def test_every_fit_is_kept():
    assert list(FITS) == list(KEPT["fits"])
    assert sum(isinstance(kept, dict) for kept in KEPT["fits"].values()) >= 100


@pytest.mark.parametrize("name", FEW)
def test_numbers_are_as_before(name):
    _compare(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in FITS if name not in FEW])
def test_other_numbers_are_as_before(name):
    _compare(name)


def _compare(name):
    kept, found = KEPT["fits"][name], published(FITS[name])
    if PINNED or isinstance(kept, str) or isinstance(found, str):
        assert found == kept
        return
    assert found.keys() == kept.keys()
    for what in kept:  # other versions of numpy or another processor round otherwise
        np.testing.assert_allclose(found[what], kept[what], rtol=1e-6, atol=1e-9, err_msg=what)
