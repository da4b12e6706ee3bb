"""Saved models: what comes back, from which files, and what is refused."""

import json
import os
import stat
from pathlib import Path

import numpy as np
import pytest
from exported_models import HASHED, MODELS, SHORTENED, fitted, outputs, rows_for

import privlearn
from privlearn import LogisticRegression
from privlearn.cli import main
from privlearn.cli.models import MODELS as COMMAND_LINE
from privlearn.export.model_file import FORMATS, NAMES

FIXTURES = sorted(Path(__file__).parents[1].joinpath("fixtures/models").rglob("*.json"))
EVERY = sorted({**MODELS, **HASHED, **SHORTENED})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.json"


@pytest.mark.parametrize("name", EVERY)
def test_models_come_back_as_they_were(path, name):
    model, rows = fitted(name), rows_for(name, 500)
    model.save(path)
    again = privlearn.load(path)
    assert type(again) is type(model)
    for method in outputs(model):
        found, expected = getattr(again, method)(rows), getattr(model, method)(rows)
        np.testing.assert_array_equal(found, expected)
        assert found.dtype.kind == expected.dtype.kind
    assert str(again.privacy_) == str(model.privacy_)
    for attribute in ("bounds_X_", "bounds_y_", "feature_names_in_", "feature_names_out_"):
        assert hasattr(again, attribute) == hasattr(model, attribute)
    if hasattr(model, "_coef_noise"):
        np.testing.assert_array_equal(again.coef_noise(), model.coef_noise())
    text = path.read_text()
    again.save(path)
    assert path.read_text() == text


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
def test_predictions_of_many_rows_are_the_same(path, name):
    model, rows = fitted(name), rows_for(name, 10_000, seed=2)
    model.save(path)
    np.testing.assert_array_equal(privlearn.load(path).predict(rows), model.predict(rows))


@pytest.mark.parametrize("name", ["linear", "line, then kernel", "frame, three"])
def test_the_certificate_inside_holds(path, name, capsys):
    fitted(name).save(path)
    assert main(["verify", str(path)]) == 0
    assert "the certificate holds" in capsys.readouterr().out


def test_every_estimator_has_a_name_in_files():
    """The command line's names are those of files."""
    kinds = {name: kind.estimator for name, kind in COMMAND_LINE.items()}
    assert kinds.items() <= NAMES.items()
    estimators = {type(fitted(name)).__name__ for name in MODELS}
    assert estimators == set(NAMES.values())


# From and to the command line

ROWS = "age,sex,wage\n" + "\n".join(f"{20 + k % 60},{'FM'[k % 2]},{100 + k}" for k in range(600))
FIT = ["fit", "people.csv", "--target", "wage", "--epsilon", "9", "--categories", "sex=F,M"]


def test_the_command_lines_files_are_loaded(tmp_path, monkeypatch):
    pd = pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(ROWS)
    assert main([*FIT, "-o", "m.json"]) == 0
    assert main(["predict", "m.json", "people.csv", "-o", "out.csv"]) == 0
    found = privlearn.load("m.json").predict(pd.read_csv("people.csv"))
    np.testing.assert_allclose(found, np.loadtxt("out.csv", skiprows=1), rtol=1e-9)
    assert main([*FIT[:6], "--columns", "age", "-o", "n.json"]) == 0
    assert privlearn.load("n.json").predict(pd.DataFrame({"age": [30.0]})).shape == (1,)


KERNEL = Path(__file__).parents[1] / "fixtures" / "kernel_models" / "encoded.json"
NEW = "x,kind,z\n0,a,1\n3,b,-9\n9.5,a,0.5\n"
FOUND = [0.6933069246, 0.07864526571, 0.745417724]  # what the version that wrote it predicted


def test_kernels_of_earlier_command_lines_are_read(tmp_path, monkeypatch):
    pd = pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    Path("new.csv").write_text(NEW)
    assert main(["predict", str(KERNEL), "new.csv", "-o", "out.csv"]) == 0
    np.testing.assert_allclose(np.loadtxt("out.csv", skiprows=1), FOUND, rtol=1e-9)
    model = privlearn.load(KERNEL)
    np.testing.assert_allclose(model.predict(pd.read_csv("new.csv")), FOUND, rtol=1e-9)
    model.save("again.json")
    assert json.loads(Path("again.json").read_text())["format"] == FORMATS[4]
    assert (
        privlearn.load("again.json").predict(pd.read_csv("new.csv"))
        == model.predict(pd.read_csv("new.csv"))
    ).all()


@pytest.mark.parametrize("known", [["--bounds", "age=20:80"], [], ["--decimal", ","]])
def test_kernels_of_the_command_line_are_loaded(tmp_path, monkeypatch, known):
    """The same predictions, and the same private scores, as the command line has."""
    pd = pytest.importorskip("pandas")
    from privlearn.exceptions import UnsupportedCombinationError

    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(ROWS)
    assert main([*FIT, "--model", "kernel", *known, "-o", "m.json"]) == 0
    assert main(["predict", "m.json", "people.csv", "-o", "out.csv"]) == 0
    frame, model = pd.read_csv("people.csv"), privlearn.load("m.json")
    np.testing.assert_allclose(model.predict(frame), np.loadtxt("out.csv", skiprows=1), rtol=1e-9)
    assert model.bounds_X_[1][0] < 200 if hasattr(model, "bounds_X_") else known
    with pytest.raises(UnsupportedCombinationError, match="cannot encode the columns of a kernel"):
        model.to_sklearn()
    given = {"epsilon": 500.0, "delta": 1e-6, "bounds_y": (0, 800), "random_state": 0}
    found = privlearn.metrics.evaluate(model, frame, "wage", **given)
    truth = np.mean(np.abs(model.predict(frame) - frame["wage"]))
    assert found.mae.value == pytest.approx(truth, rel=0.1)


