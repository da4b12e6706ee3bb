"""One SELECT: the same predictions in DuckDB and SQLite, and names that cannot break out."""

import sqlite3

import numpy as np
import pytest
from exported_models import MODELS, SCHEMA, agree, fitted, people, rows_for

from privlearn import LinearRegression, LogisticRegression
from privlearn.exceptions import UnsupportedCombinationError
from privlearn.schema import Category, Number

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
