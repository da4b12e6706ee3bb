"""Errors that a command reports in a sentence, without a traceback."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from privlearn._core.close_names import did_you_mean

__all__ = ["CommandError", "closest", "option", "shortened", "similar"]


class CommandError(Exception):
    """Something in the files or facts that the user can mend; the text says how."""


def closest(name: str, names: Iterable[str]) -> str:
    """A hint at the most similar known name, or the names when none is similar.

    Examples
    --------
    >>> closest("agee", ["age", "hours"])
    "did you mean 'age'?"
    """
    known = list(names)
    return did_you_mean(name, known) or f"there are: {shortened(known)}"


def similar(name: str, names: Iterable[str]) -> str:
    """The same for names that may be a record, because nothing that is known is among them.

    Examples
    --------
    >>> similar("wage", ["Smith", "north"])
    'is its first line a header with names of columns? None of them is like it: look at that line'
    """
    doubt = (
        "is its first line a header with names of columns? None of them is like it: look at that "
        "line"
    )
    return did_you_mean(name, names) or doubt


def shortened(words: Iterable[str], most: int = 20) -> str:
    """A list in words, cut where nobody would read on.

    Examples
    --------
    >>> shortened(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    listed = list(words)
    if len(listed) <= most:
        return ", ".join(listed)
    return f"{', '.join(listed[:most])} and {len(listed) - most:,} more"


def option(flag: str, text: str) -> str:
    """An option as it can be pasted into a shell.

    Examples
    --------
    >>> option("--bounds", "hours a week=LOW:HIGH")
    "--bounds 'hours a week=LOW:HIGH'"
    """
    return f"{flag} {shlex.quote(text)}"
