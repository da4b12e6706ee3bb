"""Errors that a command reports in a sentence, without a traceback."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Iterable

__all__ = ["CommandError", "closest", "option"]


class CommandError(Exception):
    """Something in the files or facts that the user can mend; the text says how."""


def closest(name: str, names: Iterable[str]) -> str:
    """A hint at the most similar known name, or all names when none is similar.

    Examples
    --------
    >>> closest("agee", ["age", "hours"])
    "did you mean 'age'?"
    """
    known = list(names)
    similar = difflib.get_close_matches(name, known, n=1)
    if similar:
        return f"did you mean {similar[0]!r}?"
    return f"there are: {', '.join(known)}"


def option(flag: str, text: str) -> str:
    """An option as it can be pasted into a shell.

    Examples
    --------
    >>> option("--bounds", "hours a week=LOW:HIGH")
    "--bounds 'hours a week=LOW:HIGH'"
    """
    return f"{flag} {shlex.quote(text)}"
