"""Reading a whole ledger again: every link of every chain, and heads that certificates hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from privlearn.accounting import Gaussian, compose
from privlearn.accounting.composition import evaluate
from privlearn.exceptions import LedgerError
from privlearn.ledger.composition_cost import balanced, composed, merged
from privlearn.ledger.filter import GAUSSIAN, Filter
from privlearn.ledger.records import FIRST, Records, State
from privlearn.ledger.serial import terms_from_text, terms_to_text

__all__ = ["check_caps", "check_certificates", "check_chains"]


def check_chains(records: Records) -> None:
    """Every data set, every charge, every stream."""
    total = 0
    for state in records.states():
        _check_chain(records, state)
        total += state.charges
    (rows,) = records.link.execute("SELECT count(*) FROM charges").fetchone()
    if rows != total:
        raise records.damaged("there are charges of unknown data sets")
    for stream in records.all_streams():
        records.stream(stream)


def _check_chain(records: Records, state: State) -> None:
    first = [terms_from_text(row.pairs) for row in records.chain(state) if row.part == FIRST]
    if (terms_to_text(merged(*first)) if first else "") != state.first:
        raise records.damaged(f"the first charge of data set {state.name!r} was changed")


def check_caps(records: Records) -> None:
    """What was left after the first charge, composed again."""
    for state in records.states():
        if state.kind != GAUSSIAN or state.cap is None or not state.cap.square:
            continue
        rest = Gaussian(Filter(records.budget, state.kind).mu(state.cap.square))
        terms = compose((*terms_from_text(state.first), (rest, 1))).terms
        whole = balanced(composed(terms).terms)
        if evaluate(whole, records.budget.epsilon).delta > records.budget.delta:
            raise records.damaged(f"data set {state.name!r} allows more than its budget")


def check_certificates(records: Records, certificates: Iterable[object]) -> int:
    """Whether the chains hold the head of every certificate; returns how many there were."""
    heads = {str(head) for (head,) in records.link.execute("SELECT head FROM charges")}
    count = 0
    for count, certificate in enumerate(certificates, start=1):
        head = _head_of(certificate)
        if head is None:
            raise ValueError(
                f"certificate number {count} holds no ledger_head, so it was made without a "
                "ledger; leave it out"
            )
        if head not in heads:
            raise LedgerError(
                f"certificate number {count} was charged to a ledger, but {records.path} does not "
                "hold its charge: it is an old copy, or another ledger; nothing may be charged to "
                "it: put back the newest copy"
            )
    return count


def _head_of(certificate: object) -> str | None:
    if isinstance(certificate, Mapping):
        found = certificate.get("ledger_head")
    else:
        found = getattr(certificate, "ledger_head", None)
    return found if isinstance(found, str) and found else None
