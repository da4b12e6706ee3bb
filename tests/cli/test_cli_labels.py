"""Classifiers and robust regression through the command."""

import csv
import json

import numpy as np
import pytest

from privlearn.cli import _parser, main
from privlearn.cli.design import design
from privlearn.cli.models import build
from privlearn.cli.schema import Facts
from privlearn.cli.tables import Table
from privlearn.schema import Category, Number

FIT = ["--target", "rich", "--model", "logistic", "--epsilon", "4", "--bounds", "age=20:80"]


def write(path, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("age", "rich"), *rows])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Whoever is above 50 is rich."""
    monkeypatch.chdir(tmp_path)
    ages = np.linspace(20, 80, 5_000)
    write(tmp_path / "people.csv", [(f"{a:.3f}", "yes" if a > 50 else "no") for a in ages])
    (tmp_path / "new.csv").write_text("age\n25\n75\n")
    return tmp_path


def predictions(folder, *more):
    assert main(["predict", "model.json", "new.csv", "-o", "out.csv", *more]) == 0
    with (folder / "out.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_labels_and_probabilities(folder):
    assert main(["fit", "people.csv", *FIT, "--classes", "yes,no"]) == 0
    young, old = predictions(folder)
    assert (young["predicted_rich"], old["predicted_rich"]) == ("no", "yes")
    assert float(young["probability_yes"]) < 0.3 < 0.7 < float(old["probability_yes"])
    for row in (young, old):
        assert float(row["probability_yes"]) + float(row["probability_no"]) == pytest.approx(1)


def test_coefficients_are_per_year(folder):
    """The score is 0 near age 50, in years; in scaled units it would be near 0.5."""
    assert main(["fit", "people.csv", *FIT]) == 0
    content = json.loads((folder / "model.json").read_text())
    assert -content["intercept"] / content["columns"][0]["coefficient"] == pytest.approx(50, abs=6)


def test_undeclared_labels_are_an_assumption(folder):
    assert main(["fit", "people.csv", *FIT, "-o", "undeclared.json"]) == 0
    assert main(["fit", "people.csv", *FIT, "-o", "declared.json", "--classes", "no,yes"]) == 0
    public = "the set of class labels in y is public"
    for name, listed in (("undeclared.json", True), ("declared.json", False)):
        found = json.loads((folder / name).read_text())["certificate"]["assumptions"]
        assert (public in found) is listed


def test_three_classes(folder):
    ages = np.linspace(20, 80, 6_000)
    write(
        folder / "three.csv", [(a, "low" if a < 40 else "mid" if a < 60 else "top") for a in ages]
    )
    line = ["fit", "three.csv", *FIT, "--classes", "low,mid,top"]
    assert main(line) == 0
    young, old = predictions(folder)
    assert (young["predicted_rich"], old["predicted_rich"]) == ("low", "top")
    total = sum(float(young[f"probability_{label}"]) for label in ("low", "mid", "top"))
    assert total == pytest.approx(1)


def test_svc_has_scores_and_no_probabilities(folder):
    line = ["--model", "svc", "--loss", "hinge", "--overwrite"]
    assert main(["fit", "people.csv", *FIT, *line]) == 0
    (folder / "new.csv").write_text("age,x\n25,1\n75,1\n,1\n")
    young, old, blank = predictions(folder, "--on-invalid", "blank")
    assert set(young) == {"predicted_rich", "score_yes"}
    assert (young["predicted_rich"], old["predicted_rich"]) == ("no", "yes")
    assert float(young["score_yes"]) < 0 < float(old["score_yes"])
    assert set(blank.values()) == {""}


def test_svc_of_three_classes_has_a_score_for_each(folder):
    ages = np.linspace(20, 80, 6_000)
    labels = [(a, "low" if a < 40 else "mid" if a < 60 else "top") for a in ages]
    write(folder / "three.csv", labels)
    assert main(["fit", "three.csv", *FIT, "--model", "svc", "--classes", "low,mid,top"]) == 0
    for row, label in zip(predictions(folder), ("low", "top"), strict=True):
        scores = {name: float(row[f"score_{name}"]) for name in ("low", "mid", "top")}
        assert row["predicted_rich"] == max(scores, key=scores.get) == label


def test_one_label(folder, capsys):
    write(folder / "one.csv", [(30, "no"), (40, "no")])
    assert main(["fit", "one.csv", *FIT]) == 1
    assert "holds one label only" in (text := capsys.readouterr().err)
    assert "--classes no,yes" in text


def test_a_number_is_no_label(folder, capsys):
    write(folder / "many.csv", [(30, k) for k in range(100)])
    assert main(["fit", "many.csv", *FIT]) == 1
    assert "more than 20 different labels; if it is a number, use --model linear" in (
        capsys.readouterr().err
    )


@pytest.mark.parametrize("cell", ["", "maybe"])
def test_labels_that_were_not_declared(folder, capsys, cell):
    write(folder / "odd.csv", [(30, "no"), (60, "yes"), (40, cell)])
    line = ["fit", "odd.csv", *FIT, "--classes", "no,yes"]
    assert main(line) == 1
    assert "empty or none of --classes" in capsys.readouterr().err
    assert main([*line, "--on-invalid", "drop"]) == 0


def test_an_empty_label_is_not_blamed_on_classes_that_nobody_gave(folder, capsys):
    write(folder / "odd.csv", [(30, "no"), (60, "yes"), (40, "")])
    assert main(["fit", "odd.csv", *FIT]) == 1
    text = capsys.readouterr().err
    assert "rich: a cell of the target is empty" in text
    assert "--classes" not in text


def test_typing_errors_among_labels_beside_intervals(folder, capsys):
    write(folder / "odd.csv", [(30, "no"), (60, "yes"), (40, "Y"), (50, "?")])
    assert main(["fit", "odd.csv", *FIT, "--intervals"]) == 1
    text = capsys.readouterr().err
    assert "the target has 4 labels" in text
    assert "--classes no,yes" in text


def test_missing_labels_become_no_class(folder):
    write(folder / "gaps.csv", [(30, "no"), (60, "yes"), (40, "")])
    assert main(["fit", "gaps.csv", *FIT, "--on-invalid", "drop"]) == 0
    assert json.loads((folder / "model.json").read_text())["classes"] == ["no", "yes"]


def test_blank_predictions_have_no_label(folder):
    assert main(["fit", "people.csv", *FIT]) == 0
    (folder / "new.csv").write_text("age,x\n25,1\n,1\n")
    _, blank = predictions(folder, "--on-invalid", "blank")
    assert set(blank.values()) == {""}


def test_whole_numbers_are_the_same_label_in_every_file_format():
    assert Table({"y": np.array([0.0, 1.0, np.nan])}, 3).labels("y") == ["0", "1", None]
    assert Table({"y": ["0", " 1 ", ""]}, 3).labels("y") == ["0", "1", None]


# Which estimator a name means


@pytest.mark.parametrize(
    ("name", "estimator", "own"),
    [
        ("linear", "LinearRegression", {}),
        ("ridge", "Ridge", {"alpha": 3.0}),
        ("lasso", "Lasso", {"alpha": 3.0}),
        ("elastic-net", "ElasticNet", {"alpha": 3.0, "l1_ratio": 0.25}),
        ("huber", "HuberRegressor", {"alpha": 3.0}),
        ("poisson", "PoissonRegressor", {"alpha": 3.0}),
        ("logistic", "LogisticRegression", {"C": 3.0}),
        ("svc", "LinearSVC", {"C": 3.0, "loss": "hinge"}),
    ],
)
def test_models_get_their_facts_and_options(name, estimator, own):
    facts = Facts({"age": (20, 80), "y": (0, 9)}, {"sex": ("m", "f")}, target="y")
    classifies = name in ("logistic", "svc")
    chosen = design(["age", "sex", "y"], facts, where="here", classifies=classifies)
    line = [f"--{key.replace('_', '-')}={value}" for key, value in own.items()]
    asked = ["audit", "--model", name, *line, "--epsilon", "2", "--adjacency", "add_remove"]
    model = build(_parser().parse_args(asked), chosen)
    assert type(model).__name__ == estimator
    given = model.get_params()
    assert given["schema"] == {"age": Number(20, 80), "sex": Category(["m", "f"])}
    assert given.get("bounds_y") == (None if classifies else (0, 9))
    assert {key: given[key] for key in own} == own
    assert (given["epsilon"], given["adjacency"]) == (2.0, "add_remove")


def test_huber_from_file_to_predictions(folder):
    write(folder / "numbers.csv", [(a, 100 + a) for a in np.linspace(20, 80, 5_000)])
    line = ["--target", "rich", "--epsilon", "4", "--bounds", "age=20:80", "--bounds-y", "0:300"]
    assert main(["fit", "numbers.csv", *line, "--model", "huber"]) == 0
    young, old = (float(row["predicted_rich"]) for row in predictions(folder))
    assert np.isfinite([young, old]).all()
    assert json.loads((folder / "model.json").read_text())["model"] == "huber"


def test_measured_numbers_are_no_labels_and_are_not_printed(tmp_path, capsys):
    data = tmp_path / "people.csv"
    data.write_text("age,wage\n" + "".join(f"0.{k},{1688711 + k}.5692\n" for k in range(1, 7)))
    for more in ([], ["--on-invalid", "drop"]):
        line = ["fit", str(data), "--target", "wage", "--epsilon", "1", "--bounds", "age=0:1"]
        assert main([*line, "--model", "logistic", "-o", str(tmp_path / "m.json"), *more]) == 1
        told = "".join(capsys.readouterr())
        assert "numbers with fractions" in told
        assert "5692" not in told


# Labels, and no word about the model


FORGOTTEN = ["fit", "people.csv", "--target", "rich", "--epsilon", "1", "--on-invalid", "drop"]


def test_a_forgotten_model_is_noted_before_the_charge(folder, capsys):
    """By the options alone, so also where y holds numbers; and not where a model was named."""
    assert main([*FORGOTTEN, "--ledger", "l", "--dataset", "d", "--ledger-epsilon", "3"]) == 1
    text = capsys.readouterr().err
    note, error = text.index("note: without --model, rich is taken"), text.index("hardly any row")
    assert note < text.index("add --model logistic") < error
    assert "--model logistic" in text[error:].split("then that cells")[0]
    for more in (["--model", "linear"], ["--model", "logistic"]):
        main([*FORGOTTEN, *more, "--overwrite"])
        assert "without --model" not in capsys.readouterr().err
    main(["fit", "people.csv", "--target", "age", "--epsilon", "1", "--ignore", "rich"])
    assert "without --model" not in capsys.readouterr().err


def test_a_refusal_warns_before_it_names_drop(folder, capsys):
    assert main(FORGOTTEN[:-2]) == 1
    text = capsys.readouterr().err
    assert text.index("if it holds labels: --model logistic") < text.index("--on-invalid drop")
    assert "A target of labels then empties every row, and the budget is spent on nothing" in text


def test_classes_that_are_spelled_otherwise(folder, capsys):
    line = [*FORGOTTEN, "--model", "logistic", "--classes", "0,1"]
    assert main(line) == 1
    error = capsys.readouterr().err
    assert error.index("--classes no,yes") < error.index("text needs a Category")


def test_the_declared_order_is_told(folder, capsys):
    for given, times in (("yes,no", 1), ("no,yes", 0)):
        line = ["fit", "people.csv", *FIT, "--classes", given, "--overwrite"]
        assert main(line) == 0
        printed = capsys.readouterr()
        said = "privlearn: warning: classes=['yes', 'no'] (--classes) are kept in sorted order"
        assert printed.err.count(said) == times
        assert printed.out.startswith("logistic model of rich = yes,")
