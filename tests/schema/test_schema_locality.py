"""One person's cells change no other person's row, in any frame; and planted bugs that do."""

import datetime
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privlearn import LinearRegression
from privlearn._data.bounded import watch_rows
from privlearn._data.cells import objects
from privlearn._data.named_cells import named_cells
from privlearn.schema import Category, Date, Flag, Number, kinds
from privlearn.schema import encoding as encodings
from support import without_noise

pd = pytest.importorskip("pandas")
SCHEMA = {
    "number": Number(0, 100, missing="fill"),
    "free": Number(missing="flag"),
    "money": Number(0, 5_000, missing="drop", thousands=",", currency="$"),
    "code": Number(-3, 5, missing="flag", outside="missing"),
    "list": Category(["1", "2", "north", "False"], missing="flag"),
    "other": Category(["a", "b"], missing="fill"),
    "flag": Flag(missing="drop"),
    "day": Date("2000-01-01", "2020-01-01", missing="fill"),
}
POOL = [None, float("nan"), 0, 1, 2, -3.5, 7, True, False, "1", "north", "a", "b ", "yes", "$1,000"]
POOL += ["", "2010-05-05", datetime.date(2011, 1, 1), datetime.datetime(2012, 1, 1), 10**400, 2**60]
POOL += [[1, 2], b"north", np.float32(0.1), np.datetime64("2010-01-01"), pd.NA, pd.NaT, {"a": 1}]
WHOLE = [0, 1, 2, 7]
# One cell of another unit makes all of a pandas column nanoseconds, and so does numpy's NaT.
MOMENTS = [
    datetime.datetime(2000, 1, 1) + datetime.timedelta(microseconds=k * 7_919_333_777_771)
    for k in range(1, 60)
]
UNITS = [np.datetime64("NaT"), np.datetime64("NaT", "ns"), pd.Timestamp(2012, 2, 3).as_unit("ns")]
UNITS += [np.datetime64("2011-01-01T00:00:00.000000001"), pd.Timestamp(2013, 2, 3).as_unit("s")]
UNITS += [pd.Timestamp(2012, 5, 6, tz="UTC"), MOMENTS[0].replace(tzinfo=datetime.UTC)]
POOL += [*UNITS, *MOMENTS[:3]]
ROWS = 6
PLAIN = [
    WHOLE,
    [True, False],
    [0.0, 1.0, 2.0, 0.5],
    MOMENTS,
    ["2010-05-05", "2011-01-01T10:00", "2012-06-07 08:09:10.123456"],
]


def rows_of(frame, y):
    """What a solver would see of each row, bit by bit, and which rows are not the empty row."""
    seen = []

    def look(data):
        seen.append((np.ascontiguousarray(data.table.X).view(np.uint64), data.present()))

    known = {"schema": SCHEMA, "bounds_y": (0, 1), "solver": "moments", "delta": 1e-6}
    model = LinearRegression(on_invalid="drop", epsilon=1.0, **known)
    with without_noise(), watch_rows(look):
        model.fit(frame, y)
    X, there = seen[-1]
    return [(tuple(row), bool(one)) for row, one in zip(X.tolist(), there, strict=True)]


def table(cells):
    return pd.DataFrame({name: series(column) for name, column in cells.items()})


def series(column):
    """As pandas makes it, or numpy where it makes one type of all, texts included."""
    if all(isinstance(cell, bool | int | float | str) for cell in column):
        return pd.Series(np.array(column))
    try:
        return pd.Series(column)
    except OverflowError:  # pandas 2 makes no column of numbers beyond its own
        return pd.Series(column, dtype=object)


def drawn(rng):
    """Columns of one kind of cell, whose type a cell changes, and of anything."""
    pools = [POOL if rng.uniform() < 0.5 else PLAIN[rng.integers(len(PLAIN))] for _ in SCHEMA]
    return {
        name: [pool[k] for k in rng.integers(0, len(pool), ROWS)]
        for name, pool in zip(SCHEMA, pools, strict=True)
    }


def check(seed, name, place, cell):
    """Exchange one cell: all other rows keep every bit. Then take the row out, or put one in."""
    cells = drawn(np.random.default_rng(seed))
    y = np.linspace(0, 1, ROWS)
    before = rows_of(table(cells), y)
    changed = {key: list(column) for key, column in cells.items()}
    changed[name][place] = cell
    after = rows_of(table(changed), y)
    assert after[:place] == before[:place]
    assert after[place + 1 :] == before[place + 1 :]
    fewer = {key: column[:place] + column[place + 1 :] for key, column in changed.items()}
    assert rows_of(table(fewer), np.delete(y, place)) == before[:place] + before[place + 1 :]


