"""What is said about a run from outside: who watches its progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any

__all__ = ["Watcher", "current_watcher", "progress", "set_to", "untold"]

Watcher = Callable[[int, int], None]
current_watcher: ContextVar[Watcher | None] = ContextVar("privlearn_watcher", default=None)
# Whether runs are parts of another one, of which how many there are may be a secret.
untold: ContextVar[bool] = ContextVar("privlearn_untold", default=False)


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
