"""What a ledger's file says, read with suspicion: sums, counts, seals and a chain must agree.

Every record is sealed with a keyed hash, and the charges of a data set form a chain of them that
the name and the relation are bound into. The key is in the file: this finds accidents, edits by
hand and old copies, not somebody who can write the file and knows how.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import sqlite3
from dataclasses import astuple, dataclass, replace
from typing import Any

from privlearn._core.problem import Budget
from privlearn.exceptions import LedgerError
from privlearn.ledger.filter import NOTHING, Cost
from privlearn.ledger.names import twin_key

__all__ = ["FIRST", "LATER", "RESERVED", "Records", "Row", "State"]

FIRST, LATER, RESERVED = "first", "later", "reserved"
_STATE = (
    "id, name, neighbors, kind, parents, first, charges, rough, square, loss, failure, cap, head, "
    "seal, twin"
)
_ROW = (
    "number, time, pairs, releases, privlearn, part, square, loss, failure, reserved, stream, "
    "author, note, head"
)


@dataclass(frozen=True)
class State:
    """What the file says about one data set."""

    id: int | None
    name: str
    adjacency: str = ""
    kind: str = ""
    parents: tuple[int, ...] = ()
    first: str = ""
    charges: int = 0
    rough: int = 0
    taken: Cost = NOTHING
    cap: Cost | None = None
    head: str = ""

    @property
    def started(self) -> bool:
        """Whether something was charged."""
        return self.charges > 0

    def values(self) -> tuple[object, ...]:
        """As it is written."""
        cap = "" if self.cap is None else json.dumps(astuple(self.cap))
        return (
            self.id,
            self.name,
            self.adjacency,
            self.kind,
            json.dumps(self.parents),
            self.first,
            self.charges,
            self.rough,
            *astuple(self.taken),
            cap,
            self.head,
        )


@dataclass(frozen=True)
class Row:
    """One charge; everything in it was known before the data were touched."""

    time: str
    pairs: str
    releases: str
    privlearn: str
    part: str = LATER
    cost: Cost = NOTHING
    reserved: str = ""
    stream: str = ""
    by: str = ""
    note: str = ""

    def values(self) -> tuple[object, ...]:
        """As it is written, without number and head."""
        return (
            self.time,
            self.pairs,
            self.releases,
            self.privlearn,
            self.part,
            *astuple(self.cost),
            self.reserved,
            self.stream,
            self.by,
            self.note,
        )

    def sealed_values(self) -> tuple[object, ...]:
        """What the chain is made of; charges from before there were names have none."""
        values = self.values()
        return values if self.by or self.note else values[:-2]


def _read_row(values: list[Any]) -> Row:
    time, pairs, releases, version, part, *costs, reserved, stream, by, note = values
    texts = (time, pairs, releases, version, part, reserved, stream, by, note)
    if not all(isinstance(text, str) for text in texts):
        raise TypeError
    return Row(time, pairs, releases, version, part, _read_cost(costs), reserved, stream, by, note)


def _read_cost(parts: list[Any]) -> Cost:
    return Cost(*map(_checked_count, parts))


def _checked_count(value: object) -> int:
    if not isinstance(value, int) or value < 0:
        raise ValueError
    return value


def _read_state(values: list[Any]) -> State:
    if not all(isinstance(value, str | int) for value in values):
        raise TypeError
    key, name, adjacency, kind, parents, first, charges, rough, *costs, cap, head = values
    return State(
        _checked_count(key),
        str(name),
        str(adjacency),
        str(kind),
        tuple(map(_checked_count, json.loads(str(parents)))),
        str(first),
        _checked_count(charges),
        _checked_count(rough),
        _read_cost(costs),
        _read_cost(json.loads(str(cap))) if cap else None,
        str(head),
    )


class Records:
    """The records behind one connection; each is verified when it is read."""

    def __init__(self, link: sqlite3.Connection, path: str) -> None:
        self.link, self.path = link, path
        found = link.execute("SELECT * FROM ledger").fetchall()
        if len(found) != 1:
            raise self.damaged("its budget is not there once")
        epsilon, delta, key, *counts, seal = found[0]
        try:
            self.key = bytes.fromhex(key)
            self._header = (str(epsilon), str(delta))
            self.sets, self.charges, self.streams = (_checked_count(count) for count in counts)
            self.budget = Budget(float(epsilon), float(delta))
        except (ValueError, TypeError):
            raise self.damaged("budget or counts cannot be read") from None
        if seal != self._ledger_seal():
            raise self.damaged("budget or counts were changed")
        counted = link.execute(
            "SELECT count(*), coalesce(sum(charges), 0), (SELECT count(*) FROM streams) "
            "FROM datasets"
        ).fetchone()
        if counted != (self.sets, self.charges, self.streams):
            raise self.damaged("data sets or streams are missing, or too many")
        for values in link.execute(f"SELECT {_STATE} FROM datasets NOT INDEXED").fetchall():
            self._unsealed(values)

    @staticmethod
    def begin(link: sqlite3.Connection, budget: Budget, key: bytes) -> None:
        """Write the first record of a new ledger."""
        row = (repr(budget.epsilon), repr(budget.delta), key.hex(), 0, 0, 0)
        seal = _sealed(key, ["ledger", row[0], row[1], 0, 0, 0])
        link.execute("INSERT INTO ledger VALUES (?, ?, ?, ?, ?, ?, ?)", (*row, seal))

    def damaged(self, what: str) -> LedgerError:
        """The error for records that disagree."""
        return LedgerError(
            f"the records of the ledger {self.path} disagree: {what}; nothing was charged or "
            "released: put back the newest copy, and check it with Ledger.check(certificates=...)"
        )

    def _ledger_seal(self) -> str:
        return _sealed(self.key, ["ledger", *self._header, self.sets, self.charges, self.streams])

    def _state_seal(self, state: State) -> str:
        return _sealed(self.key, ["data set", *state.values()])

    def _write_header(self) -> None:
        self.link.execute(
            "UPDATE ledger SET sets = ?, charges = ?, streams = ?, seal = ?",
            (self.sets, self.charges, self.streams, self._ledger_seal()),
        )

    def _one(self, query: str, *values: object) -> tuple[Any, ...] | None:
        found: tuple[Any, ...] | None = self.link.execute(query, values).fetchone()
        return found

    # Data sets

    def state(self, name: str) -> State:
        """The state of a data set; that of a new one where neither name nor a twin is known."""
        found = self._one(f"SELECT {_STATE} FROM datasets WHERE name = ?", name)
        if found is not None:
            return self._state(found)
        twin = self._one("SELECT name FROM datasets WHERE twin = ?", twin_key(name))
        if twin is not None:
            raise LedgerError(
                f"dataset={name!r}, but this ledger has a data set {twin[0]!r}, and two names that "
                "look alike would give the same people two budgets; nothing was charged: use "
                f"{twin[0]!r}, or a name that differs in more than case, spaces and hyphens"
            )
        return State(None, name)

    def state_of(self, key: int) -> State:
        """The state of a data set that another one names as its parent."""
        found = self._one(f"SELECT {_STATE} FROM datasets WHERE id = ?", key)
        if found is None:
            raise self.damaged("a parent data set is missing")
        return self._state(found)

    def states(self) -> list[State]:
        """All data sets, by name."""
        query = f"SELECT {_STATE} FROM datasets ORDER BY name"
        return [self._state(found) for found in self.link.execute(query).fetchall()]

    def family(self, name: str) -> list[State]:
        """A data set, then all its ancestors, each once."""
        found = [self.state(name)]
        for state in found:
            known = {other.id for other in found}
            keys = dict.fromkeys(state.parents)
            found += [self.state_of(key) for key in keys if key not in known]
        return found

    def _state(self, found: tuple[object, ...]) -> State:
        state = self._unsealed(found)
        self._compare_sums(state)
        self._check_last_link(state)
        return state

    def _unsealed(self, found: tuple[object, ...]) -> State:
        """A data set's record, whose name and sums were not changed by hand."""
        *values, seal, twin = found
        try:
            state = _read_state(values)
        except (ValueError, TypeError):
            raise self.damaged("a data set cannot be read") from None
        if seal != self._state_seal(state) or twin != twin_key(state.name):
            raise self.damaged(f"those of data set {state.name!r} were changed")
        return state

    def _compare_sums(self, state: State) -> None:
        """Counts and sums over the charges against those of the data set."""
        found = self._one(
            "SELECT count(*), coalesce(max(number), 0), coalesce(sum(square), 0), "
            "coalesce(sum(loss), 0), coalesce(sum(failure), 0), "
            "coalesce(sum(part = 'later' AND failure > 0), 0) FROM charges WHERE dataset = ?",
            state.id,
        )
        if found != (state.charges, state.charges, *astuple(state.taken), state.rough):
            raise self.damaged(f"charges of data set {state.name!r} are missing or were changed")

    def _check_last_link(self, state: State) -> None:
        last = self.rows(state, state.charges - 1)  # with the one before it
        before = last[0][2] if len(last) > 1 else ""
        for number, row, head in last[-1:]:
            if head != state.head or head != self.link_of(state, before, number, row):
                raise self.damaged(f"the last charge of data set {state.name!r} was changed")

    def link_of(self, state: State, before: str, number: int, row: Row) -> str:
        """The head of the chain after a charge."""
        parts = ["charge", before, state.name, state.adjacency, number, *row.sealed_values()]
        return _sealed(self.key, parts)

    def rows(self, state: State, since: int = 1) -> list[tuple[int, Row, str]]:
        """Number, line and head of the charges from one on, oldest first."""
        found = self.link.execute(
            f"SELECT {_ROW} FROM charges WHERE dataset = ? AND number >= ? ORDER BY number",
            (state.id, since),
        ).fetchall()
        try:
            return [(int(number), _read_row(rest), str(head)) for number, *rest, head in found]
        except (ValueError, TypeError):
            raise self.damaged(f"a charge of data set {state.name!r} cannot be read") from None

    def unused(self, state: State, pairs: str) -> int:
        """How often a plan is reserved and not yet used, by charges whose whole chain holds.

        What is free must be beyond doubt, so no index is believed: the chain finds rows that are
        missing, changed or twice there.
        """
        query = "SELECT 1 FROM charges WHERE dataset = ? AND reserved != '' LIMIT 1"
        if self._one(query, state.id) is None:
            return 0
        count = 0
        for row in self.chain(state):
            count += self._reserved(row).count(pairs)
            count -= row.part == RESERVED and row.pairs == pairs
        return count

    def _reserved(self, row: Row) -> list[object]:
        try:
            return list(json.loads(row.reserved)) if row.reserved else []
        except (ValueError, TypeError):
            raise self.damaged("a reservation cannot be read") from None

    def chain(self, state: State) -> list[Row]:
        """All charges of a data set, oldest first, once every link of their chain is verified."""
        head, found = "", []
        for place, (number, row, stored) in enumerate(self.rows(state), start=1):
            head = self.link_of(state, head, number, row)
            if head != stored or number != place:
                raise self.damaged(f"charge {place} of data set {state.name!r} was changed")
            found.append(row)
        if head != state.head:
            raise self.damaged(f"charges of data set {state.name!r} are missing")
        return found

    # Writing

    def write_state(self, state: State) -> State:
        """Write a data set, new or known, with its seal."""
        if state.id is None:
            (key,) = self.link.execute("SELECT coalesce(max(id), 0) + 1 FROM datasets").fetchone()
            state = replace(state, id=int(key))
            self.sets += 1
        self.link.execute(
            f"INSERT OR REPLACE INTO datasets ({_STATE}) VALUES ({'?, ' * 14}?)",
            (*state.values(), self._state_seal(state), twin_key(state.name)),
        )
        self._write_header()
        return state

    def write_charge(self, state: State, row: Row) -> State:
        """Write one charge: the line, the sums and the chain, all or nothing."""
        if state.id is None:
            state = self.write_state(state)
        number = state.charges + 1
        head = self.link_of(state, state.head, number, row)
        self.link.execute(
            f"INSERT INTO charges (dataset, {_ROW}) VALUES ({'?, ' * 14}?)",
            (state.id, number, *row.values(), head),
        )
        rough = state.rough + (row.part == LATER and row.cost.failure > 0)
        after = replace(state, charges=number, rough=rough, taken=state.taken + row.cost, head=head)
        self.charges += 1
        return self.write_state(after)

    # Streams

    def write_stream(self, stream: str, state: State, batch: int) -> None:
        """Register a stream, or its next batch."""
        self.streams += self._one("SELECT 1 FROM streams WHERE id = ?", stream) is None
        values = (stream, state.id, batch)
        self.link.execute(
            "INSERT OR REPLACE INTO streams VALUES (?, ?, ?, ?)",
            (*values, _sealed(self.key, ["stream", *values])),
        )
        self._write_header()

    def stream(self, stream: str) -> tuple[State, int] | None:
        """Data set and next batch of a stream, or None."""
        found = self._one("SELECT dataset, batch, seal FROM streams WHERE id = ?", stream)
        if found is None:
            return None
        try:
            key, batch = _checked_count(found[0]), _checked_count(found[1])
        except ValueError:
            raise self.damaged("the counter of a stream cannot be read") from None
        if found[2] != _sealed(self.key, ["stream", stream, key, batch]):
            raise self.damaged("the counter of a stream was changed")
        return self.state_of(key), batch

    def all_streams(self) -> list[str]:
        """Ids of all streams."""
        found = self.link.execute("SELECT id FROM streams").fetchall()
        if not all(isinstance(key, str) for (key,) in found):
            raise self.damaged("a stream cannot be read")
        return [key for (key,) in found]


def _sealed(key: bytes, parts: list[object]) -> str:
    text = json.dumps(parts, separators=(",", ":"), ensure_ascii=True)
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
