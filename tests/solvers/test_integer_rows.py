"""Rows as integers: the same bits however they are summed, and no contribution beyond the clip."""

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from planting import rewritten
from privlearn._core import jit, threads
from privlearn._core.jit import on_a_large_table
from privlearn._core.problem import Bounds
from privlearn._data.bounded import BoundedData, Table
from privlearn._objective.losses import Huber, Logistic, Poisson, Softmax, Squared
from privlearn.solvers._common import integer_rows
from privlearn.solvers._common.integer_rows import IntegerRows, has_integer_slopes, store_integers
from privlearn.solvers._common.loops import integer_rows as loops
from privlearn.solvers._common.scaling import Scaling

WIDE = 2  # the feature whose bound is far beyond its scale
LIMITS = np.array([3.0, 3.0, 200.0, 3.0, 3.0])
BINS = 48


def made_up(n=700, seed=0, intercept=True, order="C"):
    """Bounded rows with tails and an empty one, in units where they need no scaling."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, len(LIMITS)))
    X[:, WIDE] *= rng.lognormal(0.0, 2.0, n)
    if n > 7:
        X[7, 1] = np.nan
    table = Table(np.asarray(X, order=order), np.where(rng.random(n) < 0.5, -1.0, 1.0))
    units = np.ones(len(LIMITS))
    scaling = Scaling(0.0 * units, units, units, float(intercept), 0.0, 1.0, 0.0, 1.0, 1.0, 1.0)
    return scaling, BoundedData(table, Bounds(-LIMITS, LIMITS, None, None), intercept)


def stored(n=700, **kind):
    scaling, data = made_up(n, **kind)
    return store_integers(scaling, LIMITS, data)


def weights_for(rows, seed=1, size=1.0):
    width = rows.n_features + bool(rows.intercept_value)
    return size * np.random.default_rng(seed).standard_normal(width)


def everything(loss, clip=3.0, **kind):
    rows = stored(**kind)
    model, weights = SimpleNamespace(loss=loss), weights_for(rows)
    return (
        rows.gradient_sum(model, weights, clip),
        rows.count_lengths(model, weights, 100.0, BINS),
        rows.second_moments(6.0),
    )


def exact_rows(rows):
    """Rows that are there, as fractions, with their targets and the bounds of their lengths."""
    blocks, _, size = rows.values.shape
    for b in range(blocks):
        for i in range(size):
            if np.isfinite(rows.norms[b, i]):
                parts = [
                    Fraction(int(q)) / Fraction(2) ** int(e)
                    for q, e in zip(rows.values[b, :, i], rows.exponents, strict=True)
                ]
                row, more = parts[: rows.n_features], parts[rows.n_features :]
                for own, part in zip(rows.wide, more, strict=True):
                    row[own] += part
                row += [Fraction(rows.intercept_value)] * bool(rows.intercept_value)
                yield row, float(rows.targets[b, i]), float(rows.norms[b, i])


# The same bits


@pytest.mark.parametrize("loss", [Squared(), Logistic()])
@pytest.mark.parametrize("intercept", [True, False])
def test_order_blocks_layout_threads_and_compiler_change_no_bit(loss, intercept, monkeypatch):
    with on_a_large_table(False):
        plain = everything(loss, intercept=intercept)
    for large in (False, True):
        for size, workers, order in (
            (64, 1, "C"), (128, 2, "F"), (512, 4, "C"), (320, 3, "F"), (2048, 2, "C"),
        ):  # fmt: skip
            monkeypatch.setattr(integer_rows, "MOST_ROWS", size)
            monkeypatch.setattr(integer_rows, "WORTH_A_THREAD", 1)
            monkeypatch.setattr(threads, "thread_count", lambda workers=workers: workers)
            with on_a_large_table(large):
                found = everything(loss, intercept=intercept, order=order)
            for one, other in zip(plain, found, strict=True):
                np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kept", [0, 10**9])
@pytest.mark.parametrize("kind", [np.float64, np.int8])
def test_tables_that_are_clipped_on_the_way_change_no_bit(kind, kept, monkeypatch):
    """Their own numbers, targets that are stored or computed in each pass, classes in bytes."""
    rng = np.random.default_rng(4)
    X, limits = 4.0 * rng.standard_normal((1500, 5)), LIMITS - 0.5
    y = rng.choice([-1, 1], 1500).astype(kind) * (1 if kind == np.int8 else rng.random(1500))
    ends = None if kind == np.int8 else (-0.4, 0.7)
    center, scale = (0.0, 1.0) if kind == np.int8 else (0.1, 0.3)
    units = np.linspace(1.0, 2.0, 5)
    scaling = Scaling(units, units, 1 / units, 1.0, center, scale, 0.0, 1.0, 1.0, 1.0)
    bounds, found = Bounds(-limits, limits, ends, None), []
    monkeypatch.setattr(integer_rows, "STORED", kept)
    monkeypatch.setattr(integer_rows, "MOST_ROWS", 256)
    monkeypatch.setattr(integer_rows, "WORTH_A_THREAD", 1)
    for order, large, workers in (("C", False, 1), ("C", True, 1), ("C", True, 3), ("F", True, 2)):
        monkeypatch.setattr(threads, "thread_count", lambda workers=workers: workers)
        data = BoundedData(Table(np.asarray(X, order=order), y, True), bounds, True)
        with on_a_large_table(large):
            rows = store_integers(scaling, LIMITS, data)
        assert bool(rows.targets.size) == (kept > 0 or not large or order == "F")
        model = SimpleNamespace(loss=Squared() if ends else Logistic())
        sums = rows.gradient_sum(model, weights_for(rows), 3.0)
        counts = rows.count_lengths(model, weights_for(rows), 100.0, BINS)
        found.append((sums, counts, rows.second_moments(6.0)))
    for others in found[1:]:
        for one, other in zip(found[0], others, strict=True):
            np.testing.assert_array_equal(one, other)


def test_rows_of_another_order_have_the_same_sums():
    scaling, data = made_up(400)
    other = data.take(np.random.default_rng(3).permutation(400))
    model = SimpleNamespace(loss=Logistic())
    sums = [
        rows.gradient_sum(model, weights_for(rows), 2.0)
        for rows in (store_integers(scaling, LIMITS, one) for one in (data, other))
    ]
    np.testing.assert_array_equal(*sums)


@pytest.mark.parametrize("large", [False, True])
def test_what_is_stored_is_near_what_was_given(large):
    scaling, data = made_up(300)
    with on_a_large_table(large):
        rows = store_integers(scaling, LIMITS, data)
    (block,) = data.blocks()
    found = np.array([[float(x) for x in row] for row, _, _ in exact_rows(rows)])
    given = np.column_stack([block.X, np.ones(300)])[block.present]
    assert np.abs(found - given).max() <= 2.0**-14
    assert rows.wide.tolist() == [WIDE]
    assert rows.values.dtype == (np.int16 if large else np.float64)


@pytest.mark.parametrize("large", [False, True])
def test_no_rows_are_no_error(large):
    with on_a_large_table(large):
        sums, counts, moments = everything(Squared(), n=0)
    assert not sums.any()
    assert not counts.any()
    assert not moments.any()


@pytest.mark.parametrize("features", [8, 33, 130])
def test_lengths_of_many_wide_features_have_the_same_bits(features):
    """NumPy would add their squares in pairs, and private n may not decide about a bit."""
    rng = np.random.default_rng(features)
    limits = np.where(rng.random(features) < 0.3, 2.0**20, 1.0 + rng.random(features))
    X = limits * rng.uniform(-1.0, 1.0, (3000, features)) ** 9
    units = np.ones(features)
    scaling = Scaling(0.0 * units, units, units, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0)
    data = BoundedData(Table(X, np.ones(3000), True), Bounds(-limits, limits, None, None), True)
    spy = SimpleNamespace(**{name: getattr(np, name) for name in dir(np) if name[0] != "_"})
    spy.float32, found = np.float64, []  # so that a last bit shows
    for large in (False, True):
        with pytest.MonkeyPatch.context() as patch, on_a_large_table(large):
            patch.setattr(integer_rows, "np", spy)
            found.append(store_integers(scaling, limits, data).norms.ravel()[: len(X)])
    assert found[1].dtype == np.float64
    np.testing.assert_array_equal(*found)


def test_the_size_of_the_table_decides_which_form_runs(monkeypatch):
    """As it does for the rehearsal: neither padding nor second columns count."""
    scaling, data = made_up(2049)
    monkeypatch.setattr(jit, "LARGE", data.n * data.n_features + 1)
    monkeypatch.setattr(jit, "LARGE_ENOUGH", jit.LARGE)
    found = store_integers(scaling, LIMITS, data)
    assert found.values.size > jit.LARGE
    assert not found.compiled
    monkeypatch.setattr(jit, "LARGE", jit.LARGE - 1)
    monkeypatch.setattr(jit, "LARGE_ENOUGH", jit.LARGE)
    assert store_integers(scaling, LIMITS, data).compiled


# Against other arithmetic


def test_sums_are_those_of_shortened_gradients():
    rows, clip = stored(), 3.0
    weights = weights_for(rows)
    for loss in (Squared(), Logistic()):
        found = rows.gradient_sum(SimpleNamespace(loss=loss), weights, clip)
        expected = np.zeros(len(weights))
        for row, y, _ in exact_rows(rows):
            x = np.array([float(value) for value in row])
            gradient = loss.derivative(np.array(y), np.array(x @ weights)) * x
            expected += gradient * min(1.0, clip / max(np.linalg.norm(gradient), 1e-9))
        np.testing.assert_allclose(found, expected, atol=2e-5 * len(weights) * 700 * 0.05)


def test_the_exact_sum_is_rounded_once(monkeypatch):
    check_sum(stored(300), monkeypatch)


def check_sum(rows, monkeypatch):
    """The published float is the nearest to the sum of the integer slopes times the rows."""
    seen, slope = [], loops.integer_slope.py_func
    spy = SimpleNamespace(py_func=lambda *facts: seen.append(slope(*facts)) or seen[-1])
    monkeypatch.setattr(loops, "integer_slope", spy)
    with on_a_large_table(False):
        found = rows.gradient_sum(SimpleNamespace(loss=Squared()), weights_for(rows), 3.0)
    integers = np.concatenate(seen)[np.isfinite(rows.norms).ravel()]
    per_unit = 2.0 ** np.floor(integer_rows.SLOPE_BITS - np.log2(3.0))
    for j, value in enumerate(found):
        pairs = zip(exact_rows(rows), integers, strict=True)
        exact = sum(row[j] * Fraction(int(t)) for (row, _, _), t in pairs)
        assert value == float(exact / Fraction(per_unit))


@pytest.mark.parametrize("loss", [Squared(), Logistic()])
@pytest.mark.parametrize("clip", [1e-3, 0.7, 40.0])
@pytest.mark.parametrize("size", [0.1, 1e6, 1e300])
def test_no_contribution_is_longer_than_the_clip(loss, clip, size):
    for intercept in (True, False):
        check_lengths(loss, clip, size, intercept)


def check_lengths(loss, clip, size, intercept):
    """In rational arithmetic: one row alone, of every row of a table."""
    rows = stored(60, intercept=intercept)
    weights = weights_for(rows, size=size)
    for i, (row, y, norm) in enumerate(exact_rows(rows)):
        assert sum(x * x for x in row) <= Fraction(norm) ** 2
        one = alone(rows, i)
        found = one.gradient_sum(SimpleNamespace(loss=loss), weights, clip)
        assert np.isfinite(found).all()
        squares = sum(Fraction(value) ** 2 for value in found)
        assert squares <= Fraction(clip) ** 2, (y, norm)
        moments = one.second_moments(2.0)
        assert float(np.sum(moments**2)) <= 1.0 + 1e-12
        assert one.count_lengths(SimpleNamespace(loss=loss), weights, 1.0, BINS).sum() == 1.0


def alone(rows, i):
    """The i-th of the rows that are there, and no other."""
    places = np.flatnonzero(np.isfinite(rows.norms).ravel())
    norms = np.full_like(rows.norms, np.inf).ravel()
    norms[places[i]] = rows.norms.ravel()[places[i]]
    return replace(rows, norms=norms.reshape(rows.norms.shape))


def test_weights_that_are_not_numbers_move_no_bound():
    rows = stored(50)
    weights = np.array([np.nan, np.inf, -np.inf, 1e308, 0.0, 1e308])
    for loss in (Squared(), Logistic()):
        assert np.isfinite(rows.gradient_sum(SimpleNamespace(loss=loss), weights, 1.0)).all()


def test_slopes_of_numbers_and_of_arrays_have_the_same_bits():
    z = np.random.default_rng(0).standard_normal(1000) * 30.0
    y = np.where(np.arange(1000) % 2, 1.0, -1.0)
    for code, slope in integer_rows.SLOPES.items():
        loss = {one.code: one for one in (Squared(), Logistic())}[code]
        arrays = slope.py_func(y, z)
        np.testing.assert_array_equal(arrays, [slope(*pair) for pair in zip(y, z, strict=True)])
        np.testing.assert_allclose(arrays, loss.derivative(y, z), rtol=1e-9, atol=1e-15)


def test_only_losses_of_one_slope_have_integers():
    losses = Squared(), Logistic(), Huber(), Poisson(), Softmax(3)
    assert [has_integer_slopes(loss) for loss in losses] == [True, True, False, False, False]


# The checks can fail


def test_a_slope_that_is_cut_before_it_is_rounded_is_seen(monkeypatch):
    def wrong(slope, norm, per_unit, reach):
        return np.copysign(np.rint(np.minimum(np.abs(slope) * per_unit, 1.3 + reach / norm)), slope)

    monkeypatch.setattr(loops, "integer_slope", SimpleNamespace(py_func=wrong))
    with pytest.raises(AssertionError):
        check_lengths(Squared(), 1e-3, 1.0, intercept=True)


def test_a_sum_in_single_precision_is_seen(monkeypatch):
    right, wrong = "self.values[b] @ slopes", "np.float32(self.values[b]) @ np.float32(slopes)"
    monkeypatch.setattr(IntegerRows, "_gradients", rewritten(IntegerRows._gradients, right, wrong))
    with pytest.raises(AssertionError):
        check_sum(stored(300), monkeypatch)


@pytest.mark.parametrize(("first", "last"), [("first - 1", "last"), ("first", "last - 1")])
def test_a_block_that_is_lost_or_counted_twice_is_seen(first, last, monkeypatch):
    """By the comparison of block sizes: a sum over one block would not show it."""
    rows = stored(300)
    facts = SimpleNamespace(loss=Squared()), weights_for(rows), 3.0
    monkeypatch.setattr(integer_rows, "MOST_ROWS", 64)
    right, wrong = "for b in range(first, last):", f"for b in range({first}, {last}):"
    np.testing.assert_array_equal(rows.gradient_sum(*facts), stored(300).gradient_sum(*facts))
    sums = rewritten(IntegerRows._gradients, right, wrong)
    monkeypatch.setattr(IntegerRows, "_gradients", sums)
    assert (rows.gradient_sum(*facts) != stored(300).gradient_sum(*facts)).any()
