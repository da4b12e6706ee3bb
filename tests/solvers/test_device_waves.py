"""Features of rows on a device as whole numbers: how long they are, and that sums are exact."""

import importlib
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from test_device_rows import LIBRARIES, arrays_of

from planting import rewritten
from privlearn._core.problem import Bounds
from privlearn._data.bounded import Table
from privlearn._data.device import Namespace, namespace_of, to_host
from privlearn._data.device_data import DeviceData
from privlearn._objective.penalties import Penalty
from privlearn.kernel_model.ranks import edges_of, histograms, ranks_from, ranks_of
from privlearn.solvers._common.fourier_map import FourierMap
from privlearn.solvers._common.histograms import count_within
from privlearn.solvers._common.loops import fourier_features as formula
from privlearn.solvers._common.moment_equations import solve_moments, stack, unstack
from privlearn.solvers._common.scaling import Scaling
from privlearn.solvers._device import waves
from privlearn.solvers._device.ranks import count_between
from privlearn.solvers._device.waves import (
    AMPLITUDE,
    BLOCK,
    LONGEST,
    TARGET,
    WaveData,
    longest,
)

P, HALF = 3, 20
HERE = Namespace(np, None, "numpy")


def made_up(library, n=150, kind=np.float64, ranks=False, intercept=True, y=None):
    """Rows of a library, their frequencies, and the scaling of their second moments.

    Frequencies are alike, so that some rows are too long when they are rounded.
    """
    rng = np.random.default_rng(n)
    X = (2.0 * rng.standard_normal((n, P))).astype(kind)
    y = rng.standard_normal(n) if y is None else y
    put = arrays_of(library)
    array, numbers = put(X), put(y)
    box = (np.array([-1.0, -5.0, 0.5]), np.array([2.0, 5.0, 3.0]))
    edges = edges_of(Bounds(*box, None, None), P, intercept)
    counts = rng.random((P, edges.shape[1] - 1)) * 100.0
    released = (edges, ranks_from(counts, 1.0, edges), 0.3) if ranks else None
    bounds = Bounds(None, None, (-0.7, 0.9), math.sqrt(1.0 + intercept))
    data = WaveData(
        Table(np.empty((0, P)), np.empty(0), True), bounds, intercept, array, numbers,
        namespace_of(array), np.linspace(2.0, 2.002, P * HALF).reshape(P, HALF), box,
        released,
    )  # fmt: skip
    return data, Scaling.for_moments(bounds, data.n_features, intercept)


def lower(moments):
    return np.tril(to_host(moments.sums))


@pytest.fixture
def few_at_once(monkeypatch):
    """Several blocks and tiles of a small case, and features some at a time."""
    monkeypatch.setattr(waves, "BLOCK", 64)
    monkeypatch.setattr(waves, "TILE", 20)
    monkeypatch.setattr(waves, "AT_ONCE", 200)


def of_each_row(data, scaling):
    """The whole numbers of every row, each computed alone: features, 1, digits."""
    found = []
    for i in range(data.n):
        own = slice(i, i + 1)
        one = replace(data, array=data.array[own, ...], numbers=data.numbers[own])
        block = next(waves._blocks(scaling, one))
        found.append([int(entry) for entry in to_host(block)[: data.n_features + 3, 0]])
    return found


@LIBRARIES
@pytest.mark.parametrize("ranks", [False, True])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_sums_are_those_of_pythons_integers(library, ranks, kind, few_at_once):
    data, scaling = made_up(library, 150, kind, ranks)
    found = lower(waves.wave_moments(scaling, data))
    rows = of_each_row(data, scaling)
    for i in range(data.n_features + 3):
        for j in range(i + 1):
            assert found[i, j] == sum(row[i] * row[j] for row in rows)
    assert not found[data.n_features + 3 :].any()


@LIBRARIES
@pytest.mark.parametrize("n", [1, 31, 64, 65, 200])
def test_every_library_gives_the_integers_of_numpy(library, n, few_at_once):
    for ranks in (False, True):
        (here, scaling), (there, _) = (made_up(each, n, ranks=ranks) for each in ("numpy", library))
        one, other = (waves.wave_moments(scaling, data) for data in (here, there))
        np.testing.assert_array_equal(lower(one), lower(other))
        np.testing.assert_array_equal(one.stacked(), other.stacked())


