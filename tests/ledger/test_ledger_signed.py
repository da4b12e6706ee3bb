"""Who charged, and for what: recorded with the charge, sealed, and readable from older files."""

import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from privlearn import Ledger, Ridge
from privlearn.exceptions import LedgerError
from privlearn.ledger.history import spent_by

FIXTURES = Path(__file__).parents[1] / "fixtures" / "ledgers"
PLAN = Ridge(bounds_X=(0, 1), bounds_y=(0, 1), epsilon=0.5).plan(n=1000, n_features=2)


@pytest.fixture
def ledger(tmp_path):
    return Ledger.create(tmp_path / "team.ledger", epsilon=3, delta=1e-6)


def test_a_fit_is_signed_from_outside(ledger):
    X = np.linspace(0, 1, 200).reshape(-1, 2)
    model = Ridge(bounds_X=(0, 1), bounds_y=(0, 1), ledger=ledger, dataset="people")
    with ledger.signed(by="ana", note="wages"), ledger.dataset("others"):
        model.fit(X, X[:, 0])
        ledger.charge(PLAN)
    model.fit(X, X[:, 0])
    found = [(one.dataset, one.by, one.note) for one in ledger.history()]
    assert sorted(found) == [
        ("others", "ana", "wages"),
        ("people", "", ""),
        ("people", "ana", "wages"),
    ]
    assert [one.by for one in ledger.history("people")] == ["ana", ""]
    assert "by ana  for wages" in str(ledger.history("others")[0])


def test_parents_and_reservations_are_signed_too(ledger):
    ledger.declare("old", parent="all")
    with ledger.signed(by="ana"):
        ledger.reserve([PLAN, PLAN], "old")
    with ledger.signed(by="ben"):
        ledger.charge(PLAN, "old")
    assert [one.by for one in ledger.history("all")] == ["ana", "ben"]
    spent = spent_by(ledger.history("old"))
    assert spent["ben"] == 0  # paid by the reservation
    assert spent["ana"] == pytest.approx(ledger.spent("old"), rel=1e-3)


def test_what_a_person_spent_is_composed(ledger):
    for by in ("ana", "ben", "ana"):
        with ledger.signed(by=by):
            ledger.charge(PLAN, "people")
    spent = spent_by(ledger.history("people"))
    assert list(spent) == ["ana", "ben"]
    assert spent["ben"] < spent["ana"] < 2 * spent["ben"]
    assert spent["ana"] < ledger.spent("people") < spent["ana"] + spent["ben"]


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("change", ["author = 'eve'", "note = 'x'", "author = '', note = ''"])
@pytest.mark.parametrize("number", [1, 2])
def test_names_are_sealed(ledger, signed, change, number):
    for _ in range(2):
        with ledger.signed(*(("ana", "wages") if signed else ())):
            ledger.charge(PLAN, "people")
    if not signed and change.startswith("author = ''"):
        return  # nothing changes
    with sqlite3.connect(ledger.path) as link:
        link.execute(f"UPDATE charges SET {change} WHERE number = ?", (number,))
    link.close()
    with pytest.raises(LedgerError, match="was changed"):
        Ledger(ledger.path)


@pytest.mark.parametrize("name", ["format1", "format1-pure", "format2"])
def test_older_ledgers_are_read_and_signed_from_now_on(tmp_path, name):
    shutil.copy(FIXTURES / f"{name}.ledger", tmp_path)
    old = Ledger(tmp_path / f"{name}.ledger")
    assert {(one.by, one.note) for one in old.history()} == {("", "")}
    before = len(old.history())
    tiny = Ridge(bounds_X=(0, 1), bounds_y=(0, 1), epsilon=1e-3, delta=old.delta)
    with old.signed("ana"):
        old.charge(tiny.plan(n=1000, n_features=2), "new people")
    again = Ledger(old.path)
    assert again.check() == 0
    assert sum(one.by == "ana" for one in again.history()) == 1
    assert len(again.history()) == before + 1


@pytest.mark.parametrize("text", ["two\nlines", "x" * 201, "\x1b[31m", "\u202eana"])
def test_a_signature_is_one_line_that_can_be_shown(ledger, text):
    for given in ({"by": text}, {"note": text}):
        with pytest.raises(ValueError, match="give one line"), ledger.signed(**given):
            pass
    with pytest.raises(TypeError, match="by is a int"), ledger.signed(by=3):
        pass
