"""Reading and bounding rows: every input bounded, no error that quotes data."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from privlearn import LinearRegression
from privlearn.clipping import clip_rows
from privlearn.data import Rows, Table, bound, validate
from privlearn.exceptions import UnsupportedCombination
from privlearn.losses import Squared
from privlearn.numerics import BLOCK_ROWS
from privlearn.penalties import Penalty
from privlearn.problem import Bounds, Neighbors, Problem
from support import regression

SECRET = "Ms Grey, diabetes"
NUMBER = 31415.926


def read(X, y, **options):
    return validate(
        BaseEstimator(), X, y, **{"n_is_public": True, "on_invalid": "raise", **options}
    )


def bounded(X, y, *, intercept=True, **declared):
    p = X.shape[1]
    facts = Bounds.declared(p, fit_intercept=intercept, **declared)
    problem = Problem(
        n=len(y),
        n_features=p,
        bounds=facts,
        loss=Squared(),
        penalty=Penalty(),
        neighbors=Neighbors.ZERO_OUT,
        fit_intercept=intercept,
    )
    data = bound(Table(X, np.asarray(y, dtype=float)), problem)
    blocks = [Rows(rows.X.copy(), rows.y, rows.present) for rows in data.blocks()]
    assert all(len(block.y) <= BLOCK_ROWS for block in blocks)
    return (
        np.vstack([block.X for block in blocks]),
        np.concatenate([block.y for block in blocks]),
        np.concatenate([block.present for block in blocks]),
    )


WILD = np.array(
    [
        [1e308, -1e308, 1e308],
        [5e-324, 0.0, -5e-324],
        [0.0, 0.0, 0.0],
        [1.0, 2.0, 3.0],
        [np.nan, 1.0, 1.0],
        [np.inf, 1.0, 1.0],
        [1e200, 1.0, -1e-200],
        [-0.0, 1e16, 1.0],
    ]
)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("intercept", [True, False])
def test_every_row_obeys_its_bounds(dtype, order, intercept):
    with np.errstate(over="ignore"):
        X = np.asarray(np.tile(WILD, (300, 1)), dtype=dtype, order=order)
    y = np.resize([1e308, -1e308, 0.5, np.nan, 3.0], len(X))
    low, high = np.array([-1.0, 0.5, -2.0]), np.array([1.0, 4.0, 1.0])
    rows, target, present = bounded(
        X, y, intercept=intercept, bounds_X=(low, high), bounds_y=(-1, 2), data_norm=3.0
    )
    from fractions import Fraction

    limit = Fraction(9) - int(intercept)
    assert not present.all()
    assert present.any()
    assert not rows[~present].any()
    assert not target[~present].any()
    assert np.isfinite(rows).all()
    assert target[present].min() >= -1
    assert target[present].max() <= 2
    for row in np.unique(rows[present], axis=0):
        assert sum(Fraction(float(value)) ** 2 for value in row) <= limit, "in exact arithmetic"
    inside = np.clip(X[3], low, high)
    lengths = np.linalg.norm(inside)
    scale = min(1.0, np.sqrt(float(limit)) / lengths)
    np.testing.assert_allclose(rows[3 + 8], inside * scale, rtol=1e-6)


def test_box_comes_before_the_norm():
    X = np.array([[10.0, 1.0]])
    rows, *_ = bounded(X, [0.0], intercept=False, bounds_X=(0, 1), data_norm=1.0)
    np.testing.assert_allclose(rows, np.sqrt([[0.5, 0.5]]), rtol=1e-9)


def test_rows_inside_are_not_touched():
    X, y = regression(3_000, 3)
    rows, target, present = bounded(X, y, bounds_X=(-1, 1), bounds_y=(-1, 1), data_norm=2.5)
    np.testing.assert_array_equal(rows, X)
    np.testing.assert_array_equal(target, y)
    assert present.all()


def test_input_is_left_alone():
    X, y = regression(100, 3)
    copies = X.copy(), y.copy()
    LinearRegression(bounds_X=(-0.1, 0.1), bounds_y=(0, 0.1)).fit(X, y)
    np.testing.assert_array_equal(X, copies[0])
    np.testing.assert_array_equal(y, copies[1])


def test_clip_rows_with_extreme_entries():
    X = np.array([[1e308, 1e308], [1e-320, 1e-320], [3.0, 4.0]])
    clip_rows(X, Bounds(None, None, None, 1.0), fit_intercept=False)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1)[[0, 2]], 1.0, rtol=1e-9)
    np.testing.assert_array_equal(X[1], 1e-320)


def test_sparse_rows_are_bounded_like_dense_ones():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2_500, 6)) * (rng.random((2_500, 6)) < 0.3)
    y = rng.standard_normal(2_500)
    facts = {"bounds_X": (0.2, 1.0), "bounds_y": (-1, 1), "data_norm": 1.5}
    for one, other in zip(
        bounded(sp.csr_array(X), y, **facts), bounded(X, y, **facts), strict=True
    ):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([[SECRET]], "no number"),
        (np.array([[{"name": SECRET}]], dtype=object), "argument must be numeric"),
        ([NUMBER, 2.0], "Reshape your data"),
        ([[[NUMBER]]], "Reshape your data"),
        ([[NUMBER + 1j]], "Complex data"),
        (np.empty((1, 0)), r"0 feature\(s\)"),
        ([[np.nan]], "Input X contains NaN"),
        ([[np.inf]], "Input X contains infinity"),
        ([[NUMBER], [2.0]], "inconsistent"),
    ],
)
def test_errors_say_what_to_do_and_quote_nothing(X, words):
    with pytest.raises((ValueError, TypeError), match=words) as caught:
        read(X, [1.0])
    told = str(caught.value) + repr(caught.value.__cause__)
    assert SECRET not in told
    assert str(NUMBER) not in told


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([SECRET, "b"], "y holds something that is no number"),
        ([np.nan, 1.0], "Input y contains NaN"),
        (None, "target y is None"),
    ],
)
def test_targets_that_cannot_be_used(y, words):
    with pytest.raises(ValueError, match=words) as caught:
        read([[1.0], [2.0]], y)
    assert SECRET not in str(caught.value)


def test_two_targets_are_refused_and_a_column_is_flattened():
    from sklearn.exceptions import DataConversionWarning

    with pytest.raises(UnsupportedCombination, match="one target per row"):
        read([[1.0], [2.0]], [[1.0, 2.0], [3.0, 4.0]])
    with pytest.warns(DataConversionWarning, match="ravel"):
        assert read([[1.0], [2.0]], [[1.0], [2.0]]).y.shape == (2,)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_with_text_or_gaps(library):
    frames = pytest.importorskip(library)
    text = frames.DataFrame({"age": [1.0, 2.0], "town": [SECRET, "b"]})
    with pytest.raises(ValueError, match="column 'town'") as caught:
        read(text, [1.0, 2.0])
    assert SECRET not in str(caught.value)
    mixed = frames.DataFrame({"a": [1, 2], "b": [True, False], "c": [0.5, None]})
    with pytest.raises(ValueError, match="Input X contains NaN"):
        read(mixed, [1.0, 2.0])
    table = read(mixed, [1.0, 2.0], on_invalid="drop")
    assert table.X.shape == (2, 3)
    assert table.X.dtype == np.float64
    np.testing.assert_array_equal(table.X[0], [1.0, 1.0, 0.5])


def test_bounds_must_make_sense():
    X, y = regression(50, 3)
    for parameters, words in [
        ({"bounds_X": (1, 0)}, "low <= high"),
        ({"bounds_X": (0, np.inf)}, "finite"),
        ({"bounds_X": ([0, 0], [1, 1])}, r"shape \(2,\), but X has 3 features"),
        ({"bounds_X": 3.0}, "must be a pair"),
        ({"bounds_y": (0, 0)}, "low < high"),
        ({"bounds_y": ([0, 1], 2)}, "pair of two numbers"),
        ({"data_norm": 0.9}, "the intercept's 1 is part of the row"),
        ({"data_norm": -1.0}, "data_norm"),
        ({"neighbors": "add"}, "neighbors"),
        ({"solver": "newton"}, "solver='newton' is unknown"),
        ({"solver": 3}, "solver is a int"),
        ({"random_state": -1}, "random_state"),
        ({"ledger": 3}, r"charge\(plan, dataset\)"),
    ]:
        known = {"bounds_X": (-1, 1), "bounds_y": (-1, 1), **parameters}
        with pytest.raises((ValueError, TypeError), match=words):
            LinearRegression(**known).fit(X, y)
