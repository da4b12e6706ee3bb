"""The layout of help texts."""

from __future__ import annotations

import argparse

__all__ = ["Help"]


class Help(argparse.HelpFormatter):
    """Wraps descriptions, and leaves examples (texts of several lines) as they are written."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if "\n" in text:
            return "".join(indent + line for line in text.splitlines(keepends=True))
        return super()._fill_text(text, width, indent)
