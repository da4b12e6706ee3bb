"""What a ledger says about the data set that the model was learned from."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from privlearn._core.certificate import Certificate
from privlearn.export.report.markup import Markup, group, name, tag
from privlearn.export.report.tables import table

if TYPE_CHECKING:
    from privlearn.ledger import Ledger

__all__ = ["ledger_state"]

HEAD = ["when (UTC)", "epsilon", "for"]


def ledger_state(
    ledger: Ledger | str | os.PathLike[str] | None, dataset: str | None, certificate: Certificate
) -> Markup | None:
    """Spent, left and every charge, without the names of those who charged; None without a ledger.

    Raises
    ------
    LedgerError
        If the ledger does not know the charge that the certificate tells of.
    """
    if ledger is None:
        return None
    from privlearn.ledger import Ledger

    book = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    if certificate.ledger_head is not None:
        book.check([certificate])
    head = certificate.ledger_head
    if dataset is None and head is not None:
        dataset = next((one.dataset for one in book.history() if one.head == head), None)
    return group(*_told(book, dataset, head))


def _told(book: Ledger, dataset: str | None, head: str | None) -> Iterable[Markup]:
    spent = f"epsilon = {book.spent(dataset):.4g} of {book.epsilon:g} is spent"
    left = f"epsilon = {book.remaining(dataset):.4g} is left for one more fit"
    yield tag(
        "p",
        "The ledger of the data set ",
        name(dataset or ""),
        f" adds up what was charged: {spent}, and {left}, at delta = {book.delta:g}.",
    )
    body = [
        [
            one.when[:16].replace("T", " "),
            f"{one.epsilon:.4g}",
            group(name(one.note), " (this model)" if one.head == head and head else ""),
        ]
        for one in book.history(dataset)
    ]
    if body:
        yield table("Charges; their epsilons do not simply add up", HEAD, body, key="charges")
    if head is None:
        yield tag(
            "p",
            "This model's own fit was not charged to a ledger, so it is not among them.",
            class_="warning",
        )
