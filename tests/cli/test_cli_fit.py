"""From a file to a model and predictions, through the command."""

import csv
import json
import re
import subprocess
import sys

import numpy as np
import pytest

from privlearn._core.releaser import Releaser, use_releaser
from privlearn.cli import main
from support import NoNoise

FACTS = ["--bounds", "age=17:90", "--bounds", "hours=0:99", "--categories", "sex=male,female"]
FIT = ["--target", "wage", "--bounds-y", "0:2000", "--epsilon", "1", *FACTS]
MOMENTS = ["--solver", "moments"]  # the number of rows, dropped ones included, plays no part


class Exact(NoNoise):
    """No noise, but the certificate that the command writes down."""

    certificate = Releaser.certificate


def exactly():
    return use_releaser(Exact)


def people(n=3_000, seed=0):
    """Rows whose wage is a known linear function."""
    rng = np.random.default_rng(seed)
    age, hours = rng.integers(17, 91, n), rng.integers(0, 100, n)
    male = rng.integers(0, 2, n)
    wage = 100 + 5 * age + 12 * hours + 80 * male
    words = np.where(male, "male", "female")
    return [dict(zip(NAMES, row, strict=True)) for row in zip(age, hours, words, wage, strict=True)]


NAMES = ("age", "hours", "sex", "wage")


def write_csv(path, rows, separator=","):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=separator)
        writer.writeheader()
        writer.writerows(rows)
    return path


def read_csv(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "people.csv", people())
    write_csv(tmp_path / "others.csv", [{k: r[k] for k in NAMES[:3]} for r in people(50, seed=1)])
    return tmp_path


def coefficients(path):
    content = json.loads(path.read_text())
    found = {"intercept": content["intercept"]}
    for column in content["columns"]:
        if "categories" in column:
            found |= {f"{column['name']}={k}": v for k, v in column["categories"].items()}
        else:
            found[column["name"]] = column["coefficient"]
    return found


# Right numbers


def test_coefficients_are_in_the_units_of_the_file(folder):
    with exactly():
        assert main(["fit", "people.csv", *FIT]) == 0
    found = coefficients(folder / "model.json")
    assert found["age"] == pytest.approx(5, rel=1e-4)
    assert found["hours"] == pytest.approx(12, rel=1e-4)
    assert found["sex=male"] - found["sex=female"] == pytest.approx(80, rel=1e-3)


def test_one_line_from_csv_to_predictions(folder):
    line = [*FIT, "--predict", "others.csv", "--predictions", "out.csv"]
    with exactly():
        assert main(["fit", "people.csv", *line]) == 0
    found = [float(row["predicted_wage"]) for row in read_csv(folder / "out.csv")]
    np.testing.assert_allclose(found, [row["wage"] for row in people(50, seed=1)], rtol=1e-4)


def test_predict_repeats_what_fit_predicted(folder, capsys):
    line = [*FIT, "--predict", "others.csv", "--predictions", "out.csv"]
    assert main(["fit", "people.csv", *line]) == 0
    assert main(["predict", "model.json", "others.csv", "-o", "again.csv"]) == 0
    assert (folder / "again.csv").read_text() == (folder / "out.csv").read_text()
    capsys.readouterr()
    assert main(["predict", "model.json", "others.csv"]) == 0
    assert capsys.readouterr().out == (folder / "out.csv").read_text()


def test_predictions_find_columns_by_name_and_ignore_others(folder):
    assert main(["fit", "people.csv", *FIT]) == 0
    assert main(["predict", "model.json", "others.csv", "-o", "out.csv"]) == 0
    turned = [{"id": 7, **dict(reversed(row.items()))} for row in read_csv(folder / "others.csv")]
    write_csv(folder / "turned.csv", turned)
    assert main(["predict", "model.json", "turned.csv", "-o", "turned-out.csv"]) == 0
    assert (folder / "turned-out.csv").read_text() == (folder / "out.csv").read_text()


