"""Columns that are called as ids are: what a fit says of them, by their names alone."""

import warnings

import numpy as np
import pytest

from privlearn import KernelRegressor, LinearRegression, LogisticRegression, Ridge
from privlearn.exceptions import FactWarning
from privlearn.model_selection import PrivateSearchCV, cross_fit
from privlearn.schema import Category, Flag, Ignore, Number

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
dataset = pytest.importorskip("pyarrow.dataset")

N = 400
AGE = np.arange(N) % 60.0
ROWS = {"patient_id": np.arange(N) // 2 * 1.0, "age": AGE, "wage": AGE}
FRAME = pd.DataFrame(ROWS)
ARROW = pa.table(ROWS)
KNOWN = {"epsilon": 3.0, "bounds_y": (0, 60)}
AGES = {"age": Number(0, 60)}


def told_by(fit):
    """Texts of the warnings about what was declared or left unsaid."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        fit()
    return [str(one.message) for one in told if issubclass(one.category, FactWarning)]


CONTAINERS = {
    "pandas": FRAME,
    "polars": pl.DataFrame(ROWS),
    "lazy": pl.LazyFrame(ROWS),
    "arrow": ARROW,
    "dataset": dataset.dataset(ARROW),
}


@pytest.mark.parametrize("schema", [None, "estimate", AGES, {"patient_id": Number(), **AGES}])
@pytest.mark.parametrize("rows", CONTAINERS.values(), ids=CONTAINERS)
def test_an_id_among_the_features_is_told_once_in_every_container(rows, schema):
    if "Dataset" in type(rows).__name__ and schema == "estimate":
        pytest.skip("kinds of columns are estimated of rows in memory only")
    model = Ridge(**KNOWN, schema=schema)
    (text,) = told_by(lambda: model.fit(rows, "wage"))
    assert text.startswith("column 'patient_id' looks like an identifier by its name. If a person")
    assert "groups='patient_id' in fit, with max_rows_per_person" in text


@pytest.mark.parametrize("rows", CONTAINERS.values(), ids=CONTAINERS)
def test_an_ignored_id_is_told_once(rows):
    model = Ridge(**KNOWN, schema={"patient_id": Ignore(), **AGES})
    (text,) = told_by(lambda: model.fit(rows, "wage"))
    assert "'patient_id' looks like an identifier by its name, and it is left out" in text
    assert "the promise is about single rows all the same" in text
    assert "groups='patient_id'" in text


def test_other_ways_to_fit():
    X, y = FRAME[["patient_id", "age"]], FRAME["wage"]
    labels = (AGE > 30).astype(int)
    assert len(told_by(lambda: KernelRegressor(**KNOWN).fit(X, y))) == 1
    model = LogisticRegression(
        epsilon=1, delta=0, bounds_X=([0, 0], [999, 60]), classes=[0, 1], solver="one-pass"
    )
    assert len(told_by(lambda: model.partial_fit(X, labels))) == 1
    assert not told_by(lambda: model.partial_fit(X, labels))  # later batches of the stream
    search = PrivateSearchCV(Ridge(**KNOWN), {"alpha": [0.1, 1.0]}, epsilon=3.0)
    assert len(told_by(lambda: search.fit(X, y))) == 1
    assert len(told_by(lambda: cross_fit(Ridge(**KNOWN), X, y, epsilon=3.0, delta=1e-6))) == 1


def test_ids_apart_while_the_column_is_still_there():
    ids = ROWS["patient_id"]
    for schema in (None, {"patient_id": Number(0, 999)}):
        model = LinearRegression(**KNOWN, max_rows_per_person=2, schema=schema)
        (text,) = told_by(lambda model=model: model.fit(FRAME, "wage", groups=ids))
        assert "although it was said whose each row is" in text


SILENT = {
    "by name": (LinearRegression(max_rows_per_person=2), FRAME, "patient_id"),
    "by name, ignored": (
        LinearRegression(max_rows_per_person=2, schema={"patient_id": Ignore(), **AGES}),
        FRAME,
        "patient_id",
    ),
    "apart, ignored": (
        LinearRegression(max_rows_per_person=2, schema={"patient_id": Ignore(), **AGES}),
        FRAME,
        ROWS["patient_id"],
    ),
    "no such name": (
        LinearRegression(),
        FRAME.rename(columns={"patient_id": "paid"}),
        None,
    ),
    "a note is ignored": (
        LinearRegression(schema={"note": Ignore(), **AGES}),
        FRAME.rename(columns={"patient_id": "note"}),
        None,
    ),
    "a list": (LinearRegression(schema={"patient_id": Category([0, 1])}), None, None),
    "truth values": (LinearRegression(schema={"patient_id": Flag()}), None, None),
    "no names": (LinearRegression(), FRAME[["patient_id", "age"]].to_numpy(), None),
}


@pytest.mark.parametrize(("model", "rows", "groups"), SILENT.values(), ids=SILENT)
def test_no_false_alarm(model, rows, groups):
    model.set_params(**KNOWN)
    few = FRAME.assign(patient_id=FRAME["patient_id"] % 2)
    y = FRAME["wage"].to_numpy() if isinstance(rows, np.ndarray) else "wage"
    assert not told_by(lambda: model.fit(few if rows is None else rows, y, groups=groups))


def test_it_comes_before_the_charge_and_whatever_cells_are(tmp_path):
    model = Ridge(**KNOWN, ledger=tmp_path / "ledger", dataset="patients")
    with warnings.catch_warnings():
        warnings.simplefilter("error", FactWarning)
        with pytest.raises(FactWarning, match="looks like an identifier"):
            model.fit(FRAME, "wage")
    assert not (tmp_path / "ledger").exists()
    texts = [
        told_by(lambda rows=rows: Ridge(**KNOWN, schema=AGES, on_invalid="drop").fit(rows, "wage"))
        for rows in (FRAME, FRAME.assign(patient_id=np.nan), FRAME.assign(patient_id="P1"))
    ]
    assert texts[0] == texts[1] == texts[2]
