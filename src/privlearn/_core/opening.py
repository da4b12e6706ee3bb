"""What a fit is opened with: the ledger that is charged, and the seed where there is one."""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np

__all__ = ["charge_of", "seed_of"]


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


def seed_of(random_state: object) -> int | None:
    """A seed from what scikit-learn accepts as random_state; None stays None."""
    if random_state is None:
        return None
    if isinstance(random_state, int | np.integer):
        if random_state < 0:
            raise ValueError(f"random_state={random_state}, but a seed is 0 or more")
        return int(random_state)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63 - 1))
    raise TypeError(
        f"random_state is a {type(random_state).__name__}; give None (private), or, for a "
        "reproducible and so not private run, an int, a RandomState or a Generator"
    )
