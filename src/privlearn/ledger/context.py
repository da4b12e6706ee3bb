"""What the surroundings of a charge say about it: the data set, who charges, and for what."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

__all__ = ["Context", "Signature", "context_of", "within_context"]

MOST_CHARACTERS = 200


@dataclass(frozen=True)
class Signature:
    """Who charges, and for what; nothing about data.

    Examples
    --------
    >>> Signature.checked(" ana ", None)
    Signature(by='ana', note='')
    """

    by: str = ""
    note: str = ""

    @classmethod
    def checked(cls, by: object, note: object) -> Signature:
        """Texts of one line that can be shown, or a refusal."""
        return cls(_line(by, "by"), _line(note, "note"))


def _line(text: object, name: str) -> str:
    if text is None:
        return ""
    if not isinstance(text, str):
        raise TypeError(f"{name} is a {type(text).__name__}, but a text is needed")
    line = text.strip()
    if len(line) > MOST_CHARACTERS or not line.isprintable():
        raise ValueError(
            f"{name} is too long or has characters that cannot be printed; give one line of up to "
            f"{MOST_CHARACTERS} characters"
        )
    return line


@dataclass(frozen=True)
class Context:
    """What a block of code says of its charges to one ledger."""

    dataset: str | None = None
    signature: Signature = Signature()


_contexts: ContextVar[dict[str, Context] | None] = ContextVar("privlearn_ledger", default=None)


def context_of(path: str) -> Context:
    """What surrounds this line, for the ledger at `path`."""
    return (_contexts.get() or {}).get(path, Context())


@contextmanager
def within_context(path: str, **changes: object) -> Iterator[None]:
    """Change it, in this thread or task, until the end of the block."""
    changed = replace(context_of(path), **changes)  # type: ignore[arg-type]
    token = _contexts.set({**(_contexts.get() or {}), path: changed})
    try:
        yield
    finally:
        _contexts.reset(token)
