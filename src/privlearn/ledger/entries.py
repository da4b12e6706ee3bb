"""What a charge becomes in each data set of a family: free, first, or a part of what is left."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from privlearn._core.version import __version__
from privlearn.accounting.composition import Terms
from privlearn.exceptions import LedgerError, UnsupportedCombinationError
from privlearn.ledger.composition_cost import merged
from privlearn.ledger.context import Signature
from privlearn.ledger.filter import GAUSSIAN, OPEN, PURE, Filter, kind_of
from privlearn.ledger.records import FIRST, LATER, RESERVED, Records, Row, State
from privlearn.ledger.remaining import Remaining
from privlearn.ledger.serial import terms_to_text
from privlearn.ledger.units import ROW, Protected

if TYPE_CHECKING:
    from privlearn._core.plan import Plan

__all__ = ["Asked", "decide", "write_entries"]

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
        return cls(plan, terms, Protected.by(plan).demand_name().text(), dataset, row)

    @classmethod
    def of_plans(cls, plans: Sequence[Plan], dataset: str, person: str | None) -> Asked:
        """Plans that may be released once each."""
        for plan in plans:
            _demand_plan(plan)
        protected = [Protected.by(plan).with_ids_in(person) for plan in plans]
        relations = {one.text() for one in protected}
        if len(relations) != 1:
            raise UnsupportedCombinationError(
                f"{len(plans)} plans with {len(relations)} adjacencies or units were to be "
                "reserved together; pass at least one plan, all with the same adjacency, and all "
                "of rows or all of people"
            )
        relation = protected[0].demand_name().text()
        texts = [terms_to_text(tuple(plan.pairs())) for plan in plans]
        terms = merged(*(tuple(plan.pairs()) for plan in plans))
        words = [f"reserved: {line}" for plan in plans for line in plan.describe()]
        row = Row(_now(), terms_to_text(terms), json.dumps(words), __version__)
        return cls(None, terms, relation, dataset, replace(row, reserved=json.dumps(texts)))

    def signed(self, signature: Signature) -> Asked:
        """The same with who asks for it, and for what."""
        return replace(self, row=replace(self.row, by=signature.by, note=signature.note))


def _demand_plan(plan: object) -> None:
    if not hasattr(plan, "pairs") or not hasattr(plan, "describe"):
        raise TypeError(
            f"plan is a {type(plan).__name__}, but a Plan is needed: estimator.plan(n, n_features)"
        )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def decide(records: Records, asked: Asked) -> list[Entry]:
    """What to write for the data set and each of its ancestors, or an error; writes nothing."""
    if asked.row.stream and records.stream(asked.row.stream) is not None:
        raise LedgerError(
            f"this stream is registered in the ledger {records.path} already, so it was not "
            "charged again; go on with it, or start a new one"
        )
    return [_entry(records, state, asked) for state in records.family(asked.dataset)]


def write_entries(records: Records, asked: Asked, entries: Sequence[Entry]) -> str:
    """Write what was decided in the same transaction; the head of the data set that was named."""
    written = [records.write_charge(state, row) for state, row in entries]
    if asked.row.stream:
        records.write_stream(asked.row.stream, written[0], 0)
    return written[0].head


def _entry(records: Records, state: State, asked: Asked) -> Entry:
    _refuse_other_relation(state, asked)
    if asked.plan is not None and records.unused(state, asked.row.pairs) > 0:
        return state, replace(asked.row, part=RESERVED)
    if state.started:
        return _later(records, state, asked)
    return _first(records, state, asked)


def _first(records: Records, state: State, asked: Asked) -> Entry:
    """Chosen before anything was seen, so it is composed exactly."""
    kind = state.kind or kind_of(asked.terms, records.budget)
    state = replace(state, adjacency=asked.relation, kind=kind)
    remaining = Remaining(state, records.budget)
    if not remaining.fits(asked.terms):
        raise remaining.refusal(asked.terms, asked.plan)
    rules = Filter(records.budget, kind)
    cap = rules.cap(asked.terms, declared=True) if kind == PURE else None
    state = replace(state, cap=cap, first=terms_to_text(merged(asked.terms)))
    return state, replace(asked.row, part=FIRST, cost=rules.first_cost(asked.terms))


def _later(records: Records, state: State, asked: Asked) -> Entry:
    """A part of the resource that the first charge left, which is the same whatever came since."""
    if state.kind == OPEN:  # after a pure first charge the second one decides: pure if it can be
        pure = Remaining(replace(state, kind=PURE), records.budget)
        state = replace(state, kind=PURE if pure.fits(asked.terms) else GAUSSIAN)
    remaining = Remaining(state, records.budget)
    state = replace(state, cap=remaining.cap)
    cost = remaining.cost(asked.terms)
    if not (state.taken + cost).within(remaining.cap):
        raise remaining.refusal(asked.terms, asked.plan)
    return state, replace(asked.row, part=LATER, cost=cost)


def _same_unit(before: Protected) -> str:
    """How to protect what was protected before, in Python and on the command line."""
    if before.unit == ROW:
        return "fit without groups (on the command line: without --person)"
    return (
        f"fit with the same column of ids, groups={before.column!r} (on the command line: "
        f"--person {shlex.quote(before.column)}) and max_rows_per_person (--max-rows)"
    )


def _refuse_other_relation(state: State, asked: Asked) -> None:
    if not state.adjacency or state.adjacency == asked.relation:
        return
    before, now = Protected.read(state.adjacency), Protected.read(asked.relation)
    if before.adjacency != now.adjacency:
        raise UnsupportedCombinationError(
            f"adjacency={now.adjacency!r}, but data set {state.name!r} was charged with "
            f"adjacency={before.adjacency!r} before; guarantees under different adjacencies do "
            f"not add "
            f"up to one, so nothing was charged: pass adjacency={before.adjacency!r}"
        )
    raise LedgerError(
        f"this charge protects {now.words()}, but what was charged to data set {state.name!r} "
        f"before protects {before.words()}, and guarantees of different units do not add up to "
        f"one, so nothing was charged: {_same_unit(before)}; only other people's rows may be "
        "charged to a data set of their own, for what two tell about the same people adds up"
    )
