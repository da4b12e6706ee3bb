"""Standard errors on the command line: the table of a fit, and ends beside predictions."""

import csv
import json

import numpy as np
import pytest

import privlearn
from privlearn.cli import main
from privlearn.solvers._common.standard_errors import StandardErrors

KNOWN = ["--epsilon", "9", "--bounds", "age=20:80", "--categories", "town=a,b"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    ages, towns = rng.uniform(20, 80, 3_000), rng.choice(["a", "b"], 3_000)
    wages = ages + 10 * (towns == "b") + rng.normal(0, 3, 3_000)
    rich = np.where(wages + rng.normal(0, 15, 3_000) > 55, "yes", "no")
    with open("people.csv", "w", newline="") as file:
        lines = zip(ages.round(2), towns, wages.round(2), rich, strict=True)
        csv.writer(file).writerows([["age", "town", "wage", "rich"], *lines])
    (tmp_path / "new.csv").write_text("age,town\n30,a\n60,b\n,b\n")
    return tmp_path


def fitted(capsys, *more, target="wage", unused="rich"):
    line = ["fit", "people.csv", "--target", target, *KNOWN, "--ignore", unused, *more]
    assert main(line) == 0
    return capsys.readouterr().out


def predicted(*more):
    line = ["predict", "model.json", "new.csv", "-o", "out.csv", "--overwrite"]
    assert main([*line, "--on-invalid", "blank", *more]) == 0
    with open("out.csv", newline="") as file:
        return [*csv.DictReader(file)]


def test_the_table_is_printed_and_predictions_have_ends(folder, capsys):
    out = fitted(capsys, "--intervals", "--bounds-y", "0:120")
    assert "std err" in out
    assert "town = b" in out
    model = privlearn.load("model.json")
    assert str(model.summary()) in out
    young, old, blank = predicted("--intervals")
    for row, truth in ((young, 30.0), (old, 70.0)):
        low, middle, high = (float(row[f"{k}_wage"]) for k in ("lower", "predicted", "upper"))
        assert low < middle < high
        assert low - 5 < truth < high + 5
    assert {*blank.values()} == {""}
    (wide, _, _), (row, _, _) = (
        predicted("--intervals", "--level", "0.99"),
        predicted("--intervals", "--of", "row"),
    )
    for other in (wide, row):
        assert float(other["lower_wage"]) < float(young["lower_wage"])
    assert main(["predict", "model.json", "new.csv", "--intervals", "--json"]) == 1  # a gap
    ends = ["--predict", "new.csv", "--predictions", "both.csv", "--on-invalid", "drop"]
    fitted(capsys, "--intervals", "--bounds-y", "0:120", "--overwrite", *ends)
    assert (folder / "both.csv").read_text().startswith("predicted_wage,lower_wage,upper_wage")


def test_the_same_as_python_s(folder, capsys):
    pd = pytest.importorskip("pandas")
    fitted(capsys, "--intervals", "--bounds-y", "0:120")
    new = pd.DataFrame({"age": [30.0, 60.0], "town": ["a", "b"]})
    low, high = privlearn.load("model.json").predict_interval(new)
    found = predicted("--intervals")[:2]
    assert [float(row["lower_wage"]) for row in found] == pytest.approx(low.tolist(), rel=1e-8)
    assert [float(row["upper_wage"]) for row in found] == pytest.approx(high.tolist(), rel=1e-8)


def test_probabilities_have_ends_too(folder, capsys):
    chosen = ["--model", "logistic", "--classes", "no,yes", "--intervals"]
    fitted(capsys, *chosen, target="rich", unused="wage")
    young, old, _ = predicted("--intervals")
    for row in (young, old):
        low, high = (float(row[f"{k}_probability_yes"]) for k in ("lower", "upper"))
        assert 0 <= low < float(row["probability_yes"]) < high <= 1


def test_a_plan_shows_what_they_cost(capsys):
    line = ["plan", "--rows", "9000", "--features", "3", "--epsilon", "1", "--json"]
    names = []
    for more in ([], ["--intervals"]):
        assert main([*line, *more]) == 0
        names.append({one["name"] for one in json.loads(capsys.readouterr().out)["releases"]})
    assert "second derivatives at the model" in names[1] - names[0]


def test_json_has_the_table(folder, capsys):
    found = json.loads(fitted(capsys, "--intervals", "--json"))
    assert found["summary"]["names"] == ["age", "town = a", "town = b", "(intercept)"]
    assert len(found["summary"]["std_err"]) == 4


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            [
                "fit",
                "people.csv",
                "--target",
                "wage",
                *KNOWN,
                "--model",
                "lasso",
                "--intervals",
                "-o",
                "l.json",
            ],
            "--intervals belongs to --model linear",
        ),
        (["predict", "model.json", "new.csv", "--intervals"], "fit it with --intervals"),
        (["predict", "model.json", "new.csv", "--of", "row"], "--of is about intervals"),
    ],
)
def test_refusals_name_the_option(folder, capsys, line, words):
    fitted(capsys)
    assert main(line) == 1
    assert words in capsys.readouterr().err


