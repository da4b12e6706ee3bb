"""What is said about a run from outside: who watches its progress, and its seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

__all__ = ["current_watcher", "progress", "seed_of", "set_to"]

Watcher = Callable[[int, int], None]
current_watcher: ContextVar[Watcher | None] = ContextVar("privlearn_watcher", default=None)


@contextmanager
def set_to(variable: ContextVar[Any], value: object) -> Iterator[None]:
    """Let a variable have a value for a while."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def progress(watcher: Watcher) -> AbstractContextManager[None]:
    """Call `watcher(done, total)` as planned releases are made: for progress bars.

    Examples
    --------
    >>> with progress(lambda done, total: print(f"{done} of {total}")):
    ...     pass
    """
    return set_to(current_watcher, watcher)


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
