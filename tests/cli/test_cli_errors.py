"""Every mistake along the way gets a sentence that says what to do, and the right exit status."""

import json

import pytest

from privlearn.cli import main

ROWS = "age,sex,wage\n30,male,900\n41,female,700\n52,male,800\n"
FACTS = ["--bounds", "age=17:90", "--categories", "sex=male,female", "--bounds-y", "0:2000"]
FIT = ["fit", "people.csv", "--target", "wage", "--epsilon", "1", *FACTS]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(ROWS)
    return tmp_path


@pytest.fixture
def complaint(capsys):
    """Run a command that must fail, and return what it said."""

    def run(*line, status=1):
        found = main([*line])
        seen = capsys.readouterr()
        assert found == status, seen.err
        assert seen.err.startswith("privlearn: ")
        assert "Traceback" not in seen.err
        return seen.err

    return run


@pytest.fixture
def misuse(capsys):
    """Run a command that argparse must refuse, and return what it said."""

    def run(*line):
        with pytest.raises(SystemExit) as stopped:
            main([*line])
        assert stopped.value.code == 2
        return capsys.readouterr().err

    return run


def fit_file(text, *more, name="other.csv"):
    from pathlib import Path

    Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return ["fit", name, *FIT[2:], *more]


# Files


def test_missing_file(complaint):
    text = complaint("fit", "absent.csv", *FIT[2:])
    assert "there is no file absent.csv" in text


def test_folder_instead_of_a_file(complaint, folder):
    (folder / "sub").mkdir()
    assert "is a folder" in complaint("fit", "sub", *FIT[2:])


def test_empty_file(complaint):
    assert "is empty; its first line must name the columns" in complaint(*fit_file(""))


def test_header_only(complaint):
    assert "has no rows" in complaint(*fit_file("age,sex,wage\n"))


def test_ragged_file(complaint):
    text = complaint(*fit_file(ROWS + "30,male\n"))
    assert "more or fewer cells than its header, which has 3" in text
    before, _, after = text.partition("if only a few lines are so, add --on-invalid drop")
    assert "look first whether separator and quotes are right" in before
    assert after


def test_columns_separated_otherwise(complaint):
    line = fit_file(ROWS.replace(",", ";"), "--separator", ",")
    assert "--separator ';'" in complaint(*line)


def test_not_text(complaint):
    assert "UTF-8" in complaint(*fit_file(b"age,sex,wage\n\xff\xfe\x00,male,3\n"))


def test_open_quote(complaint):
    assert "quoting" in complaint(*fit_file(ROWS + '30,"male,900\n'))


def test_two_columns_of_one_name(complaint):
    text = complaint(*fit_file("age,age,wage\n1,2,3\n"))
    assert "columns 1 and 2 of other.csv have the same name; rename" in text
    assert "age" not in text


def test_broken_parquet(complaint):
    text = complaint(*fit_file("no parquet at all", name="x.parquet"))
    assert "cannot be read as Parquet" in text


def test_parquet_without_a_package_names_one(complaint, monkeypatch):
    import sys

    for package in ("polars", "pyarrow", "pandas"):
        monkeypatch.setitem(sys.modules, package, None)
    assert "pip install polars" in complaint(*fit_file("x", name="x.parquet"))


# Columns and facts


def test_target_not_given(complaint):
    assert "Add --target COLUMN" in complaint("fit", "people.csv", "--epsilon", "1")


def test_unknown_target(complaint):
    line = ["fit", "people.csv", "--target", "wages", "--epsilon", "1"]
    assert "no column 'wages' to predict; did you mean 'wage'?" in complaint(*line)


def test_unknown_column(complaint):
    text = complaint(*FIT, "--columns", "age,height")
    assert "no column 'height'; there are: age, sex, wage" in text


def test_target_among_columns(complaint):
    assert "leave it out of --columns" in complaint(*FIT, "--columns", "age,wage")


def test_facts_about_a_column_that_is_not_there(complaint):
    assert "did you mean 'age'?" in complaint(*FIT, "--bounds", "agee=0:1")


def test_without_delta_all_missing_facts_at_once(complaint):
    text = complaint("fit", "people.csv", "--target", "wage", "--epsilon", "1", "--delta", "0")
    assert "--delta 0 leaves no way to estimate ranges privately" in text
    assert "add --delta 1e-6, or declare" in text
    assert "--bounds age=LOW:HIGH   or, if it holds text, --categories age=A,B,..." in text
    assert "--bounds sex=LOW:HIGH" in text
    assert "--bounds-y LOW:HIGH   (the range of wage)" in text


def test_missing_facts_are_told_without_looking_at_a_row(complaint):
    """The second line would be an error of its own, had it been read."""
    line = fit_file("age,height,wage\n1,2,3,4,5\n")
    text = complaint(*line[:6], "--bounds", "age=0:99", "--delta", "0")
    assert "--bounds height=LOW:HIGH" in text
    assert "--bounds age" not in text


