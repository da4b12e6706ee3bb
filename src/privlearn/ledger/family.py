"""Data sets that hold the same people: parents and their extracts, joins and newer versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from privlearn.exceptions import LedgerError
from privlearn.ledger.filter import GAUSSIAN, PURE
from privlearn.ledger.records import Records, State

__all__ = ["declare_in"]


def declare_in(records: Records, name: str, parents: Sequence[str], kind: str | None) -> None:
    """Write down parents and kind of a data set that has no charges yet."""
    if kind not in (None, GAUSSIAN, PURE):
        raise ValueError(f"kind={kind!r}, but it is 'gaussian', 'pure' or None; pass one of these")
    if kind == GAUSSIAN and records.budget.delta == 0:
        raise LedgerError(
            "kind='gaussian', but the ledger promises delta=0, where no Gaussian release fits; "
            "leave kind out, or use a ledger with delta > 0"
        )
    state = _known(records, name)
    for parent in parents:
        state = _with_parent(records, state, _known(records, parent))
    if kind is not None and kind != state.kind:
        _refuse_late(state, f"kind={kind!r}")
        state = replace(state, kind=kind)
    records.write_state(state)


def _known(records: Records, name: str) -> State:
    state = records.state(name)
    return state if state.id is not None else records.write_state(state)


def _with_parent(records: Records, state: State, parent: State) -> State:
    assert parent.id is not None
    if parent.id in state.parents:
        return state
    if state.name in {other.name for other in records.family(parent.name)}:
        raise LedgerError(
            f"parent={parent.name!r} of data set {state.name!r} has it among its own parents; "
            "declare the data set that was there first as the parent"
        )
    _refuse_late(state, f"parent={parent.name!r}")
    for other in records.states():
        below = {ancestor.id for ancestor in records.family(other.name)[1:]}
        if state.id in below and other.started:
            _refuse_late(other, f"parent={parent.name!r} of {state.name!r}")
    return records.write_state(replace(state, parents=(*state.parents, parent.id)))


def _refuse_late(state: State, what: str) -> None:
    if state.started:
        raise LedgerError(
            f"{what}, but data set {state.name!r} has charges already, which were recorded without "
            "it; declare before the first charge, or use the parent's name from now on"
        )