def test_values_outside_their_bounds_are_clipped(folder):
    """Wages are linear in the clipped age, so a model that did not clip would be far off."""
    rows = people()
    for row in rows[::2]:
        row["age"] = 10_000 if row["age"] > 50 else row["age"]
        row["wage"] = (
            100 + 5 * min(row["age"], 90) + 12 * row["hours"] + 80 * (row["sex"] == "male")
        )
    write_csv(folder / "wild.csv", rows)
    with exactly():
        assert main(["fit", "wild.csv", *FIT]) == 0
    assert coefficients(folder / "model.json")["age"] == pytest.approx(5, rel=1e-3)


def test_noise_is_there(folder):
    outputs = set()
    for name in ("a.json", "b.json"):
        assert main(["fit", "people.csv", *FIT, "-o", name]) == 0
        outputs.add(coefficients(folder / name)["age"])
    assert len(outputs) == 2


def test_one_list_counts_once_in_the_row_norm(folder):
    """A row holds one category of a list, so ten categories must not cost ten columns."""
    many = "sex=male,female," + ",".join(f"other{k}" for k in range(40))
    assert main(["fit", "people.csv", *FIT[:-1], many, *MOMENTS]) == 0
    (release,) = json.loads((folder / "model.json").read_text())["certificate"]["releases"]
    assert release["clip"] < 6


def test_data_norm_replaces_bounds(folder):
    line = ["--target", "wage", "--bounds-y", "0:2000", "--epsilon", "1"]
    line += ["--columns", "age,hours", "--data-norm", "140", "--solver", "cd"]
    with exactly():
        assert main(["fit", "people.csv", *line]) == 0
    assert coefficients(folder / "model.json")["hours"] == pytest.approx(12, rel=0.02)
    content = json.loads((folder / "model.json").read_text())
    assert content["columns"][0].keys() == {"name", "coefficient"}


def test_ridge_shrinks(folder):
    with exactly():
        assert main(["fit", "people.csv", *FIT, "--model", "ridge", "--alpha", "1e10"]) == 0
    assert abs(coefficients(folder / "model.json")["age"]) < 0.5


def test_lasso_keeps_what_matters_and_elastic_net_shares(folder):
    line = ["fit", "people.csv", *FIT, "--alpha", "60"]
    with exactly():
        assert main([*line, "--model", "lasso", "-o", "lasso.json"]) == 0
        assert main([*line, "--model", "elastic-net", "--l1-ratio", "1", "-o", "net.json"]) == 0
        assert main([*line, "--model", "elastic-net", "--l1-ratio", "0", "-o", "ridge.json"]) == 0
    lasso = coefficients(folder / "lasso.json")
    assert 0.0 in lasso.values()
    assert any(lasso.values())
    assert coefficients(folder / "net.json") == lasso
    assert all(coefficients(folder / "ridge.json").values())


# Kinds of input


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_parquet_gives_the_same_model_as_csv(folder, library):
    frames = pytest.importorskip(library)
    rows = people()
    frame = frames.DataFrame({name: [row[name] for row in rows] for name in NAMES})
    try:
        (frame.write_parquet if library == "polars" else frame.to_parquet)("people.parquet")
    except ImportError:
        pytest.skip(f"{library} cannot write Parquet here")
    with exactly():
        assert main(["fit", "people.csv", *FIT, "-o", "csv.json"]) == 0
        assert main(["fit", "people.parquet", *FIT, "-o", "parquet.json"]) == 0
    assert coefficients(folder / "parquet.json") == coefficients(folder / "csv.json")


def test_gaps_in_parquet_are_unusable_rows(folder, capsys):
    polars = pytest.importorskip("polars")
    rows = [*people(), *({"age": a, "hours": 40, "sex": s, "wage": 9000} for a, s in GAPS)]
    columns = {name: [row[name] for row in rows] for name in NAMES}
    polars.DataFrame(columns).write_parquet("gaps.parquet")
    assert main(["fit", "gaps.parquet", *FIT]) == 1
    assert "  age: " in (text := capsys.readouterr().err)
    assert "  sex: " in text
    with exactly():
        line = [*FIT, *MOMENTS]
        assert main(["fit", "people.csv", *line, "-o", "clean.json"]) == 0
        assert main(["fit", "gaps.parquet", *line, "-o", "gaps.json", "--on-invalid", "drop"]) == 0
    found = coefficients(folder / "gaps.json")
    assert found == pytest.approx(coefficients(folder / "clean.json"), rel=1e-9)


