"""A file with every horror: each problem names the option that solves it, and a model comes out."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from cli.messy import messy_file
from privlearn.cli import main

PAGE = Path(__file__).resolve().parents[2] / "docs" / "messy-files.md"
SCHEMA = """\
target = "Kosten"

[bounds]
Kosten = [0, 6000]
Wert = [0, 10]
"Wert (column 9)" = [0, 10]

[categories]
Station = ["Chirurgie", "Innere", "Pädiatrie"]

[schema]
"Größe (cm)" = { kind = "number", low = 120, high = 220, missing = "flag" }
Aufnahme = { kind = "date", first = 2024-01-01, last = 2024-12-31 }
Raucher = { kind = "flag" }
Notiz = { kind = "ignore" }
"""
NUMBERS = ["--decimal", ",", "--thousands", ".", "--currency", "€"]
PERSON = ["--person", "Patient ID", "--max-rows", "2"]
STEPS = (  # what is typed, what is said about it, what to add
    (["--target", "Kosten"], "add --rename-duplicates", ["--rename-duplicates"]),
    ([], "--quoted-newlines if cells hold line breaks", ["--quoted-newlines"]),
    ([], "need --decimal , --thousands . --currency", NUMBERS),
    ([], "--person 'Patient ID' --max-rows", PERSON),
    ([], "Dates, yes and no, and gaps are described in a schema file", ["--schema", "s.toml"]),
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(SCHEMA, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("encoding", ["cp1252", "utf-8-sig"])
def test_step_by_step_to_a_model(folder, capsys, encoding):
    messy_file(folder / "stays.csv", people=1_000, encoding=encoding)
    line = ["fit", "stays.csv", "--epsilon", "3", "--delta", "1e-5", "--solver", "cd"]
    for typed, words, remedy in STEPS:
        line += typed
        assert main(line) == 1
        text = capsys.readouterr().err
        assert words in text
        assert not re.search(r"P\d{5}|sagt|Zeile|2024", text)  # no cell
        assert ("cp1252" in text) == (encoding == "cp1252")
        assert "separated by ';'" in text
        line += remedy
    assert main([*line, "-o", "m.json"]) == 0
    text = capsys.readouterr().out
    assert "unit        one person, of whom at most 2 rows count" in text
    assert "quotes come in pairs in every record of the file" in text
    messy_file(folder / "new.csv", people=300, seed=1, encoding=encoding)
    as_before = ["--rename-duplicates", "--quoted-newlines"]
    assert main(["predict", "m.json", "new.csv", *as_before, "--json"]) == 0
    found = [row["predicted_Kosten"] for row in json.loads(capsys.readouterr().out)]
    text = (folder / "new.csv").read_bytes().decode(encoding)
    costs = [one.replace(".", "").replace(",", ".") for one in re.findall(r"([\d.,]+) €", text)]
    truth = np.array(costs, dtype=float)
    assert len(found) == len(truth)
    assert 1 - np.mean((truth - found) ** 2) / np.var(truth) > 0.8


def test_the_page_makes_this_file_and_tells_these_options(folder):
    text = PAGE.read_text(encoding="utf-8")
    (code,), (schema,) = (
        re.findall(rf"```{kind}\n(.*?)```", text, re.S) for kind in ("python", "toml")
    )
    assert schema == SCHEMA
    exec(compile(code.replace("3_000", "40"), PAGE.name, "exec"), {})
    messy_file(folder / "ours.csv", people=40)
    assert (folder / "stays.csv").read_bytes() == (folder / "ours.csv").read_bytes()
    for *_, remedy in STEPS[:3]:
        assert all(word in text for word in remedy)
