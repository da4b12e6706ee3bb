"""Standard output and standard error that are closed, full, or whose reader left.

By then privacy may be spent: neither may end a command before its files are written.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any, TextIO, cast

__all__ = ["flushed", "given_up", "tolerant_stderr"]


class _Tolerant:
    """A stream that takes what it is given, whether or not it can be written."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except (OSError, ValueError):  # ValueError: it was closed
            given_up(self._stream)
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except (OSError, ValueError):
            given_up(self._stream)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._stream, name)


@contextmanager
def tolerant_stderr() -> Iterator[None]:
    """Let notes, warnings and the bar go nowhere where standard error cannot be written."""
    before = sys.stderr
    with open(os.devnull, "w") if before is None else nullcontext(before) as stream:
        sys.stderr = cast("TextIO", _Tolerant(stream))  # None would mean standard output to `print`
        try:
            yield
        finally:
            sys.stderr.flush()
            sys.stderr = before


def flushed() -> None:
    """Write what is left to standard output, if there is one."""
    if sys.stdout is not None:
        sys.stdout.flush()


def given_up(stream: TextIO | None) -> None:
    """Have what is still to be written go nowhere, so that the end of the process is silent."""
    if stream is None:
        return
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
