"""`--person` and `--max-rows`: several rows per person, through the command."""

import json

import numpy as np
import pytest
from test_cli_fit import exactly, write_csv

from privlearn import Ledger
from privlearn.cli import main

FACTS = ["--target", "cost", "--epsilon", "1", "--bounds", "age=0:100", "--bounds-y", "0:100"]
FIT = ["fit", "visits.csv", *FACTS]
PEOPLE = ["--person", "patient", "--max-rows", "3", "--solver", "moments"]


def visits(n=600):
    rng = np.random.default_rng(0)
    age = rng.integers(0, 101, n)
    who = rng.integers(0, 200, n)
    return [
        {"patient": f"no {w}", "age": a, "cost": a // 2 + 10} for w, a in zip(who, age, strict=True)
    ]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "visits.csv", visits())
    return tmp_path


def refusal(capsys, *argv):
    assert main([*argv]) == 1
    return capsys.readouterr().err


def test_people_are_protected_and_the_certificate_says_so(folder, capsys):
    assert main([*FIT, *PEOPLE]) == 0
    printed = capsys.readouterr().out
    assert "one person, of whom at most 3 rows count" in printed
    assert "record of up to 3 rows becomes the empty record" in printed
    model = json.loads((folder / "model.json").read_text())
    assert (model["certificate"]["unit"], model["certificate"]["rows_per_person"]) == ("person", 3)
    assert [one["name"] for one in model["columns"]] == ["age"]
    assert main(["verify", "model.json"]) == 0
    assert "record of up to 3 rows" in capsys.readouterr().out


def test_rows_beyond_the_limit_do_not_count(folder):
    """Without noise: one person's hundred other rows change little."""
    for who in ("one", "many"):
        rows = visits() + [
            {"patient": "last" if who == "one" else f"last {k}", "age": 100, "cost": 0}
            for k in range(300)
        ]
        write_csv(folder / "visits.csv", rows)
        with exactly():
            assert main([*FIT, *PEOPLE, "-o", f"{who}.json"]) == 0
    slopes = [
        json.loads((folder / f"{who}.json").read_text())["columns"][0]["coefficient"]
        for who in ("one", "many")
    ]
    assert slopes[0] == pytest.approx(0.5, abs=0.03)
    assert slopes[1] < 0.3


def test_the_ledger_knows_the_column(folder, capsys):
    book = ["--ledger", "book.ledger", "--dataset", "visits", "--overwrite"]
    assert main([*FIT, *PEOPLE, *book, "--ledger-epsilon", "5"]) == 0
    assert Ledger("book.ledger").unit("visits") == "person"
    assert main([*FIT, *PEOPLE, *book]) == 0
    capsys.readouterr()
    assert main([*FIT, *book, "--columns", "age"]) == 1
    assert "person whose id is in the column 'patient'" in capsys.readouterr().err
    assert len(Ledger("book.ledger").history("visits")) == 2


def test_what_belongs_together_is_asked_for(folder, capsys):
    assert "Add --max-rows 5" in refusal(capsys, *FIT, "--person", "patient")
    assert "add --person COLUMN" in refusal(capsys, *FIT, "--max-rows", "3")
    other = ["--max-rows", "3", "--person"]
    assert "no column 'patint'" in refusal(capsys, *FIT, *other, "patint")
    assert "is the target" in refusal(capsys, *FIT, *other, "cost")
    assert "is the column of ids" in refusal(capsys, *FIT, *other, "age")
    assert "is the column of ids" in refusal(capsys, *FIT, *PEOPLE, "--columns", "age,patient")
    assert "tukey" in refusal(capsys, *FIT, *PEOPLE[:4], "--solver", "tukey")
    assert not (folder / "model.json").exists()


def test_a_row_without_an_id(folder, capsys):
    rows = visits()
    rows[7]["patient"] = " "
    write_csv(folder / "visits.csv", rows)
    told = refusal(capsys, *FIT, *PEOPLE)
    assert "patient: a cell of the ids is empty" in told
    assert "--on-invalid drop" in told
    assert main([*FIT, *PEOPLE, "--on-invalid", "drop"]) == 0


def test_no_rows_is_nobody(folder, capsys):
    (folder / "visits.csv").write_text("patient,age,cost\n")
    assert "nobody" in refusal(capsys, *FIT, *PEOPLE)
    assert main([*FIT, *PEOPLE, "--adjacency", "add_remove"]) == 0


def test_plans_and_audits_take_people(capsys):
    plan = ["plan", "--rows", "5000", "--features", "3", "--epsilon", "1"]
    assert main([*plan, "--max-rows", "4"]) == 0
    assert "at most 4 rows count" in capsys.readouterr().out
    audit = ["audit", "--epsilon", "1", "--features", "1", "--no-checks", "--solver", "moments"]
    assert main([*audit, "--max-rows", "2"]) == 0
    assert "400 people of up to 2 rows" in capsys.readouterr().out
