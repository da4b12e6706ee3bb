"""The ledger's file: SQLite, one connection per operation, one transaction per charge.

A connection is never kept, so there is none to share between threads or to inherit over a fork.
`synchronous=EXTRA` with a rollback journal: a commit has reached the disk when it returns, and a
process that dies at any instant leaves either all of a charge or nothing of it.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from urllib.parse import quote

from privlearn.exceptions import LedgerError
from privlearn.ledger.serial import FORMAT

__all__ = ["Store", "absolute", "add_tables"]

APPLICATION = 0x5052564C  # "PRVL" in the header of the file
_PATIENCE = 120.0  # seconds to wait for others that are writing
_LONGEST_PAUSE, _SHORTEST_PAUSE = 0.025, 0.001  # seconds between two attempts to write
_OLD = 0.25  # seconds of waiting after which pauses are shortest
SCHEMA = """
CREATE TABLE ledger (
  epsilon TEXT NOT NULL, delta TEXT NOT NULL, key TEXT NOT NULL,
  sets INTEGER NOT NULL, charges INTEGER NOT NULL, streams INTEGER NOT NULL, seal TEXT NOT NULL);
CREATE TABLE datasets (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, twin TEXT NOT NULL UNIQUE,
  neighbors TEXT NOT NULL, kind TEXT NOT NULL, parents TEXT NOT NULL, first TEXT NOT NULL,
  charges INTEGER NOT NULL, rough INTEGER NOT NULL,
  square INTEGER NOT NULL, loss INTEGER NOT NULL, failure INTEGER NOT NULL,
  cap TEXT NOT NULL, head TEXT NOT NULL, seal TEXT NOT NULL);
CREATE TABLE charges (
  dataset INTEGER NOT NULL, number INTEGER NOT NULL, time TEXT NOT NULL,
  pairs TEXT NOT NULL, releases TEXT NOT NULL, privlearn TEXT NOT NULL, part TEXT NOT NULL,
  square INTEGER NOT NULL, loss INTEGER NOT NULL, failure INTEGER NOT NULL,
  reserved TEXT NOT NULL, stream TEXT NOT NULL,
  author TEXT NOT NULL DEFAULT '', note TEXT NOT NULL DEFAULT '', head TEXT NOT NULL,
  PRIMARY KEY (dataset, number));
CREATE INDEX sums ON charges (dataset, part, square, loss, failure, number);
CREATE INDEX reservations ON charges (dataset, number) WHERE reserved != '';
CREATE INDEX uses ON charges (dataset, pairs) WHERE part = 'reserved';
CREATE TABLE streams (
  id TEXT PRIMARY KEY, dataset INTEGER NOT NULL, batch INTEGER NOT NULL, seal TEXT NOT NULL);
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


