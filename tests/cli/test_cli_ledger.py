"""Charging fits to a ledger through the command, and showing it."""

import os

import pytest

from privlearn import Ledger
from privlearn.cli import main

FACTS = ["--target", "wage", "--bounds", "age=17:90", "--bounds-y", "0:2000"]
FIT = ["fit", "people.csv", *FACTS, "--epsilon", "1", "--overwrite"]
CHARGE = ["--ledger", "people.ledger", "--dataset", "people"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("age,wage\n30,900\n41,700\n52,800\n")
    return tmp_path


@pytest.fixture
def ledger():
    line = ["ledger", "people.ledger", "--create", "--epsilon", "1.2", "--delta", "1e-5"]
    assert main(line) == 0
    return Ledger("people.ledger")


def test_create(capsys):
    assert main(["ledger", "new.ledger", "--create", "--epsilon", "1.5"]) == 0
    assert "may spend epsilon = 1.5 at delta = 1e-06" in capsys.readouterr().out
    ledger = Ledger("new.ledger")
    assert (ledger.epsilon, ledger.delta) == (1.5, 1e-6)


def test_a_fit_is_charged(ledger):
    assert main([*FIT, *CHARGE]) == 0
    assert 0.8 < ledger.spent("people") < 1
    assert len(ledger.history("people")) == 1


def test_another_name_is_a_budget_of_its_own_and_noted(ledger, capsys):
    assert main([*FIT, *CHARGE]) == 0
    assert "is new" not in capsys.readouterr().err, "there is no other"
    assert main([*FIT, "--ledger", "people.ledger", "--dataset", "patients"]) == 0
    notes = capsys.readouterr().err.splitlines()
    (note,) = [line for line in notes if "is new" in line]
    assert "patients is new in" in note
    assert "there is 1 other data set: people." in note
    tiny = [*FIT, "--ledger", "people.ledger", "--epsilon", "0.01"]
    assert main([*tiny, "--dataset", "patients"]) == 0
    assert "is new" not in capsys.readouterr().err, "something was charged to it before"
    ledger.declare("men", parent="people")
    assert main([*tiny, "--dataset", "men"]) == 0
    assert "is new" not in capsys.readouterr().err, "it shares a budget, and was declared"


def test_over_budget_is_status_3_and_writes_nothing(ledger, capsys, folder):
    assert main([*FIT, *CHARGE, "-o", "first.json"]) == 0
    assert main([*FIT, *CHARGE, "-o", "second.json"]) == 3
    assert "would still fit" in capsys.readouterr().err
    assert not (folder / "second.json").exists()
    assert len(ledger.history("people")) == 1


@pytest.mark.parametrize(
    "mistake",
    [
        ["--bounds", "agee=0:1"],
        ["--columns", "height"],
        ["--delta", "0", "--solver", "sgd"],
        ["-o", "nowhere/model.json"],
        ["--predict", "absent.csv", "--predictions", "out.csv"],
    ],
)
def test_mistakes_cost_nothing(ledger, mistake):
    assert main([*FIT, *CHARGE, *mistake]) == 1
    assert ledger.history("people") == []


def test_pure_epsilon_is_charged_as_such(ledger):
    assert main([*FIT, *CHARGE, "--delta", "0"]) == 0
    assert len(ledger.history("people")) == 1
    assert ledger.spent("people") <= 1.0


def test_bad_rows_cost_nothing(ledger, folder):
    (folder / "people.csv").write_text("age,wage\nmany,900\n")
    assert main([*FIT, *CHARGE]) == 1
    assert ledger.history("people") == []


def test_a_fit_can_create_its_ledger():
    assert main([*FIT, *CHARGE, "--ledger-epsilon", "3", "--ledger-delta", "1e-7"]) == 0
    ledger = Ledger("people.ledger")
    assert (ledger.epsilon, ledger.delta) == (3, 1e-7)
    assert main([*FIT, *CHARGE, "--ledger-epsilon", "3"]) == 0
    assert len(ledger.history("people")) == 2


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ([*FIT, *CHARGE], "there is no ledger people.ledger; check the name, or add"),
        ([*FIT, "--ledger", "people.ledger"], "Add --dataset NAME"),
        ([*FIT, "--dataset", "people"], "add --ledger FILE"),
        (["ledger", "gone.ledger"], "privlearn ledger gone.ledger --create"),
        (["ledger", "x.ledger", "--create"], "Add --epsilon"),
        (["ledger", "people.csv"], "is no ledger"),
        (["ledger", "people.csv", "--create", "--epsilon", "1"], "exists"),
        (["ledger", "people.csv", "--epsilon", "1"], "add --create"),
    ],
)
def test_what_is_missing(capsys, line, words):
    assert main(line) == 1
    assert words in capsys.readouterr().err


