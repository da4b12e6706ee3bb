"""Names of columns, schemas that were taken away, and norms beside boxes: what is told of them."""

import re

import numpy as np
import pandas as pd
import pytest

from privlearn import LinearRegression, LogisticRegression
from privlearn.schema import Number

X = pd.DataFrame({"age": np.linspace(5, 9, 60)})
Y = X["age"] / 9
NAMES = "the names of the columns are public"


def test_a_wrong_separator_is_named():
    one = pd.DataFrame({"age;wage;town": ["30;500;A"] * 60})
    words = "X has one column only; was its file read with the wrong separator"
    with pytest.raises(ValueError, match=words):
        LinearRegression().fit(one, "wage")
    with pytest.raises(ValueError, match=words):
        LinearRegression(schema={"age": Number(5, 9)}).fit(one, Y)
    model = LinearRegression(schema={"age": Number(5, 9)}, bounds_y=(0, 1)).fit(X, Y)
    with pytest.raises(ValueError, match=words):
        model.predict(one)


def test_bounds_by_name_make_names_public():
    by_name = LinearRegression(bounds_X={"age": (5, 9)}, bounds_y=(0, 1)).fit(X, Y)
    assert NAMES in by_name.privacy_.assumptions
    chosen = "bounds_X and bounds_y were chosen without looking at the data"
    assert chosen in by_name.privacy_.assumptions
    by_place = LinearRegression(bounds_X=(5, 9), bounds_y=(0, 1)).fit(X, Y)
    assert NAMES not in by_place.privacy_.assumptions


def test_a_plan_forgets_a_schema_that_was_taken_away():
    model = LinearRegression(schema={"age": Number(5, 9)}, bounds_y=(0, 1)).fit(X, Y)
    fresh = LinearRegression(bounds_X=(5, 9), bounds_y=(0, 1))
    again = model.set_params(schema=None, bounds_X=(5, 9))
    expected, found = (str(one.plan(n=60, n_features=1)) for one in (fresh, again))
    assert found == expected
    assert NAMES not in found


@pytest.mark.parametrize("given", ["name", "place", "schema"])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_norm_that_is_advised_is_accepted(given, intercept):
    """A schema shifts ranges where there is an intercept, so it needs no advice there."""
    known = {"bounds_y": (0, 1), "fit_intercept": intercept}
    if given == "schema":
        known["schema"] = {"age": Number(5, 9)}
    else:
        known["bounds_X"] = {"age": (5, 9)} if given == "name" else (5, 9)
    if given == "schema" and intercept:
        LinearRegression(data_norm=1.2, **known).fit(X, Y)
        return
    short = 0.3 if given == "schema" else 2.0
    with pytest.raises(ValueError, match="excludes zero") as refused:
        LinearRegression(data_norm=short, **known).fit(X, Y)
    least = float(re.search(r"give at least ([\d.]+)", str(refused.value))[1])
    LinearRegression(data_norm=least, **known).fit(X, Y)
    with pytest.raises(ValueError, match="excludes zero"):
        LinearRegression(data_norm=0.99 * least, **known).fit(X, Y)


def broken_text():
    pa = pytest.importorskip("pyarrow")
    offsets = np.array([0, 1, 2, 3], dtype=np.int32).tobytes()
    return pa.StringArray.from_buffers(3, pa.py_buffer(offsets), pa.py_buffer(b"a\xffb"))


def holders():
    pa = pytest.importorskip("pyarrow")
    column = pa.chunked_array([broken_text()])
    yield broken_text()
    yield column
    yield pa.table({"y": column})
    yield pd.Series(pd.arrays.ArrowExtensionArray(column))


@pytest.mark.filterwarnings("ignore")
def test_a_label_that_is_no_text_is_an_invalid_cell():
    rows = np.array([[0.0], [1.0], [0.5]])
    model = LogisticRegression(bounds_X=(0, 1), classes=["a", "b"], on_invalid="drop")
    plain = model.set_params(random_state=0).fit(rows, ["a", None, "b"]).coef_
    for y in holders():
        assert (model.fit(rows, y).coef_ == plain).all()
        strict = LogisticRegression(bounds_X=(0, 1), classes=["a", "b"])
        with pytest.raises(ValueError, match="y holds NaN or labels"):
            strict.fit(rows, y)
        with pytest.raises(ValueError, match="y"):
            LinearRegression(bounds_X=(0, 1), bounds_y=(0, 1)).fit(rows, y)
