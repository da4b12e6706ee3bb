"""A schema file in the words of `privlearn.schema`, from file to predictions."""

import csv
import json

import numpy as np
import pandas as pd
import pytest

import privlearn
from privlearn.cli import main
from privlearn.cli.model_file import KINDS, read_model

SCHEMA = """
target = "wage"

[bounds]
wage = [0, 2000]

[schema]
age = { kind = "number", low = 20, high = 70, missing = "flag" }
bonus = { kind = "number", low = 0, high = 3000, missing = "fill", thousands = ",", currency = "$" }
sex = { kind = "category", values = ["F", "M"], missing = "flag" }
here = { kind = "flag" }
since = { kind = "date", first = 2000-01-01, last = "2020-01-01", missing = "drop" }
name = { kind = "ignore" }
"""
HEADER = ["age", "bonus", "sex", "here", "since", "name", "wage"]


def people(n=3_000):
    rng = np.random.default_rng(0)
    for k in range(n):
        age, bonus, sex, here = rng.integers(20, 71), rng.integers(0, 3000), k % 2, k % 3 == 0
        wage = 10 * age + 100 * sex + 0.1 * bonus + 50 * here
        gap = k % 50
        yield [
            "" if gap == 1 else age,
            "none" if gap == 2 else f"${bonus:,}",
            "?" if gap == 3 else "FM"[sex],
            "yes" if here else "no",
            "" if gap == 4 else f"20{rng.integers(0, 20):02}-05-17",
            f"person {k}",
            f"{wage:.1f}",
        ]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with open("people.csv", "w", newline="") as file:
        csv.writer(file).writerows([HEADER, *people()])
    (tmp_path / "schema.toml").write_text(SCHEMA)
    return tmp_path


FIT = ["fit", "people.csv", "--schema", "schema.toml", "--epsilon", "50"]


def test_from_file_to_predictions(folder, capsys):
    assert main([*FIT, "-o", "model.json"]) == 0
    text = capsys.readouterr().out
    assert "age is missing" in text
    assert "sex is missing" in text
    assert "person 1" not in text
    assert json.loads((folder / "model.json").read_text())["format"] == KINDS
    model = read_model("model.json")
    effects = {name: float(values[0]) for name, values in model.effects()}
    assert effects["age"] == pytest.approx(10, rel=0.1)
    assert effects["sex = M"] - effects["sex = F"] == pytest.approx(100, rel=0.2)
    assert effects["here"] == pytest.approx(50, rel=0.3)
    (folder / "new.csv").write_text(
        'age,bonus,sex,here,since\n40,"$1,000",M,yes,2010-01-01\n,,?,no,2010-01-01\n40,1,F,no,\n'
    )
    assert main(["predict", "model.json", "new.csv", "-o", "out.csv"]) == 1
    assert "'since'" in capsys.readouterr().err  # what is dropped when it learns is not predicted
    assert main(["predict", "model.json", "new.csv", "-o", "out.csv", "--on-invalid", "blank"]) == 0
    with (folder / "out.csv").open(newline="") as file:
        _, (first,), (second,), (third,) = csv.reader(file)
    assert float(first) == pytest.approx(650, abs=40)
    assert np.isfinite(float(second))
    assert third == ""


def test_the_file_and_the_estimator_agree(folder):
    """The command line is the estimator: the same cells, the same model."""
    pd = pytest.importorskip("pandas")
    from privlearn.cli.schema import read_facts
    from privlearn.linear_model import LinearRegression

    assert main([*FIT, "-o", "model.json"]) == 0
    saved = read_model("model.json")
    frame = pd.read_csv("people.csv", dtype=str, keep_default_na=False)
    kinds = read_facts("schema.toml").kinds
    del kinds["wage"]
    known = {"schema": kinds, "epsilon": 50.0, "bounds_y": (0, 2000)}
    model = LinearRegression(**known).fit(frame, "wage")
    assert [name for name, _ in saved.effects()][:-1] == model.feature_names_out_.tolist()
    assert saved.certificate["releases"] == model.privacy_.to_dict()["releases"]
    encoding = model._encoding
    rows = encoding.encode({n: frame[n].to_numpy(object) for n in encoding.names}, len(frame))
    rows = rows[np.isfinite(rows).all(axis=1)]
    differ = saved.estimator().predict(rows) - model.predict(
        frame[frame["since"] != ""].reset_index(drop=True)
    )
    assert np.abs(differ).max() < 60  # two fits, each with its noise


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("age = 5", "'age' in [schema] of schema.toml is no table; write for example"),
        ('age = { kind = "numeric" }', "there are: number, flag, category, date, estimate, ignore"),
        ('age = { kind = "number", low = 5 }', "one end only"),
        ('age = { kind = "number", values = [1] }', "a number has no 'values'"),
        ('age = { kind = "category", hashed = 1 }', "hashed=1"),
        ('age = { kind = "flag", missing = "mean" }', "missing='mean'"),
        ('agee = { kind = "flag" }', "the schema has 'agee', but people.csv has no such column"),
        ('wage = { kind = "flag" }', "'wage' is the target"),
    ],
)
def test_entries_that_cannot_be_used(folder, capsys, entry, said):
    (folder / "schema.toml").write_text(f'target = "wage"\n[schema]\n{entry}\n')
    assert main(FIT) == 1
    assert said in capsys.readouterr().err


