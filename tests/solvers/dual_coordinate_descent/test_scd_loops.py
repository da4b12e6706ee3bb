"""The compiled loop of dual coordinate descent against plain numpy, and at the edge of numbers."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize_scalar
from scipy.special import expit, xlogy

from privlearn._core.releaser import ReleaseBatch
from privlearn._core.sampling import Batches
from privlearn._objective.losses import Hinge, Huber, Logistic, Squared, SquaredHinge
from privlearn._objective.losses.compiled import write_dual_updates
from privlearn._objective.prox import WeightPenalty
from privlearn.solvers._common.loops.row_products import StoredRows
from privlearn.solvers._common.loops.sgd import CompiledObjective, SGDState, batch_sum
from privlearn.solvers.dual_coordinate_descent.loops import Dual, descend_dual

THRESHOLD, SCALE, UNIT, SCALE_UNIT = 1.35, 0.7, 0.4, 0.3
ONE_OUTPUT = {
    "squared": Squared(),
    "huber": Huber(THRESHOLD),
    "logistic": Logistic(),
    "hinge": Hinge(),
    "squared hinge": SquaredHinge(),
}
LOSSES = ONE_OUTPUT | {"hinge of 3": Hinge(3), "squared hinge of 3": SquaredHinge(3)}
NONE = np.empty(0, np.int64)
KINDS = [(loss, sparse) for loss in LOSSES for sparse in (False, True)]


def conjugate(loss, y, a):
    """Largest -a z - loss(z) over z, for Huber's scale and infinite outside of its domain."""
    if loss == "squared":
        return a * a / 2 - y * a
    if loss == "huber":
        return SCALE * a * a / 2 - y * a if abs(a) <= THRESHOLD else math.inf
    b = y * a
    if loss == "squared hinge":
        return b * b / 4 - b if b >= 0 else math.inf
    if not 0 <= b <= 1:
        return math.inf
    return -b if loss == "hinge" else xlogy(b, b) + xlogy(1 - b, 1 - b)


def value(loss, y, z):
    if loss == "huber":
        return SCALE * LOSSES[loss].value(y / SCALE, z / SCALE)
    return LOSSES[loss].value(np.asarray(y), np.asarray(z))


def slope(loss, y, z):
    if loss == "huber":
        return float(LOSSES[loss].derivative(y / SCALE, z / SCALE))
    return float(LOSSES[loss].derivative(np.asarray(y), np.asarray(z)))


DOMAIN = {"squared": (-6, 6), "huber": (-THRESHOLD, THRESHOLD), "squared hinge": (0, 12)}


def domain(loss, y):
    low, high = DOMAIN.get(loss, (0.0, 1.0))
    return (low, high) if loss in ("squared", "huber") or y > 0 else (-high, -low)


def targets_of(loss, rng, n):
    name, outputs = loss.removesuffix(" of 3"), LOSSES[loss].outputs
    if outputs > 1:
        return rng.integers(outputs, size=n).astype(float)
    return rng.normal(size=n) if name in ("squared", "huber") else rng.choice([-1.0, 1.0], n)


def duals_of(loss, rng, targets):
    """Dual variables inside their domain, a good part of them at its ends."""
    outputs = LOSSES[loss].outputs
    held = np.empty((len(targets), outputs))
    for (i, k), _ in np.ndenumerate(held):
        y = targets[i] if outputs == 1 else (1.0 if targets[i] == k else -1.0)
        low, high = domain(loss.removesuffix(" of 3"), y)
        held[i, k] = np.clip(rng.uniform(1.2 * low - 0.2 * high, 1.2 * high - 0.2 * low), low, high)
    return held


def moves_of(loss, targets, scores, held, stiffness, scale=SCALE):
    moves = np.full(held.shape, np.nan)
    one = LOSSES[loss]
    write_dual_updates(one.code, one.threshold, targets, scores, scale, held, stiffness, moves)
    return moves


