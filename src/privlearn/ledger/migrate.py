"""Ledgers of older formats become ones of today's, without lowering what was spent.

Format 2 did not say who charged: its charges and their chains stay as they are. Of format 1, the
old history, whatever its length, becomes the first charge: it is composed exactly, as it was
accounted when it was charged, and what it leaves is then fixed. Names that look alike become one.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from dataclasses import replace

from privlearn._core.problem import Budget
from privlearn.exceptions import LedgerError, MissingFactError
from privlearn.ledger.composition_cost import merged
from privlearn.ledger.filter import PURE, Filter, kind_of
from privlearn.ledger.names import normal_name, twin_key
from privlearn.ledger.records import FIRST, Records, Row, State
from privlearn.ledger.serial import FORMAT, pair_to_text, terms_from_text, terms_to_text
from privlearn.ledger.store import Store, add_tables

__all__ = ["migrate"]

_OLD = ("budget", "datasets", "terms", "charges", "refusals")


def migrate(store: Store, key: bytes) -> None:
    """Rewrite the file in one transaction, unless another process did it meanwhile."""
    with store.writing(any_format=True) as link:
        (version,) = link.execute("PRAGMA user_version").fetchone()
        if version == FORMAT:
            return
        if version == 2:
            for column in ("author", "note"):
                link.execute(f"ALTER TABLE charges ADD COLUMN {column} TEXT NOT NULL DEFAULT ''")
            link.execute(f"PRAGMA user_version = {FORMAT}")
            return
        if version != 1:
            raise LedgerError(f"{store.path} has ledger format {version}, which nobody wrote")
        for table in _OLD:
            link.execute(f"ALTER TABLE {table} RENAME TO old_{table}")
        add_tables(link)
        budgets = link.execute("SELECT epsilon, delta FROM old_budget").fetchall()
        if len(budgets) != 1:
            raise _damaged(store.path, "its budget is not there once")
        budget = Budget(float(budgets[0][0]), float(budgets[0][1]))
        Records.begin(link, budget, key)
        _move(link, Records(link, store.path))
        for table in _OLD:
            link.execute(f"DROP TABLE old_{table}")
        link.execute(f"PRAGMA user_version = {FORMAT}")


def _damaged(path: str, what: str) -> LedgerError:
    return LedgerError(
        f"the ledger {path} of format 1 is damaged: {what}; it was left as it is and nothing was "
        "charged: put back the newest copy"
    )


def _move(link: sqlite3.Connection, records: Records) -> None:
    found = link.execute("SELECT id, name, neighbors, version FROM old_datasets ORDER BY id")
    alike: dict[str, list[tuple[int, str, str, int]]] = {}
    for key, name, neighbors, version in found.fetchall():
        try:
            name = normal_name(name)
        except MissingFactError:
            raise _damaged(records.path, "a data set has no name that can be read") from None
        alike.setdefault(twin_key(name), []).append((key, name, neighbors, version))
    (orphans,) = link.execute(
        "SELECT count(*) FROM old_charges WHERE dataset NOT IN (SELECT id FROM old_datasets)"
    ).fetchone()
    if orphans:
        raise _damaged(records.path, "there are charges of unknown data sets")
    for group in alike.values():
        if len({neighbors for _, _, neighbors, _ in group}) > 1:
            raise _damaged(records.path, f"{group[0][1]!r} and its twins have different relations")
        rows = [row for key, _, _, count in group for row in _rows(link, records.path, key, count)]
        _write(records, group[0][1], group[0][2], rows)


def _rows(link: sqlite3.Connection, path: str, key: int, count: int) -> list[Row]:
    """The charges of an old data set, if everything that the file says about it agrees."""
    rows = [
        Row(time, pairs, releases, version, FIRST)
        for time, pairs, releases, version in link.execute(
            "SELECT time, pairs, releases, privlearn FROM old_charges WHERE dataset = ? "
            "ORDER BY id",
            (key,),
        )
    ]
    terms = dict(link.execute("SELECT pair, count FROM old_terms WHERE dataset = ?", (key,)))
    try:
        charged: Counter[str] = Counter()
        for row in rows:
            for pair, times in merged(terms_from_text(row.pairs)):
                charged[pair_to_text(pair)] += times
    except (ValueError, TypeError, KeyError):
        raise _damaged(path, "a charge cannot be read") from None
    if len(rows) != count or not rows or dict(charged) != terms:
        raise _damaged(path, "charges are missing or were changed")
    return rows


def _write(records: Records, name: str, neighbors: str, rows: list[Row]) -> None:
    first = merged(*(terms_from_text(row.pairs) for row in rows))
    rules = Filter(records.budget, kind_of(first, records.budget))
    state = State(None, name, neighbors, rules.kind, (), terms_to_text(first))
    if rules.kind == PURE:
        state = replace(state, cap=rules.cap(first))
    cost = rules.first_cost(first)  # recorded as a whole, with the last line
    for row in rows[:-1]:
        state = records.write_charge(state, row)
    records.write_charge(state, replace(rows[-1], cost=cost))
