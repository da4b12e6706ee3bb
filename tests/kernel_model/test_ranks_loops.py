"""Compiled counts and ranks are NumPy's to the last bit, on edges and between them."""

import numpy as np
import pytest

from privlearn._core.problem import Bounds
from privlearn.kernel_model import loops
from privlearn.kernel_model.ranks import BINS, edges_of, ranks_from, ranks_of
from privlearn.solvers._common.histograms import count_within

LOW = np.array([-1.0, 2.0, -1e308, -1e-320, 0.0, -8.0])
HIGH = np.array([1.0, 3.0, 1e308, 1e-320, 7.0, -8.0])  # the last one holds a single value


@pytest.fixture(name="edges", scope="module")
def _edges():
    return edges_of(Bounds(LOW, HIGH, None, None), len(LOW), True)


@pytest.fixture(name="values", scope="module")
def _values(edges):
    share = np.random.default_rng(0).random((500, len(LOW)))
    inside = LOW * (1.0 - share) + HIGH * share
    beside = np.nextafter(edges.T, np.inf), np.nextafter(edges.T, -np.inf)
    return np.clip(np.vstack([edges.T, *beside, inside]), LOW, HIGH)


def test_counts_are_numpys(edges, values):
    found = np.zeros((len(LOW), BINS))
    loops.count_between(values, edges, found)
    assert (found == count_within(values, edges)).all()
    assert (found.sum(axis=1) == len(values)).all()


@pytest.mark.parametrize("noise", [0.0, 40.0])
def test_ranks_are_numpys(edges, values, noise):
    counts = count_within(values, edges) + noise * np.random.default_rng(1).normal(
        size=(len(LOW), BINS)
    )
    ranks = ranks_from(counts, noise, edges)
    found, wanted = (ranks_of(values, edges, ranks, compiled=one) for one in (True, False))
    assert np.array_equal(found, wanted)
    assert (np.abs(found) <= 1.0).all()
    by_numpy = [np.interp(values[:, j], edges[j], ranks[j]) for j in range(3)]
    assert np.abs(found[:, :3] - np.transpose(by_numpy)).max() < 1e-6
    assert np.array_equal(ranks_of(values[:3], edges, ranks, compiled=True), wanted[:3])
