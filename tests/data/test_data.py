"""Reading and bounding rows: every input bounded, no error that quotes data."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from privlearn import LinearRegression
from privlearn._core.numerics import BLOCK_ROWS
from privlearn._core.problem import Adjacency, Bounds, Problem
from privlearn._data.bounded import BoundedData, Rows, Table, bound
from privlearn._data.clipping import clip_rows
from privlearn._data.tables import read_table
from privlearn._objective.losses import Squared
from privlearn._objective.penalties import Penalty
from privlearn.exceptions import UnsupportedCombinationError
from support import regression

SECRET = "Ms Grey, diabetes"
NUMBER = 31415.926


def read(X, y, n_is_public=True, on_invalid="raise", **options):
    model = BaseEstimator()
    model.adjacency = "zero_out" if n_is_public else "add_remove"
    model.on_invalid = on_invalid
    return read_table(model, X, y, **options)


def bounded(X, y, *, intercept=True, **declared):
    p = X.shape[1]
    facts = Bounds.declared(p, fit_intercept=intercept, **declared)
    problem = Problem(
        n=len(y),
        n_features=p,
        bounds=facts,
        loss=Squared(),
        penalty=Penalty(),
        adjacency=Adjacency.ZERO_OUT,
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


@pytest.mark.parametrize("make", [np.array, list])
def test_text_among_numbers_is_told_by_its_column(make):
    """The first such column, wherever its rows stand, and what takes text."""
    rows = [[1.0, 2.0, SECRET], [1.0, SECRET, 3.0], [None, 2.0, 3.0]]
    with pytest.raises(ValueError, match=r"^X\[:, 1\] holds .*schema=\"estimate\"") as caught:
        read(make([np.array(row, dtype=object) for row in rows]), [1.0, 2.0, 3.0])
    assert SECRET not in str(caught.value)


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

    with pytest.raises(UnsupportedCombinationError, match="one target per row"):
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
        ({"bounds_X": (0, 10**400)}, "finite"),
        ({"bounds_X": ("a", 1)}, "finite numbers"),
        ({"bounds_X": (0, 1e-170)}, "1e-170, but numbers that are 0 or between 1e-100"),
        ({"bounds_X": (0, 1e101)}, "other units"),
        ({"bounds_X": (1, 1 + 1e-15)}, "too near to each other"),
        ({"bounds_X": [(0, 1)] * 3}, r"list of 3 pairs.*\(\[low of every feature\]"),
        ({"bounds_y": (0, 1e-310)}, "bounds_y holds 1e-310"),
        ({"bounds_y": (1e16, 1e16 + 2)}, "too near to each other"),
        ({"data_norm": 1e200}, r"data_norm holds 1e\+200"),
        ({"data_norm": 10**400}, "finite"),
        ({"scale_X": 1e-200}, "scale_X holds 1e-200"),
        ({"scale_X": [1, 1, "x"]}, "finite numbers"),
        ({"bounds_X": ([0, 0], [1, 1])}, r"shape \(2,\), but X has 3 features"),
        ({"bounds_X": 3.0}, "must be a pair"),
        ({"bounds_y": (0, 0)}, "low < high"),
        ({"bounds_y": ([0, 1], 2)}, "pair of two numbers"),
        ({"data_norm": 0.9}, "the intercept's 1 is part of the row"),
        ({"data_norm": -1.0}, "data_norm"),
        ({"adjacency": "add"}, "adjacency"),
        ({"solver": "newton"}, "solver='newton' is unknown"),
        ({"solver": 3}, "solver is a int"),
        ({"random_state": -1}, "random_state"),
        ({"ledger": 3}, r"charge\(plan, dataset\)"),
    ]:
        known = {"bounds_X": (-1, 1), "bounds_y": (-1, 1), **parameters}
        with pytest.raises((ValueError, TypeError), match=words):
            LinearRegression(**known).fit(X, y)


def test_two_pairs_for_two_features_are_told_from_ends():
    X, y = regression(50, 2)
    with pytest.raises(ValueError, match="the same two numbers twice"):
        LinearRegression(bounds_X=((0, 1), (0, 1)), bounds_y=(-1, 1)).fit(X, y)
    LinearRegression(bounds_X=([0.5, 0.5], [0.5, 0.5]), bounds_y=(-1, 1)).fit(X, y)


@pytest.mark.parametrize("pairs", [[(18, 105), (20, 300)], [(18, 105), (0, 5)], [(0, 1)]])
def test_a_list_of_pairs_is_no_pair_of_ends(pairs):
    """As scipy has bounds: of two features they would pass for low ends and high ends."""
    X, y = regression(50, len(pairs))
    words = rf"is a list of {len(pairs)} pairs.*=tuple\(zip\(\*pairs\)\)"
    with pytest.raises(ValueError, match="bounds_X " + words):
        LinearRegression(bounds_X=pairs, bounds_y=(-1, 1)).fit(X, y)
    with pytest.raises(ValueError, match="bounds_X " + words):
        LinearRegression(bounds_X=pairs, bounds_y=(-1, 1)).plan(n=50, n_features=len(pairs))
    with pytest.raises(ValueError, match="coef_bounds " + words):
        LinearRegression(bounds_X=(-1, 1), bounds_y=(-1, 1), coef_bounds=pairs).fit(X, y)
    low, high = np.full(len(pairs), -1), np.full(len(pairs), 1)
    spelled = ((low, high), [low, high], np.array([low, high]), (tuple(low), tuple(high)))
    for ends in (*spelled, [low.tolist(), high.tolist()]):
        bounds = {"bounds_X": ends, "coef_bounds": ends, "bounds_y": (-1, 1)}
        LinearRegression(**bounds, random_state=0).fit(X, y)


REFUSED = {
    "a masked array": np.ma.array([[NUMBER, 1.0]] * 2, mask=False),
    "of type datetime64": np.array([[3, 4]] * 2, dtype="M8[ns]"),
    "of type timedelta64": np.array([[3, 4]] * 2, dtype="m8[s]"),
    "Complex data": np.array([[NUMBER + 1j]] * 2),
    "numbers are needed": np.zeros(2, dtype=[("a", float), ("b", float)]),
    "3 dimension": np.full((2, 1, 1), NUMBER),
    "0 dimension": np.array(NUMBER),
    "is a generator": ([NUMBER] for _ in range(2)),
    "is a dict": {"a": [NUMBER]},
    "is a str": SECRET,
}


@pytest.mark.parametrize("on_invalid", ["raise", "drop"])
@pytest.mark.parametrize("words", REFUSED)
def test_what_a_container_declares_is_refused(words, on_invalid):
    with pytest.raises(ValueError, match=words) as caught:
        read(REFUSED[words], [1.0, 2.0], on_invalid=on_invalid)
    assert str(NUMBER) not in str(caught.value)
    assert SECRET not in str(caught.value)


class Angry:
    """Quotes itself in every error."""

    def __float__(self):
        raise RuntimeError(SECRET)

    __array__ = __len__ = __iter__ = __float__


LOOP: list = []
LOOP.append(LOOP)


@pytest.mark.parametrize(
    "row",
    [
        [SECRET, 1.0],
        [Angry(), 1.0],
        [10**400, 1.0],
        [LOOP, 1.0],
        [1 + 2j, 1.0],
        [1.0],
        [1.0, 2.0, NUMBER],
        NUMBER,
        None,
        SECRET,
        Angry(),
        LOOP,
        {"a": NUMBER},
    ],
    ids=lambda row: f"{type(row).__name__} {len(str(row))}",
)
def test_one_row_of_a_list_is_refused_without_a_word_of_it_or_is_empty(row):
    X = [[0.5, 1.0], row, [2.0, True]] + [[0.5, 1.0]] * 34
    with pytest.raises((ValueError, TypeError)) as caught:
        read(X, np.ones(37), n_is_public=False)
    error, told = caught.value, ""
    while error is not None:
        told, error = told + str(error), error.__cause__ or error.__context__
    assert not any(secret in told for secret in (SECRET, str(NUMBER), "37"))
    model = LinearRegression(bounds_X=([0, 0], [9, 9]), bounds_y=(0, 1), on_invalid="drop")
    table = model._read(X, np.ones(37))
    np.testing.assert_array_equal(table.X[[0, 2]], [[0.5, 1.0], [2.0, 1.0]])
    assert not np.isfinite(table.X[1]).all()


def test_the_declared_width_counts_where_rows_of_lists_differ():
    X = [[1.0], [1.0], [0.5, 0.25]]
    model = LinearRegression(bounds_X=([0, 0], [1, 1]), bounds_y=(0, 1), on_invalid="drop")
    table = model._read(X, [1.0, 1.0, 1.0])
    np.testing.assert_array_equal(table.X[2], [0.5, 0.25])
    assert np.isnan(table.X[:2]).all()
    with pytest.raises(ValueError, match="the number of columns must be public"):
        read(X, [1.0, 1.0, 1.0], on_invalid="drop")


def test_plain_arrays_are_not_copied():
    for kind in (np.float64, np.float32):
        X = np.ones((5, 2), dtype=kind)
        assert np.shares_memory(read(X, np.ones(5)).X, X)


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow"])
def test_many_columns_take_a_few_calls_each(library):
    """Work grows with the number of columns, not with its square: calls are counted."""
    import sys

    made = {}
    for p in (40, 80, 160):
        frame = _wide(library, p)
        read(frame, [1.0, 2.0])  # imports
        calls = 0

        def count(*_):
            nonlocal calls
            calls += 1

        sys.setprofile(count)
        try:
            read(frame, [1.0, 2.0])
        finally:
            sys.setprofile(None)
        made[p] = calls
    assert made[160] - made[80] < 2.5 * (made[80] - made[40]) + 200


def _wide(library, p):
    columns = {f"x{k}": [0.5, 1.5] if k % 2 else [1, 2] for k in range(p)}
    if library == "arrow":
        return pytest.importorskip("pyarrow").table(columns)
    return pytest.importorskip(library).DataFrame(columns)


def test_pandas_columns_of_every_kind():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            "whole": pd.array([1, None, 3], dtype="Int64"),
            "truth": pd.array([True, False, None], dtype="boolean"),
            "single": pd.array([0.5, 1.5, 2.5], dtype="Float32"),
            "category": pd.Categorical([7, 8, 7]),
            "sparse": pd.arrays.SparseArray([0.0, 1.0, 0.0]),
            "objects": np.array([1, "2", 0.5], dtype=object),
        }
    )
    nan = np.nan
    wanted = [[1, 1, 0.5, 7, 0, 1], [nan, 0, 1.5, 8, 1, 2], [3, nan, 2.5, 7, 0, 0.5]]
    np.testing.assert_array_equal(read(frame, np.ones(3), on_invalid="drop").X, wanted)
    dates = pd.DataFrame({"day": pd.date_range("2000-01-01", periods=3), "b": [1.0] * 3})
    assert np.isnan(read(dates, np.ones(3), on_invalid="drop").X[:, 0]).all()
    with pytest.raises(TypeError, match="column 'day' of X is datetime64"):
        read(dates, np.ones(3))
    with pytest.raises(ValueError, match="the same name"):
        read(pd.DataFrame(np.ones((3, 2)), columns=["a", "a"]), np.ones(3))


def test_arrow_and_polars_go_by_their_schema():
    pa, pl = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    columns = {"a": [2**60 + 1, None], "b": [True, False], "none": [None, None]}
    for frame in (pa.table(columns), pa.record_batch(columns), pl.DataFrame(columns)):
        X = read(frame, [1.0, 2.0], on_invalid="drop").X
        np.testing.assert_array_equal(X[:, :2], [[2.0**60, 1.0], [np.nan, 0.0]])
        assert np.isnan(X[:, 2]).all()
    import datetime

    for kind in ([datetime.date(2000, 1, 1)] * 2, [SECRET, "b"]):
        for make in (pa.table, pl.DataFrame):
            with pytest.raises(ValueError, match="column 'a' of X is") as caught:
                read(make({"a": kind}), [1.0, 2.0], on_invalid="drop")
            assert SECRET not in str(caught.value)


def entries(format_, dtype=float):
    X = sp.coo_array(
        (np.array([1, 2, 3, 4], dtype), (np.array([2, 0, 0, 2]), np.array([1, 0, 0, 2]))),
        shape=(4, 3),
    )
    return getattr(X, f"to{format_}")() if format_ != "coo" else X


@pytest.mark.parametrize("dtype", [float, np.float32, int, bool, np.longdouble])
@pytest.mark.parametrize("format_", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_sparse_matrices_of_every_format(format_, dtype):
    X = entries(format_, dtype)
    copy = X.copy()
    found = read(X, np.ones(4)).X
    wanted = entries("csr", dtype).toarray().astype(float)
    np.testing.assert_array_equal(found.toarray(), wanted)
    assert found.dtype == (np.float32 if dtype is np.float32 else np.float64)
    assert found.has_canonical_format
    np.testing.assert_array_equal(X.toarray(), copy.toarray())


@pytest.mark.parametrize(
    ("values", "sum_"),
    [((1.0, 2.0), 3.0), ((1e308, 1e308, -1e308), np.inf), ((1e308, -1e308, 1e308), 1e308)],
)
def test_duplicates_are_summed_in_their_order_before_they_are_looked_at(values, sum_):
    X = sp.csr_array((np.array(values), np.zeros(len(values), int), [0, len(values)]), shape=(1, 2))
    table = read(X, [1.0], on_invalid="drop")
    assert table.X.toarray()[0, 0] == sum_
    data = BoundedData(table, Bounds(None, None, None, None), True)
    there = [rows.present.copy() for rows in data.blocks()]
    np.testing.assert_array_equal(np.concatenate(there), data.present())
    assert data.present()[0] == np.isfinite(sum_)


def test_duplicates_in_one_row_keep_the_bits_of_others():
    values, columns = np.array([-0.0, 5e-324, 1.0, 1.0]), np.array([0, 1, 0, 0])
    X = sp.csr_array((values, columns, [0, 2, 4]), shape=(2, 2))
    assert read(X, [1.0, 1.0]).X.data[:2].tobytes() == values[:2].tobytes()


def test_malformed_matrices_are_refused():
    def broken(**changes):
        X = sp.csr_array(np.arange(1.0, 7.0).reshape(3, 2))
        for name, value in changes.items():
            setattr(X, name, np.asarray(value))
        return X

    cases = [
        broken(indices=[0, 1, 0, 2, 0, 1]),
        broken(indices=[0, 1, 0, -1, 0, 1]),
        broken(indices=[0.0, 1, 0, 1, 0, 1]),
        broken(indptr=[0, 4, 2, 6]),
        broken(indptr=[1, 2, 4, 6]),
        broken(indptr=[0, 2, 4, 60]),
        broken(indptr=[0, 2, 6]),
        broken(data=np.arange(5.0)),
    ]
    lil = sp.lil_array((3, 2))
    lil.rows[1], lil.data[1] = [7], [1.0]
    short = sp.lil_array((3, 2))
    short.rows[1], short.data[1] = [0, 1], [1.0]
    for X in [*cases, lil, short]:
        with pytest.raises(ValueError, match=r"malformed.*build the matrix anew"):
            read(X, np.ones(3), on_invalid="drop")


@pytest.mark.parametrize("features", [3, 16, 37])
def test_a_row_is_shortened_alike_wherever_it_stands(features):
    """Products of matrices sum the last rows of a block in another order than the others."""
    rng = np.random.default_rng(features)
    low, high = np.full(features, 0.5), np.full(features, 50.0)  # zero is outside
    bounds = Bounds(low, high, None, 1.5 * float(np.linalg.norm(low)))
    X = rng.uniform(0.5, 50.0, (23, features))

    def bounded(rows):
        table = Table(X[rows], np.zeros(len(X[rows])), True)
        (block,) = BoundedData(table, bounds, False).blocks()
        return block.X.copy()

    whole = bounded(slice(None))
    for i in range(len(X)):
        for end in range(i + 1, min(i + 6, len(X) + 1)):
            np.testing.assert_array_equal(bounded(slice(i, end))[0], whole[i])
