"""Seeds of runs that are to be repeated, and so are not private."""

from __future__ import annotations

import numpy as np

__all__ = ["seed_of"]


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