@settings(max_examples=25, derandomize=True, deadline=None, database=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([*SCHEMA]),
    st.integers(0, ROWS - 1),
    st.sampled_from(POOL),
)
def test_one_cell_changes_no_other_row(seed, name, place, cell):
    check(seed, name, place, cell)


def test_dates_and_texts_that_python_has_not_are_missing():
    """They stop no fit, and change no other cell."""
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    far, days = pl.Series([0, 2**62]), pl.Series([0, 10**8], dtype=pl.Int32)
    arrow = pa.array([0, 10**12], pa.timestamp("s"))
    made = [
        pl.DataFrame({"c": far.cast(pl.Datetime("us"))}),
        pl.DataFrame({"c": days.cast(pl.Date)}),
    ]
    made += [
        pa.table({"c": arrow}),
        pa.table({"c": pa.array([0, 10**8], pa.int32()).cast("date32")}),
    ]
    made += [pd.DataFrame({"c": pd.Series(arrow, dtype=pd.ArrowDtype(arrow.type))})]
    made += [pd.DataFrame({"c": np.array([0, 10**12], dtype="M8[s]")})]
    for frame in made:
        cells, _ = named_cells(frame, ["c"])
        np.testing.assert_array_equal(Date().read(cells["c"]), [0, np.nan])
    cells, _ = named_cells(pl.DataFrame({"c": far.cast(pl.Duration("ms"))}), ["c"])
    assert np.isnan(Date().read(cells["c"])).all()
    ends, held = np.array([0, 1, 3], np.int32).tobytes(), b"a\xff\xfe"
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(held)]
    cells, _ = named_cells(pa.table({"c": pa.Array.from_buffers(pa.string(), 2, buffers)}), ["c"])
    np.testing.assert_array_equal(Category(["a", "b"]).read(cells["c"]), [0, np.nan])


ONE_VALUE = {1: [True, 1, 1.0, "1", "1.0", " 1", "01", "True", "true", "TRUE", np.float32(1), b"1"]}
ONE_VALUE |= {0: [False, 0, -0.0, "0", "0.0", "False", "false", np.int8(0), b"False"]}
LISTS = [[0, 1], ["0", "1"], [False, True], ["false", "true"], [0.0, 1.0], ["0.0", "1.0", "x"]]
BY_VALUE = [Category(values, missing="drop") for values in LISTS]
BY_VALUE += [Flag(missing="drop"), Number(missing="drop"), Number(thousands=",")]


@pytest.mark.parametrize("kind", BY_VALUE, ids=repr)
def test_a_value_is_one_in_every_spelling(kind):
    """Which of them a container chooses is decided by the other cells."""
    for value, spellings in ONE_VALUE.items():
        assert kind.read(objects(spellings)).tolist() == [value] * len(spellings)


CSV = ["True", "true", "TRUE", "False", "1", "0", "1.0", "0.0", "01", "2.50", "nan", "inf", "1e3"]
READ = [*BY_VALUE, Category(["2.5", "1000", "01"]), Number(currency="$"), Number(percent=True)]


@pytest.mark.parametrize("cell", CSV)
@pytest.mark.parametrize("other", ["?", "7", "7.5", "True", "", str(2**63)])
def test_a_cell_of_a_file_is_read_alone(cell, other):
    lines = [cell, cell, other]
    alone = pd.read_csv(io.StringIO("c\n" + "\n".join([cell, cell])))
    frame = pd.read_csv(io.StringIO("c\n" + "\n".join(lines)), skip_blank_lines=False)
    for kind in READ:
        first, second = (kind.read(named_cells(f, ["c"])[0]["c"])[:2] for f in (alone, frame))
        finite = [np.where(np.isfinite(found), found, np.nan) for found in (first, second)]
        np.testing.assert_array_equal(*finite, err_msg=repr(kind))


@pytest.mark.parametrize("cell", UNITS, ids=repr)
def test_a_unit_of_time_changes_no_other_row(cell):
    kind = Date("2000-01-01", "2020-01-01", missing="drop")
    expected = kind.read(objects(MOMENTS))
    frame = pd.DataFrame({"day": pd.Series([*MOMENTS, cell])})
    cells, _ = named_cells(frame, ["day"])
    assert np.array_equal(kind.read(cells["day"])[:-1], expected)


