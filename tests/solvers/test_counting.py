"""Counting rows in bins: NumPy, compiled loops and threads count the same."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from privlearn._core import threads
from privlearn._core.jit import on_a_large_table
from privlearn._core.problem import Bounds
from privlearn._data.bounded import BoundedData, Table
from privlearn.solvers._common import counting

LOW, HIGH = np.array([-1.0, 0.0, -5.0]), np.array([1.0, 0.5, 5.0])
AT_EDGES = [0.0, -0.0, 0.5, 0.25, 1.0, -1.0, -0.5, 2.0, 1e-300, -1e300, 1e300, 2.0**-64, 5e-324]


def table(finite, order="C"):
    rng = np.random.default_rng(0)
    X = np.vstack([np.repeat(np.array(AT_EDGES)[:, None], 3, axis=1), rng.normal(size=(500, 3))])
    if not finite:
        X[3, 1] = np.nan
    return Table(np.asarray(X, order=order), rng.normal(size=len(X)), finite=finite)


def counts_of(data):
    """Of features and of the target, by all three."""
    units = np.array([0.1, 0.2, 0.0]), np.array([0.3, 2.0, 0.0])
    target = [np.array([value]) for value in (0.5, 0.25)]
    return [
        counting.count_signed(data, "features", 128),
        counting.count_signed(data, "target", 128),
        counting.count_evenly(data, "features", LOW, HIGH, 37),
        counting.count_evenly(data, "target", LOW[:1], HIGH[:1], 37),
        counting.count_magnitudes(data, "features", *units, 24),
        counting.count_magnitudes(data, "target", *target, 24),
    ]


@pytest.mark.parametrize("finite", [True, False])
@pytest.mark.parametrize("bounds", [(None, None), (-np.ones(3), np.ones(3))])
def test_threads_blocks_and_compiler_count_the_same(finite, bounds, monkeypatch):
    def data(order):
        return BoundedData(table(finite, order), Bounds(*bounds, None, None), True)

    with on_a_large_table(False):
        plain = counts_of(data("C"))
    rows = len(table(finite).y) - (not finite)
    assert all((counts.sum(axis=1) == rows).all() for counts in plain)
    monkeypatch.setattr(counting, "WORTH_A_THREAD", 1)
    for large, workers, at_once in ((False, 3, 300), (True, 1, 2**17), (True, 4, 200)):
        monkeypatch.setattr(counting, "AT_ONCE", at_once)
        monkeypatch.setattr(threads, "thread_count", lambda workers=workers: workers)
        for order in ("C", "F"):
            with on_a_large_table(large):
                found = counts_of(data(order))
            for one, other in zip(plain, found, strict=True):
                np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("finite", [True, False])
@pytest.mark.parametrize("bounds", [(None, None), (-np.ones(3), np.ones(3)), (LOW, HIGH)])
def test_sparse_rows_are_counted_as_dense_ones(finite, bounds):
    one = table(finite)
    one.X[np.abs(one.X) < 0.3] = 0.0
    limits = Bounds(*bounds, None, 2.0 if bounds[0] is None else None)
    dense, sparse = (
        counts_of(BoundedData(replace(one, X=X), limits, True)) for X in (one.X, csr_array(one.X))
    )
    for counts, others in zip(dense, sparse, strict=True):
        np.testing.assert_array_equal(counts, others)


def test_signed_powers_are_where_they_should_be():
    data = BoundedData(Table(np.array([[0.0], [1.0], [-3.0], [0.75]]), np.zeros(4), True),
                       Bounds(None, None, None, None), True)  # fmt: skip
    (counts,) = counting.count_signed(data, "features", 8)
    assert {int(place) - 8: int(counts[place]) for place in np.flatnonzero(counts)} == {
        0: 1,  # zero
        5: 1,  # 1 = 0.5 * 2^1, and 4 more for the powers below 1
        4: 1,
        -6: 1,
    }


def test_columns_that_nobody_looks_at_are_not_counted(monkeypatch):
    data = BoundedData(table(True), Bounds(None, None, None, None), True)
    some = np.array([True, False, True])
    whole = counting.count_evenly(data, "features", LOW, HIGH, 8)
    found = counting.count_evenly(data, "features", LOW, HIGH, 8, some)
    np.testing.assert_array_equal(found[some], whole[some])
    assert not found[1].any()
    monkeypatch.setattr(counting, "_counted", None)  # not even looked at
    assert not counting.count_evenly(data, "features", LOW, HIGH, 8, ~some & some).any()


def test_data_that_need_no_bounds_are_not_copied():
    one = table(finite=True)
    (block,) = BoundedData(one, Bounds(None, None, None, None), True).blocks(at_once=1000)
    assert np.shares_memory(block.X, one.X)
    (block,) = BoundedData(one, Bounds(LOW, HIGH, None, None), True).blocks(at_once=1000)
    assert not np.shares_memory(block.X, one.X)