def test_a_sum_of_a_block_fits_into_32_bits():
    assert BLOCK * AMPLITUDE**2 < 2**31
    assert waves.TILE % waves.MULTIPLE == 0


def pairs_of(phases, times=1):
    """Cosines and sines of phases, as whole numbers, the same pair so many times."""
    block = np.zeros((2 * times, len(phases)), np.int8)
    with np.errstate(all="ignore"):
        waves.write_waves(HERE, phases[None, :], np.ones((1, times)), block)
    return block.astype(np.int64)


def test_no_pair_is_longer_than_the_bound():
    """Phases of every part of the circle, huge, infinite and not numbers."""
    rng = np.random.default_rng(0)
    even, odd = np.linspace(-1.5, 1.5, 2_000_001), rng.standard_normal(500_000) * 1e3
    wild = np.array([1e16, 1e300, -1e300, np.inf, -np.inf, np.nan, 2.0**51 + 0.5, 0.25, -0.75])
    found = pairs_of(np.concatenate([even, odd, wild]))
    squares = (found**2).sum(axis=0)
    assert squares.max() <= LONGEST
    assert squares.max() > AMPLITUDE**2  # a bound of 127^2 would be wrong
    assert np.abs(found).max() <= AMPLITUDE


@pytest.mark.parametrize("times", [1, 7, 8, 9, 40, 200])
def test_rows_that_would_be_too_long_are_cut(times):
    """Pairs that are alike are all longer than they are on average, or all shorter."""
    phases = np.append(np.linspace(-0.6, 0.6, 3001), [np.nan, 1e300, 0.0, 0.125])
    found, alone = pairs_of(phases, times), pairs_of(phases)
    squares = (found**2).sum(axis=0)
    assert squares.max() <= longest(times)
    cut = (found[[0, -1]] != alone).any(axis=0)
    assert cut.any() == (times > 9)
    own = (alone**2).sum(axis=0) * times
    np.testing.assert_array_equal(cut, own > longest(times))
    assert (np.abs(found[[0, -1]]) >= np.abs(alone) - 1).all()


def test_few_rows_are_cut_of_usual_features():
    rng = np.random.default_rng(0)
    block = np.zeros((256, 20_000), np.int8)
    X, turns = rng.standard_normal((4, 20_000)), rng.standard_normal((4, 128))
    waves.write_waves(HERE, X, turns, block)
    squares = (block.astype(np.int64) ** 2).sum(axis=0)
    assert squares.max() <= longest(128) < 1.003 * AMPLITUDE**2 * 128
    assert abs(squares.mean() / (AMPLITUDE**2 * 128) - 1.0) < 2e-4


def test_the_bound_is_that_of_whole_numbers_near_the_circle():
    radius = Fraction(AMPLITUDE) * (1 + Fraction(1, 2**19))  # more than the root needs
    largest = (radius + Fraction(7071068, 10**7)) ** 2  # root of 1/2, rounded up
    assert LONGEST <= largest < LONGEST + 1


def test_features_are_cosines_and_sines():
    phases = np.linspace(-2.0, 2.0, 40_001)
    found = pairs_of(phases) / AMPLITUDE
    for own, wave in zip(found, (np.cos, np.sin), strict=True):
        assert np.abs(own - wave(2.0 * math.pi * phases)).max() <= (0.5 + 1e-4) / AMPLITUDE


def test_polynomials_are_those_of_the_processor():
    """Their proof is in fourier_features.py: errors of 2^-21 each, whatever the phase."""
    phases = np.linspace(-0.25, 0.25, 100_001).astype(np.float32)
    cosines, sines = phases.copy(), np.empty_like(phases)
    for k in range(0, len(phases), 1000):
        one = slice(k, k + 1000)
        formula.turn_to_waves.py_func(cosines[one], sines[one], np.float32(1.0))
    z = phases * phases
    np.testing.assert_array_equal(waves._series(waves.COSINE, z), cosines)
    np.testing.assert_array_equal(waves._series(waves.SINE, z) * phases, sines)