def test_a_moment_is_the_same_in_every_container():
    """Bit by bit, and what is finer than a microsecond is cut off, before 1970 as well."""
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    early = [datetime.datetime(1931, 4, 5, 6, 7, 8, 9)]
    moments = [*MOMENTS, *early]
    expected = Date().read(objects(moments))
    micro = np.array(moments, dtype="datetime64[us]")
    nano = micro.astype("datetime64[ns]") + np.timedelta64(999, "ns")
    made = [
        pd.DataFrame({"day": moments}),
        pd.DataFrame({"day": nano}),
        pl.DataFrame({"day": nano}),
    ]
    made += [pd.DataFrame({"day": pd.Series(nano).dt.tz_localize("UTC")})]
    made += [pa.table({"day": pa.array(micro)}), pa.table({"day": pa.array(nano)})]
    made += [pl.DataFrame({"day": pl.Series(moments)}), pa.table({"day": moments})]
    made += [pd.DataFrame({"day": [m.isoformat() for m in moments]})]
    made += [pd.DataFrame({"day": pd.Series(list(nano), dtype=object)})]
    for frame in made:
        cells, _ = named_cells(frame, ["day"])
        assert np.array_equal(Date().read(cells["day"]), expected)


def test_a_gap_changes_no_other_row_of_typed_frames():
    """Types of polars and Arrow are declared; gaps and numbers beyond 2^53 are not."""
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    columns = {
        "number": [1, 2**53 + 1, 3, 4],
        "free": [0.5, float("nan"), 2.0, -1.0],
        "money": ["$5", "x", "$1,000", "7"],
        "code": [1, 999, 2**53 + 1, 4],
        "list": [1, 2, 2**53 + 1, 3],
        "other": ["a", "b", "c", "a"],
        "flag": [True, False, True, True],
        "day": [datetime.date(2010, 1, k + 1) for k in range(4)],
    }
    y = np.linspace(0, 1, 4)
    for made in (pl.DataFrame, pa.table, pd.DataFrame):
        before = rows_of(made(columns), y)
        for name in columns:
            gap = {**columns, name: [*columns[name][:3], None]}
            assert rows_of(made(gap), y)[:3] == before[:3], name


def filled_with_the_mean(patch):
    whole = encodings.Column.encode

    def encode(self, cells):
        found = whole(self, cells)
        if self.kind.missing == "fill" and not self.is_list:
            raw = self.kind.read(cells)
            found[~np.isfinite(raw), 0] = np.mean(raw[np.isfinite(raw)]) if len(raw) else 0.0
        return found

    patch.setattr(encodings.Column, "encode", encode)


def numbers_if_all_are(patch):
    cell_by_cell = kinds.Number.read

    def read(self, cells):
        found = cell_by_cell(self, cells)
        odd = any(isinstance(cell, str) for cell in cells.tolist())
        return found * np.nan if odd else found

    patch.setattr(kinds.Number, "read", read)


def texts_by_the_type_of_the_column(patch):
    """1 is "1" in a column of whole numbers, and "1.0" where one cell is missing."""

    def read(self, cells):
        place = {value: float(k) for k, value in enumerate(self.values)}
        return np.array([place.get(str(cell).strip(), np.nan) for cell in cells.tolist()])

    patch.setattr(Category, "read", read)


def dates_are_parsed_together(patch):
    def read(self, cells):
        held = pd.Series(cells.tolist(), dtype=object)
        days = pd.to_datetime(held, errors="coerce", utc=True)
        since = days - pd.Timestamp("2000-01-01", tz="UTC")
        return (since / pd.Timedelta(days=1)).to_numpy(dtype=float).copy()

    patch.setattr(kinds.Date, "read", read)


BUGS = [
    filled_with_the_mean,
    numbers_if_all_are,
    texts_by_the_type_of_the_column,
    dates_are_parsed_together,
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("plant", BUGS)
def test_planted_bugs_are_caught(plant, monkeypatch):
    plant(monkeypatch)
    rng = np.random.default_rng(5)
    for seed in range(150):
        name = [*SCHEMA][rng.integers(0, len(SCHEMA))]
        cell = POOL[rng.integers(0, len(POOL))] if seed % 2 else None
        try:
            check(seed, name, int(rng.integers(0, ROWS)), cell)
        except (AssertionError, OverflowError):  # one cell must not stop a fit, either
            return
    pytest.fail(f"{plant.__name__} was not seen")