@dataclass(frozen=True)
class Store:
    """A handle on the file; it holds nothing but the path."""

    path: str

    def create(self, fill: Callable[[sqlite3.Connection], None]) -> None:
        """Make the file as a whole under another name, then give it its own, if that is free.

        Parameters
        ----------
        fill : callable
            Writes the first records into the connection that it gets.
        """
        folder = Path(self.path).parent
        if not folder.is_dir():
            raise LedgerError(f"there is no folder {folder}; make it first, or check the path")
        if os.path.lexists(self.path):
            raise LedgerError(
                f"{self.path} is there already, and a ledger is never overwritten; open it with "
                "Ledger(path), or choose another path"
            )
        draft = f"{self.path}.new-{os.getpid()}-{threading.get_ident()}"
        try:
            os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except OSError as error:
            raise LedgerError(
                f"{folder} cannot be written ({error.strerror}), so no ledger was made; ask for "
                "permission to write there, or choose another path"
            ) from None
        try:
            with Store(draft)._connected(any_format=True) as link, _writing(link):
                add_tables(link)
                fill(link)
                link.execute(f"PRAGMA application_id = {APPLICATION}")
                link.execute(f"PRAGMA user_version = {FORMAT}")
            _publish(draft, self.path)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(draft)

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection for reading one consistent state."""
        with self._connected() as link:
            link.execute("BEGIN")
            yield link

    @contextlib.contextmanager
    def writing(self, *, any_format: bool = False) -> Iterator[sqlite3.Connection]:
        """A transaction that nobody else can write in between; committed at the end."""
        with self._connected(any_format=any_format) as link, _writing(link):
            yield link

    def format(self) -> int:
        """The format of the file, after a check that it is a ledger and whole."""
        with self._connected(any_format=True) as link:
            version = self._version(link)
            (found,) = link.execute("PRAGMA integrity_check(1)").fetchone()
        if found != "ok":
            raise self._damaged("pages of the file contradict each other")
        return version

    @contextlib.contextmanager
    def _connected(self, any_format: bool = False) -> Iterator[sqlite3.Connection]:
        # rw never creates: a ledger that was removed must not start again from nothing.
        address = f"file:{quote(self.path)}?mode=rw"
        with _one_at_a_time:
            failure: LedgerError | None = None
            try:
                link = sqlite3.connect(address, uri=True, timeout=_PATIENCE, isolation_level=None)
                try:
                    link.execute("PRAGMA synchronous = EXTRA")
                    if not any_format and (version := self._version(link)) != FORMAT:
                        raise self._other_format(version)
                    yield link
                finally:
                    link.close()
            except (sqlite3.Error, UnicodeDecodeError) as error:
                failure = self._explained(error)
            if failure is not None:
                raise failure

    def _version(self, link: sqlite3.Connection) -> int:
        if os.path.exists(self.path) and os.path.getsize(self.path) == 0:
            raise self._damaged("it is empty, with 0 bytes")
        (mark,) = link.execute("PRAGMA application_id").fetchone()
        (version,) = link.execute("PRAGMA user_version").fetchone()
        if mark != APPLICATION:
            raise LedgerError(f"{self.path} is a database, but no ledger; choose another path")
        if version > FORMAT:
            raise self._other_format(version)
        return int(version)

    def _other_format(self, version: int) -> LedgerError:
        return LedgerError(
            f"{self.path} has ledger format {version}, but this privlearn writes {FORMAT}, so "
            "nothing was charged; use a newer privlearn, or open it once with Ledger(path)"
        )

    def _damaged(self, what: str) -> LedgerError:
        return LedgerError(
            f"the ledger {self.path} is damaged: {what}; nothing was charged or released: put back "
            "the newest copy, and check it with Ledger.check(certificates=...)"
        )

    def _explained(self, error: sqlite3.Error | UnicodeDecodeError) -> LedgerError:
        name = getattr(error, "sqlite_errorname", "") or ""
        if os.path.isdir(self.path):
            return LedgerError(f"{self.path} is a folder; a ledger is a file in it")
        if not os.path.exists(self.path):
            return LedgerError(
                f"the ledger {self.path} is not there (any more), so nothing may be charged; put "
                "the file back, or make a new ledger with Ledger.create(path, epsilon=, delta=)"
            )
        if name.startswith("SQLITE_NOTADB"):
            return LedgerError(f"{self.path} is no ledger; choose another path")
        for kinds, sentence in _SENTENCES:
            if name.startswith(kinds):
                return LedgerError(sentence.format(path=self.path, name=name, wait=_PATIENCE))
        return self._damaged(f"a record cannot be read ({name or type(error).__name__})")


_SENTENCES = (
    (
        ("SQLITE_FULL", "SQLITE_IOERR"),
        "the disk of {path} is full or failed while writing ({name}), so nothing was charged or "
        "released; make room on the disk, then try again",
    ),
    (
        ("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH"),
        "{path} or its folder cannot be written ({name}), so nothing may be charged; ask for "
        "permission to write to the file and its folder",
    ),
    (
        ("SQLITE_BUSY", "SQLITE_LOCKED"),
        "{path} was locked by others for {wait:g} s, so nothing was charged; try again, and look "
        "for a process that keeps the file open",
    ),
    (
        ("SQLITE_CORRUPT",),
        "the ledger {path} is damaged: pages of the file are broken ({name}); nothing was charged "
        "or released: put back the newest copy, and check it with Ledger.check(certificates=...)",
    ),
)


def absolute(path: str | os.PathLike[str]) -> str:
    """A path that stays the same wherever the process goes."""
    return os.path.abspath(os.path.expanduser(os.fspath(path)))


def add_tables(link: sqlite3.Connection) -> None:
    """Lay out an empty ledger; within the caller's transaction, which `executescript` would end."""
    for statement in filter(str.strip, SCHEMA.split(";")):
        link.execute(statement)


def _publish(draft: str, path: str) -> None:
    """Give the finished file its name, unless somebody took it meanwhile."""
    try:
        os.link(draft, path)
    except FileExistsError:
        raise LedgerError(
            f"{path} is there already, and a ledger is never overwritten; open it with Ledger(path)"
        ) from None
    except OSError:  # a file system without hard links
        if os.path.lexists(path):
            raise LedgerError(f"{path} is there already; open it with Ledger(path)") from None
        os.rename(draft, path)
    if hasattr(os, "O_DIRECTORY"):
        folder = os.open(os.path.dirname(path) or ".", os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@contextlib.contextmanager
def _writing(link: sqlite3.Connection) -> Iterator[None]:
    _begin(link)
    try:
        yield
        link.execute("COMMIT")
    except BaseException:
        if link.in_transaction:
            link.execute("ROLLBACK")
        raise


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
