"""A bar on the terminal that counts planned releases: it moves by the plan, never by the data."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

__all__ = ["progress", "render"]

CELLS = 30


def render(done: int, total: int) -> str:
    """The bar as text.

    Examples
    --------
    >>> render(2, 4)
    'fitting [###############---------------] 2 of 4 releases'
    """
    filled = CELLS * done // max(total, 1)
    return f"fitting [{'#' * filled}{'-' * (CELLS - filled)}] {done:,} of {total:,} releases"


@contextmanager
def progress(stream: TextIO | None = None) -> Iterator[None]:
    """Show fits inside the block on `stream` (default: stderr) if that is a terminal."""
    from privlearn._core.releaser import progress

    terminal = sys.stderr if stream is None else stream
    if not terminal.isatty():
        yield
        return
    with progress(_Bar(terminal)):
        yield


class _Bar:
    """Writes the bar when its percentage changes, and wipes it when all is done."""

    def __init__(self, terminal: TextIO) -> None:
        self._terminal = terminal
        self._percent = -1

    def __call__(self, done: int, total: int) -> None:
        percent = 100 * done // max(total, 1)
        if percent == self._percent:
            return
        self._percent = percent
        text = render(done, total)
        self._terminal.write(f"\r{text}")
        if done >= total:
            self._terminal.write("\r" + " " * len(text) + "\r")
            self._percent = -1
        self._terminal.flush()
