"""Columns of a file that are called as ids are: what the commands say of them."""

import tomllib

import pytest

from privlearn.cli import fit, main
from privlearn.cli.errors import CommandError

LOOKS = "privlearn: warning: column 'patient_id' looks like an identifier by its name"
FIT = ["fit", "visits.csv", "--target", "readmitted", "--classes", "no,yes", "--epsilon", "1"]
FIT += ["-o", "model.json", "--overwrite", "--model"]
PERSON = ["--person", "patient_id", "--max-rows", "2"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{k // 2},{k % 60},{'no' if k % 3 else 'yes'}" for k in range(600)]
    (tmp_path / "visits.csv").write_text("\n".join(["patient_id,age,readmitted", *rows]) + "\n")
    (tmp_path / "ignored.toml").write_text('[schema]\npatient_id = { kind = "ignore" }\n')
    (tmp_path / "number.toml").write_text('[schema]\npatient_id = { kind = "number" }\n')
    (tmp_path / "listed.toml").write_text('[categories]\npatient_id = ["1", "2"]\n')
    return tmp_path


@pytest.mark.parametrize("model", ["logistic", "kernel-classifier"])
@pytest.mark.parametrize("more", [[], ["--schema", "number.toml"], ["--schema", "estimate"]])
def test_an_id_among_the_features(folder, capsys, model, more):
    if model == "kernel-classifier" and "estimate" in more:
        pytest.skip("kernels know their columns")
    assert main([*FIT, model, *more]) == 0
    told = capsys.readouterr().err
    assert told.count("looks like an identifier") == told.count(LOOKS) == 1
    assert "--person 'patient_id' --max-rows K" in told
    assert "it is left out" not in told


LEFT_OUT = [["--ignore", "patient_id"], ["--schema", "ignored.toml"], ["--columns", "age"]]


@pytest.mark.parametrize("more", LEFT_OUT, ids=" ".join)
def test_an_id_that_is_left_out(folder, capsys, more):
    assert main([*FIT, "logistic", *more]) == 0
    told = capsys.readouterr().err
    assert told.count("looks like an identifier") == told.count(LOOKS) == 1
    assert "it is left out" in told
    assert "the promise is about single rows all the same" in told
    line = ["evaluate", "model.json", "visits.csv", "--epsilon", "1"]
    assert main(line) == 0
    assert capsys.readouterr().err.count(LOOKS) == 1
    assert main([*line, *PERSON]) == 0
    assert LOOKS not in capsys.readouterr().err


@pytest.mark.parametrize("more", [PERSON, [*PERSON, "--ignore", "patient_id"]], ids=len)
def test_nothing_is_said_where_it_is_known_whose_rows_are(folder, capsys, more):
    assert main([*FIT, "logistic", *more]) == 0
    assert "looks like an identifier" not in capsys.readouterr().err


def test_a_declared_list_is_no_identifier(folder, capsys):
    more = ["--schema", "listed.toml", "--on-invalid", "drop", "--epsilon", "90"]
    main([*FIT, "logistic", *more])
    assert "looks like an identifier" not in capsys.readouterr().err


def test_it_is_said_before_the_charge_but_after_refusals(folder, monkeypatch, capsys):
    def refused(*given):
        raise CommandError("no ledger")

    with monkeypatch.context() as patch:
        patch.setattr(fit, "charged_ledger", refused)
        assert main([*FIT, "logistic"]) == 1
    assert LOOKS in capsys.readouterr().err
    rows = (folder / "visits.csv").read_text().replace("\n0,", "\nP0,")
    (folder / "visits.csv").write_text(rows)
    assert main([*FIT, "logistic"]) == 1
    assert LOOKS not in capsys.readouterr().err


def test_the_template_says_it(folder, capsys):
    (folder / "two.csv").write_text("patient id,age,visitId,paid,wage\n1,2,3,4,5\n")
    assert main(["plan", "--template", "two.csv", "--target", "wage"]) == 0
    text = capsys.readouterr().out
    assert text.count("looks like an id") == 2
    (place,) = [k for k, line in enumerate(text.splitlines()) if line.startswith('"patient id"')]
    before = " ".join(text.splitlines()[place - 2 : place])
    assert "--person 'patient id' --max-rows K" in before
    assert list(tomllib.loads(text)["schema"]) == ["patient id", "age", "visitId", "paid"]
