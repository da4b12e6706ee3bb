"""Dense batches of one output: a compiled loop for each loss, found in the cache by its loss."""

import pickle

import numpy as np
import pytest

from privlearn._objective.losses.compiled import OF_SCORES_ALONE
from privlearn.solvers._common.loops import sgd
from privlearn.solvers._common.loops.row_products import StoredRows

NONE = np.empty(0, np.int64)


def test_what_tells_a_loss_apart_is_the_same_in_every_process():
    """A function that was compiled before would be pickled with a number of this process."""
    names = {pickle.dumps(write) for write in OF_SCORES_ALONE.values()}
    assert len(names) == len(OF_SCORES_ALONE)
    for add in sgd.ADD.values():
        (cell,) = add.py_func.__closure__
        assert b"write_gradients" in pickle.dumps(cell.cell_contents)
        assert len(pickle.dumps(cell.cell_contents)) < 200


@pytest.mark.parametrize("loss", sorted(sgd.ADD))
@pytest.mark.parametrize("intercept_value", [0.0, 0.5])
def test_the_loop_of_one_loss_adds_what_steps_in_python_add(monkeypatch, loss, intercept_value):
    generator, n, p = np.random.default_rng(3), 300, 7
    values = generator.normal(size=(n, p)).astype(np.float32)
    norms = np.sqrt((values.astype(float) ** 2).sum(axis=1) + intercept_value**2)
    norms[::50] = 0.0  # empty rows
    targets = np.where(generator.random(n) < 0.5, 1.0, -1.0)
    rows = StoredRows(values, NONE, NONE, targets, norms)
    width = p + (intercept_value != 0.0)
    objective = sgd.CompiledObjective(loss, 1.0, 1, width, intercept_value, 0.7)
    weights, batch = generator.normal(size=width), np.flatnonzero(generator.random(n) < 0.7)
    found, expected = np.empty(width), np.empty(width)
    sgd.clipped_sum(rows, batch, objective, weights, found)
    monkeypatch.setattr(sgd, "ADD", {})
    sgd.clipped_sum(rows, batch, objective, weights, expected)
    assert np.abs(found).max() > 1.0
    assert np.allclose(found, expected, rtol=1e-12, atol=1e-12)
