"""A ledger fails closed: whatever happens to its file, nothing is charged for free."""

import json
import os
import resource
import shutil
import sqlite3
import unicodedata
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from privlearn import Ledger, LinearRegression
from privlearn._core.mechanisms import LAPLACE
from privlearn._core.norms import L1
from privlearn._core.plan import Plan, Release
from privlearn._core.problem import Adjacency
from privlearn._core.sampling import Poisson
from privlearn.exceptions import (
    BudgetExceededError,
    LedgerError,
    MissingFactError,
    PrivacyError,
    UnsupportedCombinationError,
)
from privlearn.ledger.names import normal_name, twin_key

FIXTURES = Path(__file__).parents[1] / "fixtures" / "ledgers"
DELTA = 1e-6


def gaussian(scale=20.0, relation=Adjacency.ZERO_OUT):
    return Plan((Release("sum", (3,), clip=1.0),), relation, scale, rows=100)


def laplace(scale=20.0):
    release = Release("count", (1,), clip=1.0, norm=L1, mechanism=LAPLACE)
    return Plan((release,), Adjacency.ZERO_OUT, scale, rows=100)


def sampled(scale=4.0):
    release = Release("gradient", (3,), clip=1.0, sampling=Poisson(0.01), count=100)
    return Plan((release,), Adjacency.ZERO_OUT, scale, rows=100)


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "clinic.ledger")


@pytest.fixture
def ledger(path):
    return Ledger.create(path, epsilon=1, delta=DELTA)


def filled(ledger):
    """Two families, every kind of record."""
    ledger.declare("extract", parent="people")
    for scale in (20.0, 21.0, 22.0):
        ledger.charge(gaussian(scale), "people")
    ledger.charge(laplace(2000.0), "people")
    ledger.charge(gaussian(23.0), "extract", stream="s1")
    ledger.advance("s1", 0)
    ledger.reserve([gaussian(40.0), gaussian(41.0)], "reserved")
    ledger.charge(gaussian(41.0), "reserved")
    ledger.charge(laplace(), "pure")
    ledger.charge(laplace(), "pure")
    return ledger


# Every record, changed in every way


def changes(path):
    """Statements that change one thing each, for every cell and row of the file."""
    with sqlite3.connect(path) as link:
        tables = [
            name for (name,) in link.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        for table in tables:
            columns = [row[1] for row in link.execute(f"PRAGMA table_info({table})")]
            rows = [row for (row,) in link.execute(f"SELECT rowid FROM {table}")]
            for row in rows:
                yield f"DELETE FROM {table} WHERE rowid = {row}"
                for column in columns:
                    yield f"UPDATE {table} SET {column} = 0 WHERE rowid = {row}"
                    yield f"UPDATE {table} SET {column} = '' WHERE rowid = {row}"
                    yield f"UPDATE {table} SET {column} = {column} || '1' WHERE rowid = {row}"
                    yield f"UPDATE {table} SET {column} = 'nan' WHERE rowid = {row}"
                    yield f"UPDATE {table} SET {column} = -1 WHERE rowid = {row}"
                    yield f"UPDATE {table} SET {column} = x'ff' WHERE rowid = {row}"
                for other in rows:
                    if other != row:
                        for column in columns:
                            yield (
                                f"UPDATE OR IGNORE {table} SET {column} = (SELECT {column} FROM "
                                f"{table} WHERE rowid = {other}) WHERE rowid = {row}"
                            )  # fmt: skip
            yield f"DELETE FROM {table}"


def dump(path):
    with sqlite3.connect(path) as link:
        link.text_factory = bytes
        return {
            table: link.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall()
            for table in ("ledger", "datasets", "charges", "streams")
        }


def unseen_changes(ledger, damaged, statements):
    """Changes after which the file opens as if nothing had happened."""
    before = dump(ledger.path)
    for statement in statements:
        shutil.copy(ledger.path, damaged)
        with sqlite3.connect(damaged) as link:
            try:
                link.execute(statement)
            except sqlite3.IntegrityError:
                continue
        if dump(damaged) == before:
            continue
        try:
            Ledger(damaged)
            yield statement
        except LedgerError:
            pass


def test_any_change_of_any_record_is_found_when_the_file_is_opened(ledger, tmp_path):
    statements = list(changes(filled(ledger).path))
    some = np.random.default_rng(0).permutation(statements)[:100]
    assert list(unseen_changes(ledger, tmp_path / "damaged", some)) == []


@pytest.mark.slow
def test_every_change_of_every_record_is_found(ledger, tmp_path):
    statements = list(changes(filled(ledger).path))
    assert len(statements) > 2000
    assert list(unseen_changes(ledger, tmp_path / "damaged", statements)) == []


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE datasets SET square = 0, loss = 0, failure = 0",
        "UPDATE datasets SET charges = charges - 1",
        "UPDATE datasets SET cap = '[1152921504606846976, 0, 1152921504606846976]'",
        "UPDATE datasets SET name = 'persons', twin = 'persons' WHERE name = 'people'",
        "UPDATE datasets SET parents = '[]'",
        "UPDATE datasets SET first = '[]'",
        "UPDATE charges SET square = 0",
        "DELETE FROM charges WHERE number = 2",
        "DELETE FROM charges",
        "DELETE FROM datasets",
        "UPDATE ledger SET epsilon = '100.0'",
        "DELETE FROM datasets WHERE name = 'extract'; DELETE FROM charges WHERE dataset = 1",
    ],
)
def test_an_open_ledger_sees_it_at_the_next_charge(ledger, statement):
    filled(ledger)
    with sqlite3.connect(ledger.path) as link:
        link.executescript(statement)
    with pytest.raises(LedgerError, match="nothing was charged or released"):
        ledger.charge(gaussian(), "extract")
    with pytest.raises(LedgerError, match="records of the ledger"):
        Ledger(ledger.path)


