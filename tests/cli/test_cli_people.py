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
    assert "whatever one id stands for, be it a household or a firm" in printed
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
    asked = refusal(capsys, *FIT, "--person", "patient")
    assert "Add --max-rows 5, say: a number from public knowledge" in asked
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


EVALUATE = ["evaluate", "model.json", "visits.csv", "--epsilon", "5", "--bounds-y", "0:100"]


def scored(capsys, *argv):
    assert main([*EVALUATE, *argv, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_scores_protect_people(folder, capsys):
    """The unit, the noise and the ledger are those of people with up to three rows."""
    assert main([*FIT, *PEOPLE, "--epsilon", "50"]) == 0
    capsys.readouterr()
    book = ["--ledger", "book.ledger", "--dataset", "visits", "--ledger-epsilon", "20"]
    found = scored(capsys, *PEOPLE[:4], *book)
    certificate = found["certificate"]
    assert (certificate["unit"], certificate["rows_per_person"]) == ("person", 3)
    assert "the names of the columns are public" in certificate["assumptions"]
    assert Ledger("book.ledger").unit("visits") == "person"
    by_row = scored(capsys, "--delta", "1e-5")["certificate"]
    assert by_row["unit"] == "row"
    scales = [
        max(one["noise_multiplier"] * one["clip"] for one in certificate["releases"])
        for certificate in (certificate, by_row)
    ]
    assert scales[0] > 2 * scales[1]
    assert main([*EVALUATE, *book[:4]]) == 1  # rows are no people of that data set
    assert "person whose id is in the column 'patient'" in capsys.readouterr().err


def test_scores_count_so_many_rows_of_a_person(folder, capsys):
    """Without noise: of one person's thousand other rows three count."""
    with exactly():
        assert main([*FIT, *PEOPLE]) == 0
    rows = [{"patient": f"no {k}", "age": k % 100, "cost": k % 100 // 2 + 10} for k in range(400)]
    rows += [{"patient": "last", "age": 100, "cost": 0} for _ in range(1_000)]
    write_csv(folder / "visits.csv", rows)
    capsys.readouterr()
    with exactly():
        by_people, by_rows = (scored(capsys, *more) for more in (PEOPLE[:4], ()))
    assert by_people["rows"] == pytest.approx(403, abs=2)
    assert by_people["scores"]["mae"]["value"] < 2
    assert by_rows["scores"]["mae"]["value"] > 20


def test_scores_ask_for_what_belongs_together(folder, capsys):
    assert main([*FIT, *PEOPLE]) == 0
    assert "Add --max-rows 5" in refusal(capsys, *EVALUATE, "--person", "patient")
    assert "add --person COLUMN" in refusal(capsys, *EVALUATE, "--max-rows", "3")
    other = ["--max-rows", "3", "--person"]
    assert "no column 'patint'" in refusal(capsys, *EVALUATE, *other, "patint")
    assert "is the target" in refusal(capsys, *EVALUATE, *other, "cost")
    rows = visits()
    rows[7]["patient"] = " "
    write_csv(folder / "visits.csv", rows)
    told = refusal(capsys, *EVALUATE, *PEOPLE[:4])
    assert "a cell of the ids, 'patient', is empty" in told
    assert "--on-invalid drop" in told
    assert main([*EVALUATE, *PEOPLE[:4], "--on-invalid", "drop"]) == 0
    (folder / "visits.csv").write_text("patient,age,cost\n")
    assert "nobody" in refusal(capsys, *EVALUATE, *PEOPLE[:4])