def test_text_in_a_column_of_numbers(complaint):
    line = [*FIT[:-4], "--bounds", "sex=0:1", "--bounds-y", "0:2000"]
    text = complaint(*line)
    assert "sex: a cell is empty or no number (if it holds text: --categories sex=A,B,...)" in text
    assert "leave the column out with --ignore sex" in text


def test_text_cannot_be_estimated(complaint):
    """The columns of numbers need nothing, and the one of text a list."""
    text = complaint("fit", "people.csv", "--target", "wage", "--epsilon", "1")
    assert "sex: a cell is empty or no number (if it holds text: --categories sex=A,B,...)" in text
    assert "add --schema estimate to have it found out privately" in text.splitlines()[0]
    assert "leave the column out with --ignore sex" in text
    assert text.index("--ignore sex") < text.index("--on-invalid drop")
    assert "the budget is spent on nothing" in text.splitlines()[-1]
    assert "--bounds" not in text
    assert "age:" not in text


def test_unlisted_category(complaint):
    text = complaint(*fit_file(ROWS + "30,secretive,900\n"))
    assert "sex: a cell is empty or holds none of its --categories" in text
    assert "secretive" not in text
    assert 'missing = "flag" or "fill" would take all of them for gaps' in text


def test_unusable_target(complaint):
    text = complaint(*fit_file(ROWS + "30,male,unknown\n"))
    assert "wage: a cell of the target is empty or no number" in text


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--bounds age=17", "'17' is no range; write two numbers LOW:HIGH"),
        ("--bounds age=a:b", "'a:b' is no range"),
        ("--bounds age=90:17", "the lower one first"),
        ("--bounds age=0:inf", "two finite numbers"),
        ("--bounds 17:90", "names no column; write --bounds COLUMN=LOW:HIGH"),
        ("--bounds age=1:2", "--bounds was given twice for column 'age'"),
        ("--bounds sex=0:1", "bounds and categories; give bounds to numbers"),
        ("--categories sex", "names no column; write --categories COLUMN=A,B,C"),
        ("--categories city=here", "two or more different values"),
        ("--categories city=here,here", "two or more different values"),
        ("--bounds-y 5:5", "the lower one first"),
        ("--classes yes", "two or more different classes"),
    ],
)
def test_bad_syntax_of_facts(complaint, option, words):
    assert words in complaint(*FIT, *option.split())


def test_range_below_zero_needs_no_equals_sign(complaint):
    assert "the lower one first" in complaint(*FIT, "--bounds-y", "-5:-7")


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ("bounds = [", "is not valid TOML"),
        ("limits = 3", "entry 'limits', which is unknown; there are: target"),
        ("bounds = 3", "bounds in schema.toml is no table"),
        ("[bounds]\nage = [1]", "the bounds of 'age' in schema.toml are no pair of numbers"),
        ("[bounds]\nage = [9, 1]", "the lower one first"),
        ('[categories]\nsex = "male"', "'sex' in schema.toml is no list"),
        ('data_norm = "long"', "data_norm in schema.toml is no number"),
    ],
)
def test_bad_facts_files(complaint, folder, toml, words):
    (folder / "schema.toml").write_text(toml)
    assert words in complaint(*FIT, "--schema", "schema.toml")


def test_absent_facts_file(complaint):
    assert "schema file nowhere.toml cannot be read" in complaint(*FIT, "--schema", "nowhere.toml")


# Budget, model and outputs


def test_delta_zero(complaint):
    wrong = complaint(*FIT, "--delta", "0", "--solver", "sgd")
    assert "delta=0, but Gaussian noise needs delta > 0" in wrong
    assert "solver='one-pass'" in wrong


def test_unknown_solver(complaint):
    assert "solver='magic' is unknown; choose" in complaint(*FIT, "--solver", "magic")


def test_option_of_another_model(complaint):
    wrong = complaint(*FIT, "--model", "lasso", "--l1-ratio", "1")
    assert "--l1-ratio belongs to --model elastic-net, not to --model lasso" in wrong
    wrong = complaint(*FIT, "--C", "1")
    owners = "--model logistic and --model svc and --model kernel-classifier"
    assert f"--C belongs to {owners}, not to --model linear" in wrong
    wrong = complaint(*FIT, "--model", "lasso", "--loss", "hinge")
    assert "--loss belongs to --model svc, not to --model lasso" in wrong


def test_labels_for_a_number_and_a_range_for_labels(complaint):
    assert "--classes are labels" in complaint(*FIT, "--classes", "no,yes")
    for model in ("logistic", "svc"):
        assert f"--bounds-y is for numbers; with --model {model}" in complaint(
            *FIT, "--model", model
        )


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--epsilon one", "'one' is no number"),
        ("--epsilon 0", "0 is not above 0"),
        ("--epsilon nan", "nan is not"),
        ("--epsilon 1e-300", "give an epsilon between"),
        ("--epsilon 1e300", "give an epsilon between"),
        ("--delta 1e-320", "give 1e-100 or more, or 0"),
        ("--separator ;;", "not one character"),
        ("--adjacency friends", "invalid choice: 'friends'"),
        ("--model cubic", "invalid choice: 'cubic'"),
        ("--bound age=1:2", "unrecognized arguments: --bound"),
    ],
)
def test_bad_options(misuse, option, words):
    assert words in misuse(*FIT, *option.split())