# The file as a whole


@pytest.mark.parametrize("kept", [0, 100, 4096, 0.5, 0.9])
def test_a_file_that_was_cut_is_refused(ledger, kept):
    filled(ledger)
    size = os.path.getsize(ledger.path)
    os.truncate(ledger.path, kept if kept >= 1 or kept == 0 else int(kept * size))
    for use in (lambda: ledger.charge(gaussian(), "people"), lambda: Ledger(ledger.path)):
        with pytest.raises(LedgerError, match=r"damaged|is no ledger|but no ledger"):
            use()


def test_broken_pages_are_refused(ledger):
    filled(ledger)
    data = bytearray(Path(ledger.path).read_bytes())
    rng = np.random.default_rng(0)
    for page in range(1, len(data) // 4096):
        data[4096 * page : 4096 * page + 200] = rng.bytes(200)
    Path(ledger.path).write_bytes(data)
    with pytest.raises(LedgerError, match="damaged"):
        ledger.charge(gaussian(), "people")
    with pytest.raises(LedgerError, match="damaged"):
        Ledger(ledger.path)


def test_a_newer_format_is_refused_by_open_handles_too(ledger):
    with sqlite3.connect(ledger.path) as link:
        link.execute("PRAGMA user_version = 99")
    for use in (lambda: ledger.charge(gaussian(), "people"), lambda: Ledger(ledger.path)):
        with pytest.raises(LedgerError, match="format 99, but this privlearn writes"):
            use()


@pytest.fixture
def full_disk():
    """No file may grow any more, which SQLite sees as a disk that is full."""
    import signal

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    def fill(size):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))

    yield fill
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("room", [0, 512, 4096, 20_000])
def test_a_full_disk_charges_nothing_and_damages_nothing(ledger, full_disk, room):
    filled(ledger)
    before = dump(ledger.path)
    full_disk(room)

    def charge():
        for _ in range(40):
            ledger.charge(gaussian(500.0), "people")

    with pytest.raises(LedgerError, match=r"disk .* is full or failed") as error:
        charge()
    full_disk(resource.RLIM_INFINITY)
    assert "make room" in str(error.value)
    assert Ledger(ledger.path).check() == 0
    if room <= 512:
        assert dump(ledger.path) == before
    ledger.charge(gaussian(), "people")


