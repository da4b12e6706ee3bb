"""Rows after clipping obey the box and the norm together, wherever the box lies."""

import numpy as np
import pytest

from privlearn import LinearRegression, Ridge
from privlearn._core.problem import Bounds
from privlearn._data.clipping import clip_rows, within
from privlearn.solvers import BoostedStatistics

BOXES = {
    "around zero": ([-1.0, -2.0, -3.0], [1.0, 2.0, 3.0]),
    "off zero": ([0.5, -2.0, -3.0], [4.0, -0.5, 3.0]),
    "far from zero": ([1990.0, 0.0, -1e5], [2020.0, 1e5, -1.0]),
    "without width": ([2.0, 0.0, -1.0], [2.0, 9.0, -1.0]),
    "large": ([1e90, -1e99, 0.0], [1e99, 1e99, 0.0]),
}


def cases():
    for name, (low, high) in BOXES.items():
        low, high = np.array(low), np.array(high)
        shortest, longest = (
            np.linalg.norm(np.clip(0.0, low, high)),
            np.linalg.norm(np.maximum(np.abs(low), np.abs(high))),
        )
        for share in (0.01, 0.3, 0.9):
            norm = shortest / 0.999 + share * (longest - shortest / 0.999)
            yield pytest.param(low, high, norm, id=f"{name}, {share}")


@pytest.mark.parametrize(("low", "high", "norm"), list(cases()))
@pytest.mark.parametrize("intercept", [True, False])
def test_rows_are_in_the_box_and_in_the_ball(low, high, norm, intercept):
    rng = np.random.default_rng(0)
    corners = np.where(rng.random((200, 3)) < 0.5, low, high)
    wild = np.clip(
        rng.standard_normal((200, 3)) * 10.0 ** rng.uniform(-5, 100, (200, 1)), low, high
    )
    X = np.vstack([corners, rng.uniform(low, high, (200, 3)), wild])
    bounds = Bounds(low, high, None, float(np.hypot(norm, 1.0)) if intercept else norm)
    short = np.linalg.norm(X / norm, axis=1) < 1.0 - 1e-9
    clipped = X.copy()
    clip_rows(clipped, bounds, intercept)
    assert (clipped >= low).all()
    assert (clipped <= high).all()
    assert (np.linalg.norm(clipped / norm, axis=1) <= 1.0).all()
    assert (clipped[short] == X[short]).all(), "a row that was short enough was changed"
    long = np.linalg.norm(X / norm, axis=1) > 1.0 + 1e-9
    assert long.any()
    np.testing.assert_allclose(np.linalg.norm(clipped[long] / norm, axis=1), 1.0, rtol=1e-9)


def test_a_row_that_is_too_long_moves_straight_to_the_nearest_point_of_the_box():
    bounds = Bounds(np.array([3.0, -9.0]), np.array([9.0, 9.0]), None, 5.0)
    rows = within(np.array([[3.0, 8.0]]), bounds, fit_intercept=False)
    np.testing.assert_allclose(rows, [[3.0, 4.0]], rtol=1e-11)


@pytest.mark.parametrize("intercept", [True, False])
def test_a_box_and_a_norm_that_do_not_meet_are_refused(intercept):
    model = LinearRegression(
        bounds_X=([1990, 0], [2020, 1]), bounds_y=(0, 1), data_norm=100, fit_intercept=intercept
    )
    with pytest.raises(
        ValueError, match=r"data_norm=100, but bounds_X excludes zero.* at least 199"
    ):
        model.plan(n=10, n_features=2)


def test_a_solvers_own_clip_that_does_not_meet_the_box_is_refused():
    model = Ridge(solver=BoostedStatistics(clip=1.0), bounds_X=(5, 6))
    with pytest.raises(ValueError, match=r"clip=1 of solver='boosted', but bounds_X excludes zero"):
        model.plan(n=10, n_features=2)


def test_a_sparse_matrix_and_a_dense_one_give_the_same_rows_where_the_box_excludes_zero():
    from scipy.sparse import csr_array

    X = np.array([[0.0, 2.0], [1.5, 0.0], [0.0, 0.0], [2.0, 9.0]] * 50)
    known = {"bounds_X": ([1.0, 0.0], [2.0, 3.0]), "bounds_y": (0, 1), "data_norm": 3.0}
    y = np.tile([0.0, 1.0], 100)
    for solver in ("moments", "cd", "sgd", "scd", "one-pass", "output", "boosted"):
        dense, sparse = (
            Ridge(solver=solver, random_state=0, **known).fit(given, y)
            for given in (X, csr_array(X))
        )
        np.testing.assert_allclose(dense.coef_, sparse.coef_, rtol=1e-4, atol=1e-6, err_msg=solver)
