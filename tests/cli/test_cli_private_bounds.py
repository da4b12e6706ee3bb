"""Nothing known about the columns: the command estimates ranges, says so, and clips later."""

import json
import re

import numpy as np
import pytest

from privlearn import Ledger
from privlearn._core.releaser import Releaser, use_releaser
from privlearn.cli import main
from privlearn.cli.model_file import SavedModel, read_model
from privlearn.schema.encoding import EncodedRows
from privlearn.solvers import SOLVERS
from support import NoNoise

FIT = ["fit", "people.csv", "--target", "wage", "--epsilon", "1"]
LIST = ["--categories", "sex=male,female"]


class Exact(NoNoise):
    """No noise, but the certificate that the command writes down."""

    certificate = Releaser.certificate


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Wages are a linear function of what is known; there are two other targets, of labels."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    lines = ["age,hours,sex,wage,rich,size"]
    for _ in range(600):
        age, hours, male = rng.integers(17, 91), rng.integers(0, 100), rng.integers(0, 2)
        wage = 100 + 5 * age + 12 * hours + 80 * male
        size = "abc"[int(wage > 700) + int(wage > 1200)]
        lines.append(f"{age},{hours},{('female', 'male')[male]},{wage},{int(wage > 900)},{size}")
    (tmp_path / "people.csv").write_text("\n".join(lines))
    (tmp_path / "new.csv").write_text(
        "age,hours,sex\n30,40,male\n1e12,40,male\n30,-1e12,female\n1e12,1e12,male\n"
    )
    return tmp_path


@pytest.fixture
def fitted(monkeypatch):
    """The estimator behind the last model that was saved."""
    kept = []
    save = SavedModel.of.__func__

    def keep(cls, kind, design, estimator):
        kept.append(estimator)
        return save(cls, kind, design, estimator)

    monkeypatch.setattr(SavedModel, "of", classmethod(keep))
    return kept


def encoded(model, values):
    """Rows as an estimator with a schema takes them; as they are for one without."""
    encoding = getattr(model, "_encoding", None)
    return values if encoding is None else EncodedRows(encoding, values)


def columns(*names):
    return ["--columns", ",".join(names)]


NUMBERS = columns("age", "hours")
ALL = [*columns("age", "hours", "sex"), *LIST]


def rows(*, sex):
    """The rows of new.csv as an estimator sees them."""
    numbers = np.array([[30, 40], [1e12, 40], [30, -1e12], [1e12, 1e12]])
    male = np.array([1.0, 1.0, 0.0, 1.0])
    return np.column_stack([numbers, male, 1 - male]) if sex else numbers


def predicted(folder):
    assert main(["predict", "model.json", "new.csv", "-o", "out.csv"]) == 0
    return [line.split(",") for line in (folder / "out.csv").read_text().splitlines()[1:]]


# From nothing but epsilon to predictions


def test_the_model_is_right(folder):
    with use_releaser(Exact):
        assert main([*FIT, *ALL]) == 0
    usual, old, idle, extreme = (float(line[0]) for line in predicted(folder))
    assert usual == pytest.approx(100 + 5 * 30 + 12 * 40 + 80, rel=1e-3)
    assert old == pytest.approx(100 + 5 * 90 + 12 * 40 + 80, rel=0.02)  # 90 is as old as it gets
    assert idle == pytest.approx(100 + 5 * 30, rel=0.05)
    age, hours, _ = json.loads((folder / "model.json").read_text())["columns"]
    assert age["clip"][0] <= 17 < 90 <= age["clip"][1] < 95
    assert hours["clip"] == [0, pytest.approx(100, abs=4)]
    assert extreme == pytest.approx(100 + 5 * 90 + 12 * 99 + 80, rel=0.02)


@pytest.mark.parametrize(
    ("options", "sex", "method"),
    [
        (ALL, True, "predict"),
        (NUMBERS, False, "predict"),
        ([*NUMBERS, "--bounds-y", "0:2000"], False, "predict"),
        ([*ALL, "--model", "huber", "--adjacency", "add_remove"], True, "predict"),
        ([*ALL, "--model", "poisson"], True, "predict"),
        ([*NUMBERS, "--model", "poisson", "--bounds-y", "0:2000"], False, "predict"),
        ([*ALL, "--target", "rich", "--model", "logistic"], True, "decision_function"),
        ([*ALL, "--target", "size", "--model", "svc"], True, "decision_function"),
    ],
)
def test_a_loaded_model_predicts_what_the_estimator_does(folder, fitted, options, sex, method):
    assert main([*FIT, *options]) == 0
    (model,) = fitted
    expected = getattr(model, method)(encoded(model, rows(sex=sex)))
    found = getattr(read_model("model.json").estimator(), method)(rows(sex=sex))
    assert np.array_equal(found.reshape(expected.shape), expected)
    if method == "predict":
        assert [float(line[0]) for line in predicted(folder)] == pytest.approx(expected, rel=1e-9)
    else:
        labels = model.predict(encoded(model, rows(sex=sex))).tolist()
        assert [line[0] for line in predicted(folder)] == labels