def test_a_full_disk_makes_no_ledger(path, full_disk):
    full_disk(1000)
    with pytest.raises(LedgerError, match="is full or failed"):
        Ledger.create(path, epsilon=1, delta=DELTA)
    full_disk(resource.RLIM_INFINITY)
    assert os.listdir(os.path.dirname(path)) == []


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("SQLITE_FULL", "is full or failed"),
        ("SQLITE_IOERR_WRITE", "is full or failed"),
        ("SQLITE_READONLY_DIRECTORY", "cannot be written"),
        ("SQLITE_CANTOPEN", "cannot be written"),
        ("SQLITE_BUSY", "was locked by others"),
        ("SQLITE_CORRUPT", "pages of the file are broken"),
        ("SQLITE_NOTADB", "is no ledger"),
        ("SQLITE_MISMATCH", "a record cannot be read"),
    ],
)
def test_every_error_of_the_file_has_its_sentence(ledger, code, words):
    error = sqlite3.OperationalError("something")
    error.sqlite_errorname = code
    assert words in str(ledger._store._explained(error))


# Names


@pytest.mark.parametrize(
    "twin",
    ["People", "PEOPLE", "peo ple", "peo-ple", "peo_ple", "peo\u2011ple", "peo\u2013ple"],
)
def test_names_that_look_alike_are_one_or_refused(ledger, twin):
    ledger.charge(gaussian(), "people")
    for use in (lambda: ledger.charge(gaussian(), twin), lambda: ledger.spent(twin)):
        with pytest.raises(LedgerError, match="has a data set 'people'"):
            use()
    assert ledger.datasets() == ["people"]


@pytest.mark.parametrize("same", [" people", "people\n", "\u00a0people ", "\uff50eople"])
def test_spellings_of_one_name_are_one_data_set(ledger, same):
    ledger.charge(gaussian(), "people")
    ledger.charge(gaussian(), same)
    assert len(ledger.history("people")) == 2
    assert ledger.spent(same) == ledger.spent("people")


def test_unicode_forms_are_one_name(ledger):
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        ledger.charge(gaussian(), unicodedata.normalize(form, "Bäume-2026"))
    assert len(ledger.history("Bäume-2026")) == 4


@pytest.mark.parametrize(
    "bad", ["", "  ", "a\u200bb", "a\x00b", "a\u202eb", "\u200b", 3, None, b"a", "x" * 500]
)
def test_names_that_cannot_be_seen_are_refused(ledger, bad):
    with pytest.raises(MissingFactError):
        normal_name(bad)
    if bad is not None:
        with pytest.raises(MissingFactError):
            ledger.charge(gaussian(), bad)
    assert ledger.datasets() == []


def test_a_name_of_hyphens_has_a_key():
    assert twin_key("--") != twin_key("_")


# Certificates


def fitted(ledger, **given):
    rng = np.random.default_rng(0)
    model = LinearRegression(
        epsilon=0.1, bounds_X=(0, 1), bounds_y=(0, 1), ledger=ledger, dataset="people", **given
    )
    return model.fit(rng.random((50, 2)), rng.random(50))


def test_a_certificate_holds_the_head_and_nothing_else_of_the_ledger(ledger):
    certificate = fitted(ledger).privacy_
    assert certificate.ledger_head == ledger.history("people")[-1].head
    assert json.loads(certificate.to_json())["ledger_head"] == certificate.ledger_head
    assert "ledger_head" not in fitted(None).privacy_.to_dict()
    again = fitted(ledger).privacy_.to_dict()
    changed = {key for key, value in certificate.to_dict().items() if again[key] != value}
    assert changed == {"ledger_head"}


def test_an_old_copy_is_found_by_a_later_certificate(ledger, path):
    first = fitted(ledger).privacy_
    shutil.copy(path, path + ".old")
    second = fitted(ledger).privacy_
    assert ledger.check([first, second.to_dict()]) == 2
    shutil.copy(path + ".old", path)
    assert ledger.check([first]) == 1
    with pytest.raises(LedgerError, match=r"certificate number 2 .* an old copy"):
        ledger.check([first, second])
    with pytest.raises(ValueError, match="made without a ledger"):
        ledger.check([fitted(None).privacy_])