def test_epsilon_is_asked_for(misuse):
    assert "--epsilon" in misuse("fit", "people.csv", "--target", "wage")


def test_a_model_is_not_replaced_unasked(complaint, folder):
    (folder / "model.json").write_text("precious")
    assert "add --overwrite" in complaint(*FIT)
    assert (folder / "model.json").read_text() == "precious"
    assert main([*FIT, "--overwrite"]) == 0
    assert json.loads((folder / "model.json").read_text())["target"] == "wage"


def test_output_folder_that_is_not_there(complaint):
    assert "the folder of no/model.json does not exist" in complaint(*FIT, "-o", "no/model.json")


def test_predict_without_a_place_to_write(complaint):
    assert "go together" in complaint(*FIT, "--predict", "people.csv")


def test_bad_rows_to_predict_are_found_before_anything_is_spent(complaint, folder):
    (folder / "new.csv").write_text("age\n30\n")
    line = [*FIT, "--predict", "new.csv", "--predictions", "out.csv"]
    assert "new.csv lacks column 'sex', which the model needs" in complaint(*line)
    assert not (folder / "model.json").exists()


# Predict


@pytest.fixture
def model(folder):
    assert main(FIT) == 0
    return folder / "model.json"


def test_absent_model(complaint):
    assert "the model gone.json cannot be read" in complaint("predict", "gone.json", "people.csv")


def test_model_that_is_no_json(complaint):
    assert "is no model file (it is not JSON)" in complaint("predict", "people.csv", "people.csv")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda content: content.pop("format"), "is JSON, but no model file"),
        (lambda content: content.update(format="privlearn model 9"), "update privlearn"),
        (lambda content: content.pop("columns"), "is incomplete or damaged"),
        (lambda content: content.update(intercept=None), "is incomplete or damaged"),
        (lambda content: content.update(classes=""), "is incomplete or damaged"),
        (lambda content: content["columns"][0].pop("coefficient"), "is incomplete or damaged"),
        (lambda content: content["columns"][0].update(coefficient=float("nan")), "damaged"),
        (lambda content: content["columns"][0].update(coefficient=[1.0, 2.0]), "damaged"),
        (lambda content: content.update(intercept=[1.0, 2.0]), "damaged"),
        (lambda content: content.update(classes=["no", "yes"]), "damaged"),
        (lambda content: content.update(classes=["no", "no"], model="logistic"), "damaged"),
        (lambda content: content.update(classes=["a", "b", "c"], model="svc"), "damaged"),
        (lambda content: content.update(model="logistic"), "damaged"),
        (lambda content: content.update(model="unknown"), "damaged"),
        (lambda content: content.update(format="privlearn model 2"), "damaged"),
    ],
)
def test_damaged_models(complaint, model, change, words):
    content = json.loads(model.read_text())
    change(content)
    model.write_text(json.dumps(content))
    assert words in complaint("predict", "model.json", "people.csv")


def test_prediction_columns_are_checked(complaint, model, folder):
    (folder / "new.csv").write_text("Age,height\n30,180\n")
    text = complaint("predict", "model.json", "new.csv")
    assert "new.csv lacks columns 'age', 'sex', which the model needs; did you mean 'Age'?" in text


@pytest.mark.parametrize("row", ["secret,male", "30"])
def test_remedies_are_those_of_the_command(complaint, folder, row):
    (folder / "new.csv").write_text(f"age,sex\n{row}\n")
    line = [*FIT, "--predict", "new.csv", "--predictions", "out.csv"]
    assert "--on-invalid drop" in complaint(*line)
    assert main([*line, "--on-invalid", "drop"]) == 0
    assert "--on-invalid blank" in complaint("predict", "model.json", "new.csv")
    assert main(["predict", "model.json", "new.csv", "--on-invalid", "blank"]) == 0


def test_unusable_rows_to_predict(complaint, model, folder):
    (folder / "new.csv").write_text("age,sex\nsecret,male\n")
    text = complaint("predict", "model.json", "new.csv")
    assert "rows that cannot be predicted: column 'age'" in text
    assert "--on-invalid blank" in text
    assert "secret" not in text


# Tracebacks


def test_traceback_on_demand():
    with pytest.raises(Exception, match="there is no file"):
        main(["fit", "absent.csv", *FIT[2:], "--traceback"])
    with pytest.raises(Exception, match="there is no file"):
        main(["--traceback", "fit", "absent.csv", *FIT[2:]])


def test_surprises_do_not_quote_their_text(complaint, monkeypatch):
    def surprise(*_, **__):
        raise RuntimeError("row 3 holds 900")

    monkeypatch.setattr("privlearn.cli.fit.build", surprise)
    text = complaint(*FIT)
    assert "unexpected RuntimeError; add --traceback" in text
    assert "900" not in text
