"""Codes for "unknown": numbers outside of a declared range are empty cells, in every container."""

import csv
import datetime
import json
import sys

import numpy as np
import pytest
from test_frames import CONTAINERS

import privlearn
from privlearn import LinearRegression, LogisticRegression
from privlearn.cli import main
from privlearn.exceptions import PrivacyError
from privlearn.schema import Category, Number
from privlearn.schema.plain import kind_from, plain_kind
from privlearn.schema.reading import encoding_of

pd = pytest.importorskip("pandas")
CODES = (999, -1, 10**6, 91)  # the last one stands beside the range
N = 1_200
KNOWN = {"bounds_y": (0, 100), "epsilon": 30.0, "random_state": 0}


def people(coded):
    """Two columns with codes, which are gaps where `coded` says so; texts in a notation as well."""
    rng = np.random.default_rng(0)
    unknown = rng.uniform(size=(2, N)) < 0.2
    codes = rng.choice(CODES, N)
    age = rng.integers(17, 91, N)
    age[:2], unknown[0, :2] = (17, 90), False  # the ends are inside
    pay = [f"{one:,}" for one in rng.integers(0, 9_000, N)]
    nothing = {True: None, False: None} if not coded else {True: "99,999", False: "-1"}
    return {
        "age": [
            (int(code) if coded else None) if gap else int(one)
            for one, code, gap in zip(age, codes, unknown[0], strict=True)
        ],
        "pay": [
            nothing[bool(k % 2)] if gap else one
            for k, (one, gap) in enumerate(zip(pay, unknown[1], strict=True))
        ],
        "sex": rng.choice(["F", "M"], N).tolist(),
        "y": (age / 2.0 + rng.uniform(0, 9, N)).tolist(),
    }


def schema(missing, outside):
    return {
        "age": Number(17, 90, missing, outside=outside),
        "pay": Number(0, 9_000, missing, thousands=",", outside=outside),
        "sex": Category(["F", "M"]),
    }


GAPS, CODED = people(coded=False), people(coded=True)


@pytest.mark.parametrize("made", CONTAINERS)
@pytest.mark.parametrize("missing", ["raise", "drop", "fill", "flag"])
def test_codes_are_what_empty_cells_are(made, missing):
    given = {**KNOWN, "on_invalid": "drop"}
    expected = LinearRegression(schema=schema(missing, "clip"), **given).fit(made(GAPS), "y")
    found = LinearRegression(schema=schema(missing, "missing"), **given).fit(made(CODED), "y")
    assert found.coef_.tobytes() == expected.coef_.tobytes()
    clipped = LinearRegression(schema=schema(missing, "clip"), **given).fit(made(CODED), "y")
    assert clipped.coef_.tobytes() != expected.coef_.tobytes()
    if missing in ("fill", "flag"):
        np.testing.assert_array_equal(found.predict(made(CODED)), expected.predict(made(GAPS)))
        return
    for unreadable in (found, expected):
        with pytest.raises(ValueError, match=r"'age' .no number|column 'age'"):
            unreadable.predict(made(CODED if unreadable is found else GAPS))


def sources(columns, folder):
    """Rows that are read in passes, from memory and from disk."""
    pa = pytest.importorskip("pyarrow")
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq

    table = pa.table(columns)
    pq.write_table(table, folder / "rows.parquet", row_group_size=300)
    narrow = table.set_column(0, "age", table["age"].cast(pa.float32()))
    return {
        "dataset": ds.dataset(table),
        "single precision": ds.dataset(narrow),
        "Parquet": folder / "rows.parquet",
    }


@pytest.mark.parametrize("missing", ["raise", "drop", "fill", "flag"])
def test_rows_on_disk_are_read_alike(missing, tmp_path):
    given = {**KNOWN, "on_invalid": "drop"}
    expected = LinearRegression(schema=schema(missing, "clip"), **given)
    expected.fit(pd.DataFrame(GAPS), "y")
    for name, source in sources(CODED, tmp_path).items():
        found = LinearRegression(schema=schema(missing, "missing"), **given).fit(source, y="y")
        assert found.coef_.tobytes() == expected.coef_.tobytes(), name


def test_tasks_of_dask_read_alike():
    dd = pytest.importorskip("dask.dataframe")
    expected = LinearRegression(schema=schema("flag", "clip"), **KNOWN).fit(pd.DataFrame(GAPS), "y")
    found = LinearRegression(schema=schema("flag", "missing"), **KNOWN)
    found.fit(dd.from_pandas(pd.DataFrame(CODED), npartitions=3), y="y")
    assert found.coef_.tobytes() == expected.coef_.tobytes()