def drawn(loss, n=60, seed=0):
    rng = np.random.default_rng(seed)
    y = targets_of(loss, rng, n)
    scores = 1.5 * rng.normal(size=(n, LOSSES[loss].outputs))
    return y, scores, duals_of(loss, rng, y), rng.uniform(0.05, 4.0, n)


# Moves


@pytest.mark.parametrize("loss", ONE_OUTPUT)
def test_the_conjugates_below_are_those_of_the_losses(loss):
    """Fenchel and Young: nowhere below, and equal where a is minus the slope."""
    grid = np.linspace(-5, 5, 101)
    for y in (-1.0, 1.0):
        for z in grid[np.abs(np.abs(grid) - 1.0) > 1e-9]:  # away from kinks
            a = -slope(loss, y, z)
            bound = -a * grid - value(loss, y, grid)
            assert conjugate(loss, y, a) >= bound.max() - 1e-12
            assert conjugate(loss, y, a) == pytest.approx(-a * z - value(loss, y, z), abs=1e-12)


@pytest.mark.parametrize("loss", sorted(set(ONE_OUTPUT) - {"logistic"}))
def test_a_move_minimises_its_problem_of_one_dimension(loss):
    y, scores, held, stiffness = drawn(loss)
    moves = moves_of(loss, y, scores, held, stiffness)
    for i, a in enumerate(held[:, 0]):
        s = stiffness[i] * (SCALE if loss == "huber" else 1.0)

        def cost(new, i=i, a=a, s=s):
            return conjugate(loss, y[i], new) + scores[i, 0] * (new - a) + s * (new - a) ** 2 / 2

        best = minimize_scalar(
            cost, bounds=domain(loss, y[i]), method="bounded", options={"xatol": 1e-11}
        )
        assert held[i, 0] + moves[i, 0] == pytest.approx(best.x, abs=2e-5)
        assert cost(held[i, 0] + moves[i, 0]) <= best.fun + 1e-12
    assert (np.abs(moves) > 0.01).mean() > 0.5


