"""Scaling, objective and rows: what solvers are made of, against the same thing in user's units."""

import math

import numpy as np
import pytest
import scipy.sparse as sp

from privlearn._core.problem import Adjacency, Bounds, Problem
from privlearn._data.bounded import Table, bound
from privlearn._objective.losses import Huber, Logistic, Poisson, Softmax, Squared, Target
from privlearn._objective.penalties import PENALTIES, Penalty
from privlearn._objective.prox import prox_of_one, write_prox
from privlearn.solvers._common.objective import Objective, n_weights
from privlearn.solvers._common.row_source import make_row_source, store_rows
from privlearn.solvers._common.scaling import Scaling

P = 4
BOXES = {
    "around zero": (np.full(P, -2.0), np.full(P, 3.0)),
    "without zero": (np.array([1.0, 2.0, -9.0, 0.5]), np.array([4.0, 2.5, -1.0, 8.0])),
    "with a constant": (np.array([-1.0, 5.0, 0.0, 0.0]), np.array([1.0, 5.0, 1.0, 2.0])),
}
SQUARED = Squared()
SMOOTH = [SQUARED, Huber(), Logistic(), Softmax(3), Poisson()]


def problem_of(loss=SQUARED, box="around zero", norm=None, penalty=PENALTIES[0], intercept=True):
    low, high = BOXES[box] if box else (None, None)
    bounds = Bounds(low, high, (-3.0, 7.0), norm)
    return Problem(200, P, bounds, loss, penalty, Adjacency.ZERO_OUT, fit_intercept=intercept)


def rows_of(problem, seed=0, n=200):
    """Rows far outside of all bounds, at their corners, and within."""
    rng = np.random.default_rng(seed)
    X = rng.normal(scale=20.0, size=(n, P))
    low, high = problem.bounds.low, problem.bounds.high
    if low is not None:
        X[::2] = np.where(rng.random((len(X[::2]), P)) < 0.5, low, high)
    loss = problem.loss
    y = {
        Target.NUMBER: rng.uniform(-9, 9, n),
        Target.SIGN: rng.choice([-1.0, 1.0], n),
        Target.CLASS: rng.integers(loss.outputs, size=n).astype(float),
    }[loss.target]
    return bound(Table(X, y, finite=True), problem)


def bounded(data):
    blocks = [(rows.X.copy(), rows.y.copy()) for rows in data.blocks()]
    return tuple(np.concatenate(parts) for parts in zip(*blocks, strict=True))


# Scaling bounds what it maps

FACTS = [(box, norm) for box in (*BOXES, None) for norm in (None, 12.0) if box or norm]


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(("box", "norm"), FACTS)
def test_rows_are_as_short_as_the_scaling_says(box, norm, intercept):
    problem = problem_of(box=box, norm=norm, intercept=intercept)
    data = rows_of(problem)
    moments = Scaling.for_moments(problem.bounds, P, intercept)
    Z = np.concatenate([moments.moment_rows(rows) for rows in data.blocks()])
    assert (Z**2).sum(axis=1).max() <= moments.squared_norm
    assert (Z**2).sum(axis=1).max() >= 0.3 * moments.squared_norm, "the bound is idle"
    stored = store_rows(Scaling.for_gradients(problem), data)
    lengths = np.sqrt((stored.values.astype(float) ** 2).sum(axis=1) + moments_entry(problem) ** 2)
    assert (lengths <= stored.norms).all()
    assert 0.5 < stored.norms.max() <= 1.0 + 2.0**-20
    assert np.abs(stored.targets).max() <= 1.0
    coordinates = store_rows(Scaling.for_coordinates(problem), data)
    assert np.abs(coordinates.values).max() <= 1.0


def moments_entry(problem):
    return Scaling.for_gradients(problem).intercept_value


LINKS = [Squared(), Logistic(), Softmax(3), Poisson()]


@pytest.mark.parametrize("loss", LINKS, ids=lambda loss: loss.name)
@pytest.mark.parametrize("box", BOXES)
def test_models_predict_the_same_in_both_units(box, loss):
    problem = problem_of(loss, box)
    data, rng = rows_of(problem), np.random.default_rng(1)
    X, _ = bounded(data)
    for scaling in (Scaling.for_gradients(problem), Scaling.for_coordinates(problem)):
        weights = rng.normal(size=(loss.outputs, P + 1))
        found = scaling.to_user_units(weights)
        u = np.column_stack([(X - scaling.center) * scaling.inverse_scale, np.ones(len(X))])
        u[:, -1] = scaling.intercept_value
        scores = u @ weights.T * scaling.score_scale + scaling.score_center
        np.testing.assert_allclose(X @ found.coef.T + found.intercept, scores, atol=1e-9)


# The objective is the user's, per row


