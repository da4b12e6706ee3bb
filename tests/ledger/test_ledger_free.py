"""Nothing is free in a ledger: an open handle notices edits, and what is set aside is there."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ledger.test_ledger_closed import gaussian
from privlearn import Ledger
from privlearn._core.problem import Budget
from privlearn.accounting import ApproximateLoss, Gaussian, PureLoss, compose
from privlearn.exceptions import LedgerError, MissingFactError
from privlearn.ledger.filter import GAUSSIAN, OPEN, PURE, WHOLE, Filter, kind_of
from privlearn.ledger.names import normal_name, twin_key

BUDGET = Budget(2.0, 1e-6)
D = BUDGET.delta


def at_the_limit(pair_of, count):
    """So much of a pair that alone it costs all of delta, or a little less."""
    low, high = 1e-6, 2.0
    for _ in range(60):
        middle = (low + high) / 2
        found = compose([(pair_of(middle), count)]).delta(BUDGET.epsilon)
        low, high = (middle, high) if found <= D else (low, middle)
    return ((pair_of(low), count),)


FIRSTS = {
    "a failure that is nearly all of delta": ((ApproximateLoss(1.0, D * (1 - 2.0**-19)), 1),),
    "a failure that is half of it": ((ApproximateLoss(1.0, D / 2), 1),),
    "pure losses at the limit": at_the_limit(PureLoss, 16),
    "a Gaussian at the limit": at_the_limit(Gaussian, 1),
    "a small Gaussian": ((Gaussian(0.1), 1),),
    "a small loss": ((PureLoss(0.1), 1),),
}


@pytest.mark.parametrize("first", FIRSTS.values(), ids=FIRSTS.keys())
def test_what_is_set_aside_is_there_whatever_the_first_charge_took(first):
    """The first charge, all that later ones may take and all their failures keep the budget."""
    for kind in {OPEN: (GAUSSIAN, PURE), GAUSSIAN: (GAUSSIAN,)}[kind_of(first, BUDGET)]:
        rules = Filter(BUDGET, kind)
        cap, mine = rules.cap(first), rules.first_cost(first)
        later = (cap.failure - mine.failure) / WHOLE * D
        assert later >= 0
        whole = list(first)
        if kind == GAUSSIAN and cap.square:
            whole.append((Gaussian(rules.mu(cap.square)), 1))
        lost = compose(whole).delta(BUDGET.epsilon)
        assert lost + later <= D * (1 + 1e-6)


@pytest.fixture
def ledger(tmp_path):
    return Ledger.create(tmp_path / "clinic.ledger", epsilon=1, delta=1e-6)


def edit(ledger, statement):
    with closing(sqlite3.connect(ledger.path)) as link, link:
        link.execute(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE datasets SET name = 'zzz', twin = 'zzz' WHERE name = 'people'",
        "UPDATE charges SET part = 'later' WHERE part = 'reserved'",
        "UPDATE charges SET reserved = replace(reserved, ']', ', \"x\"]') WHERE number = 1",
        "UPDATE charges SET reserved = 'x' WHERE number = 1",
        "UPDATE charges SET pairs = pairs || ' ' WHERE part = 'reserved'",
    ],
)
def test_a_handle_that_is_open_already_notices(ledger, statement):
    ledger.reserve([gaussian(40.0), gaussian(41.0)], "people")
    ledger.charge(gaussian(41.0), "people")
    ledger.charge(gaussian(400.0), "people")
    edit(ledger, statement)
    with pytest.raises(LedgerError):
        ledger.charge(gaussian(41.0), "people")


def test_a_wrong_index_does_not_make_a_used_reservation_free(ledger):
    """Bits of an index may flip; only rows whose chain holds are counted."""
    ledger.reserve([gaussian(40.0)], "people")
    ledger.charge(gaussian(40.0), "people")
    ledger.charge(gaussian(400.0), "people")
    with ledger._open() as records:
        state = records.state("people")
        free = [records.unused(state, row.pairs) for row in records.chain(state)]
    assert free == [0, 0, 0]
    source = sqlite3.connect(ledger.path)
    (root,) = source.execute("SELECT rootpage FROM sqlite_master WHERE name = 'uses'").fetchone()
    (size,) = source.execute("PRAGMA page_size").fetchone()
    source.close()
    content = bytearray(Path(ledger.path).read_bytes())
    page = slice((root - 1) * size, root * size)
    place = content[page].find(b"gaussian") + 2 if b"gaussian" in content[page] else size - 9
    content[page.start + place] ^= 1
    Path(ledger.path).write_bytes(content)
    with pytest.raises(LedgerError):
        Ledger(ledger.path)
    with ledger._open() as records:
        state = records.state("people")
        assert [records.unused(state, row.pairs) for row in records.chain(state)] == [0, 0, 0]


@pytest.mark.parametrize(
    "odd",
    ["pati\u034fents", "patients\ufe0f", "patients\u17b4", "pat\u3164ients", "pat\u2800ients",
     "p\u0430tients"],
    ids=ascii,
)  # fmt: skip
def test_names_that_cannot_be_told_apart_are_refused(odd):
    with pytest.raises(MissingFactError, match="dataset="):
        normal_name(odd)


@pytest.mark.parametrize("twin", ["patients\u22122026", "patients\u20432026", "patients.2026"])
def test_signs_make_no_other_name(twin):
    assert twin_key(twin) == twin_key("patients-2026")


def test_names_of_one_alphabet_are_fine():
    for name in ("пациенты-2026", "ασθενείς", "patients-2026", "患者 2026", "Zürich é"):
        assert normal_name(name)