def test_heads_of_two_ledgers_with_the_same_charges_differ(ledger, tmp_path):
    other = Ledger.create(tmp_path / "other.ledger", epsilon=1, delta=DELTA)
    assert ledger.charge(gaussian(), "people") != other.charge(gaussian(), "people")


def test_check_finds_a_cap_that_allows_too_much(ledger):
    from privlearn.ledger.filter import Cost

    ledger.charge(gaussian(), "people")
    ledger.charge(gaussian(), "people")
    with ledger._open(write=True) as records:
        state = records.state("people")
        records.write_state(replace(state, cap=Cost(2 * state.cap.square, 0, 0)))
    with pytest.raises(LedgerError, match="allows more than its budget"):
        ledger.check()


def test_a_users_own_ledger_still_works():
    class Mine:
        def __init__(self):
            self.seen = []

        def charge(self, plan, dataset):
            self.seen.append(dataset)

    mine = Mine()
    assert fitted(mine).privacy_.ledger_head is None
    assert mine.seen == ["people"]


# Families


def test_charges_are_recorded_for_all_ancestors_once(ledger):
    ledger.declare("join", parent=["left", "right"])
    ledger.declare("left", parent="source")
    ledger.declare("right", parent="source")
    ledger.charge(gaussian(), "join")
    assert ledger.parents("join") == ["left", "right", "source"]
    for name in ("join", "left", "right", "source"):
        assert len(ledger.history(name)) == 1
    ledger.charge(gaussian(), "left")
    assert [len(ledger.history(name)) for name in ("join", "left", "right", "source")] == [
        1,
        2,
        1,
        2,
    ]


def test_a_charge_must_fit_everywhere(ledger):
    ledger.declare("extract", parent="people")
    ledger.charge(gaussian(4.4), "people")
    assert ledger.remaining("extract") == ledger.remaining("people") < 0.5
    with pytest.raises(BudgetExceededError, match="'people'"):
        ledger.charge(gaussian(4.4), "extract")
    assert ledger.history("extract") == []


@pytest.mark.parametrize(
    ("name", "parent", "words"),
    [
        ("a", "a", "among its own parents"),
        ("a", "c", "among its own parents"),
        ("used", "z", "has charges already"),
        ("above", "z", "has charges already"),
    ],
)
def test_declarations_that_are_refused(ledger, name, parent, words):
    ledger.declare("c", parent="b")
    ledger.declare("b", parent="a")
    ledger.declare("used", parent="above")
    ledger.charge(gaussian(), "used")
    with pytest.raises(LedgerError, match=words):
        ledger.declare(name, parent=parent)
    ledger.declare("used", parent="above")  # what is known already is no change
    assert Ledger(ledger.path).parents("c") == ["b", "a"]


def test_a_family_has_one_relation(ledger):
    ledger.declare("extract", parent="people")
    ledger.charge(gaussian(relation=Adjacency.ADD_REMOVE), "people")
    with pytest.raises(UnsupportedCombinationError, match="'people' was charged with"):
        ledger.charge(gaussian(), "extract")


# Kinds


def test_a_second_charge_decides_after_a_pure_first(ledger):
    for name, second, kind in (("a", laplace(), "pure"), ("b", gaussian(), "gaussian")):
        ledger.charge(laplace(), name)
        assert ledger.kind(name) == "open"
        ledger.charge(second, name)
        assert ledger.kind(name) == kind
    with pytest.raises(BudgetExceededError, match=r"declare\(\.\.\., kind='gaussian'\)"):
        ledger.charge(gaussian(100.0), "a")


def test_a_declared_kind_stays(ledger):
    ledger.declare("a", kind="gaussian")
    ledger.charge(laplace(), "a")
    ledger.charge(laplace(), "a")
    ledger.charge(gaussian(), "a")
    assert ledger.kind("a") == "gaussian"
    with pytest.raises(LedgerError, match="has charges already"):
        ledger.declare("a", kind="pure")
    with pytest.raises(ValueError, match="'gaussian', 'pure' or None"):
        ledger.declare("b", kind="renyi")


# Reservations


