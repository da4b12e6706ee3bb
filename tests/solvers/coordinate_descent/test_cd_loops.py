"""The compiled loops of coordinate descent against plain numpy, and at the edge of numbers."""

import math
import tracemalloc
from types import MappingProxyType

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit

from privlearn import HuberRegressor, Lasso, LogisticRegression, audit
from privlearn._core.numerics import summation_error
from privlearn._core.problem import Budget
from privlearn._core.releaser import ReleaseBatch, Releaser
from privlearn._core.sampling import Batches
from privlearn._objective.losses import Huber, Logistic, Poisson, Squared
from privlearn._objective.losses.base import between
from privlearn._objective.losses.logistic import fade
from privlearn._objective.prox import WeightPenalty
from privlearn.solvers import CoordinateDescent
from privlearn.solvers.coordinate_descent.columns import proximal, refresh
from privlearn.solvers.coordinate_descent.cyclic import noise_is_cut, take_sweeps
from privlearn.solvers.coordinate_descent.loops import (
    StoredColumns,
    Sweep,
    all_sums,
    move_scores,
    sweep,
)

LOSSES = {
    "squared": Squared(),
    "logistic": Logistic(),
    "huber": Huber(1.35),
    "poisson": Poisson(0.5),
}
NONE = np.empty(0, np.int64)
KINDS = [(loss, sparse) for loss in LOSSES for sparse in (False, True)]


def targets_of(loss, rng, n):
    return rng.choice([-1.0, 1.0], n) if loss == "logistic" else rng.normal(size=n)


def columns_of(X, targets, sparse=False):
    """Stored columns of the rows of X; a row of zeros is an empty one."""
    present = X.any(axis=1).astype(float)
    if not sparse:
        values = np.ascontiguousarray(X.T, dtype=np.float32)
        return StoredColumns(values, NONE, NONE, targets, present)
    matrix = sp.csc_array(X)
    values, rows = matrix.data.astype(np.float32)[None, :], matrix.indices.astype(np.int64)
    return StoredColumns(values, rows, matrix.indptr.astype(np.int64), targets, present)


def state_of(loss, columns, weights, limit=0.3, box=MappingProxyType({}), **changed):
    """A state at these weights, scores included; Huber's scale is the last of them."""
    one = np.ones(len(weights))
    state = Sweep(
        weights=np.array(weights, dtype=float),
        scores=np.empty(len(columns.targets)),
        limits=limit * one,
        step_sizes=0.4 * one,
        penalty=WeightPenalty(0.02 * one, 0.1 * one, -2.0 * one, 2.0 * one)._replace(**box),
        points=0.0 * one,
        loss=LOSSES[loss].code,
        threshold=LOSSES[loss].threshold,
        auxiliaries=LOSSES[loss].auxiliary.count,
        total=float(len(columns.targets)),
    )._replace(**changed)
    refresh(columns, state, LOSSES[loss])
    return state


def steps_of(noise, grid, *, recorded=False):
    nothing = np.empty((0, 1))
    room = np.full((len(noise), 1), np.nan) if recorded else nothing
    noise = np.asarray(noise, dtype=np.int64).reshape(-1, 1)
    return ReleaseBatch(Batches(NONE, NONE), noise, grid, room, room.copy(), nothing)