@LIBRARIES
@pytest.mark.parametrize("ranks", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_no_row_is_longer_than_the_clip_in_exact_arithmetic(library, ranks, intercept):
    largest = np.array([1e3, -1e3, 0.9, -0.7, 0.1])
    data, scaling = made_up(library, 5, ranks=ranks, intercept=intercept, y=largest)
    share = Fraction(3, 10) if ranks else Fraction(0)
    for row in of_each_row(data, scaling):
        own, digits = row[: data.n_features], row[data.n_features + 1 :]
        of_waves = sum(Fraction(q) ** 2 for q in own[: 2 * HALF]) / longest(HALF)
        of_ranks = sum(Fraction(r) ** 2 for r in own[2 * HALF :]) / (AMPLITUDE**2 * P)
        target = Fraction(128 * digits[0] + digits[1], TARGET) ** 2
        length = (1 - share) * of_waves + share * of_ranks + target + int(intercept)
        assert length <= 2 + int(intercept)
        assert Fraction(scaling.squared_norm) >= (2 + int(intercept)) * (1 + Fraction(1, 2**41))


def test_targets_in_two_digits_are_whole():
    whole = np.arange(-TARGET, TARGET + 1)
    y = np.append(whole / TARGET, [5.0, -5.0])
    data, _ = made_up("numpy", len(y), y=y)
    bounds = Bounds(None, None, (-1.0, 1.0), math.sqrt(2.0))
    scaling, out = Scaling.for_moments(bounds, 2 * HALF, True), np.zeros((2, len(y)), np.int8)
    data = replace(data, bounds=bounds)
    waves._write_target(HERE, scaling, data, slice(0, len(y)), out)
    found = 128 * out[0].astype(np.int64) + out[1]
    np.testing.assert_array_equal(found, np.append(whole, [TARGET, -TARGET]))


@LIBRARIES
def test_a_rows_integers_do_not_depend_on_its_place(library, few_at_once):
    data, scaling = made_up(library, 100, np.float32, ranks=True)
    rows = of_each_row(data, scaling)
    column = 0
    for block in waves._blocks(scaling, data):
        own = to_host(block)[: data.n_features + 3]
        for k in range(min(64, data.n - column)):
            assert own[:, k].tolist() == rows[column + k]
        column += 64


@LIBRARIES
def test_ranks_and_counts_are_those_of_numpy(library):
    data, _ = made_up(library, 400, ranks=True)
    edges, ranks, _ = data.ranks
    X = np.clip(to_host(data.array), *data.box)
    X[:60] = np.clip(edges[:, 3:63].T, *data.box)  # edges themselves
    expected = ranks_of(X, edges, ranks, compiled=False)
    tables = waves.RankTables.of(data.xp, edges, ranks)
    found = to_host(tables(data.xp.put(np.ascontiguousarray(X.T))))
    np.testing.assert_array_equal(found.T, expected)
    box = Bounds(*data.box, None, None)
    put = arrays_of(library)
    there = DeviceData(data.table, box, True, put(X), data.numbers, data.xp)
    expected = count_within(X, edges)
    np.testing.assert_array_equal(count_between(there, edges), expected)
    np.testing.assert_array_equal(histograms(there, edges), expected)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("count", [None, 150.0])
def test_equations_are_solved_alike_on_a_device(intercept, count):
    pytest.importorskip("torch")
    found = []
    for library in ("numpy", "torch"):
        data, scaling = made_up(library, 150, intercept=intercept)
        moments = waves.wave_moments(scaling, data)
        noisy = moments.stacked() + 0.1 * np.cos(np.arange(moments.stacked().size))
        facts = {"intercept": intercept, "penalty": moments.scaling.moment_penalty(Penalty(l2=0.5)),
                 "noise": 0.1, "ridge": "noise", "count": count}  # fmt: skip
        found.append(moments.solved(noisy, **facts))
        if library == "numpy":
            plain = solve_moments(unstack(noisy, scaling.width + 1), **facts)
            np.testing.assert_array_equal(plain[0], found[0][0])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-12)


