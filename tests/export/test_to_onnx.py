"""ONNX graphs: the same predictions in onnxruntime."""

import json
import sys

import numpy as np
import pandas as pd
import pytest
from exported_models import MODELS, agree, fitted, rows_for

from privlearn._core.certificate import Certificate
from privlearn.exceptions import UnsupportedCombinationError

DATES, TEXTS = ("since",), ('odd "name"', "level", "town", "here")


@pytest.fixture(scope="module")
def runtime():
    pytest.importorskip("onnx", reason="onnx is not installed")
    return pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")


def inputs(session, rows):
    """Rows as a graph takes them: a matrix, or a column each."""
    if isinstance(rows, np.ndarray):
        return {"X": rows}
    given = [(one.name, one.type == "tensor(string)") for one in session.get_inputs()]
    return {name: column(name, rows[name], text) for name, text in given}


def column(name, cells, text):
    if name in DATES:
        days = pd.to_datetime(cells).astype("datetime64[us]") - pd.Timestamp("1970-01-01")
        return (days / pd.Timedelta(days=1)).to_numpy(float)[:, None]
    assert text == (name in TEXTS) or name in ("level", "here")  # numbers, where found out
    if text:
        return np.array(["" if c is None else str(c) for c in cells], dtype=object)[:, None]
    return cells.to_numpy(float)[:, None]


def check(runtime, name, rows):
    model = fitted(name)
    made = model.to_onnx()
    session = runtime.InferenceSession(made.SerializeToString())
    answers = session.run(None, inputs(session, rows))
    found = dict(zip([one.name for one in session.get_outputs()], answers, strict=True))
    prediction = found.pop("prediction")
    agree(name, prediction.astype(model.predict(rows).dtype), model.predict(rows))
    if hasattr(model, "predict_proba"):
        agree(name, found["probabilities"], model.predict_proba(rows))
    elif hasattr(model, "decision_function"):
        agree(name, found["scores"][:, -1], model.decision_function(rows))
    return made


@pytest.mark.parametrize("name", sorted(MODELS))
def test_predictions_are_the_same(runtime, name):
    check(runtime, name, rows_for(name, 200))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(MODELS))
def test_predictions_of_many_rows_are_the_same(runtime, name):
    check(runtime, name, rows_for(name, 10_000, seed=2))


def test_the_certificate_travels_along(runtime):
    made = check(runtime, "frame, two", rows_for("frame, two", 3))
    (prop,) = made.metadata_props
    assert Certificate.from_dict(json.loads(prop.value)) == fitted("frame, two").privacy_


def test_rows_that_cannot_be_predicted_are_nan(runtime):
    rows = rows_for("frame", 3)
    rows.loc[1, "town"] = "elsewhere"
    session = runtime.InferenceSession(fitted("frame").to_onnx().SerializeToString())
    (found,) = session.run(None, inputs(session, rows))
    assert np.isnan(found).tolist() == [False, True, False]


def test_bins_are_refused(runtime):
    with pytest.raises(UnsupportedCombinationError, match="has no operator that computes its hash"):
        fitted("frame, bins").to_onnx()


def test_without_onnx_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'privlearn\[onnx\]'"):
        fitted("linear").to_onnx()
