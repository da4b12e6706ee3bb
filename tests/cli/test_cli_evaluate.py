"""`privlearn evaluate`: scores of a saved model, refusals, the ledger and what is printed."""

import csv
import json

import numpy as np
import pytest

from privlearn.cli import main
from privlearn.ledger import Ledger

NUMBERS = ["--target", "wage", "--epsilon", "8", "--bounds", "age=20:80", "--bounds-y", "0:100"]
LABELS = ["--target", "rich", "--model", "logistic", "--epsilon", "8", "--bounds", "age=20:80"]


def write(path, header, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """People whose wage is their age, more or less, and who are rich above 50; and two models."""
    folder = tmp_path_factory.mktemp("fitted")
    rng = np.random.default_rng(0)
    ages = rng.uniform(20, 80, 6_000)
    wages = np.clip(ages + 5 * rng.standard_normal(6_000), 0, 100)
    rich = np.where(ages + 10 * rng.standard_normal(6_000) > 50, "yes", "no")
    rows = list(zip(np.round(ages, 2), np.round(wages, 2), rich, strict=True))
    write(folder / "train.csv", ["age", "wage", "rich"], rows[:2_000])
    write(folder / "test.csv", ["age", "wage", "rich"], rows[2_000:])
    for name, options in (("wage", NUMBERS), ("rich", LABELS)):
        given = [*options, "--columns", "age", "-o", str(folder / f"{name}.json")]
        assert main(["fit", str(folder / "train.csv"), *given]) == 0
    return folder


@pytest.fixture
def folder(fitted, monkeypatch):
    monkeypatch.chdir(fitted)
    return fitted


def evaluated(capsys, *argv):
    """What the command printed as JSON."""
    assert main(["evaluate", *argv, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_numbers(folder, capsys):
    found = evaluated(capsys, "wage.json", "test.csv", "--epsilon", "3")
    assert set(found["scores"]) == {"r2", "mse", "mae"}
    assert found["scores"]["r2"]["low"] < 0.92 < found["scores"]["r2"]["high"]
    assert found["certificate"]["epsilon"] == 3.0
    assert any("its own certificate" in one for one in found["certificate"]["assumptions"])


def test_classes(folder, capsys):
    found = evaluated(capsys, "rich.json", "test.csv", "--epsilon", "3")
    assert set(found["scores"]) == {"accuracy", "auc", "log_loss", "brier"}
    assert found["confusion"]["classes"] == ["no", "yes"]
    assert 0.8 < found["scores"]["accuracy"]["value"] < 0.95
    assert len(found["calibration"]) > 2
    only = evaluated(capsys, "rich.json", "test.csv", "--epsilon", "3", "--metrics", "auc")
    assert set(only["scores"]) == {"auc"}


def test_the_table_and_the_certificate_are_printed(folder, capsys):
    assert main(["evaluate", "rich.json", "test.csv", "--epsilon", "1"]) == 0
    text = capsys.readouterr().out
    assert "private scores of LogisticRegression" in text
    assert "95 % interval" in text
    assert "Privacy certificate" in text


def test_another_column_holds_the_truth(folder, capsys):
    rows = list(csv.reader((folder / "test.csv").open()))
    write(folder / "other.csv", ["age", "truth"], [(a, c) for a, _, c in rows[1:]])
    found = evaluated(capsys, "rich.json", "other.csv", "--target", "truth", "--epsilon", "3")
    assert found["scores"]["accuracy"]["value"] > 0.8
    assert main(["evaluate", "rich.json", "other.csv", "--epsilon", "3"]) == 1
    assert "lacks column 'rich'" in capsys.readouterr().err


def test_the_ledger_is_charged_and_refuses(folder, tmp_path, capsys):
    ledger = str(tmp_path / "people.ledger")
    paid = ["--ledger", ledger, "--dataset", "people", "--ledger-epsilon", "1.2"]
    command = ["evaluate", "wage.json", "test.csv", "--epsilon", "1"]
    assert main([*command, *paid]) == 0
    assert 0.5 < Ledger(ledger).spent("people") <= 1.0
    assert main([*command, *paid[:4]]) == 3
    assert "privlearn:" in capsys.readouterr().err
    assert main([*command, "--dataset", "people"]) == 1
    assert "add --ledger FILE" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["no.json", "test.csv"], "the model no.json cannot be read"),
        (["wage.json", "no.csv"], "there is no file no.csv"),
        (["wage.json", "test.csv", "--metrics", "auc"], "metrics holds 'auc'"),
        (["rich.json", "test.csv", "--bounds-y", "0:1"], "--bounds-y is for numbers"),
        (["rich.json", "test.csv", "--target", "age"], "predicts from"),
        (["wage.json", "test.csv", "--delta", "0"], "needs delta > 0"),
        (["wage.json", "broken.csv"], "--on-invalid drop"),
        (["rich.json", "broken.csv"], "none of the model's classes"),
        (["wage.json", "nobody.csv"], "has no rows to score"),
    ],
)
def test_refusals_are_sentences_that_quote_nothing(folder, capsys, argv, words):
    write(folder / "broken.csv", ["age", "wage", "rich"], [(30, "a secret", "a secret")] * 3)
    write(folder / "nobody.csv", ["age", "wage", "rich"], [])
    assert main(["evaluate", *argv, "--epsilon", "1"]) == 1
    printed = capsys.readouterr()
    assert words in printed.err
    assert printed.err.startswith("privlearn: ")
    assert "secret" not in printed.err
    assert not printed.out