def test_a_level_that_is_none(folder, capsys):
    fitted(capsys, "--intervals")
    assert main(["predict", "model.json", "new.csv", "--intervals", "--level", "95"]) == 1
    assert "--level 95 is no level" in capsys.readouterr().err


@pytest.mark.parametrize("hidden", [True, False])
@pytest.mark.parametrize("model", ["linear", "logistic"])
def test_tables_and_warnings_have_the_header_s_names(folder, capsys, monkeypatch, hidden, model):
    """Where nothing is declared, too: names of columns are public."""
    monkeypatch.setattr(StandardErrors, "tells", lambda self, weights: np.full(2, not hidden))
    target, unused = ("rich", "wage") if model == "logistic" else ("wage", "rich")
    line = ["fit", "people.csv", "--target", target, "--ignore", unused, "--ignore", "town"]
    line += ["--intervals", "--epsilon", "9", "--model", model]
    assert main(line) == 0
    told = capsys.readouterr()
    assert "x0" not in told.out + told.err
    names = [row.split()[0] for row in told.out.splitlines()[5:7]]
    assert names == ["age", "(intercept)"]
    assert ("far off: 'age', '(intercept)'" in told.err) == hidden
    assert main([*line, "--json", "-o", "other.json"]) == 0
    table = json.loads(capsys.readouterr().out)["summary"]
    assert "age" in json.dumps(table)
    assert "x0" not in json.dumps(table)
    assert privlearn.load("model.json").feature_names_in_.tolist() == ["age"]


def test_names_change_no_number(folder, capsys):
    from privlearn.cli.design import design
    from privlearn.cli.models import estimator_rows
    from privlearn.cli.schema import Facts
    from privlearn.cli.tables import open_source, read_encoded

    chosen = design(["age", "wage"], Facts(target="wage"), where="here", classifies=False)
    X, rest = read_encoded(open_source("people.csv"), chosen.encoding, ["wage"], remedy=None)
    rows, y = estimator_rows("linear", chosen, X), rest.numbers("wage")
    named, plain = (
        privlearn.LinearRegression(epsilon=1, random_state=0).fit(given, y)
        for given in (rows, X.values)
    )
    assert named.coef_.tobytes() == plain.coef_.tobytes()
    assert named.feature_names_in_.tolist() == ["age"]
    assert named.privacy_ == plain.privacy_
    np.testing.assert_array_equal(named.predict(rows), plain.predict(X.values))


@pytest.mark.parametrize(("more", "pulled"), [((), False), (("--alpha", "0.3"), True)])
def test_rate_ratios_have_no_penalty_that_nobody_asked_for(folder, capsys, more, pulled):
    line = ["--model", "poisson", "--intervals", "--bounds-y", "0:120", *more]
    out = fitted(capsys, *line)
    assert ("penalty" in out) is pulled
    assert (privlearn.load("model.json").alpha > 0.0) is pulled