@pytest.mark.parametrize("name", ["frame, two", "frame, poisson", "frame, no intercept"])
def test_the_command_line_predicts_with_saved_models(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    model, rows = fitted(name), rows_for(name, 40)
    model.save("m.json")
    rows.to_csv("rows.csv", index=False)
    assert main(["predict", "m.json", "rows.csv", "-o", "out.csv"]) == 0
    found = [line.split(",")[0] for line in Path("out.csv").read_text().splitlines()[1:]]
    expected = model.predict(rows)
    if expected.dtype.kind == "U":
        assert found == expected.tolist()
    else:
        np.testing.assert_allclose([float(cell) for cell in found], expected, rtol=1e-8)


def test_the_command_line_says_which_models_are_for_python(path, capsys):
    fitted("linear").save(path)
    assert main(["predict", str(path), str(path)]) == 1
    assert "no names; use it in Python: privlearn.load(" in capsys.readouterr().err


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda path: path.stem)
def test_files_of_earlier_versions_are_loaded(fixture):
    pd = pytest.importorskip("pandas")
    content = json.loads(fixture.read_text())
    model = privlearn.load(fixture)
    cells, score = {}, content["intercept"]
    for entry in content["columns"]:
        clip, value = entry.get("clip", [-np.inf, np.inf]), 30.0
        slope = entry.get("coefficient")
        if slope is None:
            value, slope = next(iter(entry["categories"].items()))
            clip = entry["clip"][value] if "clip" in entry else clip
        cells[entry["name"]] = value
        score += slope * np.clip(value if value == 30.0 else 1.0, *clip)
    rows = pd.DataFrame(cells, index=[0])
    if content["classes"] is not None:
        assert model.decision_function(rows)[0] == pytest.approx(score, rel=1e-9)
    else:
        limits = content.get("clip_prediction", [-np.inf, np.inf])
        assert model.predict(rows)[0] == pytest.approx(np.clip(score, *limits), rel=1e-9)
    assert model.privacy_.epsilon == content["certificate"]["epsilon"]


# Refusals


@pytest.fixture
def content(path):
    fitted("frame, two").save(path)
    return json.loads(path.read_text())


def refused(path, content):
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(ValueError, match="model") as caught:
        privlearn.load(path)
    return str(caught.value)


def test_files_that_are_cut_off_are_refused(path, content):
    text = json.dumps(content)
    for size in range(0, len(text), 997):
        assert "is no model file (it is not JSON)" in refused(path, text[:size])


def test_files_of_later_versions_are_refused(path, content):
    newer = f"privlearn model {len(FORMATS) + 1}"
    assert "newer than this version; update privlearn" in refused(path, content | {"format": newer})


@pytest.mark.parametrize(
    "other", ["[]", "3", '{"format": 4}', "{}", '"privlearn model 4"', "[" * 9_999]
)
def test_files_that_are_no_models_are_refused(path, other):
    assert "no model file" in refused(path, other)


def leaves(value, place=()):
    """Every value in nested lists and dictionaries, with where it is."""
    if isinstance(value, dict | list) and value:
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from leaves(value[key], (*place, key))
    else:
        yield place


@pytest.mark.parametrize("name", ["frame, two", "kernel", "linear"])
def test_damaged_files_are_refused_or_read_alike(path, name):
    """One value at a time becomes another one: an error that says so, or a model that predicts."""
    fitted(name).save(path)
    text = path.read_text()
    rows = rows_for(name, 5)
    places = [*leaves({k: v for k, v in json.loads(text).items() if k != "certificate"})]
    places = [place for place in places if place[-1] not in ("name", "target", "privlearn")]
    refusals, read = 0, 0
    for k, place in enumerate(places[:: max(len(places) // 60, 1)]):
        content = json.loads(text)
        inner = content
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = (None, "x", [1.0], float("nan"), {}, 10**400, -1)[k % 7]
        path.write_text(json.dumps(content))
        try:
            model = privlearn.load(path)
        except ValueError as error:
            refusals += "damaged" in str(error) or "no model file" in str(error)
        else:
            assert len(model.predict(rows)) == 5
            read += 1
    assert refusals > 10
    assert refusals + read == k + 1


def test_missing_parts_are_refused(path, content):
    for key in ("model", "classes", "intercept", "columns", "certificate", "target"):
        assert "damaged" in refused(path, {k: v for k, v in content.items() if k != key})
    broken = content | {"certificate": content["certificate"] | {"epsilon": "much"}}
    assert "certificate inside" in refused(path, broken)


def test_a_file_is_whole_or_as_it_was(path, monkeypatch):
    path.write_text("precious")

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("privlearn.export.model_file.os.fsync", full)
        with pytest.raises(OSError, match="No space"):
            fitted("linear").save(path)
    assert path.read_text() == "precious"
    assert [*path.parent.iterdir()] == [path]
    with pytest.raises(FileNotFoundError):
        fitted("linear").save(path.parent / "no" / "m.json")
    os.chmod(path, 0o640)
    fitted("linear").save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    with pytest.raises(FileNotFoundError):
        privlearn.load(path.parent / "none.json")


def test_labels_that_json_does_not_know(path):
    X = np.linspace(0, 1, 200)[:, None]
    model = LogisticRegression(bounds_X=(0, 1), random_state=0)
    model.fit(X, np.where(X[:, 0] > 0.5, b"a", b"b"))
    with pytest.raises(TypeError, match="neither text nor numbers"):
        model.save(path)
    assert not path.exists()


def test_only_fitted_models_are_saved(path):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        LogisticRegression().save(path)
