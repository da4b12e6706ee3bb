"""Features that are computed in every pass: lengths, threads, and the rule for their steps."""

import numpy as np
import pytest

from privlearn import KernelRegressor
from privlearn._core import threads
from privlearn._core.problem import Bounds
from privlearn.kernel_model import base
from privlearn.kernel_model.feature_map import FeatureMap
from privlearn.kernel_model.ranks import edges_of, ranks_from
from privlearn.solvers import SGD
from privlearn.solvers._common import row_source


def feature_map(p=3, size=10, *, ranks=True):
    rng = np.random.default_rng(0)
    frequencies = rng.standard_normal((p, size))
    if not ranks:
        return FeatureMap(frequencies)
    edges = edges_of(Bounds(np.full(p, -2.0), np.full(p, 2.0), None, None), p, True)
    counts = rng.uniform(0, 100, (p, edges.shape[1] - 1))
    return FeatureMap(frequencies, edges, ranks_from(counts, 1.0, edges))


@pytest.mark.parametrize("ranks", [True, False])
@pytest.mark.parametrize("length", [1.0, 0.98058, 3.0, 1e-3])
def test_no_row_is_longer_than_asked_for(ranks, length):
    features = feature_map(ranks=ranks)
    hostile = [[np.nan] * 3, [np.inf, -np.inf, 0], [1e308] * 3, [-2.0] * 3, [2.0] * 3]
    X = np.vstack([hostile, np.random.default_rng(1).uniform(-3, 3, (500, 3))])
    inputs = np.nan_to_num(features.inputs(X), nan=1.0) if ranks else features.inputs(X)
    out = np.empty((len(X), features.n_features_out), np.float32)
    features.write(inputs, out, features.workspace(), length)
    lengths = np.linalg.norm(out.astype(np.float64), axis=1)
    assert lengths.max() <= length
    assert np.median(lengths) > 0.8 * length


def table(n=3_000):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (n, 3))
    return X, np.sin(3 * X[:, 0]) + 0.1 * rng.standard_normal(n)


FACTS = {"epsilon": 1.0, "delta": 1e-6, "bounds_X": (-1, 1), "bounds_y": (-2, 2)}


def test_sums_do_not_depend_on_the_number_of_threads(monkeypatch):
    from privlearn.solvers.sgd import solver

    monkeypatch.setattr(solver, "KEPT", 0)
    monkeypatch.setattr(row_source, "AT_ONCE", 128)
    fits = []
    for count in (1, 2, 5):
        monkeypatch.setattr(threads, "thread_count", lambda count=count: count)
        model = KernelRegressor(
            **FACTS, n_components=20, solver=SGD(steps=5, batch_size=1_500), random_state=0
        )
        fits.append(model.fit(*table()).coef_)
    np.testing.assert_array_equal(fits[0], fits[1])
    np.testing.assert_array_equal(fits[0], fits[2])


def test_ranks_are_found_once(monkeypatch):
    from privlearn.solvers.sgd import solver

    monkeypatch.setattr(solver, "KEPT", 0)
    seen, inputs = [], FeatureMap.inputs
    monkeypatch.setattr(
        FeatureMap, "inputs", lambda self, X, *n: seen.append(len(X)) or inputs(self, X, *n)
    )
    X, y = table()
    model = KernelRegressor(**FACTS, n_components=20, solver=SGD(steps=5), random_state=0)
    model.fit(X, y)  # once before, for the rehearsal
    seen.clear()
    model.fit(X, y)
    assert sum(seen) == len(X)


def test_many_rows_take_few_long_steps(monkeypatch):
    monkeypatch.setattr(base, "KEPT", 0.0)
    fitted = KernelRegressor(**FACTS, random_state=0).fit(*table())
    steps = fitted.privacy_.plan.releases[-1]
    assert (steps.name, steps.count) == ("clipped gradient", base.STEPS)
    assert steps.count * steps.sampling.rate >= base.LEAST_EPOCHS - 1e-9
    assert base.STEP_SIZE < 2 * (1 + base.MOMENTUM)  # what heavy ball bears


def test_very_many_rows_are_passed_fewer_times(monkeypatch):
    monkeypatch.setattr(base, "KEPT", 0.0)
    rates = []
    for many in (len(table()[0]), len(table()[0]) + 1):
        monkeypatch.setattr(base, "MANY", many)
        plan = KernelRegressor(**FACTS, random_state=0).fit(*table()).privacy_.plan
        rates.append(plan.releases[-1].sampling.rate)
    assert base.EPOCHS_OF_MANY / base.STEPS <= rates[0] < rates[1]
