"""The ledger's file: SQLite, one connection per operation, one transaction per charge.

A connection is never kept, so there is none to share between threads or to inherit over a fork.
`synchronous=EXTRA` with a rollback journal: a commit has reached the disk when it returns, and a
process that dies at any instant leaves either all of a charge or nothing of it.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from time import monotonic, sleep
from urllib.parse import quote

import numpy as np

from privlearn.exceptions import InvalidBudget, LedgerError
from privlearn.ledger.bound import Account, Orders
from privlearn.ledger.moments import Array, Terms
from privlearn.ledger.serial import FORMAT, pair_from_text
from privlearn.problem import Budget

__all__ = [
    "Row",
    "State",
    "Store",
    "read_charges",
    "read_names",
    "read_orders",
    "read_state",
    "read_terms",
    "refuse_other_budget",
    "write_charge",
    "write_checkpoint",
    "write_refusal",
]

_APPLICATION = 0x5052564C  # "PRVL" in the header of the file
_PATIENCE = 120.0  # seconds to wait for others that are writing
_LONGEST_PAUSE, _SHORTEST_PAUSE = 0.025, 0.001  # seconds between two attempts to write
_OLD = 0.25  # seconds of waiting after which pauses are shortest
_SCHEMA = """
CREATE TABLE budget (epsilon TEXT NOT NULL, delta TEXT NOT NULL, orders TEXT NOT NULL);
CREATE TABLE datasets (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, neighbors TEXT NOT NULL,
  version INTEGER NOT NULL, checked INTEGER NOT NULL,
  moments TEXT NOT NULL, offsets TEXT NOT NULL, lost TEXT NOT NULL);
CREATE TABLE terms (
  dataset INTEGER NOT NULL, pair TEXT NOT NULL, count INTEGER NOT NULL,
  PRIMARY KEY (dataset, pair)) WITHOUT ROWID;
CREATE TABLE charges (
  id INTEGER PRIMARY KEY AUTOINCREMENT, dataset INTEGER NOT NULL, time TEXT NOT NULL,
  pairs TEXT NOT NULL, releases TEXT NOT NULL, privlearn TEXT NOT NULL);