def test_another_budget_is_refused(ledger, capsys):
    assert main([*FIT, *CHARGE, "--ledger-epsilon", "50"]) == 1
    assert "was made with epsilon=1.2 and keeps it" in capsys.readouterr().err


def test_show(ledger, capsys):
    assert main(["ledger", "people.ledger"]) == 0
    assert "nothing has been charged yet" in capsys.readouterr().out
    assert main(["ledger", "people.ledger", "--dataset", "people"]) == 1
    assert "nothing has been charged to 'people'" in capsys.readouterr().err
    main([*FIT, *CHARGE])
    main([*FIT, "--epsilon", "0.5", "--ledger", "people.ledger", "--dataset", "others"])
    capsys.readouterr()
    assert main(["ledger", "people.ledger", "--dataset", "others"]) == 0
    shown = capsys.readouterr().out
    assert f"spent      epsilon = {ledger.spent('others'):.4g}" in shown
    assert f"remaining  epsilon = {ledger.remaining('others'):.4g}" in shown
    assert "dual step: 1000 x Gaussian" in shown
    assert "people\n" not in shown
    assert main(["ledger", "people.ledger", "--dataset", "other"]) == 1
    assert "did you mean 'others'?" in capsys.readouterr().err


def test_check_finds_an_old_copy(ledger, capsys, folder):
    main([*FIT, "--epsilon", "0.2", *CHARGE, "-o", "first.json"])
    old = (folder / "people.ledger").read_bytes()
    main([*FIT, "--epsilon", "0.2", *CHARGE, "-o", "second.json"])
    check = ["ledger", "people.ledger", "--check", "--certificates", "first.json", "second.json"]
    capsys.readouterr()
    assert main(check) == 0
    shown = capsys.readouterr().out
    assert "all records agree, 2 charges" in shown
    assert "2 certificates found" in shown
    (folder / "people.ledger").write_bytes(old)
    assert main(check[:3]) == 0
    assert main(check) == 1
    assert "it is an old copy" in capsys.readouterr().err


def test_check_wants_certificates_that_can_be_read(ledger, capsys, folder):
    main([*FIT, "-o", "uncharged.json"])
    for name, words in (
        ("people.csv", "no certificate"),
        ("none.json", "no certificate"),
        ("uncharged.json", "made without a ledger"),
    ):
        assert main(["ledger", "people.ledger", "--certificates", name]) == 1
        assert words in capsys.readouterr().err


def test_damage_is_a_sentence(ledger, capsys, folder):
    os.truncate(folder / "people.ledger", 0)
    assert main([*FIT, *CHARGE]) == 1
    assert "is damaged: it is empty" in capsys.readouterr().err
    assert not (folder / "people.json").exists()


def test_declare(ledger, capsys):
    line = ["ledger", "people.ledger", "--declare", "old people", "--parent", "people"]
    assert main(line) == 0
    assert "recorded for people as well" in capsys.readouterr().out
    main([*FIT, "--epsilon", "0.2", "--ledger", "people.ledger", "--dataset", "old people"])
    assert len(ledger.history("people")) == 1
    capsys.readouterr()
    assert main(["ledger", "people.ledger", "--dataset", "old people"]) == 0
    assert "part of    people" in capsys.readouterr().out
    assert main(["ledger", "people.ledger", "--parent", "people"]) == 1
    assert "add --declare NAME" in capsys.readouterr().err


def test_names_that_look_alike_are_refused(ledger, capsys):
    main([*FIT, "--epsilon", "0.2", *CHARGE])
    twin = ["--ledger", "people.ledger", "--dataset", "People"]
    assert main([*FIT, "--epsilon", "0.2", *twin]) == 1
    assert "has a data set 'people'" in capsys.readouterr().err
    assert len(ledger.history("people")) == 1