def test_a_stream_reads_alike():
    given = {"solver": "one-pass", "classes": [False, True], "epsilon": 9, "random_state": 0}
    expected = LogisticRegression(schema=schema("drop", "clip"), **given)
    found = LogisticRegression(schema=schema("drop", "missing"), **given)
    old = np.array(GAPS["y"]) > 30
    for model, columns in ((expected, GAPS), (found, CODED)):
        frame = pd.DataFrame(columns).drop(columns="y")
        for some in (slice(0, N // 2), slice(N // 2, N)):
            model.partial_fit(frame[some], old[some])
    assert found.coef_.tobytes() == expected.coef_.tobytes()


def test_new_rows_with_codes_are_refused_where_gaps_are():
    whole = pd.DataFrame(GAPS).dropna()
    model = LinearRegression(schema=schema("raise", "missing"), **KNOWN).fit(whole, "y")
    new = whole.assign(age=999)
    with pytest.raises(ValueError, match="numbers outside of 17 to 90 are none: outside='missing'"):
        model.predict(new)
    with pytest.raises(ValueError, match="numbers outside of 17 to 90 are none: outside='missing'"):
        model.fit(new, "y")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Number(0, 1, outside="raise"), "outside='raise', but 'clip' or 'missing'"),
        (lambda: Number(outside="missing"), "no range is declared; write for example Number"),
        (lambda: Number(0, 1, outside=None), "outside=None"),
    ],
)
def test_nonsense_is_refused_on_construction(make, said):
    with pytest.raises(ValueError, match=said):
        make()


def test_plain_values_and_back():
    kind = Number(17, 90, "flag", outside="missing")
    content = json.loads(json.dumps(plain_kind(kind)))
    assert content["outside"] == "missing"
    assert kind_from(content) == kind
    assert "outside" not in plain_kind(Number(17, 90))  # files of before stay as they are
    assert kind.limits == (17.0, 90.0)
    assert Number(17, 90).limits is None


@pytest.mark.parametrize("missing", ["raise", "drop", "flag"])
def test_saved_models_read_alike(missing, tmp_path):
    whole = pd.DataFrame(GAPS).dropna()
    model = LogisticRegression(schema=schema(missing, "missing"), epsilon=30, random_state=0)
    model.fit(whole, np.where(whole.pop("y") > 30, "old", "young"))
    model.save(tmp_path / "m.json")
    again = privlearn.load(tmp_path / "m.json")
    new = pd.DataFrame(CODED)
    if missing == "flag":
        np.testing.assert_array_equal(again.predict_proba(new), model.predict_proba(new))
        return
    with pytest.raises(ValueError, match=r"'age' .no number|column 'age'"):
        again.predict(new)


@pytest.mark.parametrize("missing", ["drop", "flag"])
def test_a_page_says_what_is_missing(missing, tmp_path):
    whole = pd.DataFrame(GAPS).dropna()
    kinds = schema(missing, "missing") | {"pay": Number(0, 9_000, thousands=",")}
    LinearRegression(schema=kinds, solver="cd", **KNOWN).fit(whole, "y").report(
        tmp_path / "page.html"
    )
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count("; missing beyond 17 to 90") == 1
    assert page.count("; missing beyond") == 1


@pytest.mark.parametrize("missing", ["raise", "drop"])
def test_exports_refuse_what_the_model_refuses(missing):
    """scikit-learn by an error, ONNX by NaN, SQL by NULL; the ends are inside in each."""
    import sqlite3

    onnxruntime = pytest.importorskip("onnxruntime")
    kinds = {"age": Number(17, 90, missing, outside="missing")}
    frame = pd.DataFrame({"age": np.tile(np.arange(17.0, 91.0), 10)})
    model = LinearRegression(schema=kinds, **KNOWN).fit(frame, frame["age"])
    new = pd.DataFrame({"age": [17.0, 90.0, 45.5, 16.999, 90.001, 999.0, -1.0, np.nan]})
    there = model.can_predict(new)
    assert there.tolist() == [True] * 3 + [False] * 5
    expected = model.predict(new[there])
    plain = model.to_sklearn()
    np.testing.assert_allclose(plain.predict(new[there]), expected, rtol=1e-12)
    for k in range(3, 8):
        with pytest.raises(ValueError, match="NaN"):
            plain.predict(new[k : k + 1])
    session = onnxruntime.InferenceSession(model.to_onnx().SerializeToString())
    (found,) = session.run(None, {"age": new.to_numpy()})
    np.testing.assert_allclose(found, [*expected, *[np.nan] * 5], rtol=1e-12)
    with sqlite3.connect(":memory:") as database:
        database.execute("CREATE TABLE people (age)")
        database.executemany("INSERT INTO people VALUES (?)", new.to_numpy().tolist())
        rows = database.execute(model.to_sql("people", dialect="sqlite")).fetchall()
    assert [one is None for (one,) in rows] == (~there).tolist()
    np.testing.assert_allclose([one for (one,) in rows[:3]], expected, rtol=1e-12)


def test_scores_of_rows_with_codes():
    given = {"epsilon": 5, "delta": 1e-6, "random_state": 0, "on_invalid": "drop"}
    found = []
    for outside, columns in (("clip", GAPS), ("missing", CODED)):
        model = LinearRegression(schema=schema("drop", outside), on_invalid="drop", **KNOWN)
        frame = pd.DataFrame(columns)
        model.fit(frame, "y")
        found.append(str(privlearn.metrics.evaluate(model, frame, "y", **given)))
    assert found[0] == found[1]