def test_reserved_plans_are_free_once_each(ledger):
    plans = [gaussian(15.0), sampled(), laplace(30.0)]
    ledger.reserve(plans, "people")
    spent = ledger.spent("people")
    for plan in plans:
        ledger.charge(plan, "people")
    assert ledger.spent("people") == spent
    assert [charge.part for charge in ledger.history("people")] == ["first", *["reserved"] * 3]
    ledger.charge(plans[0], "people")
    assert ledger.spent("people") > spent
    assert Ledger(ledger.path).check() == 0


def test_a_reservation_costs_the_exact_composition(ledger):
    from privlearn.accounting import compose

    plans = [gaussian(15.0), sampled(), laplace(30.0)]
    ledger.reserve(plans, "people")
    exact = compose([term for plan in plans for term in plan.pairs()]).epsilon(DELTA)
    assert ledger.spent("people") == pytest.approx(exact, rel=2e-3)
    for plan in plans:
        ledger.charge(plan, "one by one")
    assert ledger.spent("one by one") > ledger.spent("people")


def test_reservations_over_budget_or_of_nothing_are_refused(ledger):
    with pytest.raises(BudgetExceededError):
        ledger.reserve([gaussian(4.4)] * 2, "people")
    with pytest.raises(PrivacyError, match="at least one plan"):
        ledger.reserve([], "people")
    assert ledger.datasets() == []


# Streams


def test_a_stream_counts_its_batches(ledger):
    ledger.charge(gaussian(), "people", stream="s")
    ledger.advance("s", 0)
    again = Ledger(ledger.path)
    with pytest.raises(LedgerError, match="expects batch 1"):
        again.advance("s", 0)
    with pytest.raises(LedgerError, match="expects batch 1"):
        again.advance("s", 2)
    again.advance("s", 1)
    with pytest.raises(LedgerError, match="not registered"):
        ledger.advance("t", 0)
    with pytest.raises(LedgerError, match="registered in the ledger"):
        ledger.charge(gaussian(), "people", stream="s")
    assert len(ledger.history("people")) == 1


def test_a_counter_set_back_is_found(ledger):
    ledger.charge(gaussian(), "people", stream="s")
    ledger.advance("s", 0)
    with sqlite3.connect(ledger.path) as link:
        link.execute("UPDATE streams SET batch = 0")
    with pytest.raises(LedgerError, match="counter of a stream"):
        ledger.advance("s", 0)


# Old files


@pytest.mark.parametrize("name", ["format1", "format2"])
def test_files_of_earlier_versions_keep_what_was_spent(name, tmp_path):
    for file, spent in json.loads((FIXTURES / f"{name}.json").read_text()).items():
        copy = tmp_path / file
        shutil.copy(FIXTURES / file, copy)
        ledger = Ledger(copy)
        for dataset, epsilon in spent.items():
            assert ledger.spent(dataset) >= epsilon * (1 - 1e-6)
            assert ledger.remaining(dataset) < ledger.epsilon
        ledger.check()
        dataset = next(iter(spent))
        count = len(ledger.history(dataset))
        relation = Adjacency(ledger.history(dataset)[0].adjacency)
        plan = laplace(1000.0) if ledger.kind(dataset) == "pure" else gaussian(50.0, relation)
        ledger.charge(plan, dataset)
        assert len(Ledger(copy).history(dataset)) == count + 1


def test_a_damaged_old_file_is_left_as_it_is(tmp_path):
    copy = tmp_path / "old.ledger"
    shutil.copy(FIXTURES / "format1.ledger", copy)
    with sqlite3.connect(copy) as link:
        link.execute("DELETE FROM charges WHERE id = 2")
    before = copy.read_bytes()
    with pytest.raises(LedgerError, match="format 1 is damaged"):
        Ledger(copy)
    assert copy.read_bytes() == before


def test_old_names_that_look_alike_become_one(tmp_path):
    copy = tmp_path / "old.ledger"
    shutil.copy(FIXTURES / "format1.ledger", copy)
    with sqlite3.connect(copy) as link:
        link.execute("UPDATE datasets SET name = 'Gaussian ' WHERE name = 'mixed'")
    spent = json.loads((FIXTURES / "format1.json").read_text())["format1.ledger"]
    ledger = Ledger(copy)
    assert len(ledger.history("gaussian")) == 7
    assert ledger.spent("gaussian") > max(spent["gaussian"], spent["mixed"])