def test_moments_are_those_of_features(few_at_once):
    """Within the rounding to 8 bits, and the same order as for NumPy's rows."""
    data, scaling = made_up("numpy", 300)
    moments = waves.wave_moments(scaling, data)
    X = np.clip(data.array, *data.box)
    out, to_features = np.empty((300, 2 * HALF), np.float32), FourierMap(data.frequencies)
    to_features.write(X, out, to_features.workspace(300))
    y = (np.clip(data.numbers, -0.7, 0.9) - 0.1) / 0.8
    Z = np.column_stack([np.ones(300), out / moments.scaling.scale, y])
    np.testing.assert_allclose(moments.stacked(), stack(Z.T @ Z), atol=300 * 2e-3)


BUGS = [
    (waves._blocks, "range(0, n, size)", "range(size, n, size)"),  # a lost block
    (waves._blocks, "range(0, n, size)", "[0, *range(0, n, size)]"),  # one counted twice
    (waves._blocks, "if rows < size:", "if False:"),  # what the last one held counts again
    (waves._add_products, '"float64"', '"int8"'),  # sums of as many bits as a product
    (waves._add_products, "astype(products,", 'astype(xp.astype(products, "float32"),'),
    (waves.write_waves, "squares > longest(half)", "squares < 0"),  # what is too long stays so
    (waves._write_target, "0.5 * DIGIT", "0.0"),  # a digit of more than 8 bits
]


@pytest.mark.parametrize(("function", "right", "wrong"), BUGS)
def test_planted_bugs_are_seen(function, right, wrong, few_at_once, monkeypatch):
    data, scaling = made_up("numpy", 9000)
    monkeypatch.setattr(waves, "BLOCK", 4096)
    expected = lower(waves.wave_moments(scaling, data))
    monkeypatch.setattr(waves, function.__name__, rewritten(function, right, wrong))
    with np.errstate(all="ignore"):
        assert not np.array_equal(lower(waves.wave_moments(scaling, data)), expected)


def all_alike(library):
    """More rows than a block holds, with products as large as can be; and what they add up to."""
    n = BLOCK + 4000
    data, scaling = made_up(library, n, y=np.full(n, 5.0))
    data = replace(data, array=arrays_of(library)(np.zeros((n, P)) - 9.0))
    one = replace(data, array=data.array[:1, ...], numbers=data.numbers[:1])
    (row,) = of_each_row(one, scaling)
    expected = np.tril(n * np.outer(row, row))
    assert expected.max() > 2**31
    return data, scaling, expected


@LIBRARIES
def test_sums_beyond_32_bits_are_exact(library):
    data, scaling, expected = all_alike(library)
    found, width = lower(waves.wave_moments(scaling, data)), len(expected)
    np.testing.assert_array_equal(found[:width, :width], expected)


def test_a_longer_block_would_overflow(monkeypatch):
    monkeypatch.setattr(waves, "BLOCK", 2 * BLOCK)
    data, scaling, expected = all_alike("torch")
    found, width = lower(waves.wave_moments(scaling, data)), len(expected)
    assert not np.array_equal(found[:width, :width], expected)


@pytest.mark.slow
def test_kernels_give_the_integers_of_numpy(monkeypatch):
    """By Triton's interpreter where there is no GPU."""
    torch, triton = pytest.importorskip("torch"), pytest.importorskip("triton")
    if not torch.cuda.is_available():
        if not triton.knobs.runtime.interpret:
            pytest.skip("no GPU here; TRITON_INTERPRET=1 runs kernels without one")
        monkeypatch.setattr(Namespace, "triton", property(lambda self: self.kind == "torch"))
        assert importlib.import_module("privlearn.solvers._device.wave_kernels")
    monkeypatch.setattr(waves, "BLOCK", 256)
    for ranks in (False, True):
        (here, scaling), (there, _) = (
            made_up(each, 700, np.float32, ranks) for each in ("numpy", "torch")
        )
        if torch.cuda.is_available():
            array, numbers = there.array.cuda(), there.numbers.cuda()
            there = replace(there, array=array, numbers=numbers, xp=namespace_of(array))
        one, other = (waves.wave_moments(scaling, data) for data in (here, there))
        np.testing.assert_array_equal(lower(one), lower(other))
