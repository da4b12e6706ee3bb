"""Errors about memory that tell no sizes: numpy quotes an array's shape, and rows may be secret."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

__all__ = ["AFTER", "BEFORE", "no_sizes_told"]

BEFORE = (
    "there is not enough memory for this fit; nothing was charged. Use fewer rows or columns, or a "
    "machine with more memory"
)
AFTER = (
    "memory ran out after the charge: what was charged stays spent, and nothing was released but "
    "what the plan holds. Use a machine with more memory"
)


@contextmanager
def no_sizes_told(words: str) -> Iterator[None]:
    """Say these words in the place of what an error about memory says, and keep nothing of it."""
    known = words
    try:
        yield
        return
    except MemoryError as error:
        if error.args == (AFTER,):  # told by whoever charged
            known = AFTER
    _fail(known)


def _fail(words: str) -> NoReturn:
    try:
        raise MemoryError(words)
    except MemoryError as error:
        error.__context__ = None  # the one that quotes sizes
        raise