GAPS = [(None, "male"), (40, None), (40, "unlisted")]


@pytest.mark.parametrize(("separator", "word"), [(";", ";"), ("\t", "tab")])
def test_other_separators(folder, separator, word):
    write_csv(folder / "semi.csv", people(), separator=separator)
    with exactly():
        assert main(["fit", "semi.csv", *FIT, "--separator", word]) == 0
    assert coefficients(folder / "model.json")["age"] == pytest.approx(5, rel=1e-4)


def test_byte_order_mark_and_blank_lines(folder, capsys):
    """A blank line is a row without content: whether there is one must not change n unseen."""
    text = (folder / "people.csv").read_text()
    (folder / "excel.csv").write_bytes(b"\xef\xbb\xbf" + text.encode() + b"\r\n\r\n")
    assert main(["fit", "excel.csv", *FIT]) == 1
    assert "a blank line; delete it; or add --on-invalid drop" in capsys.readouterr().err
    with exactly():
        assert main(["fit", "excel.csv", *FIT, *MOMENTS, "--on-invalid", "drop"]) == 0
    assert coefficients(folder / "model.json")["age"] == pytest.approx(5, rel=1e-4)


def test_dropped_rows_add_nothing(folder):
    """Missing, wordy, unlisted, infinite and broken lines: with drop, as if they were not there."""
    lines = (folder / "people.csv").read_text().splitlines()
    bad = [",40,male,9000", "many,40,male,9000", "40,40,unlisted,9000", "40,40,male,", "40,40"]
    bad += ["40,inf,male,9000", "40,40,male,9000,extra"]
    (folder / "bad.csv").write_text("\n".join([*lines, *bad]))
    with exactly():
        line = [*FIT, *MOMENTS]
        assert main(["fit", "people.csv", *line, "-o", "clean.json"]) == 0
        assert main(["fit", "bad.csv", *line, "-o", "bad.json", "--on-invalid", "drop"]) == 0
    clean, found = coefficients(folder / "clean.json"), coefficients(folder / "bad.json")
    assert found == pytest.approx(clean, rel=1e-9)


def test_broken_lines_are_no_rows_of_zeros(folder):
    text = (folder / "people.csv").read_text()
    (folder / "bad.csv").write_text(text + "40\n" * 500)
    with exactly():
        for name in ("people", "bad"):
            line = ["fit", f"{name}.csv", *FIT, "--columns", "age,hours", "-o", f"{name}.json"]
            assert main([*line, *MOMENTS, "--on-invalid", "drop"]) == 0
    found = coefficients(folder / "bad.json")
    assert found == pytest.approx(coefficients(folder / "people.json"), rel=1e-9)


def test_predictions_of_unusable_rows_stay_blank(folder):
    assert main(["fit", "people.csv", *FIT]) == 0
    (folder / "gaps.csv").write_text("age,hours,sex\n30,40,male\n,40,male\n30,40,unlisted\n30\n")
    line = ["predict", "model.json", "gaps.csv", "-o", "out.csv", "--on-invalid", "blank"]
    assert main(line) == 0
    found = [row.split(",")[0] for row in (folder / "out.csv").read_text().splitlines()]
    assert [bool(cell.strip('"')) for cell in found] == [True, True, False, False, False]


# Facts in a file


TOML = """
target = "wage"
columns = ["age", "hours", "sex"]
[bounds]
wage = [0, 2000]
age = [17, 90]
hours = [0, 99]
[categories]
sex = ["male", "female"]
"""


def test_facts_file_says_the_same_as_options(folder):
    (folder / "schema.toml").write_text(TOML)
    with exactly():
        assert main(["fit", "people.csv", *FIT, "-o", "options.json"]) == 0
        line = ["fit", "people.csv", "--schema", "schema.toml", "--epsilon", "1", "-o", "file.json"]
        assert main(line) == 0
    assert (folder / "file.json").read_text() == (folder / "options.json").read_text()


