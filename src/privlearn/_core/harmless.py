"""Texts of others (names of columns, labels, categories) where a reader might run or obey them.

A terminal obeys control characters, a spreadsheet computes cells that begin like a formula, a web
page runs what looks like markup. One table says what each reader must not get.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable

__all__ = ["harmless", "json_text"]

FORMULA = ("=", "+", "-", "@")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
MARKUP = {ord(mark): f"\\u{ord(mark):04x}" for mark in "<>&"}


def _for_terminal(text: str) -> str:
    """Control characters, line breaks and marks of direction are spelled out."""
    return text if text.isprintable() else "".join(map(_spelled, text))


def _spelled(mark: str) -> str:
    return mark if mark.isprintable() else ascii(mark)[1:-1]


def _for_csv(text: str) -> str:
    """What a spreadsheet would compute gets an apostrophe, which it does not show; as above.

    A plain number below 0 is no formula.
    """
    shown = _for_terminal(text)
    computed = shown.lstrip().startswith(FORMULA) and not NUMBER.fullmatch(shown)
    return f"'{shown}" if computed else shown


def _for_html(text: str) -> str:
    return html.escape(_for_terminal(text), quote=True)


WRITERS: dict[str, Callable[[str], str]] = {
    "terminal": _for_terminal,
    "csv": _for_csv,
    "html": _for_html,
}


def harmless(text: str, where: str) -> str:
    """A text of others as a reader may get it.

    Parameters
    ----------
    text : str
        A name, a label, a category.
    where : {"terminal", "csv", "html"}
        Who reads it. Of CSV, quoting is left to the writer; JSON is written by `json_text`.

    Examples
    --------
    >>> harmless("red\\x1b[31m", "terminal")
    'red\\\\x1b[31m'
    >>> harmless("=1+1", "csv"), harmless("-1", "csv"), harmless("<b>", "html")
    ("'=1+1", '-1', '&lt;b&gt;')
    """
    return WRITERS[where](text)


def json_text(value: object, indent: int | None = 2) -> str:
    """JSON of plain ASCII that is no markup either; what is read back is the same.

    Examples
    --------
    >>> print(json_text({"sex": "<script>"}, indent=None))
    {"sex": "\\u003cscript\\u003e"}
    """
    return json.dumps(value, indent=indent).translate(MARKUP)  # strings alone hold such marks