CREATE INDEX charges_of ON charges (dataset);
CREATE TABLE refusals (id INTEGER PRIMARY KEY, dataset INTEGER NOT NULL, moments TEXT NOT NULL);
"""


# SQLite keeps locks of a process in memory that a forked child would inherit, so a fork waits until
# no thread is using a ledger.
_one_at_a_time = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_one_at_a_time.acquire,
        after_in_parent=_one_at_a_time.release,
        after_in_child=_one_at_a_time.release,
    )


@dataclass(frozen=True, eq=False)
class State:
    """What the file says about one data set at one version, that is, after so many charges."""

    id: int | None
    neighbors: str | None
    version: int
    checked: int
    account: Account
    refused: tuple[Array, ...] = ()


@dataclass(frozen=True)
class Row:
    """One line to be written: everything in it was known before the data were touched."""

    time: str
    pairs: str
    releases: str
    privlearn: str


@dataclass(frozen=True)
class Store:
    """A handle on the file; it holds nothing but the path."""

    path: str

    def create(self, budget: Budget) -> None:
        """Make the file, unless another process was faster."""
        folder = Path(self.path).parent
        if not folder.is_dir():
            raise LedgerError(f"there is no folder {folder}; make it first, or check the path")
        orders = json.dumps(Orders.of(budget).t.tolist())
        with self._connected("rwc") as link, _writing(link):
            if _tables(link):
                return
            for statement in filter(str.strip, _SCHEMA.split(";")):
                link.execute(statement)
            link.execute(f"PRAGMA application_id = {_APPLICATION}")
            link.execute(f"PRAGMA user_version = {FORMAT}")
            row = (repr(budget.epsilon), repr(budget.delta), orders)
            link.execute("INSERT INTO budget VALUES (?, ?, ?)", row)

    def budget(self) -> Budget:
        """The budget in the file, after a check that this is a ledger of the present format."""
        with self._connected("rw") as link:
            self._check(link)
            return read_orders(link).budget

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection for reading one consistent state."""
        with self._connected("rw") as link:
            link.execute("BEGIN")
            yield link

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction that nobody else can write in between; committed at the end."""
        with self._connected("rw") as link, _writing(link):
            yield link

    @contextlib.contextmanager
    def _connected(self, mode: str) -> Iterator[sqlite3.Connection]:
        # rw never creates: a ledger that was removed must not start again from nothing.
        address = f"file:{quote(self.path)}?mode={mode}"
        with _one_at_a_time:
            yield from self._opened(address)

    def _opened(self, address: str) -> Iterator[sqlite3.Connection]:
        try:
            link = sqlite3.connect(address, uri=True, timeout=_PATIENCE, isolation_level=None)
            try:
                link.execute("PRAGMA synchronous = EXTRA")
                yield link
            finally:
                link.close()
        except sqlite3.Error as error:
            raise self._explained(error) from error

    def _check(self, link: sqlite3.Connection) -> None:
        (mark,) = link.execute("PRAGMA application_id").fetchone()
        (version,) = link.execute("PRAGMA user_version").fetchone()
        if mark != _APPLICATION:
            raise LedgerError(f"{self.path} is a database, but no ledger; choose another path")
        if version != FORMAT:
            raise LedgerError(
                f"{self.path} has ledger format {version}, but this privlearn writes {FORMAT}; "
                "use the version of privlearn that made it, or a newer one"
            )

    def _explained(self, error: sqlite3.Error) -> LedgerError:
        name = getattr(error, "sqlite_errorname", "")
        if os.path.isdir(self.path):
            return LedgerError(f"{self.path} is a folder; a ledger is a file in it")
        if not os.path.exists(self.path):
            return LedgerError(
                f"the ledger {self.path} is not there (any more), so nothing may be charged; "
                "put the file back, or make a new ledger with Ledger(path, epsilon=..., delta=...)"
            )
        if name.startswith("SQLITE_NOTADB"):
            return LedgerError(f"{self.path} is no ledger; choose another path")
        if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
            return LedgerError(
                f"{self.path} or its folder cannot be written ({name}), so nothing may be charged; "
                "ask for permission to write to the file and its folder"
            )
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            return LedgerError(
                f"{self.path} was locked by others for {_PATIENCE:g} s, so nothing was charged; "
                "try again, and look for a process that keeps the file open"
            )
        return LedgerError(f"{self.path} cannot be used ({name or error}); nothing was charged")


@contextlib.contextmanager
def _writing(link: sqlite3.Connection) -> Iterator[None]:
    _begin(link)
    try:
        yield
    except BaseException:
        link.execute("ROLLBACK")
        raise
    link.execute("COMMIT")


def _begin(link: sqlite3.Connection) -> None:
    """Take the write lock. Who has waited longer asks more often, so that nobody starves."""
    start = monotonic()
    link.execute("PRAGMA busy_timeout = 0")
    while True:
        try:
            link.execute("BEGIN IMMEDIATE")
            break
        except sqlite3.OperationalError as error:
            waited = monotonic() - start
            busy = getattr(error, "sqlite_errorname", "").startswith("SQLITE_BUSY")
            if not busy or waited > _PATIENCE:
                raise
            sleep(max(_SHORTEST_PAUSE, _LONGEST_PAUSE * (1 - waited / _OLD)))
    link.execute(f"PRAGMA busy_timeout = {int(1000 * _PATIENCE)}")


def _tables(link: sqlite3.Connection) -> bool:
    (count,) = link.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return bool(count)


def refuse_other_budget(path: str, kept: Budget, epsilon: object, delta: object) -> None:
    """An existing ledger keeps its numbers."""
    for name, value, own in (("epsilon", epsilon, kept.epsilon), ("delta", delta, kept.delta)):
        if value is not None and value != own:
            raise InvalidBudget(
                f"{name}={value}, but the ledger {path} was made with {name}={own} and keeps it; "
                f"leave {name} out, or make a new ledger at another path"
            )


@lru_cache(maxsize=64)
def _parsed(epsilon: str, delta: str, orders: str) -> Orders:
    return Orders(Budget(float(epsilon), float(delta)), np.array(json.loads(orders)))


def read_orders(link: sqlite3.Connection) -> Orders:
    """Budget and orders, as the file has them."""
    return _parsed(*link.execute("SELECT epsilon, delta, orders FROM budget").fetchone())


def read_state(link: sqlite3.Connection, orders: Orders, name: str) -> State:
    """The state of one data set; that of a new one where the name is unknown."""
    found = link.execute(
        "SELECT id, neighbors, version, checked, moments, offsets, lost FROM datasets "
        "WHERE name = ?",
        (name,),
    ).fetchone()
    if found is None:
        return State(None, None, 0, 0, orders.fresh())
    key, neighbors, version, checked, moments, offsets, lost = found
    account = Account(_array(moments), _array(offsets), float(lost))
    refused = link.execute("SELECT moments FROM refusals WHERE dataset = ?", (key,)).fetchall()
    return State(
        key, neighbors, version, checked, account, tuple(_array(text) for (text,) in refused)
    )


def read_terms(link: sqlite3.Connection, key: int | None) -> Terms:
    """Everything charged to a data set, equal pairs counted together."""
    rows = link.execute("SELECT pair, count FROM terms WHERE dataset = ?", (key,))
    return tuple((pair_from_text(pair), count) for pair, count in rows)


def read_names(link: sqlite3.Connection) -> list[str]:
    """Data sets that something was charged to."""
    return [name for (name,) in link.execute("SELECT name FROM datasets ORDER BY name")]


def read_charges(link: sqlite3.Connection, name: str) -> list[tuple[str, Row]]:
    """Relation and line of every charge to a data set, oldest first."""
    rows = link.execute(
        "SELECT neighbors, time, pairs, releases, privlearn FROM charges "
        "JOIN datasets ON datasets.id = charges.dataset WHERE name = ? ORDER BY charges.id",
        (name,),
    )
    return [(relation, Row(*line)) for relation, *line in rows]


def write_charge(
    link: sqlite3.Connection, name: str, relation: str, before: State, after: Account, row: Row
) -> None:
    """Book one charge: the line, the counts of its pairs and the account, all or nothing."""
    key = before.id
    moments, lost = _text(after.moments), repr(after.lost)
    if key is None:
        key = link.execute(
            "INSERT INTO datasets (name, neighbors, version, checked, moments, offsets, lost) "
            "VALUES (?, ?, 1, 0, ?, ?, ?)",
            (name, relation, moments, _text(after.offsets), lost),
        ).lastrowid
    else:
        link.execute(
            "UPDATE datasets SET version = version + 1, moments = ?, lost = ? WHERE id = ?",
            (moments, lost, key),
        )
    link.execute(
        "INSERT INTO charges (dataset, time, pairs, releases, privlearn) VALUES (?, ?, ?, ?, ?)",
        (key, row.time, row.pairs, row.releases, row.privlearn),
    )
    for pair, count in json.loads(row.pairs):
        link.execute(
            "INSERT INTO terms VALUES (?, ?, ?) "
            "ON CONFLICT (dataset, pair) DO UPDATE SET count = count + excluded.count",
            (key, pair, count),
        )


def write_checkpoint(link: sqlite3.Connection, key: int, version: int, offsets: Array) -> None:
    """Better offsets of the account. They hold for whatever was charged since, too."""
    known = link.execute("SELECT offsets FROM datasets WHERE id = ?", (key,)).fetchone()
    better = np.minimum(_array(known[0]), offsets)
    link.execute(
        "UPDATE datasets SET offsets = ?, checked = max(checked, ?) WHERE id = ?",
        (_text(better), version, key),
    )


def write_refusal(link: sqlite3.Connection, key: int, moments: Array) -> None:
    """Remember that this much was too much; it will be for good, as nothing is refunded."""
    link.execute("INSERT INTO refusals (dataset, moments) VALUES (?, ?)", (key, _text(moments)))


def _text(values: Array) -> str:
    return json.dumps(values.tolist())


def _array(text: str) -> Array:
    return np.array(json.loads(text), dtype=np.float64)