def test_the_command_line_overrules_the_file(folder, capsys):
    line = ["plan", "--schema", "schema.toml", "--epsilon", "1", "--rows", "3000"]
    assert main([*line, "--bounds", "bonus=0:10", "--columns", "bonus"]) == 0
    (powers,) = [
        line for line in capsys.readouterr().out.splitlines() if "powers of two of the feat" in line
    ]
    assert "257 numbers, clip 1 " in powers  # one column, and no other
    (folder / "schema.toml").write_text(SCHEMA + '[categories]\nage = ["a", "b"]\n')
    assert main(line) == 1
    assert "is in [schema] and in [bounds] or [categories]" in capsys.readouterr().err
    (folder / "schema.toml").write_text(SCHEMA)
    assert main([*FIT, "--columns", "name"]) == 1
    assert "'name' is ignored by the schema" in capsys.readouterr().err


def test_dates_of_parquet_files(folder, capsys):
    pl = pytest.importorskip("polars")
    days = [f"2010-01-{day:02}" for day in range(1, 29)] * 40
    frame = pl.DataFrame({"day": days, "wage": [float(d[-2:]) for d in days]})
    frame.with_columns(pl.col("day").str.to_date()).write_parquet("days.parquet")
    schema = 'target = "wage"\n[bounds]\nwage = [0, 40]\n[schema]\n'
    (folder / "days.toml").write_text(
        schema + 'day = { kind = "date", first = "2010-01-01", last = "2010-02-01" }\n'
    )
    line = ["fit", "days.parquet", "--epsilon", "50", "--target", "wage"]
    assert main([*line, "--schema", "days.toml", "-o", "days.json"]) == 0
    (name, values), _ = read_model("days.json").effects()
    assert name == "day"
    assert float(values[0]) == pytest.approx(1.0, abs=0.2)
    assert main([*line, "--bounds-y", "0:40", "-o", "more.json"]) == 1
    assert "is of type Date, which is neither a number nor text" in capsys.readouterr().err


def test_odd_values_are_spelled_out_on_a_terminal(folder, capsys):
    odd = ["\\u001b[31mred", "<script>x</script>", "=1+1", 'quote\\"d']
    (folder / "odd.toml").write_text(
        'target = "wage"\ncolumns = ["sex"]\n[bounds]\nwage = [0, 2000]\n[categories]\n'
        f'sex = ["F", "M", {", ".join(chr(34) + value + chr(34) for value in odd)}]\n'
    )
    line = ["fit", "people.csv", "--schema", "odd.toml", "--epsilon", "5", "--on-invalid", "drop"]
    assert main([*line, "-o", "odd.json"]) == 0
    out = capsys.readouterr()
    assert "\x1b" not in out.out + out.err
    assert "sex = \\x1b[31mred" in out.out
    assert [c.kind.values[2] for c in read_model("odd.json").columns] == ["\x1b[31mred"]


def test_nothing_is_declared_but_the_target(folder, capsys):
    line = ["fit", "people.csv", "--target", "wage", "--schema", "estimate", "--epsilon", "50"]
    more = ["--predict", "people.csv", "--predictions", "found.csv", "-o", "model.json"]
    assert main([*line, *more]) == 0
    text = capsys.readouterr().out
    for word in ("sex = F", "sex is another value", "here", "age is missing", "name is another"):
        assert word in text
    assert "the kinds of columns for 2%" in text
    assert "person 1" not in text
    wages = np.array([float(row[-1]) for row in people()])
    with open("found.csv") as file:
        found = np.array([float(row[0]) for row in [*csv.reader(file)][1:]])
    assert np.corrcoef(found, wages)[0, 1] > 0.8
    assert main(["predict", "model.json", "people.csv", "-o", "again.csv"]) == 0
    assert (folder / "again.csv").read_text() == (folder / "found.csv").read_text()
    kinds = {column.name: column.kind for column in read_model("model.json").columns}
    assert kinds["since"].word == "date"
    assert main(["plan", *line[2:], "--features", "6", "--rows", "3000"]) == 0


def test_a_category_without_a_list_is_found(folder, capsys):
    schema = SCHEMA.replace(', values = ["F", "M"]', "")
    (folder / "schema.toml").write_text(schema)
    assert main([*FIT, "-o", "model.json"]) == 0
    assert "sex = M" in capsys.readouterr().out


def test_text_among_numbers_ends_in_the_option(folder, capsys):
    assert main(["fit", "people.csv", "--target", "wage", "--epsilon", "1"]) == 1
    assert "--schema estimate" in capsys.readouterr().err


HOSTILE = ("<script>alert(1)</script>", "=1+1", '"quoted", twice', "\x1b[31mred", "a\\nb", "@SUM")


