"""Standard errors come back from files: the same table, text for text, or a refusal."""

import json

import numpy as np
import pandas as pd
import pytest

import privlearn
from privlearn import LinearRegression, LogisticRegression, PoissonRegressor, Ridge
from privlearn.cli import main
from privlearn.linear_model.saved_errors import most_bytes, plain_errors
from privlearn.schema import Category, Number
from privlearn.solvers._common.residuals import Residual
from privlearn.solvers._common.standard_errors import Doubt, StandardErrors

RNG = np.random.default_rng(0)
N = 3_000
X = RNG.uniform(-1, 1, (N, 2))
Y = X @ [1.0, -2.0] + 0.3 * RNG.standard_normal(N)
FRAME = pd.DataFrame({"age": 40 + 20 * X[:, 0], "sex": np.where(X[:, 1] > 0, "F", "M")})
SEEDED = {"intervals": True, "random_state": 0, "epsilon": 3.0}
SCHEMA = {"age": Number(20, 60), "sex": Category(["F", "M"])}
MODELS = {
    "declared": lambda: LinearRegression(bounds_X=(-1, 1), bounds_y=(-5, 5), **SEEDED).fit(X, Y),
    "estimated": lambda: LinearRegression(**SEEDED).fit(X, Y),
    "penalty": lambda: Ridge(alpha=50.0, fit_intercept=False, **SEEDED).fit(X, Y),
    "no penalty": lambda: LogisticRegression(C=np.inf, classes=[0, 1], **SEEDED).fit(X, Y > 0),
    "counts": lambda: PoissonRegressor(bounds_y=(0, 40), **SEEDED).fit(X, np.rint(np.exp(Y / 2))),
    "frame": lambda: LinearRegression(schema=SCHEMA, **SEEDED).fit(FRAME, Y),
    "repeats": lambda: LinearRegression(**SEEDED).fit(np.column_stack([X, X[:, 0]]), Y),
}


def rows_of(model):
    if model.n_features_in_ == 3:
        return np.column_stack([X, X[:, 0]])[:50]
    return FRAME[:50] if hasattr(model, "feature_names_in_") else X[:50]


@pytest.mark.parametrize("name", MODELS)
def test_tables_and_intervals_come_back(tmp_path, name):
    model, path = MODELS[name](), tmp_path / "model.json"
    model.save(path)
    again = privlearn.load(path)
    assert str(again.summary()) == str(model.summary())
    assert again.summary(0.5).to_dict() == model.summary(0.5).to_dict()
    for ends in ({}, {"of": "row"} if model._errors.residual else {}):
        found, known = (one.predict_interval(rows_of(one), **ends) for one in (again, model))
        np.testing.assert_array_equal(found, known)
    text = path.read_text()
    again.save(path)
    assert path.read_text() == text


def test_a_changed_parameter_does_not_change_the_table():
    model = MODELS["penalty"]()
    table = str(model.summary())
    assert "penalty" in table
    assert str(model.set_params(alpha=0.0).summary()) == table


DAMAGES = {
    "version": 5,
    "noise": [[1.0], [0.0]],
    "total": [[-1.0], [0.0, 1.0], [0.0, 0.0, 1.0]],
    "weak": [[1.0]],
    "basis": [[1.0, 2.0]],
    "residual": [1.0, -1.0, 2.0],
    "pulled": 1.5,
    "doubt": [[[1.0]], [[1.0]]],
}


@pytest.mark.parametrize("part", DAMAGES)
def test_damaged_errors_are_refused(tmp_path, part):
    model, path = MODELS["declared"](), tmp_path / "model.json"
    model.save(path)
    content = json.loads(path.read_text())
    content["errors"][part] = DAMAGES[part]
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match="damaged"):
        privlearn.load(path)
    del content["errors"]  # as older files
    path.write_text(json.dumps(content))
    with pytest.raises(privlearn.exceptions.MissingFactError, match="intervals=True"):
        privlearn.load(path).summary()


def test_files_of_the_version_before_tell_normal_intervals(tmp_path):
    model, path = MODELS["declared"](), tmp_path / "model.json"
    model.save(path)
    content = json.loads(path.read_text())
    content["errors"] |= {"version": 2, "penalised": False}
    del content["errors"]["doubt"], content["errors"]["pulled"]
    path.write_text(json.dumps(content))
    table, now = privlearn.load(path).summary(), model.summary()
    np.testing.assert_allclose(table.high - table.coef, 1.959964 * table.std_err, rtol=1e-6)
    np.testing.assert_array_equal(table.std_err, now.std_err)
    assert (now.high > table.high).all()


def test_files_of_the_version_before_know_that_there_is_a_penalty(tmp_path):
    model, path = MODELS["penalty"](), tmp_path / "model.json"
    model.save(path)
    content = json.loads(path.read_text())
    content["errors"] |= {"version": 3, "penalised": True}
    del content["errors"]["pulled"]
    path.write_text(json.dumps(content))
    again = privlearn.load(path)
    assert "are pulled towards 0 by the penalty" in str(again.summary())
    again.save(path)
    assert str(privlearn.load(path).summary()) == str(again.summary())


def test_the_command_line_predicts_with_such_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = MODELS["frame"]()
    model.save("m.json")
    FRAME[:20].to_csv("rows.csv", index=False)
    assert main(["predict", "m.json", "rows.csv", "-o", "out.csv"]) == 0
    found = np.loadtxt("out.csv", skiprows=1)
    np.testing.assert_allclose(found, model.predict(FRAME[:20]), rtol=1e-8)


def test_noise_comes_back_from_files_of_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FRAME.assign(pay=Y).to_csv("people.csv", index=False)
    declared = ["--bounds", "age=20:60", "--categories", "sex=F,M"]
    assert (
        main(["fit", "people.csv", "--target", "pay", "--epsilon", "3", *declared, "-o", "m.json"])
        == 0
    )
    noise = privlearn.load("m.json").coef_noise()
    assert noise.shape == (3,)
    assert noise[0] > 0


@pytest.mark.parametrize("size", [1, 2, 40])
def test_no_file_of_errors_takes_more_bytes_than_are_thought_of(size):
    numbers = -np.pi * 1e-150 * np.random.default_rng(0).uniform(0.1, 0.9, (size, size))
    longest = StandardErrors(
        numbers, numbers, numbers, numbers, Residual(1.1e-200, 1.1e-200, 1.1), True,
        Doubt(numbers, numbers),
    )  # fmt: skip
    written = len(json.dumps(plain_errors(longest)))
    assert most_bytes(size) / 2 - 512 < written <= most_bytes(size)