@pytest.mark.parametrize("solver", sorted(SOLVERS))
def test_what_any_solver_clips_is_kept(fitted, solver):
    assert main([*FIT, *NUMBERS, "--solver", solver, "--epsilon", "5"]) == 0
    found = read_model("model.json").estimator().predict(rows(sex=False))
    np.testing.assert_allclose(found, fitted[0].predict(rows(sex=False)), rtol=1e-12)


def test_features_that_were_not_chosen_are_not_clipped(folder, fitted, capsys):
    many = ",".join(["male", "female", *(f"other{k}" for k in range(60))])
    assert main([*FIT, *ALL[:2], "--categories", f"sex={many}"]) == 0
    text = capsys.readouterr().out
    assert re.search(r"Estimated privately: a choice of \d+ among 64 features for 20%, the", text)
    assert "Infinity" not in (folder / "model.json").read_text()
    new = np.zeros((4, 64))
    new[:, :4] = rows(sex=True)
    expected = fitted[0].predict(encoded(fitted[0], new))
    assert [float(line[0]) for line in predicted(folder)] == pytest.approx(expected, rel=1e-9)


def test_the_range_of_the_target_alone(folder, fitted, capsys):
    """Features with declared bounds are used as they are, and predictions are clipped."""
    line = [*NUMBERS, "--bounds", "age=17:90", "--bounds", "hours=0:99", "--epsilon", "20"]
    assert main([*FIT, *line, "--solver", "cd"]) == 0
    assert "Estimated privately: the range of the target for" in capsys.readouterr().out
    low, high = fitted[0]._clip_bounds.target
    ends = [cell for (cell,) in predicted(folder)][1:]
    assert ends == [f"{end:.10g}" for end in (high, low, high)]  # as many digits as are written


def test_lists_need_no_purchase(folder, capsys):
    known = [*LIST, "--bounds-y", "0:2000", "--solver", "cd"]  # "auto" looks closer
    assert main([*FIT, *columns("sex"), *known]) == 0
    assert "stimated privately" not in capsys.readouterr().out.split("Privacy certificate")[0]
    assert json.loads((folder / "model.json").read_text())["format"] == "privlearn model 1"


# Model files


OLD = {
    "format": "privlearn model 1",
    "privlearn": "0.1.0",
    "model": "linear",
    "target": "wage",
    "classes": None,
    "intercept": 100.0,
    "columns": [
        {"name": "age", "bounds": [17.0, 90.0], "coefficient": 5.0},
        {"name": "sex", "categories": {"male": 80.0, "female": 0.0}},
    ],
    "certificate": {},
}


def test_older_files_load_and_clip_nothing(folder):
    (folder / "model.json").write_text(json.dumps(OLD))
    found = [float(cell) for (cell,) in predicted(folder)]
    assert found[:3] == pytest.approx([330, 5e12 + 180, 250], rel=1e-9)


def test_older_versions_do_not_overlook_what_is_clipped(folder):
    assert main([*FIT, *NUMBERS]) == 0
    assert json.loads((folder / "model.json").read_text())["format"] == "privlearn model 2"


@pytest.mark.parametrize("clip", [None, [90, 17], [17], "all"])
def test_damaged_limits(folder, capsys, clip):
    entry = OLD["columns"][0] | ({} if clip is None else {"clip": clip})
    content = OLD | {"format": "privlearn model 2", "columns": [entry]}
    (folder / "model.json").write_text(json.dumps(content))
    assert main(["predict", "model.json", "new.csv"]) == 1
    assert "is incomplete or damaged" in capsys.readouterr().err


# What is said


def test_fit_and_plan_tell_the_same_price(folder, capsys):
    assert main([*FIT, *ALL, "--verbose"]) == 0
    fit = capsys.readouterr().out
    plan = ["plan", "--rows", "600", "--epsilon", "1", "--target", "wage"]
    assert main([*plan, *ALL]) == 0
    planned = capsys.readouterr().out
    sentence = re.search(r"Estimated privately: .*", planned).group()
    assert sentence in fit
    assert re.findall(r"release +(.*)", planned) == re.findall(r"release +(.*)", fit)
    releases = json.loads((folder / "model.json").read_text())["certificate"]["releases"]
    for what in ("features", "target"):
        share = sum(r["share"] for r in releases if r["name"].endswith(f" of the {what}"))
        assert f" for {share:.0%}" in sentence
    assert "Noise to expect on each coefficient" not in planned  # their units are not known yet