def test_a_logistic_move_is_newtons_from_where_nothing_resists():
    y, scores, held, stiffness = drawn("logistic", n=400)
    moves = moves_of("logistic", y, scores, held, stiffness)[:, 0]
    b, margin = y * held[:, 0], y * scores[:, 0]
    free = expit(-margin)
    cost_slope = np.log(free / (1 - free)) + margin + stiffness * (free - b)
    newton = free - cost_slope / (1 / (free * (1 - free)) + stiffness)
    np.testing.assert_allclose(b + y * moves, newton, rtol=1e-9, atol=1e-12)
    between = (newton - b) * (free - newton)
    assert (between >= 0).all(), "a move ends between where it is and where nothing resists"
    assert ((newton >= 0) & (newton <= 1)).all()
    full = moves_of("logistic", y, scores, held, np.zeros(400))[:, 0]
    np.testing.assert_allclose(held[:, 0] + full, y * free, rtol=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_minus_the_slope_is_where_nothing_moves(loss):
    y, scores, _, stiffness = drawn(loss)
    one, scale = LOSSES[loss], SCALE if loss == "huber" else 1.0
    z = scores if one.outputs > 1 else scores[:, 0]
    held = -one.derivative(y / scale, z / scale).reshape(scores.shape)
    np.testing.assert_allclose(moves_of(loss, y, scores, held, stiffness), 0.0, atol=1e-9)


@pytest.mark.parametrize("loss", ["hinge", "squared hinge"])
def test_several_outputs_move_as_one_against_the_rest(loss):
    y, scores, held, stiffness = drawn(f"{loss} of 3")
    together = moves_of(f"{loss} of 3", y, scores, held, stiffness)
    for k in range(3):
        signs, own = np.where(y == k, 1.0, -1.0), np.s_[:, k : k + 1]
        alone = moves_of(loss, signs, scores[own].copy(), held[own].copy(), stiffness)
        np.testing.assert_array_equal(together[own], alone)


# Sums


def rows_of(X, targets, sparse, unit=UNIT):
    """Stored rows; a row of zeros is an empty one, whatever its intercept's entry would be."""
    X = X.astype(np.float32).astype(float)
    lengths = np.sqrt((X**2).sum(axis=1) + unit**2) * (1.0 + 2.0**-30)
    norms = np.where(X.any(axis=1), lengths, 0.0)
    if not sparse:
        return StoredRows(X.astype(np.float32), NONE, NONE, targets, norms)
    matrix = sp.csr_array(X)
    values = matrix.data.astype(np.float32)[None, :]
    columns, starts = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return StoredRows(values, columns, starts, targets, norms)


def problem_of(loss, sparse, n=700, p=3, seed=0):
    """More rows than two blocks, some of them empty, and weights and dual variables off zero."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, p)).astype(np.float32).astype(float)
    if sparse:
        X *= rng.random((n, p)) < [0.9, 0.5, 0.1]
    X[::50] = 0.0
    y, outputs = targets_of(loss, rng, n), LOSSES[loss].outputs
    weights = rng.standard_normal(outputs * (p + 1))
    if loss == "huber":
        weights = np.append(weights, SCALE / SCALE_UNIT)
    return X, rows_of(X, y, sparse), weights, duals_of(loss, rng, y)


def model_of(loss, p=3, unit=UNIT):
    one = LOSSES[loss]
    width = p + int(unit > 0)
    given = one.code, one.threshold, one.outputs, width, unit, 1.0
    return CompiledObjective(*given, one.auxiliary.count, SCALE_UNIT)


def by_numpy(loss, X, stored, batch, clip, weights, held, stiffness):
    """Every row's contribution, one after the other, and the dual variables after it."""
    outputs, p = LOSSES[loss].outputs, X.shape[1]
    full = np.column_stack([X, np.full(len(X), UNIT)])
    after, parts, shortened = held.copy(), np.zeros((len(batch), weights.size)), 0
    for place, i in enumerate(batch):
        if stored.norms[i] == 0.0:
            continue
        scores = (weights[: outputs * (p + 1)].reshape(outputs, -1) @ full[i])[None, :]
        stiff = np.array([stiffness * stored.norms[i] ** 2])
        move = moves_of(loss, stored.targets[i : i + 1], scores, held[i : i + 1], stiff)[0]
        squares = (move @ move) * stored.norms[i] ** 2
        if loss == "huber":
            squares += (SCALE_UNIT * THRESHOLD * move[0]) ** 2
        shortened += squares > clip**2
        move = move * min(1.0, clip / max(math.sqrt(squares), 1e-300))
        after[i] = held[i] + move
        parts[place, : outputs * (p + 1)] = np.outer(move, full[i]).ravel()
        if loss == "huber":
            parts[place, -1] = -SCALE_UNIT * (after[i, 0] ** 2 - held[i, 0] ** 2) / 2
    return parts, after, shortened / len(batch)


@pytest.mark.parametrize("clip", [0.25, 50.0], ids=["clipped", "free"])
@pytest.mark.parametrize(("loss", "sparse"), KINDS)
def test_sums_are_sums_of_clipped_moves_which_are_taken(loss, sparse, clip):
    X, stored, weights, held = problem_of(loss, sparse)
    batch = np.flatnonzero(np.random.default_rng(1).random(len(X)) < 0.7)
    parts, after, shortened = by_numpy(loss, X, stored, batch, clip, weights, held, 0.8)
    assert (np.linalg.norm(parts, axis=1) <= clip * (1 + 1e-12)).all()
    assert 0.1 < shortened < 1 if clip < 1 else shortened == 0
    found, taken = np.empty(weights.size), held.copy()
    batch_sum(stored, batch, model_of(loss), clip, weights, taken, 0.8, found)
    np.testing.assert_allclose(found, parts.sum(axis=0), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(taken, after, rtol=1e-7, atol=1e-9)
    out = np.setdiff1d(np.arange(len(X)), batch)
    np.testing.assert_array_equal(taken[out], held[out])


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("size", [1e-300, 1.0, 1e10, 1e300, 1e308])
@pytest.mark.parametrize("loss", LOSSES)
def test_no_row_contributes_more_than_the_clip(loss, size, sparse):
    """One row at a time, time and again, with weights whose scores may be no number at all."""
    rng, clip = np.random.default_rng(0), 0.1
    one, model = LOSSES[loss], model_of(loss)
    for row in ([1.0, -1.0, 1.0], [0.1, 0.0, 0.0], [0.0, 0.0, 1e-30]):
        stored = rows_of(np.array([row]), targets_of(loss, rng, 1), sparse)
        held = duals_of(loss, rng, stored.targets)
        for sign in (1.0, -1.0, 1.0):
            weights = sign * size * rng.choice([-1.0, 1.0], one.outputs * 4)
            if loss == "huber":
                weights = np.append(weights, 1e-3)
            found, before = np.empty(weights.size), held.copy()
            batch_sum(stored, np.arange(1), model, clip, weights, held, 0.5, found)
            assert np.linalg.norm(found) <= clip
            assert np.isfinite(held).all()
            move = np.linalg.norm(held - before) * stored.norms[0]
            assert move <= clip * (1 + 1e-9)
            along = found[: one.outputs * 4]
            assert np.linalg.norm(along) == pytest.approx(move, rel=1e-6, abs=1e-12)


def test_the_clip_holds_over_all_classes_and_the_scale_together():
    """A row at the clip: the parts of its contribution make up the whole length."""
    for loss in ("hinge of 3", "squared hinge of 3", "huber"):
        outputs, target = LOSSES[loss].outputs, 3.0 if loss == "huber" else 0.0
        stored = rows_of(np.array([[0.5, 0.0, 0.0]]), np.array([target]), sparse=False, unit=0.0)
        weights = np.zeros(outputs * 3 + (loss == "huber"))
        if loss == "huber":
            weights[-1] = 1.0 / SCALE_UNIT
        held, found = np.zeros((1, outputs)), np.empty(weights.size)
        model = model_of(loss, unit=0.0)
        batch_sum(stored, np.arange(1), model, 0.3, weights, held, 0.1, found)
        if loss == "huber":
            step = held[0, 0]
            whole = step * math.hypot(0.5, SCALE_UNIT * THRESHOLD)
            assert found[-1] == pytest.approx(-SCALE_UNIT * step**2 / 2, rel=1e-12)
        else:
            assert np.count_nonzero(found) == 3
            whole = np.linalg.norm(found)
        assert whole == pytest.approx(0.3, rel=1e-8)
        assert whole <= 0.3


@pytest.mark.parametrize("loss", ["squared", "squared hinge", "squared hinge of 3"])
def test_weights_beyond_all_bounds_contribute_nothing(loss):
    outputs = LOSSES[loss].outputs
    targets = np.zeros(3) if outputs == 3 else -np.ones(3)
    stored = rows_of(np.ones((3, 3)), targets, sparse=False)
    held, found = np.full((3, outputs), 0.25), np.empty(4 * outputs)
    batch_sum(
        stored, np.arange(3), model_of(loss), 1.0, np.full(4 * outputs, 1e308), held, 1.0, found
    )
    np.testing.assert_array_equal(found, 0.0)
    np.testing.assert_array_equal(held, 0.25)


# The loop


def descent_of(weights, rows, huber):
    size = weights.size
    low = np.full(size, -1.5)
    if huber:
        low[-1] = 0.01
    return SGDState(
        weights=weights.copy(),
        previous=weights.copy(),
        average=np.zeros(size),
        penalty=WeightPenalty(np.full(size, 0.002), np.full(size, 0.01), low, np.full(size, 4.0)),
        step_size=0.3,
        momentum=0.0,
        divisor=float(rows),
        first_averaged=3,
    )


def plain_descent(loss, rows, model, dual, descent, batches, noise, grid):
    """The algorithm in a few lines of numpy: weights and their average."""
    w, v, huber = descent.weights.copy(), dual.total.copy(), loss == "huber"
    held, iterates, rows_in_all = dual.variables.copy(), [], descent.divisor
    l1, l2, low, high = descent.penalty
    for k, batch in enumerate(batches):
        new = np.empty(w.size)
        batch_sum(rows, batch, model, dual.clip, w, held, dual.stiffness, new)
        new = dual.clip * (np.rint(new / dual.clip / grid) + noise[k]) * grid
        v += new
        scale = w[-1] * SCALE_UNIT if huber else 1.0
        pace = descent.step_size * scale
        moved = w + pace / rows_in_all * (v + dual.extrapolation * new)
        shrunk = np.sign(moved) * np.maximum(np.abs(moved) - pace * l1, 0)
        stepped = np.clip(shrunk / (1 + pace * l2), low, high)
        if huber:
            # Owen 2007: at the optimum the squares of the dual variables have mean 1.
            part = min(1.0, dual.ramp * (k + 1)) ** 2
            squares = -2 * v[-1] / SCALE_UNIT / rows_in_all
            error = np.clip((squares - part) / max(part, 0.05), -1, 1)
            last = np.sign(w[-1]) * max(w[-1] - pace * l1[-1], 0) / (1 + pace * l2[-1])
            stepped[-1] = np.clip(last * np.exp(dual.gain * error), low[-1], 4.0)
        w = stepped
        if k >= descent.first_averaged:
            iterates.append(w)
    return w, np.mean(iterates, axis=0), held


@pytest.mark.parametrize(("loss", "sparse"), KINDS)
def test_the_loop_is_the_notes_algorithm(loss, sparse):
    """In two portions, with noise: what was left of the first is where the second starts."""
    _, stored, weights, held = problem_of(loss, sparse)
    model, rng, grid = model_of(loss), np.random.default_rng(2), 2.0**-20
    noise = rng.integers(-(2**21), 2**21, (9, weights.size))
    parts = [np.flatnonzero(rng.random(len(held)) < 0.2) for _ in noise]
    dual = Dual(
        variables=0.5 * held,
        total=np.zeros(weights.size),
        clip=0.3,
        stiffness=0.8,
        extrapolation=2.5,
        ramp=0.2,
        gain=0.2,
    )
    descent = descent_of(weights, len(held), loss == "huber")
    want = plain_descent(loss, stored, model, dual, descent, parts, noise, grid)
    for first, last in ((0, 4), (4, 9)):
        starts = np.cumsum([0, *(len(part) for part in parts[first:last])])
        batches = Batches(np.concatenate(parts[first:last]), starts)
        empty = np.empty((0, weights.size))
        steps = ReleaseBatch(batches, noise[first:last], grid, empty, empty, empty)
        assert descend_dual(stored, model, dual, descent, steps, first)
    for found, wanted in zip((descent.weights, descent.average, dual.variables), want, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)
    assert np.abs(descent.weights - weights).max() > 0.01


def test_a_sum_that_does_not_fit_its_grid_stops_the_loop():
    _, stored, weights, held = problem_of("squared", sparse=False)
    dual = Dual(held, np.zeros(4), 0.3, 0.8, 1.0, 0.0, 1.0)
    batches = Batches(np.arange(len(held)), np.array([0, len(held)]))
    empty = np.empty((0, 4))
    steps = ReleaseBatch(batches, np.zeros((1, 4), np.int64), 1e-300, empty, empty, empty)
    descent = descent_of(weights, len(held), huber=False)
    assert not descend_dual(stored, model_of("squared"), dual, descent, steps, 0)
    np.testing.assert_array_equal(descent.weights, weights)
