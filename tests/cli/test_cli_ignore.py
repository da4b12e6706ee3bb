"""Columns that are left out by name, and lists that say more than their values."""

import json

import pytest

from privlearn.cli import main
from privlearn.cli.model_file import read_model


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"P{k},{20 + k % 60},{'abc'[k % 3]},asked about a bill,{k % 60}" for k in range(900)]
    (tmp_path / "people.csv").write_text("\n".join(["id,age,town,note,wage", *rows]) + "\n")
    return tmp_path


FIT = ["fit", "people.csv", "--target", "wage", "--epsilon", "9", "--overwrite"]
NO_TEXT = ["--ignore", "id", "--ignore", "note"]


def columns():
    return [column.name for column in read_model("model.json").columns]


def test_columns_are_left_out(folder, capsys):
    assert main([*FIT, *NO_TEXT, "--ignore", "town"]) == 0
    assert columns() == ["age"]
    assert main([*FIT, *NO_TEXT, "--schema", "estimate"]) == 0
    assert columns() == ["age", "town"]
    told = capsys.readouterr().err
    assert told.count("'id' looks like an identifier by its name, and it is left out") == 2
    assert told.count("looks like an identifier") == 2
    (folder / "schema.toml").write_text(
        'columns = ["age", "town", "note"]\n[categories]\ntown = ["a", "b", "c"]\n'
    )
    assert main([*FIT, "--schema", "schema.toml", "--ignore", "note"]) == 0
    assert columns() == ["age", "town"]
    assert main(["plan", "--columns", "age,town", "--ignore", "town", "--epsilon", "1"]) == 0


def test_an_error_still_names_the_shortest_remedy(folder, capsys):
    assert main([*FIT, *NO_TEXT]) == 1
    text = capsys.readouterr().err
    assert "add --schema estimate" in text.splitlines()[0]
    assert "--ignore town" in text


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--ignore", "notes"], "has 'notes', but people.csv has no such column; did you mean"),
        (["--ignore", "age", "--bounds", "age=0:99"], "'age' is ignored, but has bounds"),
        (["--columns", "age", "--ignore", "age"], "--ignore leaves no column"),
    ],
)
def test_refusals(folder, capsys, more, words):
    assert main([*FIT, *more]) == 1
    assert words in capsys.readouterr().err


def test_lists_may_have_a_place_for_others(folder, capsys):
    schema = '[categories]\ntown = { values = ["a", "b"], other = true }\n'
    (folder / "schema.toml").write_text(schema)
    assert main([*FIT, *NO_TEXT, "--schema", "schema.toml"]) == 0
    assert "town is another value" in capsys.readouterr().out
    (folder / "schema.toml").write_text(schema + '[schema]\ntown = { kind = "flag" }\n')
    assert main([*FIT, *NO_TEXT, "--schema", "schema.toml"]) == 1
    assert "is in [schema] and in [categories]; keep one" in capsys.readouterr().err
    (folder / "schema.toml").write_text('[categories]\ntown = "a, b"\n')
    assert main([*FIT, "--schema", "schema.toml"]) == 1
    assert "other = true" in capsys.readouterr().err


def test_dates_in_a_stated_format(folder, capsys):
    days = [f"{1 + k % 28:02}/{1 + k % 12:02}/2020" for k in range(900)]
    rows = [f"{day},{int(day[3:5])}" for day in days]
    (folder / "days.csv").write_text("\n".join(["day,wage", *rows]) + "\n")
    iso = 'day = { kind = "date", first = 2020-01-01, last = 2020-12-31'
    (folder / "days.toml").write_text(f"[schema]\n{iso} }}\n")
    line = ["fit", "days.csv", "--schema", "days.toml", "--target", "wage", "--epsilon", "9"]
    assert main(line) == 1
    text = capsys.readouterr().err
    assert "texts are read as 2020-01-31; for others state a format, such as '%d/%m/%Y'" in text
    (folder / "days.toml").write_text(f'[schema]\n{iso}, format = "%d/%m/%Y" }}\n')
    assert main(line) == 0
    out = capsys.readouterr().out
    assert "2020-01-" in out  # ranges are told as dates
    assert "2020-12-" in out
    (kept,) = json.loads((folder / "model.json").read_text())["columns"]
    assert kept["schema"]["format"] == "%d/%m/%Y"
    (folder / "new.csv").write_text("day\n15/06/2020\n")
    assert main(["predict", "model.json", "new.csv", "-o", "out.csv"]) == 0
    header, (value,) = [line.split(",") for line in (folder / "out.csv").read_text().split()]
    assert header == ["predicted_wage"]
    assert float(value) == pytest.approx(6, abs=1)
