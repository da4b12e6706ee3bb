"""One SELECT: the same predictions in DuckDB and SQLite, and names that cannot break out."""

import datetime
import sqlite3

import numpy as np
import pytest
from exported_models import MODELS, SCHEMA, agree, fitted, people, rows_for

from privlearn import LinearRegression, LogisticRegression
from privlearn.exceptions import UnsupportedCombinationError
from privlearn.schema import Category, Date, Number

FRAMES = [name for name in MODELS if name.startswith("frame")]


def in_sqlite(sql, frame, table="people"):
    """Rows of the answer, in the order of the table, and the names of its columns."""
    plain = frame.astype(object).where(frame.notna(), None)
    for name in plain:
        plain[name] = [str(c) if type(c).__name__ == "date" else c for c in plain[name]]
    with sqlite3.connect(":memory:") as database:
        names = ", ".join('"' + name.replace('"', '""') + '"' for name in plain)
        quoted = '"' + table.replace('"', '""') + '"'
        database.execute(f"CREATE TABLE {quoted} ({names})")
        marks = ", ".join("?" * plain.shape[1])
        database.executemany(f"INSERT INTO {quoted} VALUES ({marks})", plain.to_numpy().tolist())
        found = database.execute(sql)
        return found.fetchall(), [column[0] for column in found.description]


def in_duckdb(sql, frame, table="people"):
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    with duckdb.connect() as database:
        database.register("given", frame)
        columns = ", ".join(
            f"CAST({_quoted(n)} AS {kind}) AS {_quoted(n)}" if kind else _quoted(n)
            for n, kind in ((n, _kind(n)) for n in frame)
        )
        database.execute(f"CREATE TABLE {_quoted(table)} AS SELECT {columns} FROM given")
        found = database.execute(sql)
        return found.fetchall(), [column[0] for column in found.description]


def _quoted(name):
    return '"' + name.replace('"', '""') + '"'


def _kind(name):
    return {"level": "INTEGER", "here": "BOOLEAN", "since": "DATE"}.get(name)


DATABASES = {"sqlite": in_sqlite, "standard": in_duckdb}


def check(name, frame, dialect):
    model = fitted(name)
    rows, columns = DATABASES[dialect](model.to_sql("people", key="id", dialect=dialect), frame)
    assert columns[:2] == ["id", "prediction"]
    by_id = sorted(rows)
    assert [row[0] for row in by_id] == sorted(frame["id"])
    expected = model.predict(frame)
    if expected.dtype.kind == "f":
        agree(name, np.array([row[1] for row in by_id], float), expected)
        return
    assert [row[1] for row in by_id] == expected.tolist()
    assert columns[2:] == [f"probability_{label}" for label in model.classes_]
    agree(name, np.array([row[2:] for row in by_id], float), model.predict_proba(frame))


@pytest.mark.parametrize("dialect", sorted(DATABASES))
@pytest.mark.parametrize("name", FRAMES)
def test_predictions_are_the_same(name, dialect):
    check(name, rows_for(name, 300), dialect)


@pytest.mark.slow
@pytest.mark.parametrize("dialect", sorted(DATABASES))
@pytest.mark.parametrize("name", FRAMES)
def test_predictions_of_many_rows_are_the_same(name, dialect):
    check(name, rows_for(name, 10_000, seed=2), dialect)


def test_rows_that_cannot_be_predicted_have_null():
    frame = people(5, seed=3)
    frame.loc[2, "town"] = "elsewhere"
    for dialect, ask in DATABASES.items():
        for name in ("frame", "frame, two", "frame, three"):
            rows, _ = ask(fitted(name).to_sql("people", dialect=dialect), frame)
            assert [None in row for row in rows] == [False, False, True, False, False]
            assert set(rows[2]) == {None}


def test_infinity_is_a_gap():
    frame = people(4, seed=3)
    frame.loc[[0, 1], "age"] = [np.inf, -np.inf]
    frame.loc[2, "age"] = np.nan
    expected = fitted("frame").predict(frame)
    for dialect, ask in DATABASES.items():
        rows, _ = ask(fitted("frame").to_sql("people", dialect=dialect), frame)
        agree("frame", np.array(rows, float)[:, 0], expected)


EUROS = Number(0, 9_000, decimal=",", thousands=".", currency="€", missing="fill")
WRITTEN = {
    "pay": EUROS,
    "share": Number(0, 1, percent=True),
    "since": Date("2000-01-01", "2020-01-01", format="%d/%m/%Y"),
}


def as_written(frame):
    """The frame with numbers and dates as texts in those notations."""
    marks = str.maketrans(",.", ".,")
    return frame.assign(
        pay=[None if np.isnan(x) else f"{x:,.2f} €".translate(marks) for x in frame["pay"]],
        share=[f"{100 * x}%" for x in frame["share"]],
        since=[f"{day:%d/%m/%Y}" for day in frame["since"]],
    )