# The command line

TOML = """
target = "y"

[bounds]
y = [0, 100]

[schema]
age = {{ kind = "number", low = 17, high = 90, missing = "{0}", outside = "{1}" }}
pay = {{ kind = "number", low = 0, high = 9000, missing = "{0}", outside = "{1}" }}
sex = {{ kind = "category", values = ["F", "M"] }}
"""
FIT = ["--thousands", ",", "--epsilon", "30", "--on-invalid", "drop"]


def written(path, columns):
    if path.suffix == ".parquet":
        pa = pytest.importorskip("pyarrow")
        import pyarrow.parquet as pq

        pq.write_table(pa.table(columns), path)
        return
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


@pytest.fixture
def seen(monkeypatch, tmp_path):
    """Rows as the command line hands them to an estimator."""
    monkeypatch.chdir(tmp_path)
    from privlearn.cli import tables

    found = []
    whole = tables.read_encoded

    def read(*given, **more):
        found.append(whole(*given, **more))
        return found[-1]

    for module in ("privlearn.cli.training", "privlearn.cli.predictions"):
        __import__(module)
        monkeypatch.setattr(sys.modules[module], "read_encoded", read)
    return found


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("missing", ["raise", "drop", "fill", "flag"])
def test_the_command_line_reads_alike(seen, tmp_path, capsys, ending, missing):
    """The notation of all numbers, --thousands, holds for such a column, too."""
    for outside, columns in (("clip", GAPS), ("missing", CODED)):
        capsys.readouterr()
        (tmp_path / "s.toml").write_text(TOML.format(missing, outside))
        written(tmp_path / f"rows.{ending}", columns)
        assert main(["fit", f"rows.{ending}", "--schema", "s.toml", *FIT, "-o", outside]) == 0
        more = ["--on-invalid", "blank"]
        assert main(["predict", outside, f"rows.{ending}", "-o", f"{outside}.csv", *more]) == 0
    assert "age  17 to 90; missing beyond 17 to 90" in capsys.readouterr().out
    gaps, after_gaps, codes, after_codes = (X.values for X, _ in seen)
    np.testing.assert_array_equal(codes, gaps)
    np.testing.assert_array_equal(after_codes, after_gaps)
    blanks = [
        [line == '""' for line in (tmp_path / f"{name}.csv").read_text().splitlines()]
        for name in ("clip", "missing")
    ]
    assert blanks[0] == blanks[1]
    holes = sum(a is None or p is None for a, p in zip(GAPS["age"], GAPS["pay"], strict=True))
    assert sum(blanks[0]) == (holes if missing in ("raise", "drop") else 0)


@pytest.mark.parametrize("missing", ["raise", "drop", "fill", "flag"])
def test_a_file_s_plain_numbers_are_read_alike(tmp_path, missing):
    from privlearn.cli.tables import open_source, read_encoded

    texts = ["17", "90", "90.5", "-1", "999", "", "x", "1e3", "45", "True", "nan", " 18 "]
    written(tmp_path / "rows.csv", {"a": texts, "b": ["1"] * len(texts)})
    encoding = encoding_of(["a"], {"a": Number(17, 90, missing, outside="missing")}, shifted=True)
    X, _ = read_encoded(open_source(tmp_path / "rows.csv"), encoding, [], remedy=None)
    there = [0, 1, 8, 11]
    assert X.values[there, 0].tolist() == [17, 90, 45, 18]
    gap = encoding.encode({"a": np.array([None])}, 1)[0]
    np.testing.assert_array_equal(np.delete(X.values, there, axis=0), np.tile(gap, (8, 1)))


def test_the_command_line_says_why(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "rows.csv", CODED)
    (tmp_path / "s.toml").write_text(TOML.format("raise", "missing"))
    assert main(["fit", "rows.csv", "--schema", "s.toml", *FIT[:4]]) == 1
    text = capsys.readouterr().err
    assert "age: a cell is empty, no number, or outside of 17 to 90, which the schema" in text
    assert "999" not in text
    (tmp_path / "s.toml").write_text(TOML.format("raise", "drop"))
    assert main(["fit", "rows.csv", "--schema", "s.toml", *FIT]) == 1
    assert "outside='drop', but 'clip' or 'missing' is needed" in capsys.readouterr().err


def test_nothing_is_charged_where_codes_are_refused(tmp_path):
    ledger = privlearn.Ledger.create(tmp_path / "l.json", epsilon=100, delta=1e-3)
    model = LinearRegression(schema=schema("raise", "missing"), ledger=ledger, dataset="p", **KNOWN)
    with pytest.raises((ValueError, PrivacyError)):
        model.fit(pd.DataFrame(CODED), "y")
    assert ledger.history("p") == []


def test_dates_are_as_before():
    day = datetime.date(1900, 1, 1)
    with pytest.raises(ValueError, match="has no 'outside'"):
        kind_from({"kind": "date", "first": "2000-01-01", "last": "2010-01-01", "outside": "clip"})
    assert privlearn.schema.Date("2000-01-01", "2010-01-01").read(np.array([day]))[0] < 0
