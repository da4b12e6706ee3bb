"""What a screen shows of a fit: a bar while it runs, and its releases on one line."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from typing import TextIO

from privlearn._core.progress import render, shown

__all__ = ["in_short", "progress", "render"]


def progress(stream: TextIO | None = None) -> AbstractContextManager[None]:
    """Show fits inside the block on `stream` (default: stderr) if that is a terminal."""
    terminal = sys.stderr if stream is None else stream
    return shown(terminal.isatty(), terminal)


def in_short(text: str, where: str) -> str:
    """The text with one line in place of its releases, which are listed elsewhere.

    Parameters
    ----------
    text : str
        A plan or a certificate.
    where : str
        Where they are listed, in words.

    Examples
    --------
    >>> print(in_short("Plan\\n  release     a\\n  release     b\\n  method", "listed elsewhere"))
    Plan
      release     2 kinds, listed elsewhere
      method
    """
    lines = text.splitlines()
    places = [k for k, line in enumerate(lines) if line.startswith("  release ")]
    if not places:
        return text
    short = f"  release     {len(places)} kind{'s' if len(places) > 1 else ''}, {where}"
    others = [line for k, line in enumerate(lines) if k not in places]
    return "\n".join([*others[: places[0]], short, *others[places[0] :]])
