"""Columns whose kind is estimated, with numbers written as 5.380,5: declared, not guessed."""

import numpy as np
import pandas as pd
import pytest

import privlearn
from privlearn import LinearRegression
from privlearn._data.cells import objects
from privlearn.exceptions import UnsupportedCombinationError
from privlearn.schema import Category, Date, Estimate, Flag, Number
from privlearn.schema.encoding import Column, Encoding
from privlearn.schema.plain import kind_from, plain_kind
from privlearn.schema.raw import read_raw

GERMAN = Estimate(decimal=",", thousands=".")
ROWS = 4_000


def german(value, digits=0):
    return f"{value:,.{digits}f}".translate(str.maketrans(",.", ".,"))


def companies():
    """Numbers from 1 to 9,000 as texts, of which "5.380" is a number in Python, too."""
    staff = np.random.default_rng(0).integers(1, 9_000, ROWS)
    frame = pd.DataFrame({"staff": [german(value) for value in staff]})
    return frame, staff.astype(float), 3.0 * staff


def fitted(schema, **more):
    frame, staff, y = companies()
    own = {"epsilon": 50.0, "delta": 1e-5, "random_state": 0} | more
    return LinearRegression(schema=schema, **own).fit(frame, y), staff, y


@pytest.mark.parametrize("schema", [GERMAN, {"staff": GERMAN}], ids=["all columns", "one column"])
def test_a_declared_notation_gives_the_numbers_that_are_meant(schema):
    model, _, y = fitted(schema)
    assert model._encoding.columns[0].kind == Number(decimal=",", thousands=".", missing="fill")
    new = model.predict(pd.DataFrame({"staff": ["5.380", "900"]}))
    assert new == pytest.approx([16_140, 2_700], rel=0.05)
    error = model.predict(companies()[0]) - y
    assert np.mean(error**2) < 0.01 * np.var(y)


def test_without_it_texts_are_what_python_reads():
    """As the documents say: 5.380 is five point three eight, and nothing looks whether it is."""
    model, _, _ = fitted("estimate")
    assert model._encoding.columns[0].kind == Number(missing="fill")
    assert model._encoding.encode({"staff": objects(["5.380"])}, 1)[0, 0] == 5.38


def test_ranges_beside_it_are_of_numbers_in_that_notation():
    model, _, _ = fitted(GERMAN, bounds_X={"staff": (0, 9_000)})
    assert model._encoding.columns[0].kind == Number(0, 9_000, decimal=",", thousands=".")


def test_a_saved_model_keeps_it(tmp_path):
    model, _, _ = fitted(GERMAN)
    model.save(tmp_path / "model.json")
    loaded = privlearn.load(tmp_path / "model.json")
    assert loaded.schema == GERMAN
    frame = companies()[0]
    assert loaded.predict(frame).tolist() == model.predict(frame).tolist()


def test_rows_that_are_read_in_passes_refuse_it():
    pytest.importorskip("pyarrow")
    import pyarrow as pa
    import pyarrow.dataset as ds

    rows = ds.dataset(pa.table({"staff": [1.0, 2.0], "y": [1.0, 2.0]}))
    with pytest.raises(UnsupportedCombinationError, match="estimate"):
        LinearRegression(schema=GERMAN).fit(rows, "y")


CELLS = [
    *(
        "5.380",
        "900",
        "5.38",
        "1.000",
        "1,0",
        "0,5",
        "1.0",
        "0",
        "1",
        "01",
        "yes",
        "No",
        "t",
        "n/a",
    ),
    *("", " ", "nan", "inf", "2020-01-31", "20200131", "1e3", "1e300", "9.007.199.254.740.993"),
    *("5.380 EUR", "12,5%", "True", "-1.234,5", "+7", "."),
    *(None, 5.38, 7, 1, 0.0, True, float("nan"), b"5.380", b"1,0"),
]
WRITTEN = [
    {},
    {"decimal": ","},
    {"decimal": ",", "thousands": "."},
    {"thousands": ","},
    {"decimal": ",", "thousands": ".", "currency": "EUR", "percent": True},
]


@pytest.mark.parametrize("written", WRITTEN, ids=str)
@pytest.mark.parametrize("missing", ["fill", "flag"])
def test_a_fit_and_a_prediction_read_a_cell_alike(written, missing):
    """Whatever the column turns out to be; but for numbers from 2^53 on, and digits as dates."""
    cells = {"c": objects(CELLS)}
    rows = read_raw(Encoding((Column("c", Estimate(**written)),)), cells, len(CELLS))
    kinds = [Number(missing=missing, **written), Flag(missing), Date(missing=missing)]
    kinds += [Category(["5.380", "1", "yes", "n/a"], missing, other=True)]
    for kind in kinds:
        found = Encoding((Column("c", kind),))
        beyond = {"20200131"} if isinstance(kind, Date) else {"1e300", "9.007.199.254.740.993"}
        same = np.array([cell not in beyond for cell in CELLS])
        trained, predicted = rows.features(found), found.encode(cells, len(CELLS))
        np.testing.assert_array_equal(trained[same], predicted[same], err_msg=str(kind))


@pytest.mark.parametrize("kind", [Number, Estimate])
def test_groups_with_points_have_a_decimal_comma(kind):
    short = kind(thousands=".")
    assert short == kind(decimal=",", thousands=".")
    assert short.rule("1.234,5") == 1234.5
    assert kind_from(plain_kind(short)) == short
    assert plain_kind(kind(thousands=",")) == {"kind": kind.word, "thousands": ","}
    assert plain_kind(kind()) == {"kind": kind.word}
    assert kind(thousands=",").decimal == kind().decimal == "."
    with pytest.raises(ValueError, match="give two marks"):
        kind(decimal=".", thousands=".")


def test_a_list_of_words_for_gaps_alone_is_said_to_be():
    """What was published says it; a column of which more was published is not named."""
    frame, _, y = companies()
    rng = np.random.default_rng(1)
    frame["money"] = [f"{german(value, 2)} EUR" for value in rng.uniform(0, 9e5, ROWS)]
    frame["town"] = rng.choice(["Ulm", "N/A"], ROWS)
    frame.loc[::3, "money"] = "n/a"
    model = LinearRegression(epsilon=50, delta=1e-5, schema=GERMAN, random_state=0)
    with pytest.warns(UserWarning, match="only words for a gap") as told:
        model.fit(frame, y)
    (said,) = [str(one.message) for one in told if "words for a gap" in str(one.message)]
    assert "'money'" in said
    assert "town" not in said
    assert {c.name: c.kind for c in model._encoding.columns}["money"].values == ("n/a",)


def test_the_words_of_files_have_it():
    kind = Estimate(max_categories=3, decimal=",", thousands=".", currency="EUR")
    assert kind_from(plain_kind(kind)) == kind
    assert repr(kind) == ("Estimate(max_categories=3, decimal=',', thousands='.', currency='EUR')")
    assert plain_kind(Estimate()) == {"kind": "estimate"}
    with pytest.raises(ValueError, match="decimal=';'"):
        Estimate(decimal=";")
