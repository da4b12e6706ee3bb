"""Asking for memory early changes nothing but time."""

import numpy as np
import pytest
from numba import njit

from privlearn._core.jit import jit
from privlearn.solvers._common.loops import row_products
from privlearn.solvers._common.loops.row_products import fetch


@jit()
def _fetched_and_read(table, i, j):
    fetch(table, i, j)
    return table[i, j]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_fetched_number_is_the_number(kind):
    table = np.arange(12, dtype=kind).reshape(3, 4)
    assert _fetched_and_read(table, 2, 1) == _fetched_and_read.py_func(table, 2, 1) == 9


def test_the_loop_asks_for_memory_in_the_machine_code():
    loop = njit(row_products.score_dense.py_func)  # afresh: of cached code no text is kept
    loop(np.ones((8, 4), np.float32), np.arange(8), np.ones((1, 4), np.float32), np.empty((8, 1)))
    assert "llvm.prefetch" in "".join(loop.inspect_llvm().values())


@pytest.mark.parametrize("rows", [1, 3, 4, 15, 16, 17, 23, 64])
def test_batches_of_every_size_give_the_scores_of_their_rows(rows):
    """The last rows of a batch have none after them to ask for."""
    generator = np.random.default_rng(rows)
    values = generator.integers(-8, 9, (100, 37)).astype(np.float32)
    weights = generator.integers(-8, 9, (1, 37)).astype(np.float32)
    batch, scores = generator.integers(0, 100, rows), np.empty((rows, 1))
    row_products.score_dense(values, batch, weights, scores)
    assert np.array_equal(scores[:, 0], values[batch] @ weights[0])
