"""Second moments of sparse rows: exact, whichever product is taken."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from privlearn._core.problem import Bounds
from privlearn._data.bounded import BoundedData, Table
from privlearn.solvers._common import sparse_moments as moments
from privlearn.solvers._common.row_source import store_rows
from privlearn.solvers._common.scaling import Scaling


def stored(n=400, share=0.2, intercept=1.0):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 6)) * (rng.random((n, 6)) < share)
    X[2, 1] = np.nan
    units = np.ones(6)
    scaling = Scaling(0.0 * units, units, units, intercept, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0)
    table = Table(csr_array(X), rng.standard_normal(n))
    rows = store_rows(scaling, BoundedData(table, Bounds(None, None, None, None), True))
    Z = np.column_stack([np.nan_to_num(X), np.full(n, intercept)])[:, : 6 + bool(intercept)]
    Z[2] = 0.0
    return rows, Z


@pytest.mark.parametrize("intercept", [1.0, 0.0])
@pytest.mark.parametrize("longest", [0.7, 1.5, 40.0])
def test_moments_are_those_of_shortened_rows(intercept, longest):
    rows, Z = stored(intercept=intercept)
    lengths = np.linalg.norm(Z, axis=1)
    v = Z * np.minimum(1.0, longest / np.maximum(lengths, 1e-12))[:, None] / longest
    found = moments.sparse_moments(rows, Z.shape[1], intercept, longest)
    np.testing.assert_allclose(found, v.T @ v, atol=400 * 2.0**-19)
    assert (found == found.T).all()


def test_both_products_and_all_chunks_have_the_same_bits(monkeypatch):
    rows, Z = stored()
    found = []
    for dense, together, at_once in ((0.0, 2**22, 2**11), (1.0, 2**22, 2**11), (0.0, 100, 64)):
        monkeypatch.setattr(moments, "DENSE", dense)
        monkeypatch.setattr(moments, "TOGETHER", together)
        monkeypatch.setattr(moments, "AT_ONCE", at_once)
        found.append(moments.sparse_moments(rows, Z.shape[1], 1.0, 1.5))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_no_row_contributes_more_than_one():
    rows, Z = stored(60)
    for i in range(60):
        norms = np.zeros_like(rows.norms)
        norms[i] = rows.norms[i]
        found = moments.sparse_moments(rows._replace(norms=norms), Z.shape[1], 1.0, 1.1)
        assert np.sum(found**2) <= 1.0
        assert found.any() == (i != 2)  # the empty row
