"""Tables of reports that are relative to a category, or of ratios."""

import numpy as np
import pandas as pd
import pytest

import privlearn
from privlearn import LogisticRegression, Ridge
from privlearn.cli import main
from privlearn.exceptions import MissingFactError
from privlearn.export.report.drawing.canvas import number
from privlearn.schema import Category, Number

ASKED = {"reference": {"ward": "burns"}, "ratios": True}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"age": rng.uniform(20, 80, 3_000)})
    people["ward"] = rng.choice(["burns", "heart", "lungs"], 3_000)
    return people, np.where(people["age"] + rng.normal(0, 20, 3_000) > 50, "yes", "no")


@pytest.fixture(scope="module")
def model(rows):
    schema = {"age": Number(20, 80), "ward": Category(["burns", "heart", "lungs"])}
    model = LogisticRegression(epsilon=9, intervals=True, schema=schema, classes=["no", "yes"])
    return model.fit(*rows)


def parts(path):
    """The figure, and the table with its notes."""
    text = path.read_text(encoding="utf-8")
    figure, _, rest = text.partition("</figure>")
    return figure.partition('id="learned"')[2], rest.partition("</section>")[0]


def test_the_table_is_what_was_asked_for_and_the_figure_stays(model, tmp_path):
    model.report(tmp_path / "plain.html")
    model.report(tmp_path / "asked.html", **ASKED)
    plain, asked = parts(tmp_path / "plain.html"), parts(tmp_path / "asked.html")
    assert "ward = burns" in plain[1]
    assert "Coefficients, per unit of each column" in plain[1]
    assert "<bdi>ward = burns</bdi>" not in asked[1]
    assert "Odds ratios, per unit of each column" in asked[1]
    assert "Relative to ward = burns, which the intercept includes." in asked[1]
    for value in model.summary(**ASKED).coef:
        assert number(value) in asked[1]
    assert "ward = burns" in asked[0]
    assert "the references or ratios" in asked[0]
    assert "the references or ratios" not in plain[0]


def test_the_command_writes_the_same_page(model, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    model.save("m.json")
    line = ["report", "m.json", "--out", "c.html", "--reference", "ward=burns", "--ratios"]
    assert main(line) == 0
    privlearn.load("m.json").report("p.html", **ASKED)
    assert (tmp_path / "c.html").read_text() == (tmp_path / "p.html").read_text()
    assert main(["verify", "c.html"]) == 0
    line[3] = "d.html"
    assert main([*line[:4], "--reference", "wrad=burns"]) == 1
    assert "did you mean 'ward'?" in capsys.readouterr().err
    assert not (tmp_path / "d.html").exists()


def test_ratios_of_columns_without_names(rows, tmp_path):
    X, y = rows[0][["age"]].to_numpy(), rows[1]
    known = {"bounds_X": (20, 80), "classes": ["no", "yes"], "epsilon": 9}
    model = LogisticRegression(intervals=True, **known).fit(X, y)
    model.report(tmp_path / "m.html", ratios=True)
    assert "column 1" in parts(tmp_path / "m.html")[1]


def test_models_without_standard_errors(rows, tmp_path, capsys):
    X = rows[0][["age"]]
    model = Ridge(epsilon=9, bounds_X=(20, 80), bounds_y=(20, 80)).fit(X, X["age"].to_numpy())
    with pytest.raises(MissingFactError, match="no standard errors"):
        model.report(tmp_path / "m.html", ratios=True)
    model.save(tmp_path / "m.json")
    assert main(["report", str(tmp_path / "m.json"), "--ratios"]) == 1
    assert "fit it with --intervals" in capsys.readouterr().err
    assert not (tmp_path / "m.html").exists()