def test_options_overrule_the_facts_file(folder):
    (folder / "schema.toml").write_text(TOML)
    line = ["fit", "people.csv", "--schema", "schema.toml", "--epsilon", "1"]
    assert main([*line, "--bounds", "age=0:150", "--columns", "age"]) == 0
    (column,) = json.loads((folder / "model.json").read_text())["columns"]
    assert column["bounds"] == [0, 150]


def test_template_holds_names_and_nothing_else(folder, capsys):
    (folder / "two.csv").write_text('age,"hours a week",wage\n37,41,977\n')
    assert main(["plan", "--template", "two.csv", "--target", "wage"]) == 0
    text = capsys.readouterr().out
    assert not any(cell in text for cell in ("37", "41", "977"))
    filled = text.replace("= []", "= [0, 2000]").replace("two.csv", "people.csv")
    (folder / "schema.toml").write_text(filled)
    assert main(["fit", "two.csv", "--schema", "schema.toml", "--epsilon", "1"]) == 0


# What is said and written


def test_report_and_file_tell_the_certificate(folder, capsys):
    assert main(["fit", "people.csv", *FIT, "--delta", "1e-7"]) == 0
    out = capsys.readouterr().out
    assert "promised    epsilon = 1, delta = 1e-07" in out
    assert "model saved to model.json" in out
    content = json.loads((folder / "model.json").read_text())
    assert content["format"] == "privlearn model 2"  # which clips
    assert content["certificate"]["delta"] == 1e-7
    assert content["certificate"]["private"] is True


def test_releases_are_one_line_unless_they_are_asked_for(folder, capsys):
    assert main(["fit", "people.csv", *FIT]) == 0
    (line,) = [one for one in capsys.readouterr().out.splitlines() if "  release " in one]
    kinds = json.loads((folder / "model.json").read_text())["certificate"]["releases"]
    assert f"{len(kinds)} kind" in line
    assert "--verbose shows them" in line
    assert main(["fit", "people.csv", *FIT, "--verbose", "-o", "again.json"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len([one for one in lines if "  release " in one]) == len(kinds)


@pytest.mark.parametrize("bad", [False, True])
def test_nothing_tells_the_number_of_rows_where_it_is_private(folder, capsys, bad):
    rows = people(1_234)
    if bad:
        rows[-1]["age"] = "unknown"
    write_csv(folder / "some.csv", rows)
    assert main(["fit", "some.csv", *FIT, "--adjacency", "add_remove"]) == int(bad)
    seen = capsys.readouterr()
    told = seen.out + seen.err + ("" if bad else (folder / "model.json").read_text())
    assert not re.search(r"(?<![\d.])1,?23[3-5](?![\d.])", told)  # not a part of another number


def test_no_rows_are_no_error_where_their_number_is_private(folder):
    (folder / "none.csv").write_text("age,hours,sex,wage\n")
    assert main(["fit", "none.csv", *FIT, "--adjacency", "add_remove"]) == 0


def test_a_model_that_cannot_be_saved_is_printed(folder, capsys, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("privlearn.cli.outputs.Output.write", full)
    assert main(["fit", "people.csv", *FIT]) == 1
    seen = capsys.readouterr()
    assert "No space left on device" in seen.err
    assert "privacy is spent" in seen.err
    assert json.loads(seen.out)["target"] == "wage"


def test_a_subprocess_does_the_same(folder):
    line = [sys.executable, "-m", "privlearn", "fit", "people.csv", *FIT, "-o", "sub.json"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert coefficients(folder / "sub.json").keys() == {
        "intercept", "age", "hours", "sex=male", "sex=female",
    }  # fmt: skip


def test_coefficients_of_a_list_add_up_to_nothing(folder):
    """A constant could be theirs or the intercept's: noise would decide which."""
    found = []
    for name in ("one.json", "two.json"):
        assert main(["fit", "people.csv", *FIT, "-o", name]) == 0
        values = coefficients(folder / name)
        assert values["sex=male"] + values["sex=female"] == pytest.approx(0, abs=1e-6)
        assert values["sex=male"] == pytest.approx(40, abs=15)
        found.append(json.loads((folder / name).read_text())["intercept"])
    assert found[0] == pytest.approx(found[1], abs=60)
