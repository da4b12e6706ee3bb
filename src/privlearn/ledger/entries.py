"""What a charge becomes in each data set of a family: free, first, or a part of what is left."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from privlearn._core.version import __version__
from privlearn.accounting.composition import Terms
from privlearn.exceptions import LedgerError, UnsupportedCombinationError
from privlearn.ledger import composition_cost as price
from privlearn.ledger.filter import GAUSSIAN, OPEN, PURE, Filter, kind_of
from privlearn.ledger.records import FIRST, LATER, RESERVED, Book, Row, State
from privlearn.ledger.refusals import Room
from privlearn.ledger.serial import terms_to_text

if TYPE_CHECKING:
    from privlearn._core.plan import Plan

__all__ = ["Asked", "booked", "decide"]

Entry = tuple[State, Row]


@dataclass(frozen=True)
class Asked:
    """One charge on its way: a plan, or several reserved together (then `plan` is None)."""

    plan: Plan | None
    terms: Terms
    relation: str
    dataset: str
    row: Row

    @classmethod
    def of_plan(cls, plan: Plan, dataset: str, stream: str | None) -> Asked:
        """A plan that will be released."""
        _demand_plan(plan)
        terms = tuple(plan.pairs())
        row = Row(_now(), terms_to_text(terms), json.dumps(plan.describe()), __version__)
        if stream is not None:
            if not isinstance(stream, str) or not stream:
                raise TypeError(f"stream is a {type(stream).__name__}, but its id is a text")
            row = replace(row, stream=stream)
        return cls(plan, terms, plan.adjacency.value, dataset, row)

    @classmethod
    def of_plans(cls, plans: Sequence[Plan], dataset: str) -> Asked:
        """Plans that may be released once each."""
        for plan in plans:
            _demand_plan(plan)
        relations = {plan.adjacency.value for plan in plans}
        if len(relations) != 1:
            raise UnsupportedCombinationError(
                f"{len(plans)} plans with {len(relations)} adjacencies were to be "
                "reserved together; pass at least one plan, all with the same adjacency"
            )
        texts = [terms_to_text(tuple(plan.pairs())) for plan in plans]
        terms = price.merged(*(tuple(plan.pairs()) for plan in plans))
        words = [f"reserved: {line}" for plan in plans for line in plan.describe()]
        row = Row(_now(), terms_to_text(terms), json.dumps(words), __version__)
        return cls(None, terms, relations.pop(), dataset, replace(row, reserved=json.dumps(texts)))


def _demand_plan(plan: object) -> None:
    if not hasattr(plan, "pairs") or not hasattr(plan, "describe"):
        raise TypeError(
            f"plan is a {type(plan).__name__}, but a Plan is needed: estimator.plan(n, n_features)"
        )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def decide(book: Book, asked: Asked) -> list[Entry]:
    """What to write for the data set and each of its ancestors, or an error; writes nothing."""
    if asked.row.stream and book.stream(asked.row.stream) is not None:
        raise LedgerError(
            f"this stream is registered in the ledger {book.path} already, so it was not charged "
            "again; go on with it, or start a new one"
        )
    return [_entry(book, state, asked) for state in book.family(asked.dataset)]


def booked(book: Book, asked: Asked, entries: Sequence[Entry]) -> str:
    """Write what was decided in the same transaction; the head of the data set that was named."""
    written = [book.write_charge(state, row) for state, row in entries]
    if asked.row.stream:
        book.write_stream(asked.row.stream, written[0], 0)
    return written[0].head


def _entry(book: Book, state: State, asked: Asked) -> Entry:
    _refuse_other_relation(state, asked)
    if asked.plan is not None and book.unused(state, asked.row.pairs) > 0:
        return state, replace(asked.row, part=RESERVED)
    if state.started:
        return _later(book, state, asked)
    return _first(book, state, asked)


def _first(book: Book, state: State, asked: Asked) -> Entry:
    """Chosen before anything was seen, so it is composed exactly."""
    declared = state.kind
    kind = declared or kind_of(asked.terms, book.budget)
    state = replace(state, adjacency=asked.relation, kind=kind)
    if not Room(state, book.budget).has_room_for(asked.terms):
        raise Room(state, book.budget).refusal(asked.terms, asked.plan)
    rules = Filter(book.budget, kind)
    if kind == PURE:
        state = replace(state, cap=rules.cap(asked.terms, declared=True))
    first = terms_to_text(price.merged(asked.terms))
    cost = rules.first_cost(asked.terms)
    return replace(state, first=first), replace(asked.row, part=FIRST, cost=cost)


def _later(book: Book, state: State, asked: Asked) -> Entry:
    """A part of the resource that the first charge left, which is the same whatever came since."""
    if state.kind == OPEN:
        state = replace(state, kind=_decided(book, state, asked.terms))
    room = Room(state, book.budget)
    state = replace(state, cap=room.cap)
    cost = room.filter.cost(asked.terms, state.rough, room.first)
    if not (state.taken + cost).within(room.cap):
        raise room.refusal(asked.terms, asked.plan)
    return state, replace(asked.row, part=LATER, cost=cost)


def _decided(book: Book, state: State, terms: Terms) -> str:
    """After a pure first charge the second one decides: pure if it can be."""
    pure = Room(replace(state, kind=PURE), book.budget)
    return PURE if pure.has_room_for(terms) else GAUSSIAN


def _refuse_other_relation(state: State, asked: Asked) -> None:
    if state.adjacency and state.adjacency != asked.relation:
        raise UnsupportedCombinationError(
            f"adjacency={asked.relation!r}, but data set {state.name!r} was charged with "
            f"adjacency={state.adjacency!r} before; guarantees under different adjacencies do "
            f"not add "
            f"up to one, so nothing was charged: pass adjacency={state.adjacency!r}"
        )