def test_invalid_rows_can_be_dropped(folder, capsys):
    rows = list(csv.reader((folder / "test.csv").open()))
    write(folder / "holes.csv", rows[0], [*rows[1:], ("", 3, "yes"), (3, "", ""), ("x", "y", "z")])
    for model in ("wage.json", "rich.json"):
        given = ["--epsilon", "100", "--on-invalid", "drop"]
        found = evaluated(capsys, model, "holes.csv", *given)
        assert found["rows"] == pytest.approx(4_000, abs=2)
    write(folder / "wrong.csv", rows[0], [(a, "?", "?") for a, _, _ in rows[1:]])
    assert (
        main(["evaluate", "rich.json", "wrong.csv", "--epsilon", "1", "--on-invalid", "drop"]) == 1
    )
    assert "hardly any row is usable" in capsys.readouterr().err


def test_a_model_without_a_range_needs_one(folder, capsys):
    content = json.loads((folder / "wage.json").read_text())
    content.pop("clip_prediction", None)
    declared = content.pop("parameters")
    for column in content["columns"]:
        column.pop("clip", None)
    content["format"] = "privlearn model 1"
    (folder / "plain.json").write_text(json.dumps(content))
    assert main(["evaluate", "plain.json", "test.csv", "--epsilon", "1"]) == 1
    assert "add --bounds-y LOW:HIGH" in capsys.readouterr().err
    found = evaluated(capsys, "plain.json", "test.csv", "--epsilon", "3", "--bounds-y", "0:100")
    assert found["notes"] == ["targets and predictions are clipped to 0 to 100"]
    assert declared["bounds_y"] == [0.0, 100.0]  # which the file keeps, and is enough
    (folder / "plain.json").write_text(json.dumps(content | {"parameters": declared}))
    assert evaluated(capsys, "plain.json", "test.csv", "--epsilon", "3")["notes"] == found["notes"]


def test_scores_are_printed_and_written_for_one_price(folder, tmp_path, capsys):
    path, book = tmp_path / "scores.json", str(tmp_path / "people.ledger")
    line = ["evaluate", "wage.json", "test.csv", "--epsilon", "2", "-o", str(path)]
    charge = ["--ledger", book, "--dataset", "others", "--ledger-epsilon", "9"]
    assert main([*line, *charge]) == 0
    text, written = capsys.readouterr().out, json.loads(path.read_text())
    assert f"{written['scores']['r2']['value']:.4g}" in text
    assert f"scores saved to {path}" in text
    assert len(Ledger(book).history("others")) == 1
    page = str(tmp_path / "wage.html")
    assert main(["report", "wage.json", "--scores", str(path), "-o", page]) == 0
    assert main([*line, *charge]) == 1  # what is there is not replaced unasked, nor paid for
    assert "is not replaced unasked" in capsys.readouterr().err
    assert len(Ledger(book).history("others")) == 1
    assert main([*line, "--overwrite", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(path.read_text())


def test_a_range_that_was_estimated_is_said_to_be(folder, tmp_path, capsys):
    """Errors of targets beyond an estimated range are cut, so that R^2 is of what is left."""
    model = str(tmp_path / "wide.json")
    given = ["--target", "wage", "--epsilon", "8", "--bounds-y=-5000:5000", "--columns", "age"]
    assert main(["fit", "train.csv", *given, "-o", model]) == 0
    capsys.readouterr()
    assert main(["evaluate", model, "test.csv", "--epsilon", "8"]) == 0
    text = capsys.readouterr().out
    assert "of targets clipped to an estimated range" in text
    assert "this range is one that the fit estimated with noise" in text
    assert "narrower than the declared -5000 to 5000" in text
    assert "--bounds-y -5000:5000" in text
    line = ["evaluate", model, "test.csv", "--epsilon", "8", "--bounds-y", "-5000:5000"]
    assert main(line) == 0
    text = capsys.readouterr().out
    assert "estimated range" not in text
    assert "narrower" not in text


def test_help_has_an_example(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["evaluate", "--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    assert "privlearn evaluate wage.json held-out.csv --epsilon 1" in text
    assert "how much the scores may tell" in " ".join(text.split())


def test_a_target_in_a_notation_is_answered_with_the_option(folder, tmp_path, capsys):
    """The model's own, where it has one; what is said beforehand depends on no cell."""
    line = ["evaluate", "wage.json", str(tmp_path / "odd.csv"), "--epsilon", "3"]
    (tmp_path / "odd.csv").write_text('age,wage\n30,"29,5"\n40,"41,0"\n')
    assert main(line) == 1
    told = capsys.readouterr().err
    assert "--on-invalid drop" in told
    assert "need --decimal , --thousands ." in told
    rows = "".join(f"{20 + k % 50},5;{20 + k % 50},5\n" for k in range(900))
    (tmp_path / "german.csv").write_text(f"age;wage\n{rows}")
    path = str(tmp_path / "german.csv")
    written = ["--decimal", ",", "--thousands", "."]
    model = str(tmp_path / "german.json")
    assert main(["fit", path, *NUMBERS, *written, "-o", model]) == 0
    capsys.readouterr()
    assert main(["evaluate", model, path, "--epsilon", "3"]) == 1
    told = capsys.readouterr().err
    assert told.count("if it is written as columns of the model are, add --decimal , --tho") == 2
    assert main(["evaluate", model, path, "--epsilon", "3", "--thousands", "."]) == 0
    assert "are read as in 1234.5" not in capsys.readouterr().err
    (tmp_path / "plain.csv").write_text("age;wage\n" + rows.replace(",5\n", ".5\n"))
    assert main(["evaluate", model, str(tmp_path / "plain.csv"), "--epsilon", "3"]) == 0
    assert "are read as in 1234.5; if it is written as columns" in capsys.readouterr().err
