"""What other libraries read, without what their errors say: they may quote cells.

Nothing of an error is kept but its kind: neither its text nor the error itself, as a context.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from privlearn.exceptions import PrivacyError

__all__ = ["quiet", "quietly"]

T = TypeVar("T")
PASSED_ON = (KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError, PrivacyError)


def quiet(items: Iterable[T]) -> Iterator[T]:
    """The same items; an error on the way to one is told by its kind.

    Examples
    --------
    >>> try:
    ...     next(quiet(float(cell) for cell in ["Ms Grey"]))
    ... except ValueError as error:
    ...     print("Grey" in str(error))
    False
    """
    try:
        yield from items
        return
    except PASSED_ON:
        raise
    except BaseException as error:  # of whatever library: some have panics, which are no Exception
        kind = type(error).__name__
    raise _unreadable(kind)


def quietly(read: Callable[[], T]) -> T:
    """The same of one call."""
    try:
        return read()
    except PASSED_ON:
        raise
    except BaseException as error:  # as above
        kind = type(error).__name__
    raise _unreadable(kind)


def _unreadable(kind: str) -> ValueError:
    return ValueError(
        f"X could not be read ({kind}); nothing was charged. Go through all of its rows without "
        "privlearn to see why: what the library that reads them says is not shown, for it may "
        "quote data"
    )