def problem_of(loss, sparse, n=2_500, p=4, seed=0):
    """More rows than two blocks, some of them empty, and weights away from zero."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, p)).astype(np.float32).astype(float)
    if sparse:
        X *= rng.random((n, p)) < [0.9, 0.5, 0.01, 0.0]
    X[::50] = 0.0
    weights = np.append(rng.normal(size=p), [0.7] if loss == "huber" else [])
    return X, columns_of(X, targets_of(loss, rng, n), sparse), weights


def derivatives(loss, X, columns, weights):
    """Every row's partial derivatives, a column per coordinate, by the loss's own formula."""
    y, p = columns.targets, X.shape[1]
    scale = weights[-1] if loss == "huber" else 1.0
    slope = LOSSES[loss].derivative(y / scale, X @ weights[:p] / scale)
    found = slope[:, None] * X
    if loss != "huber":
        return found
    along = 0.5 * (1.0 - slope**2) * X.any(axis=1)
    return np.column_stack([found, along])


# Slopes


def test_the_exponential_is_that_of_the_library():
    margins = np.concatenate([np.linspace(-45, 45, 20_001), [-1e300, -700.0, 0.0, 700.0, 1e300]])
    found = np.array([fade(margin) for margin in margins])
    np.testing.assert_allclose(found, expit(-margins), rtol=1e-9, atol=1e-17)
    near = np.abs(margins) < 12
    np.testing.assert_allclose(found[near], expit(-margins[near]), rtol=3e-13)


def test_what_is_not_a_number_counts_as_the_limit():
    assert [between(x, 0.5) for x in (0.2, -0.7, 9.0, -math.inf)] == [0.2, -0.5, 0.5, -0.5]
    assert between(math.nan, 0.5) == 0.5
    assert fade(math.nan) == pytest.approx(0.0, abs=1e-17)


# Sums


@pytest.mark.parametrize(("loss", "sparse"), KINDS)
def test_sums_are_sums_of_clipped_derivatives(loss, sparse):
    X, columns, weights = problem_of(loss, sparse)
    state = state_of(loss, columns, weights)
    found = np.empty(len(weights))
    all_sums(columns, state, found)
    each = derivatives(loss, X, columns, weights)
    assert (np.abs(each) > 0.3).any(axis=0)[:2].all()
    want = np.clip(each, -0.3, 0.3).sum(axis=0) / 0.3
    np.testing.assert_allclose(found, want, rtol=1e-9, atol=1e-9)


def test_sums_keep_the_error_that_the_sensitivity_pays_for():
    rng = np.random.default_rng(0)
    n = 150_000
    columns = columns_of(rng.uniform(0.5, 1, (n, 1)), rng.normal(size=n) - 2.0)
    state = state_of("squared", columns, [0.0], limit=3.0)
    found = np.empty(1)
    all_sums(columns, state, found)
    exact = math.fsum(np.clip(-columns.targets * columns.values[0].astype(float), -3.0, 3.0))
    off = abs(found[0] * 3.0 / (1.0 - 2.0**-40) - exact)
    assert off <= summation_error(n) * 3.0 + abs(exact) * 2.0**-51


def test_small_blocks_are_not_lost_beside_a_large_one():
    targets = np.zeros(9 * 1024)
    targets[::1024] = -1.0
    targets[0] = -(2.0**53)
    columns, found = columns_of(np.ones((len(targets), 1)), targets), np.empty(1)
    all_sums(columns, state_of("squared", columns, [0.0], limit=2.0**54), found)
    assert found[0] == (2.0**53 + 8.0) / 2.0**54 * (1.0 - 2.0**-40)


# Steps


def plain_sweeps(loss, X, columns, state, noise, grid):
    """Mangold et al. 2022, Algorithm 1, lines 4 to 8, in numpy; weights and mean points."""
    weights, limits = state.weights.copy(), state.limits
    size = len(weights)
    points = np.zeros((len(noise) // size, size))
    for k, added in enumerate(noise):
        j = k % size
        each = derivatives(loss, X, columns, weights)[:, j]
        share = np.clip(each, -limits[j], limits[j]).sum() / limits[j] * (1.0 - 2.0**-40)
        released = (np.rint(share / grid) + added) * grid
        pace = state.step_sizes[j] * (weights[-1] if loss == "huber" else 1.0)
        moved = weights[j] - pace * released * limits[j] / state.total
        points[k // size, j] = moved
        l1, l2, low, high = (side[j] for side in state.penalty)
        shrunk = np.sign(moved) * max(abs(moved) - pace * l1, 0.0)
        weights[j] = np.clip(shrunk / (1 + pace * l2), low, high)
    return weights, np.average(points, axis=0, weights=1.0 + np.arange(len(points)))


@pytest.mark.parametrize(("loss", "sparse"), KINDS)
def test_sweeps_are_the_papers_steps(loss, sparse):
    X, columns, weights = problem_of(loss, sparse)
    low = np.full(len(weights), -2.0)
    if loss == "huber":
        low[-1] = 0.1
    state = state_of(loss, columns, weights, box={"low": low})
    noise = np.random.default_rng(1).integers(-60, 60, 6 * len(weights))
    want, points = plain_sweeps(loss, X, columns, state, noise, 1.0)
    half = len(noise) // 2
    order = np.tile(np.arange(len(weights)), 3)
    assert sweep(columns, state, order, steps_of(noise[:half], 1.0), 0)
    assert sweep(columns, state, order, steps_of(noise[half:], 1.0), 3)
    np.testing.assert_allclose(state.weights, want, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(state.points, points, rtol=1e-7, atol=1e-9)
    moved = state.scores.copy()
    refresh(columns, state, LOSSES[loss])
    np.testing.assert_allclose(moved, state.scores, atol=1e-12)


def test_a_sum_that_does_not_fit_its_grid_stops_the_sweep():
    _, columns, weights = problem_of("squared", sparse=False)
    state = state_of("squared", columns, weights)
    assert not sweep(columns, state, np.arange(4), steps_of(np.zeros(4), 1e-300), 0)


def test_what_is_recorded_is_what_was_released():
    _, columns, weights = problem_of("squared", sparse=False)
    state, sums = state_of("squared", columns, weights), np.empty(4)
    all_sums(columns, state, sums)
    steps = steps_of([5, 0, 0, 0], 2.0**-10, recorded=True)
    assert sweep(columns, state, np.arange(4), steps, 0)
    assert steps.statistics[0, 0] == pytest.approx(sums[0], rel=1e-12)
    assert steps.released[0, 0] == (np.rint(steps.statistics[0, 0] * 2**10) + 5) / 2**10


# The edge of numbers


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("size", [1e-300, 1.0, 1e300, 1e308])
def test_no_row_contributes_more_than_its_limit(loss, sparse, size):
    """One row at a time, with weights whose scores are infinite or no number at all."""
    rng = np.random.default_rng(0)
    for row in ([1.0, -1.0, 1.0], [1.0, 1.0, 0.5], [0.0, 0.0, 1.0], [3e38, 3e38, 3e38]):
        columns = columns_of(np.array([row]), targets_of(loss, rng, 1), sparse)
        weights = np.append(size * np.array([1.0, 1.0, -1.0]), [1e-3] if loss == "huber" else [])
        state, found = state_of(loss, columns, weights), np.empty(len(weights))
        for j in (0, 1):
            move_scores(columns, j, size, state.scores)
        all_sums(columns, state, found)
        assert (np.abs(found) < 1.0).all()


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_an_empty_row_contributes_nothing_however_far_the_weights_went(loss, sparse):
    X = np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
    both = columns_of(X, np.ones(2), sparse)
    one = columns_of(X[:1], np.ones(1), sparse)
    seen = []
    for columns in (both, one):
        size = 4 if loss == "huber" else 3
        free = {"low": np.full(size, -np.inf), "high": np.full(size, np.inf)}
        wild = {"step_sizes": np.full(size, 1e308), "total": 2.0}
        state = state_of(loss, columns, np.full(size, 0.5), box=free, **wild)
        steps = steps_of(np.tile([10**15, -(10**15)], 4 * size), 1.0, recorded=True)
        assert sweep(columns, state, np.tile(np.arange(size), 8), steps, 0)
        assert np.isfinite(state.weights).all()
        seen.append(steps.statistics)
    np.testing.assert_array_equal(*seen)


def test_the_last_proximal_map_is_the_sweeps_and_finite():
    columns = columns_of(np.ones((2, 3)), np.zeros(2))
    state = state_of("squared", columns, np.zeros(3), box={"high": np.full(3, np.inf)})
    found = proximal(state, np.array([1.0, -9.0, math.nan]), np.full(3, 0.5))
    np.testing.assert_allclose(found, [(1.0 - 0.01) / 1.05, -2.0, 0.0])
    assert np.isfinite(proximal(state, np.full(3, np.inf), np.ones(3))).all()


# The whole


def test_steps_stay_whole_where_the_penalty_cuts_the_noise():
    _, columns, weights = problem_of("squared", False)
    state = state_of("squared", columns, weights)
    level = float(np.median(state.limits)) / state.total  # noise of one limit, on the mean
    for size, cut in ((0.5, False), (2.0, True)):
        state.penalty.absolute[:] = size * level
        assert noise_is_cut(state, 1.0) is cut
    assert not noise_is_cut(state, 3.0)


def test_sweeps_list_no_rows():
    """All rows of all steps as a list would be 24 MB here, and 32 GB for ten million rows."""
    n = 20_000
    _, columns, weights = problem_of("squared", sparse=False, n=n, p=3)
    solver = CoordinateDescent(block=1, passes=50, outer=1, clip=1.0, smoothness=np.ones(3))
    model = Lasso(solver=solver, fit_intercept=False, bounds_X=(-1, 1), bounds_y=(-1, 1))
    plan = model.plan(n=n, n_features=3)
    state = state_of("squared", columns, weights)
    take_sweeps(columns, state, 50, Releaser(plan, Budget(1.0, 1e-6)))  # compiled from here on
    tracemalloc.start()
    take_sweeps(columns, state, 50, Releaser(plan, Budget(1.0, 1e-6)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4e6


@pytest.mark.parametrize("estimator", [Lasso, LogisticRegression, HuberRegressor])
@pytest.mark.parametrize("check", [audit.check_replay, audit.check_empty_rows])
def test_audits_replay_sweeps(estimator, check):
    solver = CoordinateDescent(block=1, passes=3, outer=1, clip=1.0, smoothness=np.ones(2))
    facts = {"bounds_X": (-1, 1)}
    facts |= {"classes": [0, 1]} if estimator is LogisticRegression else {"bounds_y": (-1, 1)}
    check(estimator(solver=solver, **facts), n_features=2)
