"""The ledger that is charged before a fit is opened."""

from __future__ import annotations

import os
from collections.abc import Callable

__all__ = ["charge_of"]


def charge_of(ledger: object) -> Callable[..., object]:
    """The `charge` of a ledger, or of the ledger at a path."""
    if isinstance(ledger, str | os.PathLike):
        from privlearn.ledger import Ledger

        ledger = Ledger(ledger)
    charge: Callable[..., object] | None = getattr(ledger, "charge", None)
    if charge is None or not callable(charge):
        raise TypeError(
            f"ledger is a {type(ledger).__name__}, but a Ledger, its path, or an object with "
            "charge(plan, dataset) is needed; it is called before anything is released"
        )
    return charge