def test_estimated_ranges_are_shown(folder, capsys):
    with use_releaser(Exact):
        assert main([*FIT, *ALL]) == 0
    text = capsys.readouterr().out
    shown = dict(re.findall(r"^  (\w+) +(\S+ to \S+)$", text, re.M))
    assert list(shown) == ["age", "hours", "wage"]
    low, high = json.loads((folder / "model.json").read_text())["clip_prediction"]
    assert shown["wage"] == f"{low:g} to {high:g}"


def test_ranges_that_noise_hides_are_marked(folder, capsys):
    lines = (folder / "people.csv").read_text().splitlines()
    (folder / "people.csv").write_text("\n".join(lines[:4]))
    assert main([*FIT, *NUMBERS]) == 0
    assert re.search(r" -1 to 1   \(nothing was seen but zeros", capsys.readouterr().out)


def test_the_number_of_rows_stays_private(folder, capsys):
    text = (folder / "people.csv").read_text()
    (folder / "people.csv").write_text("\n".join([text, *text.splitlines()[-100:][:71]]))
    assert main([*FIT, *ALL, "--adjacency", "add_remove"]) == 0
    told = capsys.readouterr().out + (folder / "model.json").read_text()
    assert not re.search(r"(?<![\d.])67[0-2](?![\d.])", told)


def test_columns_taken_for_numbers_are_named_where_rows_are_dropped(capsys):
    assert main([*FIT, *columns("age", "sex"), "--on-invalid", "drop"]) == 0
    assert (
        "columns that are not described are taken for numbers: age, sex." in capsys.readouterr().err
    )
    assert main([*FIT, *ALL, "--on-invalid", "drop", "-o", "other.json"]) == 0
    assert "taken for numbers: age, hours." in capsys.readouterr().err


@pytest.mark.parametrize("command", ["fit", "plan"])
def test_without_delta_nothing_is_estimated_or_charged(capsys, command):
    charge = ["--ledger", "l", "--dataset", "d", "--ledger-epsilon", "3"]
    line = [*FIT, *charge] if command == "fit" else ["plan", "--epsilon", "1"]
    assert main([*line, *ALL, "--delta", "0"]) == 1
    text = capsys.readouterr().err
    assert "--delta 0 leaves no way to estimate ranges privately" in text
    assert "--bounds hours=LOW:HIGH" in text
    assert "--bounds-y LOW:HIGH" in text
    assert "--bounds sex" not in text
    if command == "plan":
        assert main(["plan", "--epsilon", "1", "--features", "3", "--delta", "0"]) == 1
        assert "instead of --features, or --delta 1e-6" in capsys.readouterr().err


def test_a_purchase_is_charged(capsys):
    assert main([*FIT, *ALL, "--ledger", "l", "--dataset", "d", "--ledger-epsilon", "3"]) == 0
    (charge,) = Ledger("l").history("d")
    assert any(
        release.startswith("last histogram in equal bins of the features: 1 x")
        for release in charge.releases
    )


# Facts files


def test_a_template_may_be_left_as_it_is(folder, capsys):
    (folder / "numbers.csv").write_text("age,hours,wage\n" + "30,40,900\n" * 300)
    assert main(["plan", "--template", "numbers.csv", "--target", "wage"]) == 0
    text = capsys.readouterr().out
    assert "estimated for 15% of the privacy budget" in text
    assert "costs 10%, or more if rows are few" in text
    for word in ("decimal", "thousands", "currency", "format", "--solver cd"):
        assert word in text
    (folder / "schema.toml").write_text(text)
    line = ["fit", "numbers.csv", "--schema", "schema.toml", "--epsilon", "1"]
    assert main(line) == 0
    assert "the ranges of the columns for 15%" in capsys.readouterr().out
    (folder / "schema.toml").write_text(text.replace("age = { ", "age = { low = 17, high = 90, "))
    assert main([*line, "--solver", "cd", "-o", "other.json"]) == 0
    assert "the ranges of the columns for 15%" in capsys.readouterr().out
    age, hours = json.loads((folder / "other.json").read_text())["columns"]
    assert "clip" in hours
    assert "clip" not in age