@pytest.mark.parametrize("penalty", PENALTIES, ids=lambda penalty: penalty.name)
@pytest.mark.parametrize("loss", [Squared(), Logistic(), Poisson()], ids=lambda loss: loss.name)
def test_the_objective_is_the_users(loss, penalty):
    """By differences of two points: scores that are centred add a constant."""
    problem = problem_of(loss, "without zero", penalty=penalty)
    scaling = Scaling.for_gradients(problem)
    objective = Objective.of(problem, scaling, 200.0)
    data, rng = rows_of(problem), np.random.default_rng(2)
    X, y = bounded(data)
    values = []
    for _ in range(2):
        weights = objective.prox(rng.normal(size=objective.size), 0.1)
        found = scaling.to_user_units(weights[None, :])
        coef, intercept = found.coef[0], found.intercept[0]
        users = in_users_units(loss, y, X @ coef + intercept).sum() + penalty.value(
            np.clip(coef, penalty.low, penalty.high)
        )
        u = np.column_stack([(X - scaling.center) * scaling.inverse_scale, np.ones(len(X))])
        u[:, -1] = scaling.intercept_value
        own = objective.loss.value(scaling.targets(y), u @ weights).mean()
        absolute, curvature, low, high = objective.penalty
        assert ((weights >= low) & (weights <= high)).all()
        own += absolute @ np.abs(weights) + curvature @ weights**2 / 2
        values.append((users, own * 200.0 * scaling.target_scale**loss.degree))
    np.testing.assert_allclose(*np.diff(values, axis=0)[0], rtol=1e-9)


def in_users_units(loss, y, z):
    """The formula of the docs. Counts end at 7, and the loss is a line beyond."""
    if loss.name != "poisson":
        return loss.value(y, z)
    end = math.log(7.0)
    return np.where(z < end, np.exp(np.minimum(z, end)), 7.0 * (1.0 + z - end)) - y * z


@pytest.mark.parametrize("loss", SMOOTH, ids=lambda loss: loss.name)
@pytest.mark.parametrize("sparse", [False, True])
def test_gradient_sums_are_those_of_the_objective(loss, sparse):
    """By differences of the loss, the auxiliary weight included, where nothing is clipped."""
    problem = problem_of(loss)
    data = rows_of(problem)
    if sparse:
        data = bound(Table(sp.csr_array(data.table.X), data.table.y, finite=True), problem)
    scaling = Scaling.for_gradients(problem, sparse=sparse)
    objective = Objective.of(problem, scaling, 200.0, auxiliary_unit=0.3)
    rows, rng = make_row_source(scaling, data), np.random.default_rng(3)
    weights = objective.start() + 0.1 * rng.random(objective.size)
    X, y = bounded(data)
    u = np.column_stack([(X - scaling.center) * scaling.inverse_scale, np.ones(len(X))])
    u[:, -1] = scaling.intercept_value

    def total(w):
        z, t = u @ w[: loss.outputs * (P + 1)].reshape(loss.outputs, -1).T, scaling.targets(y)
        z = z if loss.target is Target.CLASS else z[:, 0]
        s = w[-1] * 0.3 if loss.auxiliary.count else 1.0
        if loss.auxiliary.count:  # (s + 2 s H(r / s)) / 2
            return (0.5 * s + s * loss.value(t / s, z / s)).sum()
        return objective.loss.value(t, z).sum()

    found = rows.gradient_sum(np.arange(200), objective, weights, clip=1e6)
    assert len(found) == objective.size == n_weights(problem)
    for j in range(objective.size):
        step = 1e-5 * np.eye(objective.size)[j]
        slope = (total(weights + step) - total(weights - step)) / 2e-5
        assert found[j] == pytest.approx(slope, rel=2e-4, abs=2e-3)


# One proximal map


def test_compiled_and_numpy_maps_agree():
    rng = np.random.default_rng(4)
    problem = problem_of(Huber(), penalty=Penalty(l1=300.0, l2=200.0, low=(-9.0,), high=(0.5,)))
    objective = Objective.of(problem, Scaling.for_gradients(problem), 200.0)
    points = 3.0 * rng.normal(size=objective.size)
    expected, moved = objective.prox(points, 0.7), points.copy()
    write_prox(*objective.penalty, 0.7, moved)
    one_by_one = [prox_of_one(objective.penalty, j, points[j], 0.7) for j in range(len(points))]
    np.testing.assert_array_equal(moved, expected)
    np.testing.assert_array_equal(one_by_one, expected)
    assert (expected != points).any()


def test_only_the_auxiliary_weight_of_a_loss_has_limits_of_its_own():
    problem = problem_of(Huber())
    objective = Objective.of(problem, Scaling.for_gradients(problem), 200.0, auxiliary_unit=0.3)
    _, _, low, high = objective.penalty
    assert (low[-1], high[-1]) == (1e-3 / 0.3, 1.0 / 0.3)
    assert np.isinf(low[:-1]).all()
    assert objective.step_factor(objective.start()) == pytest.approx(0.5)
    assert math.isinf(Objective.of(problem_of(), objective.scaling, 200.0).penalty.low[-1])
