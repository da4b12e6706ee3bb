"""The Python loop that an epoch of "scd" is timed against takes the compiled loop's steps."""

import numpy as np
import pytest
from benchmarks.speed.dual_coordinate_descent.rows import STEPS_OF_ROWS

from privlearn._objective.losses import Hinge, Logistic, Squared
from privlearn.solvers._common.loops.row_products import StoredRows
from privlearn.solvers._common.loops.sgd import CompiledObjective, batch_sum

CODES = {"ridge": Squared.code, "hinge": Hinge.code, "logistic": Logistic.code}


@pytest.mark.parametrize("name", STEPS_OF_ROWS)
def test_rows_take_the_compiled_loops_steps(name):
    rng = np.random.default_rng(0)
    n, p, clip, stiffness, step_size = 300, 5, 0.3, 0.7, 0.02
    stored = rng.uniform(-0.6, 0.6, (n, p)).astype(np.float32)  # as solvers store rows
    X = stored.astype(np.float64)
    y = np.clip(X[:, 0] + X[:, 1], -1, 1) if name == "ridge" else rng.choice([-1.0, 1.0], n)
    batches = [np.flatnonzero(rng.random(n) < 0.4) for _ in range(8)]
    none = np.empty(0, np.int64)
    rows = StoredRows(stored, none, none, y, np.linalg.norm(X, axis=1))
    objective = CompiledObjective(CODES[name], 0.0, 1, p, 0.0, clip)
    held, w, total, found = np.zeros((n, 1)), np.zeros(p), np.zeros(p), np.empty(p)
    for batch in batches:
        batch_sum(rows, batch, objective, clip, w, held, stiffness, found)
        total += found
        w = step_size * total
    again = STEPS_OF_ROWS[name](X, y, batches, clip, stiffness, step_size)
    assert np.linalg.norm(w) > 0.1
    np.testing.assert_allclose(again, w, rtol=1e-9)
