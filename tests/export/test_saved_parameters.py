"""Parameters of a fit and the target's name in saved models."""

import json

import numpy as np
import pandas as pd
import pytest
from exported_models import fitted
from sklearn.base import clone

import privlearn
from privlearn import Lasso, LinearRegression, LogisticRegression, Ridge, solvers
from privlearn.cli import main
from privlearn.schema import Estimate, Ignore, Number


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.json"


PARAMETERS = [
    LinearRegression(
        epsilon=3.0, delta=1e-7, bounds_y=(0, 5), intervals=True, adjacency="add_remove"
    ),
    Ridge(alpha=2.0, bounds_X=([0, 0], [1, 2]), bounds_y=(0, 5), solver="moments"),
    Ridge(bounds_X={"a": (0, 1)}, bounds_y=(0, 5), solver=solvers.SGD(steps=20)),
    LogisticRegression(C=np.inf, bounds_X=(0, 2), classes=[0, 1]),
    Lasso(alpha=0.1, coef_bounds=(-1, np.inf), bounds_X=(0, 2), bounds_y=(0, 5)),
    Ridge(schema={"a": Number(0, 1), "note": Ignore(), "b": Estimate()}, bounds_y=(0, 5)),
    Ridge(schema="estimate", bounds_X={"a": (0, 1)}, bounds_y=(0, 5), on_invalid="drop"),
]


@pytest.mark.parametrize("model", PARAMETERS, ids=repr)
def test_parameters_come_back(path, model):
    """But for what says where and how a fit ran: its ledger, data set, seed and messages."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.uniform(0, 1, 900), "b": rng.uniform(0, 2, 900)})
    y = (frame["a"] + frame["b"]).rename("pay")
    y = (y > 1.5).astype(int) if hasattr(model, "classes") else y
    frame = frame.assign(note="x") if isinstance(model.schema, dict) else frame
    model = clone(model).set_params(dataset="people", verbose=0).fit(frame, y)
    model.save(path)
    again = privlearn.load(path)
    told, known = again.get_params(), model.get_params()
    assert told.pop("dataset") is None
    del known["dataset"]
    ranges = told.pop("schema"), told.pop("bounds_X")
    if isinstance(known["schema"], dict):
        assert {k: ranges[0][k] for k in known["schema"]} == known["schema"]
    elif known["schema"] is None:
        assert ranges[0] is None
        assert str(ranges[1]) == str(known["bounds_X"])
    else:
        assert ranges[0] == known["schema"]
    del known["schema"], known["bounds_X"]
    assert [*told.pop("classes", ())] == [*known.pop("classes", ())]
    assert {k: str(v) for k, v in told.items()} == {k: str(v) for k, v in known.items()}
    assert f"epsilon={model.epsilon}" in repr(again) or model.epsilon == 1.0
    assert json.loads(path.read_text())["target"] == "pay"
    again.save(path)
    assert privlearn.load(path).to_dict() == again.to_dict()
    clone(again).fit(frame, y)  # the parameters are those of a fit


def test_files_without_parameters_show_what_the_certificate_says(path):
    fitted("linear").save(path)
    content = json.loads(path.read_text())
    content.pop("parameters", None)
    content["certificate"] |= {"epsilon": 3.0, "delta": 1e-7}
    path.write_text(json.dumps(content))
    again = privlearn.load(path)
    assert (again.epsilon, again.delta) == (3.0, 1e-7)


@pytest.mark.parametrize("names", ["a column", "a series", "a polars series", "nothing"])
def test_the_target_keeps_its_name(path, tmp_path, monkeypatch, names):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.uniform(0, 1, 500)})
    X, y = frame, frame["a"].rename("wage")
    if names == "a column":
        X, y = frame.assign(wage=frame["a"]), "wage"
    elif names == "a polars series":
        y = pytest.importorskip("polars").Series("wage", frame["a"].to_numpy())
    elif names == "nothing":
        y = frame["a"].to_numpy()
    model = Ridge(bounds_X=(0, 1), bounds_y=(0, 1)).fit(X, y)
    model.save(path)
    monkeypatch.chdir(tmp_path)
    frame.to_csv("new.csv", index=False)
    assert main(["predict", str(path), "new.csv", "-o", "out.csv"]) == 0
    assert (tmp_path / "out.csv").read_text().split()[0] == (
        "predicted_y" if names == "nothing" else "predicted_wage"
    )
    assert privlearn.load(path).predict(frame).tolist() == model.predict(frame).tolist()
    model.report(tmp_path / "page.html")
    assert ("Ridge of wage" in (tmp_path / "page.html").read_text()) == (names != "nothing")