def paid(n=400):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    days = [
        datetime.date(2001, 1, 1) + datetime.timedelta(int(k)) for k in rng.integers(0, 5000, n)
    ]
    pay = np.where(rng.uniform(size=n) < 0.1, np.nan, rng.uniform(0, 9_000, n).round(2))
    frame = pd.DataFrame({"pay": pay, "share": rng.uniform(size=n).round(2), "since": days})
    model = LinearRegression(schema=WRITTEN, bounds_y=(0, 9), epsilon=20.0, random_state=0)
    return model.fit(as_written(frame), rng.uniform(0, 9, n)), frame


def test_texts_in_a_notation_are_refused_not_misread():
    """SQLite takes 1.234,50 for 1.234, and a text for 0, without a word."""
    model, _ = paid()
    words = r"'pay' in a notation .* holds numbers there, .*plain=\['pay', 'share', 'since'\]"
    with pytest.raises(UnsupportedCombinationError, match=words):
        model.to_sql("people")
    with pytest.raises(UnsupportedCombinationError, match=r"'since' .* holds dates there"):
        model.to_sql("people", plain=["pay", "share"])
    with pytest.raises(ValueError, match="plain has 'wage', but the model has no such column"):
        model.to_sql("people", plain="wage")


@pytest.mark.parametrize("dialect", sorted(DATABASES))
def test_such_columns_may_be_numbers_and_dates_in_the_table(dialect):
    model, frame = paid()
    sql = model.to_sql("people", dialect=dialect, plain=[*WRITTEN])
    rows, _ = DATABASES[dialect](sql, frame)
    agree("frame", np.array(rows, float)[:, 0], model.predict(as_written(frame)))


def test_scikit_learn_is_told_which_columns_need_numbers():
    model, frame = paid()
    with pytest.warns(UserWarning, match="in a notation of its own") as told:
        plain = model.to_sklearn()
    named = [name for name in WRITTEN if any(repr(name) in str(one.message) for one in told)]
    assert named == [*WRITTEN]
    assert {one.filename for one in told} == {__file__}
    agree("frame", plain.predict(frame), model.predict(as_written(frame)))


NASTY = ['"', "'", "a'b\"c", "'; DROP TABLE people; --", "\\", "\n", "\x01\x1b[31m", "%s {} ?", "ß"]


def test_names_and_values_cannot_break_out():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    values = [f"v{text}v" for text in NASTY]
    for k, text in enumerate(NASTY):
        name, table = f"c{text}", f"t{text}"
        frame = pd.DataFrame({name: rng.choice([*values, "other"], 300), "n": rng.normal(size=300)})
        schema = {name: Category(values, missing="flag"), "n": Number(-1, 1)}
        labels = np.where(frame["n"] > 0, values[k], values[k - 1])
        model = LogisticRegression(schema=schema, epsilon=20.0, random_state=0).fit(frame, labels)
        for dialect, ask in DATABASES.items():
            rows, columns = ask(model.to_sql(table, dialect=dialect), frame, table)
            assert [row[0] for row in rows] == model.predict(frame).tolist()
            assert columns[1:] == [f"probability_{label}" for label in model.classes_]


def test_names_that_sql_cannot_write():
    pd = pytest.importorskip("pandas")
    X = np.linspace(0, 1, 200)
    for names, words in ((("a", "A"), "capitals only"), (("a\0b", "c"), "NUL")):
        frame = pd.DataFrame(dict.fromkeys(names, X))
        bounds = {"bounds_X": dict.fromkeys(names, (0, 1)), "bounds_y": (0, 1)}
        model = LinearRegression(random_state=0, **bounds).fit(frame, X)
        with pytest.raises(UnsupportedCombinationError, match=words):
            model.to_sql("people")


def test_many_columns_do_not_make_deep_expressions():
    pd = pytest.importorskip("pandas")
    X = np.random.default_rng(0).uniform(0, 1, (50, 900))
    frame = pd.DataFrame(X, columns=[f"c{k}" for k in range(900)])
    bounds = {"bounds_X": (0, 1), "bounds_y": (0, 1), "solver": "one-pass"}
    model = LinearRegression(random_state=0, **bounds).fit(frame, X[:, 0])
    for dialect, ask in DATABASES.items():
        rows, _ = ask(model.to_sql("people", dialect=dialect), frame)
        agree("linear", np.array(rows)[:, 0], model.predict(frame))


def test_what_has_no_statement():
    for name, words in (("linear", "names of columns"), ("kernel", "linear models")):
        with pytest.raises(UnsupportedCombinationError, match=words):
            fitted(name).to_sql("people")
    with pytest.raises(UnsupportedCombinationError, match="has no database that computes its hash"):
        fitted("frame, bins").to_sql("people")
    with pytest.raises(ValueError, match="'standard', 'sqlite'"):
        fitted("frame").to_sql("people", dialect="mysql")
    assert "id" in SCHEMA
