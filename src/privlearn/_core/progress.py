"""A bar that counts planned releases: it moves by the plan, never by the data."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import TextIO

__all__ = ["Bar", "render", "shown"]

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


def shown(verbose: object, stream: TextIO | None = None) -> AbstractContextManager[None]:
    """Show fits inside the block on `stream` (default: stderr) where `verbose` is true.

    Not those of which nobody is told: a bar for each would tell how many there are.
    """
    from privlearn._core.run_settings import progress, untold

    terminal = sys.stderr if stream is None else stream
    if not verbose or untold.get() or terminal is None:  # None: a program without a terminal
        return nullcontext()
    return progress(Bar(terminal))


class Bar:
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
        # By now privacy is spent: a terminal that is closed or full must not end the fit.
        with suppress(OSError, ValueError):
            self._terminal.write(f"\r{text}")
            if done >= total:
                self._terminal.write("\r" + " " * len(text) + "\r")
                self._percent = -1
            self._terminal.flush()
