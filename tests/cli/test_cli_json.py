"""Results for programs: JSON on standard output, and nothing else there; kernel models too."""

import getpass
import json

import pytest

from privlearn import Ledger, LogisticRegression
from privlearn.cli import main
from privlearn.cli.model_file import read_model

FIT = ["--target", "wage", "--epsilon", "1", "--bounds", "age=17:90", "--bounds-y", "0:2000"]
FIT += ["--solver", "moments"]
CHARGE = ["--ledger", "l.ledger", "--dataset", "people"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{20 + k % 50},{500 + 10 * (k % 50)}" for k in range(300)]
    (tmp_path / "people.csv").write_text("\n".join(["age,wage", *rows]) + "\n")
    return tmp_path


@pytest.fixture
def result(capsys):
    """Run a command and read what it printed as JSON."""

    def run(*line):
        capsys.readouterr()
        assert main([*line, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return run


def test_every_command_speaks_json(result, folder):
    plan = result("plan", "--rows", "300", "--epsilon", "1", *FIT[4:], "--target", "wage")
    assert (plan["epsilon"], plan["rows"], plan["features"]) == (1, 300, 1)
    assert plan["spent_epsilon"] <= 1
    assert plan["releases"][0]["name"]
    assert plan["forecast"]["withheld"] == "" or plan["forecast"]["prediction"] is None
    fit = result("fit", "people.csv", *FIT, *CHARGE, "--ledger-epsilon", "3", "-o", "m.json")
    saved = json.loads((folder / "m.json").read_text())
    assert fit == {"model_file": "m.json", "predictions_file": None} | saved
    rows = result("predict", "m.json", "people.csv")
    assert len(rows) == 300
    assert list(rows[0]) == ["predicted_wage"]
    scores = result("evaluate", "m.json", "people.csv", "--epsilon", "1", "--bounds-y", "0:2000")
    assert "certificate" in scores or "privacy" in scores
    (people,) = result("ledger", "l.ledger")["datasets"]
    (charge,) = people["charges"]
    assert (charge["by"], charge["note"]) == (getpass.getuser(), "m.json")
    assert people["people"] == [
        {"by": getpass.getuser(), "charges": 1, "epsilon": charge["epsilon"]}
    ]
    assert result("ledger", "l.ledger", "--check")["charges"] == 1
    assert result("ledger", "new.ledger", "--create", "--epsilon", "2")["epsilon"] == 2


def test_predictions_that_are_missing_are_null(result, folder):
    assert main(["fit", "people.csv", *FIT, "-o", "m.json"]) == 0
    (folder / "new.csv").write_text("age\n30\n\n")
    first, last = result("predict", "m.json", "new.csv", "--on-invalid", "blank")
    assert isinstance(first["predicted_wage"], float)
    assert last == {"predicted_wage": None}


def test_who_spent_what_for_which_model(capsys, folder):
    fit = ["fit", "people.csv", *FIT, *CHARGE, "--ledger-epsilon", "9"]
    for by, name in (("ana", "a.json"), ("ben", "sub/b.json"), ("ana", "c.json")):
        (folder / "sub").mkdir(exist_ok=True)
        assert main([*fit, "--by", by, "-o", name]) == 0
    capsys.readouterr()
    assert main(["ledger", "l.ledger"]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    told = [line.partition("  by ")[2] for line in lines if " UTC  epsilon" in line]
    assert told == ["ana  for a.json", "ben  for b.json", "ana  for c.json"]
    assert any(line.startswith("by         ana: 2 charges, epsilon = 1.") for line in lines)
    assert any(line.startswith("by         ben: 1 charge, epsilon = ") for line in lines)
    assert main(["fit", "people.csv", *FIT, "--by", "ana"]) == 1
    assert "--by is written into a ledger" in capsys.readouterr().err
    assert main([*fit, "--by", "two\nlines", "-o", "d.json"]) == 1
    assert "give one line" in capsys.readouterr().err
    assert len(Ledger("l.ledger").history()) == 3


def test_labels_that_are_formulas_are_harmless_in_files(folder, capsys):
    rows = [f"{k % 9},{'=1+1' if k % 2 else '@x'}" for k in range(60)]
    (folder / "f.csv").write_text("\n".join(["age,label", *rows]) + "\n")
    line = ["fit", "f.csv", "--target", "label", "--epsilon", "1", "--model", "logistic"]
    assert main([*line, "--predict", "f.csv", "--predictions", "p.csv"]) == 0
    first, *others = (folder / "p.csv").read_text().splitlines()
    assert first == "predicted_label,probability_=1+1,probability_@x"
    assert {row[:1] for row in others} == {"'"}
    assert json.loads((folder / "model.json").read_text())["classes"] == ["=1+1", "@x"]


@pytest.mark.parametrize("declared", [True, False])
def test_kernel_models_are_saved_and_predict(folder, capsys, declared):
    rows = [f"{k % 40 / 10},{'ab'[k % 2]},{(k % 40 - 20) ** 2 / 400}" for k in range(4_000)]
    (folder / "curve.csv").write_text("\n".join(["x,kind,y", *rows]) + "\n")
    line = ["fit", "curve.csv", "--model", "kernel", "--epsilon", "2", "--categories", "kind=a,b"]
    line += ["--bounds", "x=0:4", "--bounds-y", "0:1"] if declared else []
    line += ["--target", "y", "--predict", "curve.csv", "--predictions", "p.csv"]
    assert main(line) == 0
    text = capsys.readouterr().out
    assert "assumes     the schema of the columns was chosen without looking" in text
    assert main(["predict", "model.json", "curve.csv"]) == 0
    found = capsys.readouterr().out
    assert found == (folder / "p.csv").read_text()
    values = [float(value) for value in found.splitlines()[1:41]]
    assert values[0] > 0.7 > 0.3 > values[20]
    assert main(["verify", "model.json"]) == 0
    assert main(["evaluate", "model.json", "curve.csv", "--epsilon", "9", "--bounds-y", "0:1"]) == 0


def test_kernel_classifiers_and_damaged_files(folder, capsys):
    rows = [f"{k % 40 / 10},{'no' if 10 < k % 40 < 30 else 'yes'}" for k in range(4_000)]
    (folder / "c.csv").write_text("\n".join(["x,y", *rows]) + "\n")
    line = ["fit", "c.csv", "--model", "kernel-classifier", "--target", "y", "--epsilon", "2"]
    assert main([*line, "--bounds", "x=0:4"]) == 0
    assert main(["predict", "model.json", "c.csv"]) == 0
    labels = [row.partition(",")[0] for row in capsys.readouterr().out.splitlines()[-4_000:]]
    truth = [row.partition(",")[2] for row in rows]
    assert sum(a == b for a, b in zip(labels, truth, strict=True)) > 3_400
    content = json.loads((folder / "model.json").read_text())
    for change in (
        lambda values: values.pop("features"),
        lambda values: values["features"]["frequencies"].pop(),
        lambda values: values["features"]["coef"][0].__delitem__(slice(-2, None)),
        lambda values: values["features"].pop("clip"),
        lambda values: values.update(schema=False),
        lambda values: values["features"].update(edges=[[0.0]]),
        lambda values: values.update(classes=None),
    ):
        damaged = json.loads(json.dumps(content))
        change(damaged)
        (folder / "d.json").write_text(json.dumps(damaged))
        assert main(["predict", "d.json", "c.csv"]) == 1
        assert "d.json is incomplete or damaged" in capsys.readouterr().err
    assert isinstance(read_model("model.json").estimator().classes_[0], str)
    assert not isinstance(read_model("model.json").estimator(), LogisticRegression)
