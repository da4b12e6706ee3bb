"""Plain scikit-learn models: the same predictions, without privlearn."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from exported_models import HASHED, MODELS, UNSEEN, agree, fitted, outputs, rows_for

from privlearn.exceptions import UnsupportedCombinationError

ROWS = 400


@pytest.mark.parametrize("name", sorted(MODELS | HASHED))
def test_predictions_are_the_same(name):
    model, rows = fitted(name), rows_for(name, ROWS)
    plain = model.to_sklearn()
    assert type(plain).__module__.startswith("sklearn.")
    for method in outputs(model):
        agree(name, getattr(plain, method)(rows), getattr(model, method)(rows))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(MODELS | HASHED))
def test_predictions_of_many_rows_are_the_same(name):
    model, rows = fitted(name), rows_for(name, 10_000, seed=2)
    plain = model.to_sklearn()
    for method in outputs(model):
        agree(name, getattr(plain, method)(rows), getattr(model, method)(rows))


ALONE = """
import pickle, sys
class Absent:
    def find_spec(self, name, *_):
        if name.startswith("privlearn"):
            raise ImportError(name)
sys.meta_path.insert(0, Absent())
for path in sys.argv[1:]:
    with open(path, "rb") as file:
        model, rows, expected = pickle.load(file)
    found = model.predict(rows)
    assert (found == expected).all() if expected.dtype.kind in "OU" else (
        abs(found - expected) <= 1e-5 * abs(expected).max()).all()
assert not any(name.startswith("privlearn") for name in sys.modules)
"""


def test_pickles_need_no_privlearn(tmp_path):
    paths = []
    for name in (
        "estimated",
        "margin",
        "line, then kernel",
        "frame",
        "frame, two",
        "frame, codes",
        *UNSEEN,
    ):
        rows = rows_for(name, 20)
        content = fitted(name).to_sklearn(), rows, fitted(name).predict(rows)
        paths.append(tmp_path / f"{len(paths)}.pickle")
        paths[-1].write_bytes(pickle.dumps(content))
    subprocess.run([sys.executable, "-c", ALONE, *map(str, paths)], check=True)


def test_names_of_columns_are_compared():
    pd = pytest.importorskip("pandas")
    from privlearn import LinearRegression

    X = pd.DataFrame(rows_for("linear", 300), columns=["a", "b", "c"])
    for bounds in ({}, {"bounds_X": (-2, 4), "bounds_y": (-3, 5)}):
        model = LinearRegression(epsilon=10, random_state=0, **bounds).fit(X, X["a"]).to_sklearn()
        with pytest.raises(ValueError, match="feature names"):
            model.predict(X[["b", "a", "c"]])
        assert np.isfinite(model.predict(X)).all()


def test_what_a_model_refuses_is_refused():
    rows = rows_for("frame", 10)
    plain = fitted("frame").to_sklearn()
    with pytest.raises(ValueError, match="unknown categories"):
        plain.predict(rows.assign(town="elsewhere"))
    with pytest.raises(ValueError, match="NaN"):
        fitted("linear").to_sklearn().predict([[np.nan, 0.0, 0.0]])


@pytest.mark.parametrize("name", ["frame, others", "frame, bins"])
def test_gaps_are_refused_where_the_model_refuses_them(name):
    rows, plain = rows_for(name, 10), fitted(name).to_sklearn()
    for gap in (None, "", " ", np.nan, "NaN"):
        with pytest.raises(ValueError, match="unknown categories"):
            plain.predict(rows.assign(town=pd_series(gap, 10)))
        with pytest.raises(ValueError, match="town"):
            fitted(name).predict(rows.assign(town=pd_series(gap, 10)))


def pd_series(cell, n):
    import pandas as pd

    return pd.Series([cell] * n, dtype=object)


def test_bins_of_other_spellings():
    """Numbers fall into bins by their values, whatever a column holds them as."""
    rows, model = rows_for("frame, bins", 40), fitted("frame, bins")
    plain = model.to_sklearn()
    for level in (2, 2.0, "02", "2.0", True, "true", 0.5, ".50", "-0.0", "007 x", "1.2.0", " a "):
        other = rows.assign(level=pd_series(level, 40))
        agree("frame", plain.predict(other), model.predict(other))


def test_values_of_lists_in_other_spellings():
    """Numbers and truth values are one value, whatever a column holds them as."""
    rows = rows_for("frame", 60).assign(level=2, here=1)
    model = fitted("frame")
    plain, expected = model.to_sklearn(), model.predict(rows)
    for level in (2.0, "2", "2.0"):
        for here in (True, "yes", "TRUE", 1.0, "1"):
            other = rows.assign(level=level, here=here)
            agree("frame", plain.predict(other), expected)
            agree("frame", model.predict(other), expected)


def test_shortened_rows_are_refused():
    for export, given in (("to_sklearn", []), ("to_onnx", []), ("to_sql", ["people"])):
        if export == "to_onnx":
            pytest.importorskip("onnx")
        with pytest.raises(UnsupportedCombinationError, match=f"{export} cannot shorten rows"):
            getattr(fitted("shortened"), export)(*given)