def test_published_values_do_no_harm(folder, capsys):
    """What somebody typed may be published; terminals, CSV and JSON hold it as text."""
    rows = [["what", "wage"]] + [[HOSTILE[k % len(HOSTILE)], k % 6] for k in range(3_000)]
    with open("hostile.csv", "w", newline="") as file:
        csv.writer(file).writerows(rows)
    line = ["fit", "hostile.csv", "--target", "wage", "--schema", "estimate", "--epsilon", "50"]
    more = ["--predict", "hostile.csv", "--predictions", "found.csv", "-o", "model.json"]
    assert main([*line, *more]) == 0
    told = capsys.readouterr()
    assert "\x1b" not in told.out + told.err
    content = json.loads((folder / "model.json").read_text())
    (column,) = content["columns"]
    assert {*HOSTILE} <= {*column["schema"]["values"]}
    assert "\x1b" not in (folder / "model.json").read_text()
    with open("found.csv") as file:
        assert len([*csv.reader(file)]) == 3_001


def test_what_an_estimated_schema_assumes(folder, capsys):
    """Nothing was declared, so nothing is said to have been; what is taken for granted is told."""
    line = ["fit", "people.csv", "--target", "wage", "--schema", "estimate", "--epsilon", "9"]
    assert main(line) == 0
    assumed = json.loads((folder / "model.json").read_text())["certificate"]["assumptions"]
    assert not any("schema" in text for text in assumed)
    assert any("is estimated privately; how cells are read" in text for text in assumed)
    assert "the names of the columns are public" in assumed
    assert main([*line, "--categories", "here=yes,no", "--overwrite"]) == 0
    assumed = json.loads((folder / "model.json").read_text())["certificate"]["assumptions"]
    assert "schema was chosen without looking at the data" in assumed
    assert main(["verify", "model.json"]) == 0


def test_the_first_line_about_text_names_the_remedy(folder, capsys):
    line = ["fit", "people.csv", "--target", "wage", "--epsilon", "1"]
    assert main(line) == 1
    first = capsys.readouterr().err.splitlines()[0]
    assert "add --schema estimate" in first
    for more in (["--delta", "0", "--bounds-y", "0:1"], ["--model", "kernel"]):
        assert main([*line, *more]) == 1  # where it has no way it is not advised, and refused
        assert "--schema estimate" not in capsys.readouterr().err
        assert main([*line, *more, "--schema", "estimate"]) == 1
        text = capsys.readouterr().err
        assert "--schema estimate" in text
        assert "privlearn plan --template" in text


def test_another_notation_beside_an_estimated_schema_is_of_all(folder, capsys):
    rows = [["what", "wage"]] + [["ab"[k % 2], f"{k % 2 + 5},5"] for k in range(2_000)]
    with open("comma.csv", "w", newline="") as file:
        csv.writer(file, delimiter=";").writerows(rows)
    line = ["fit", "comma.csv", "--target", "wage", "--schema", "estimate", "--epsilon", "50"]
    assert main(line) == 1
    told = capsys.readouterr().err
    assert "--decimal" in told
    assert "leave the column out" not in told  # it is the target
    assert main([*line, "--decimal", ","]) == 0
    printed = capsys.readouterr()
    assert "--decimal, --thousands and --currency are about the target and all" in printed.err
    assert "what = b" in printed.out


@pytest.mark.parametrize("way", ["the word", "a file"])
def test_numbers_in_a_notation_are_found_out_to_be_those(folder, capsys, way):
    """5.380 is a number in Python, too, and another one."""
    staff = np.random.default_rng(0).integers(1, 9_000, 3_000)
    texts = [f"{value:,}".replace(",", ".") for value in staff]
    rows = [f"{text};{3 * value},0" for text, value in zip(texts, staff, strict=True)]
    (folder / "german.csv").write_text("\n".join(["staff;pay", *rows]) + "\n")
    (folder / "some.toml").write_text('[schema]\nstaff = { kind = "estimate" }\n')
    schema = "estimate" if way == "the word" else "some.toml"
    line = ["fit", "german.csv", "--target", "pay", "--schema", schema, "--epsilon", "50"]
    assert main([*line, "--decimal", ",", "--thousands", "."]) == 0
    model = privlearn.load(folder / "model.json")
    new = pd.DataFrame({"staff": ["5.380", "900"]})
    assert model.predict(new) == pytest.approx([16_140, 2_700], rel=0.1)


def test_a_column_of_ids_is_not_to_be_estimated(folder, capsys):
    rows = ["patient_id,age,wage"] + [f"P{k},{k % 60},{k % 60}" for k in range(900)]
    (folder / "ids.csv").write_text("\n".join(rows) + "\n")
    line = ["fit", "ids.csv", "--target", "wage", "--epsilon", "5"]
    assert main(line) == 1
    told = capsys.readouterr().err
    assert "--person patient_id --max-rows 5; 5 stands for a number from public" in told
    assert "--ignore patient_id" in told
    assert "--schema estimate" not in told
    assert main([*line, "--schema", "estimate"]) == 0
    assert "(Ignore() in the schema; --ignore)" in capsys.readouterr().err
