"""Random features are computed when their turn comes: the same rows, without the memory of all."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from privlearn._core.problem import Adjacency, Bounds, Problem
from privlearn._data.bounded import BoundedData, Table
from privlearn._objective import losses
from privlearn._objective.penalties import Penalty
from privlearn.kernel_model.feature_map import FeatureMap
from privlearn.kernel_model.mapped import MappedData
from privlearn.solvers._common import row_source
from privlearn.solvers._common.loops.row_products import StoredRows
from privlearn.solvers._common.loops.sequential_sgd import ComputedRows, visit_rows
from privlearn.solvers._common.loops.sgd import CompiledObjective
from privlearn.solvers._common.scaling import Scaling

MEGABYTES = 200.0
FIT = """
import sys
from pathlib import Path
from unittest.mock import patch
import numpy as np
import privlearn
from privlearn.solvers import SGD, OutputPerturbation
from privlearn.solvers.sgd import solver as sgd

n, size = int(sys.argv[1]), int(sys.argv[2])
X = np.random.default_rng(0).uniform(-1.0, 1.0, (n, 20))
y = X[:, 0].copy()

def fit(solver, size, n):
    solvers = {"output": OutputPerturbation(epochs=1), "sgd": SGD(steps=4, batch_size=n // 4)}
    facts = {"bandwidth": 3.0, "bounds_X": (-1.0, 1.0), "bounds_y": (-1.0, 1.0)}
    model = privlearn.KernelRegressor(solver=solvers[solver], n_components=size, **facts)
    return model.fit(X[:n], y[:n])

def megabytes(what):
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith(what))
    return int(line.split()[1]) / 1e3

for solver in ("output", "sgd"):
    with patch.object(sgd, "KEPT", 0):
        fit(solver, 4, 2_000)  # imports and compiles
    before = megabytes("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak from here on
    fit(solver, size, n)
    print(megabytes("VmHWM") - before)
"""


def megabytes_above_the_data(n, size):
    """How far memory grows in a fit by "output" and in one by "sgd", in a process of their own."""
    printed = subprocess.run(
        [sys.executable, "-c", FIT, str(n), str(size)],
        env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return [float(line) for line in printed.stdout.split()]


on_linux = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="the peak of memory is read as on Linux"
)


@pytest.mark.slow
@on_linux
def test_features_of_all_rows_are_never_in_memory():
    stored = 100_000 * 4_096 * 4 / 1e6
    assert stored > 8 * MEGABYTES
    by_output, by_sgd = megabytes_above_the_data(100_000, 4_096)
    assert by_output < MEGABYTES
    assert by_sgd < MEGABYTES


@pytest.mark.slow
@on_linux
def test_a_million_rows_and_4096_features_take_little_memory():
    by_output, by_sgd = megabytes_above_the_data(1_000_000, 4_096)
    assert by_output < MEGABYTES
    assert by_sgd < MEGABYTES


# The rows are those that would be stored


def mapped(ranks, invalid, n=3_000, size=300, by_row=True, factor=1.0):
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-1.5, 1.5, (n, 3)), rng.uniform(-2.0, 2.0, n)
    X[invalid], y[-1] = np.nan, -9.0
    bounds = Bounds(np.full(3, -1.0), np.full(3, 1.0), (-1.0, 3.0), None)
    source = BoundedData(Table(X, y, finite=not len(invalid)), bounds, True)
    frequencies = factor * rng.normal(size=(3, size // 2))
    edges = np.tile(np.linspace(-1.0, 1.0, 5), (3, 1))
    steps = np.sort(rng.uniform(-1.0, 1.0, (3, 5)), axis=1)
    extra = (edges, steps) if ranks else (None, None)
    features = FeatureMap(frequencies, *extra, by_row=by_row)
    inner = Bounds(None, None, bounds.target, 2.0**0.5)
    problem = Problem(
        n, features.n_features_out, inner, losses.Squared(), Penalty(), Adjacency("zero_out")
    )
    return MappedData.of(source, features, inner), Scaling.for_gradients(problem)


@pytest.mark.parametrize("ranks", [False, True])
@pytest.mark.parametrize("invalid", [[], [0, 17, 2_999]])
def test_rows_in_turn_are_the_stored_rows(ranks, invalid, monkeypatch):
    monkeypatch.setattr(row_source, "AT_ONCE", 1_500)
    data, scaling = mapped(ranks, invalid)
    stored = row_source.store_rows(scaling, data)
    batch = np.random.default_rng(1).permutation(3_000)[:2_900]
    batch[[3, 4]] = 17
    seen = 0
    for rows, own in row_source.make_row_source(scaling, data).stored_batches(batch):
        expected = batch[seen : seen + len(own)]
        np.testing.assert_array_equal(rows.values[own], stored.values[expected])
        np.testing.assert_array_equal(rows.targets[own], stored.targets[expected])
        np.testing.assert_array_equal(rows.norms[own], stored.norms[expected])
        seen += len(own)
    assert seen == len(batch)
    np.testing.assert_array_equal(np.flatnonzero(stored.norms == 0.0), invalid)


def test_no_batch_has_no_rows():
    data, scaling = mapped(False, [])
    rows, none = row_source.make_row_source(scaling, data), np.empty(0, np.int64)
    assert list(rows.batches(none)) == []
    # One without rows, so that a rehearsal whose batch is empty compiles the loops all the same.
    [(stored, own)] = rows.stored_batches(none)
    assert len(own) == len(stored.values) == 0


@pytest.mark.parametrize("ranks", [False, True])
def test_norms_bound_the_rows_that_are_handed_out(ranks):
    data, scaling = mapped(ranks, [4])
    for rows, own in row_source.make_row_source(scaling, data).stored_batches(np.arange(3_000)):
        lengths = np.linalg.norm(rows.values[own].astype(np.float64), axis=1)
        there = rows.norms[own] > 0.0
        assert (np.hypot(lengths, scaling.intercept_value)[there] <= rows.norms[own][there]).all()
        assert (lengths[~there] == 0.0).all()
        assert rows.norms.max() <= 1.0 + 1e-5


# A loop that computes features itself


def walk(kinds, model, radius=1e9, step=0.3):
    """Weights after the visits, and the bound of their length."""
    weights, length = np.full(model.outputs * model.width, 0.01), 1.0
    for rows, own in kinds:
        length = visit_rows(rows, own, model, step, radius, weights, length)
    return weights, length


@pytest.mark.parametrize("by_row", [False, True])
@pytest.mark.parametrize("radius", [1e9, 0.3])
@pytest.mark.parametrize(
    ("loss", "outputs"),
    [(losses.Squared.code, 1), (losses.Logistic.code, 1), (losses.Softmax.code, 3)],
)
@pytest.mark.parametrize("unit", [0.0, 0.2])
def test_a_loop_visits_the_rows_that_would_be_stored(loss, outputs, unit, by_row, radius):
    data, scaling = mapped(False, [0, 100], by_row=by_row, factor=30.0)
    rows, batch = row_source.make_row_source(scaling, data), np.arange(3_000)[::-1]
    width = data.features.n_features_out + (unit != 0.0)
    model = CompiledObjective(loss, 0.0, outputs, width, unit, 0.4)
    whole = lambda kinds: [(with_classes(rows, outputs), own) for rows, own in kinds]  # noqa: E731
    computed = whole(copied(rows.batches(batch)))
    stored = whole(copied(rows.stored_batches(batch)))
    assert all(isinstance(some, ComputedRows) for some, _ in computed)
    weights, length = walk(computed, model, radius)
    expected, expected_length = walk(stored, model, radius)
    np.testing.assert_allclose(weights, expected, rtol=0.0, atol=1e-5)
    assert length == pytest.approx(expected_length, rel=1e-5)
    assert np.linalg.norm(weights) > 0.1
    assert np.linalg.norm(weights) <= min(radius, length) * (1.0 + 1e-9)


def copied(kinds):
    """Batches to keep, although the next overwrites the last."""
    for rows, own in kinds:
        changing = "inputs" if isinstance(rows, ComputedRows) else "values"
        yield rows._replace(**{changing: getattr(rows, changing).copy()}), own


def with_classes(rows, outputs):
    """Targets as losses over classes want them."""
    if outputs == 1:
        return rows
    return rows._replace(targets=np.floor(np.abs(rows.targets) * 2.9))


@pytest.mark.parametrize("factor", [1.0, 1e5])  # phases of 1e5 turns are lost in single precision
def test_one_visit_is_a_clipped_gradient_step(factor):
    data, scaling = mapped(False, [], n=1, factor=factor)
    ((rows, own),) = row_source.make_row_source(scaling, data).batches(np.array([0]))
    row = row_source.store_rows(scaling, data).values[0].astype(np.float64)
    for cap in (0.01, 10.0):
        model = CompiledObjective(losses.Squared.code, 0.0, 1, len(row) + 1, 0.2, cap)
        weights, length = walk([(rows, own)], model)
        residual = 0.01 * (row.sum() + 0.2) - rows.targets[0]
        slope = np.clip(residual, -cap, cap)
        expected = 0.01 - 0.3 * slope * np.append(row, 0.2)
        np.testing.assert_allclose(weights, expected, rtol=0.0, atol=1e-6)
        assert length == pytest.approx(1.0 + 0.3 * abs(slope) * rows.norms[0])


@pytest.mark.parametrize("scale", [1.0, 0.98])
def test_a_recipe_bounds_the_length_of_a_row(scale):
    data, _ = mapped(False, [])
    recipe = data.recipe(scale)
    half = recipe.turns.shape[1]
    assert float(recipe.amplitude) * half**0.5 * (1.0 + 2.0**-19) < scale
    assert float(recipe.amplitude) * half**0.5 > scale * (1.0 - 2.0**-17)


def test_ranks_have_no_recipe():
    data, scaling = mapped(True, [])
    assert data.recipe(1.0) is None
    rows = row_source.make_row_source(scaling, data)
    assert all(isinstance(some, StoredRows) for some, _ in rows.batches(np.arange(100)))


@pytest.mark.parametrize("ranks", [False, True])
def test_blocks_of_either_precision_hold_the_same_features(ranks):
    data, _ = mapped(ranks, [9])
    double = np.concatenate([rows.X.copy() for rows in data.blocks()])
    single = np.concatenate([rows.X.copy() for rows in data.single_blocks()])
    np.testing.assert_array_equal(single, double)
    whole = np.delete(data.source.table.X, 9, axis=0)
    expected = data.features.single(np.clip(whole, -1.0, 1.0))
    np.testing.assert_array_equal(np.delete(single, 9, axis=0), expected)
    assert not single[9].any()


def test_blocks_in_double_precision_are_as_large_as_sums_assume():
    data, _ = mapped(False, [])
    assert [len(rows.y) for rows in data.blocks()] == [1024, 1024, 952]


def test_a_feature_map_that_was_used_pickles_to_an_equal_one():
    data, _ = mapped(False, [])
    X = np.zeros((2, 3))
    before = data.features.single(X)
    again = pickle.loads(pickle.dumps(data.features))
    np.testing.assert_array_equal(again.single(X), before)
    assert set(vars(pickle.loads(pickle.dumps(data.features)))) == set(
        FeatureMap.__dataclass_fields__
    )
