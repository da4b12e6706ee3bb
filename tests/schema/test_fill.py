"""What stands in the place of missing numbers and dates: declared, or near where numbers lie."""

import datetime
import json

import numpy as np
import pytest

import privlearn
from privlearn import LinearRegression
from privlearn.schema import Category, Date, Number
from privlearn.schema.arrow import encoded_columns
from privlearn.schema.plain import kind_from, kind_of_model, plain_kind, plain_kind_of_model
from privlearn.schema.reading import encoding_of

pd = pytest.importorskip("pandas")
WIDE = {
    "filled": Number(0, 1e6, missing="fill"),
    "flagged": Number(0, 1e6, missing="flag"),
    "dropped": Number(0, 1e6, missing="drop"),
    "nothing declared": Number(missing="flag"),
    "a declared filler": Number(0, 1e6, missing="fill", fill=4_000),
}


def incomes():
    """A column far below the upper end of any cautious range, a tenth of it missing."""
    rng = np.random.default_rng(0)
    x = np.exp(rng.normal(8.0, 0.7, 20_000))
    y = x / 1_000 + rng.normal(0.0, 1.0, len(x))
    return pd.DataFrame({"x": np.where(rng.random(len(x)) < 0.1, np.nan, x), "y": y})


@pytest.mark.parametrize("name", WIDE)
def test_a_wide_range_does_not_destroy_its_column(name):
    """With its middle in the place of gaps, 0.00 of the variance was explained, and 0.34."""
    frame = incomes()
    known = {"epsilon": 1.0, "bounds_y": (0, 100), "random_state": 0}
    model = LinearRegression(schema={"x": WIDE[name]}, **known).fit(frame, "y")
    whole = frame.dropna()
    explained = 1.0 - ((model.predict(whole) - whole["y"]) ** 2).mean() / whole["y"].var()
    assert explained > 0.8


@pytest.mark.parametrize(
    ("kind", "filling"),
    [
        (Number(17, 90), 53.5),
        (Number(-90, -17), -53.5),
        (Number(10, 100), 55.0),
        (Number(10, 101), 10.0),
        (Number(-101, -10), -10.0),
        (Number(0, 1e6), 0.0),
        (Number(-3, 5), 0.0),
        (Number(-5, 0), 0.0),
        (Number(), 0.0),
        (Number(0, 1e6, "fill", fill=900), 900.0),
        (Number(missing="flag", fill=-2.5), -2.5),
        (Date("2020-01-01", "2020-01-11"), 5.0),
        (Date("2020-01-01", "2020-01-11", "fill", fill="2020-01-03"), 2.0),
        (Date(missing="fill", fill=datetime.date(1970, 1, 4)), 3.0),
    ],
)
def test_what_is_filled_in(kind, filling):
    assert kind.filling == filling
    assert not np.signbit(kind.filling) or filling < 0.0


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Number(0, 9, fill=3), "missing='raise' none is filled"),
        (lambda: Number(0, 9, "drop", fill=3), "missing='drop' none is filled"),
        (lambda: Number(0, 9, "fill", fill=10), "fill=10, but a number within the declared"),
        (lambda: Number(0, 9, "fill", fill=10**400), "but a number within the declared"),
        (lambda: Number(missing="fill", fill=float("nan")), "fill=nan, but a number"),
        (lambda: Number(missing="fill", fill="median"), "fill='median', but a number"),
        (lambda: Number(missing="fill", fill=True), "fill=True, but a number"),
        (lambda: Date(fill="2020-01-01"), "missing='raise' none is filled"),
        (lambda: Date(missing="fill", fill="soon"), "fill='soon', but a date"),
        (
            lambda: Date("2020-01-01", "2021-01-01", "flag", fill="2022-01-01"),
            "fill='2022-01-01', but a date within",
        ),
    ],
)
def test_fillers_that_are_refused(make, said):
    with pytest.raises(ValueError, match=said):
        make()


@pytest.mark.parametrize(
    "kind",
    [
        Number(0, 1e6, "fill", fill=900),
        Number(0, 1e6, "flag"),
        Number(17, 90, "flag", fill=40),
        Date("2020-01-01", "2021-01-01", "fill", fill=datetime.date(2020, 3, 1)),
    ],
    ids=repr,
)
def test_fillers_in_files(kind):
    for write, read in ((plain_kind, kind_from), (plain_kind_of_model, kind_of_model)):
        again = read(json.loads(json.dumps(write(kind))))
        assert again.filling == kind.filling
        assert plain_kind(again) == plain_kind(kind)


def _fitted(kind):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.uniform(0, 1_000, 2_000)})
    frame["y"] = frame["x"] / 10
    frame.loc[::10, "x"] = np.nan
    known = {"epsilon": 20.0, "bounds_y": (0, 100), "random_state": 0}
    return LinearRegression(schema={"x": kind}, **known).fit(frame, "y"), frame[:20]


@pytest.mark.parametrize("kind", [WIDE["filled"], WIDE["a declared filler"]])
def test_saved_models_fill_in_the_same(kind, tmp_path):
    model, rows = _fitted(kind)
    model.save(tmp_path / "model.json")
    again = privlearn.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict(rows), model.predict(rows))
    once_more = LinearRegression.from_dict(json.loads(json.dumps(model.to_dict())))
    np.testing.assert_array_equal(once_more.predict(rows), model.predict(rows))


def test_models_of_before_fill_in_the_middle():
    """Their files do not say what was filled in, and the coefficients were learned with it."""
    model, _ = _fitted(WIDE["filled"])
    told = model.to_dict()
    (column,) = told["schema"]["columns"]
    del column["fill"]
    before = LinearRegression.from_dict(told)
    gap, middle = pd.DataFrame({"x": [np.nan]}), pd.DataFrame({"x": [5e5]})
    np.testing.assert_array_equal(before.predict(gap), before.predict(middle))
    assert before.predict(gap) != model.predict(gap)


@pytest.mark.parametrize(
    "kind",
    [
        Number(missing="flag", fill=0.1),
        Number(0, 9, "fill", fill=0.1),
        Number(missing="fill", fill=1e50),
    ],
)
def test_batches_of_single_precision_are_filled_with_the_same_number(kind):
    pa = pytest.importorskip("pyarrow")
    batch = pa.record_batch({"x": pa.array([1.5, None], pa.float32())})
    encoding = encoding_of(["x"], {"x": kind}, shifted=True)
    frame = pd.DataFrame({"x": [1.5, None]})
    cells = {"x": frame["x"].to_numpy()}
    expected = encoding.scaled(encoding.encode(cells, 2))
    with np.errstate(over="raise"):  # as whoever looks for overflows has it
        found = np.column_stack(encoded_columns(encoding, batch, strict=True))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("shifted", [True, False])
@pytest.mark.parametrize("fill", [None, -9.0, 0.0, 4.0])
def test_the_norm_of_rows_has_room_for_what_is_filled_in_and_no_more(shifted, fill):
    kind = Number(-9, 4, "flag", fill=fill)
    encoding = encoding_of(
        ["x", "town"], {"x": kind, "town": Category(["a", "b"])}, shifted=shifted
    )
    cells = {"x": np.array([np.nan, -9.0, 4.0]), "town": np.array(["a", "b", "a"], dtype=object)}
    rows = encoding.scaled(encoding.encode(cells, 3))
    longest = np.sqrt((rows**2).sum(axis=1).max() + shifted)
    assert encoding.row_norm(None) == pytest.approx(longest, rel=1e-12)
