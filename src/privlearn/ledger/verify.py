"""Reading a whole ledger again: every link of every chain, and heads that certificates hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from privlearn.accounting import Gaussian, compose
from privlearn.accounting.composition import evaluate
from privlearn.exceptions import LedgerError
from privlearn.ledger import composition_cost as price
from privlearn.ledger.filter import GAUSSIAN, Filter
from privlearn.ledger.records import FIRST, Book, State
from privlearn.ledger.serial import terms_from_text, terms_to_text

__all__ = ["check_caps", "check_certificates", "check_chains"]


def check_chains(book: Book) -> None:
    """Every data set, every charge, every stream."""
    total = 0
    for state in book.states():
        _check_chain(book, state)
        total += state.charges
    (rows,) = book.link.execute("SELECT count(*) FROM charges").fetchone()
    if rows != total:
        raise book.damaged("there are charges of unknown data sets")
    for stream in book.all_streams():
        book.stream(stream)


def _check_chain(book: Book, state: State) -> None:
    first = [terms_from_text(row.pairs) for row in book.chain(state) if row.part == FIRST]
    merged = terms_to_text(price.merged(*first)) if first else ""
    if merged != state.first:
        raise book.damaged(f"the first charge of data set {state.name!r} was changed")


def check_caps(book: Book) -> None:
    """What was left after the first charge, composed again."""
    for state in book.states():
        if state.kind != GAUSSIAN or state.cap is None:
            continue
        rules = Filter(book.budget, state.kind)
        terms = compose(
            (*terms_from_text(state.first), (Gaussian(rules.mu(state.cap.square)), 1))
        ).terms
        whole = price.balanced(price.composed(terms).terms)
        if state.cap.square and evaluate(whole, book.budget.epsilon).delta > book.budget.delta:
            raise book.damaged(f"data set {state.name!r} allows more than its budget")


def check_certificates(book: Book, certificates: Iterable[object]) -> int:
    """Whether the chains hold the head of every certificate; returns how many there were."""
    heads = {str(head) for (head,) in book.link.execute("SELECT head FROM charges")}
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
                f"certificate number {count} was charged to a ledger, but {book.path} does not "
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
