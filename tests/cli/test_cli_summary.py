"""`privlearn summary`: the table of a saved model is Python's, whatever is asked of it."""

import json

import numpy as np
import pytest

import privlearn
from privlearn import KernelRegressor, Lasso, LogisticRegression, PoissonRegressor
from privlearn.cli import main
from privlearn.cli.asked import parse_contrasts
from privlearn.cli.errors import CommandError
from privlearn.schema import Category, Number

SCHEMA = {"age": Number(20, 80), "ward": Category(["burns", "heart, lungs", "x=y"])}
NAMES = ["age", "ward = burns", "ward = heart, lungs", "ward = x=y", "(intercept)"]
DIFFERENCE = {"ward = burns": 1, "ward = heart, lungs": -1}


@pytest.fixture(scope="module")
def people():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    found = pd.DataFrame({"age": rng.uniform(20, 80, 3_000)})
    found["ward"] = rng.choice(SCHEMA["ward"].values, 3_000)
    return found


@pytest.fixture(scope="module")
def model(people, tmp_path_factory):
    """Of labels, saved as m.json."""
    ill = np.where(people["age"] + 30 * np.random.default_rng(1).random(3_000) > 65, "yes", "no")
    model = LogisticRegression(epsilon=9, intervals=True, schema=SCHEMA, classes=["no", "yes"])
    path = tmp_path_factory.mktemp("models") / "m.json"
    model.fit(people, ill).save(path)
    return path


def told(capsys, *line):
    assert main(["summary", *map(str, line)]) == 0
    return capsys.readouterr().out


def refused(capsys, *line):
    assert main(["summary", *map(str, line)]) == 1
    seen = capsys.readouterr()
    assert seen.out == ""
    assert "Traceback" not in seen.err
    return seen.err


OPTIONS = [
    ([], {}),
    (["--level", "0.8"], {"level": 0.8}),
    (["--ratios"], {"ratios": True}),
    (["--reference", "ward=burns"], {"reference": {"ward": "burns"}}),
    (
        ["--reference", "ward = x=y", "--ratios", "--level", "0.5"],
        {"reference": {"ward": "x=y"}, "ratios": True, "level": 0.5},
    ),
]


@pytest.mark.parametrize(("options", "same"), OPTIONS)
def test_the_table_is_python_s(model, capsys, options, same):
    table = privlearn.load(model).summary(**same)
    assert told(capsys, model, *options) == f"{table}\n"
    assert json.loads(told(capsys, model, *options, "--json")) == table.to_dict()


def test_sums_are_python_s(model, capsys):
    sums = {"ten years": {"age": 10}, "burns - heart": DIFFERENCE}
    table = privlearn.load(model).contrast(sums, level=0.9, ratios=True)
    line = [model, "--contrast", "ten years: age=10", "--level", "0.9", "--ratios"]
    line += ["--contrast", "burns - heart:ward=burns=1,ward = heart, lungs=-1"]
    assert told(capsys, *line) == f"{table}\n"
    found = json.loads(told(capsys, *line, "--json"))
    assert found == table.to_dict()
    assert found["names"] == ["ten years", "burns - heart"]


