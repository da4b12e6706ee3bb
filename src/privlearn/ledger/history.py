"""Lines of a ledger's history."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field

from privlearn._core.problem import Budget
from privlearn.accounting.composition import Terms
from privlearn.ledger.composition_cost import epsilon_of, merged
from privlearn.ledger.records import RESERVED, Row
from privlearn.ledger.serial import terms_from_text
from privlearn.ledger.units import Protected

__all__ = ["Charge", "spent_by"]


@dataclass(frozen=True)
class Charge:
    """One charge; nothing in it depends on data.

    Attributes
    ----------
    when : str
        Time of the charge (UTC).
    dataset : str
        What was charged.
    adjacency : str
        The neighbouring relation.
    unit : str
        What is protected: "row" or "person".
    releases : tuple of str
        What the plan released, in words.
    version : str
        The version of privlearn that charged.
    part : str
        "first" (composed exactly), "later" (a part of what the first charge left) or "reserved"
        (paid for by a reservation before).
    head : str
        The head of the data set's chain right after it, as the certificate has it.
    by, note : str
        Who charged, and for what, where that was said (`Ledger.signed`).
    """

    when: str
    dataset: str
    adjacency: str
    unit: str
    releases: tuple[str, ...]
    version: str
    part: str
    head: str
    by: str
    note: str
    pairs: Terms = field(repr=False)
    budget: Budget = field(repr=False)

    @classmethod
    def read(cls, dataset: str, relation: str, row: Row, head: str, budget: Budget) -> Charge:
        """The charge that a line of the file stands for."""
        protected = Protected.read(relation)
        return cls(
            when=row.time,
            dataset=dataset,
            adjacency=protected.adjacency,
            unit=protected.unit,
            releases=tuple(json.loads(row.releases)),
            version=row.privlearn,
            part=row.part,
            head=head,
            by=row.by,
            note=row.note,
            pairs=terms_from_text(row.pairs),
            budget=budget,
        )

    @property
    def epsilon(self) -> float:
        """What this charge costs alone, at the ledger's delta. Such numbers do not add up."""
        return epsilon_of(self.pairs, self.budget)

    def __str__(self) -> str:
        released = "; ".join(self.releases)
        paid = "  (reserved before)" if self.part == RESERVED else ""
        signed = f"  by {self.by}" if self.by else ""
        signed += f"  for {self.note}" if self.note else ""
        cost = f"epsilon {self.epsilon:.4g}"
        return f"{self.when}  {self.dataset}  {cost}{signed}  {released}{paid}"


def spent_by(charges: Iterable[Charge]) -> dict[str, float]:
    """Epsilon of each person's charges to one data set, composed; '' is whoever gave no name.

    What was reserved before is in its reservation. Such numbers do not add up: `Ledger.spent` is
    what all cost together.
    """
    found: dict[str, list[Charge]] = {}
    for charge in charges:
        found.setdefault(charge.by, []).append(charge)
    return {by: _together(own) for by, own in sorted(found.items())}


def _together(charges: list[Charge]) -> float:
    paid = [charge for charge in charges if charge.part != RESERVED]
    return epsilon_of(merged(*(one.pairs for one in paid)), paid[0].budget) if paid else 0.0
