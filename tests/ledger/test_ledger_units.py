"""The first charge of a data set fixes whether rows or people are protected."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from privlearn import Ledger, LinearRegression
from privlearn.exceptions import LedgerError, UnsupportedCombinationError
from privlearn.ledger.units import Protected
from support import regression

X, Y = regression(n=60, p=2)
IDS = np.arange(60) // 3
FACTS = {"bounds_X": (-1, 1), "bounds_y": (-1, 1), "solver": "moments", "epsilon": 0.2}


@pytest.fixture
def ledger(tmp_path):
    return Ledger.create(tmp_path / "clinic.ledger", epsilon=1, delta=1e-6)


def model(ledger, **given):
    return LinearRegression(ledger=ledger, dataset="visits", **FACTS, **given)


def fit(ledger, ids, most=2):
    named = pd.Series(ids, name="patient") if isinstance(ids, np.ndarray) else ids
    return model(ledger, max_rows_per_person=most).fit(X, Y, groups=named)


def fit_rows(ledger):
    return model(ledger).fit(X, Y)


pytestmark = pytest.mark.filterwarnings("ignore::privlearn.exceptions.FewRowsWarning")


def test_the_unit_is_that_of_the_first_charge(ledger):
    assert ledger.unit("visits") is None
    fit(ledger, pd.Series(IDS, name="patient"))
    assert ledger.unit("visits") == "person"
    assert [charge.unit for charge in ledger.history("visits")] == ["person"]
    assert ledger.history("visits")[0].adjacency == "zero_out"
    ledger.check()


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        (fit_rows, lambda book: fit(book, IDS), "before protects a row"),
        (lambda book: fit(book, IDS), fit_rows, "this charge protects a row"),
        (
            lambda book: fit(book, pd.Series(IDS, name="patient")),
            lambda book: fit(book, pd.Series(IDS, name="household")),
            "column 'patient'",
        ),
        (
            lambda book: fit(book, IDS),
            lambda book: fit(book, pl.DataFrame({"household": IDS})),
            "column 'household'",
        ),
    ],
)
def test_another_unit_is_refused_and_nothing_is_charged(ledger, first, second, told):
    first(ledger)
    spent = ledger.spent("visits")
    with pytest.raises(LedgerError, match=told):
        second(ledger)
    assert ledger.spent("visits") == spent
    assert len(ledger.history("visits")) == 1


def test_another_number_of_rows_is_the_same_unit(ledger):
    fit(ledger, IDS, most=1)
    fit(ledger, IDS, most=3)
    assert len(ledger.history("visits")) == 2


def test_a_parent_has_the_same_unit(ledger):
    ledger.declare("visits", parent="everything")
    LinearRegression(ledger=ledger, dataset="everything", **FACTS).fit(X, Y)
    with pytest.raises(LedgerError, match="'everything'"):
        fit(ledger, IDS)
    assert ledger.history("visits") == []


def test_plans_of_people_are_reserved_among_themselves(ledger):
    rows = model(None).plan(n=20, n_features=2)
    people = model(None, max_rows_per_person=2).plan(n=20, n_features=2)
    with pytest.raises(UnsupportedCombinationError, match="all of rows or all of people"):
        ledger.reserve([rows, people], "visits")
    with pytest.raises(LedgerError, match=r"no name.*reserve\(\.\.\., person='patient'\)"):
        ledger.reserve([people], "visits")
    with pytest.raises(LedgerError, match="protects a row"):
        ledger.reserve([rows], "visits", person="patient")
    assert ledger.history("visits") == []
    ledger.reserve([people], "visits", person="patient")
    spent = ledger.spent("visits")
    fit(ledger, IDS)
    assert ledger.spent("visits") == spent
    ledger.check()


NAMED = {
    "pandas": pd.Series(IDS, name="patient"),
    "pandas frame": pd.DataFrame({"patient": IDS}),
    "index": pd.Index(IDS, name="patient"),
    "polars": pl.Series("patient", IDS),
    "polars frame": pl.DataFrame({"patient": IDS}),
    "Arrow": pa.table({"patient": IDS}),
}
NAMELESS = {
    "list": IDS.tolist(),
    "numpy object": IDS.astype(object).tolist(),
    "pandas": pd.Series(IDS),
    "a number": pd.Series(IDS, name=3),
    "polars": pl.Series(IDS),
    "Arrow": pa.array(IDS),
    "frame": pd.DataFrame(IDS),
}


def test_a_name_is_read_from_whatever_has_one(ledger):
    for ids in NAMED.values():
        model(ledger, max_rows_per_person=2).set_params(epsilon=0.01).fit(X, Y, groups=ids)
    assert len(ledger.history("visits")) == len(NAMED)


@pytest.mark.parametrize("ids", NAMELESS.values(), ids=NAMELESS)
def test_ids_without_a_name_are_charged_to_no_ledger(ledger, ids):
    with pytest.raises(LedgerError, match=r"no name.*nothing was charged.*name='patient'"):
        fit(ledger, ids)
    assert ledger.history("visits") == []
    assert model(None, max_rows_per_person=2).set_params(dataset=None).fit(X, Y, groups=ids)


def test_older_ledgers_protect_rows(tmp_path):
    looked_at = 0
    for old in sorted((Path(__file__).parents[1] / "fixtures" / "ledgers").glob("*")):
        copied = tmp_path / old.name
        shutil.copy(old, copied)
        try:
            ledger = Ledger(copied)
        except LedgerError:
            continue  # fixtures of damage
        for name in ledger.datasets():
            looked_at += 1
            assert ledger.unit(name) == "row"
            with pytest.raises((LedgerError, UnsupportedCombinationError)):
                LinearRegression(ledger=ledger, dataset=name, max_rows_per_person=2, **FACTS).fit(
                    X, Y, groups=IDS
                )
    assert looked_at > 2


@pytest.mark.parametrize("column", ["", "patient", "; person=", "a=b; c"])
def test_what_is_written_is_read(column):
    one = Protected("add_remove", "person", column)
    assert Protected.read(one.text()) == one
    assert Protected.read("add_remove") == Protected("add_remove")