def test_files_of_the_command_line_have_it(people, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    people.assign(visits=people["age"].round() // 10).to_csv("people.csv", index=False)
    fit = ["fit", "people.csv", "--target", "visits", "--epsilon", "9", "--model", "poisson"]
    fit += ["--columns", "age", "--bounds", "age=20:80", "--bounds-y", "0:9"]
    assert main([*fit, "--intervals"]) == 0
    printed = capsys.readouterr().out
    assert told(capsys, "model.json") in printed
    assert "rate ratio" in told(capsys, "model.json", "--ratios")
    assert "no column of a schema" in refused(capsys, "model.json", "--reference", "age=1")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--reference", "wrad=burns"], "did you mean 'ward'?"),
        (["--reference", "ward=brns"], "did you mean 'burns'?"),
        (["--reference", "burns"], "write --reference COLUMN=CATEGORY"),
        (["--reference", "ward="], "write --reference COLUMN=CATEGORY"),
        (["--reference", "ward=burns", "--reference", "ward=x=y"], "given twice for column 'ward'"),
        (["--level", "95"], "a number between 0 and 1 is needed"),
        (["--contrast", "age=10"], "is no sum with a name; write 'NAME: COEFFICIENT=WEIGHT"),
        (["--contrast", "a:"], "is no sum with a name"),
        (["--contrast", "a: aeg=10"], "no coefficient is called 'aeg'; did you mean 'age'?"),
        (["--contrast", "a: wrad = burns=1"], "did you mean 'ward = burns'?"),
        (["--contrast", "a: age=1, ward = burns"], "'ward = burns' has no weight"),
        (["--contrast", "a: age"], "'age' has no weight"),
        (["--contrast", "a: age=0,5"], "'5' has no weight"),
        (["--contrast", "a: age=ten"], "the weight of 'age' is 'ten', which is no number"),
        (["--contrast", "a: age=inf"], "a finite number is needed"),
        (["--contrast", "a: age=0"], "no coefficient has a weight other than 0"),
        (["--contrast", "a: age=1, age=2"], "'age' has two weights"),
        (["--contrast", "a: age=1", "--contrast", "a: age=2"], "given twice for 'a'"),
        (["--contrast", "a: age=1", "--reference", "ward=burns"], "leave --reference out"),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, list) else "",
)
def test_wrong_names_and_numbers(model, capsys, options, words):
    assert words in refused(capsys, model, *options)


def test_models_without_a_table(people, tmp_path, capsys):
    ages, path = people[["age"]].to_numpy(), tmp_path / "m.json"
    known = {"epsilon": 9, "bounds_X": (20, 80), "bounds_y": (0, 100)}
    for one in (Lasso(**known), PoissonRegressor(**known)):
        one.fit(ages, ages[:, 0]).save(path)
        assert "fit it with --intervals" in refused(capsys, path)
    curve = KernelRegressor(intervals=True, n_components=6, **known)
    curve.fit(ages, ages[:, 0]).save(path)
    assert "privlearn predict --intervals" in refused(capsys, path)
    assert "cannot be read" in refused(capsys, tmp_path / "none.json")


def test_arrays_have_no_names_but_a_table(people, tmp_path, capsys):
    ages, path = people[["age"]].to_numpy(), tmp_path / "m.json"
    chosen = {"epsilon": 9, "intervals": True, "bounds_X": (20, 80), "bounds_y": (0, 100)}
    found = PoissonRegressor(**chosen).fit(ages, ages[:, 0] // 10)
    found.save(path)
    assert told(capsys, path) == f"{found.summary()}\n"
    line = told(capsys, path, "--contrast", "ten years: x0=10")
    assert line == f"{found.contrast({'ten years': {'x0': 10}})}\n"


def test_a_damaged_certificate(model, tmp_path, capsys):
    values = json.loads(model.read_text())
    values["certificate"]["plan"] = {}
    (tmp_path / "d.json").write_text(json.dumps(values))
    assert "damaged" in refused(capsys, tmp_path / "d.json")


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("age=1", {"age": 1}),
        ("age = -1e1 ,ward=burns = .5,", {"age": -10, "ward = burns": 0.5}),
        ("ward = heart, lungs=1, age=2", {"ward = heart, lungs": 1, "age": 2}),
        ("ward=x=y=3, (intercept)=1", {"ward = x=y": 3, "(intercept)": 1}),
        ("ward = burns=1", {"ward = burns": 1}),
    ],
)
def test_names_hold_commas_and_signs_of_equality(text, terms):
    assert parse_contrasts([f"sum: {text}"], NAMES) == {"sum": terms}


def test_names_that_begin_alike():
    names = ["age", "age, squared", "age=1", "age =1"]
    assert parse_contrasts(["s: age, squared=1, age=2"], names)["s"] == {
        "age, squared": 1,
        "age": 2,
    }
    assert parse_contrasts(["s: age=1=2"], names)["s"] == {"age=1": 2}
    with pytest.raises(CommandError, match="no coefficient is called 'age = 1'"):
        parse_contrasts(["s: age = 1=2"], names)


@pytest.mark.parametrize("option", ["--reference=ward=burns", "--ratios", "--contrast=a:age=1"])
@pytest.mark.parametrize("command", ["fit", "predict"])
def test_other_commands_know_where_it_is(capsys, command, option):
    with pytest.raises(SystemExit):
        main([command, "people.csv", option])
    assert "privlearn summary MODEL" in capsys.readouterr().err
