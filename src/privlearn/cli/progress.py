"""The bar of planned releases, on terminals."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from typing import TextIO

from privlearn._core.progress import render, shown

__all__ = ["progress", "render"]


def progress(stream: TextIO | None = None) -> AbstractContextManager[None]:
    """Show fits inside the block on `stream` (default: stderr) if that is a terminal."""
    terminal = sys.stderr if stream is None else stream
    return shown(terminal.isatty(), terminal)
