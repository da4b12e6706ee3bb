"""What may be a header. A record must never be taken for one: names are printed and kept."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from privlearn.cli.errors import CommandError

__all__ = ["checked_header", "checked_names", "looks_like_data"]

LONGEST_NAME = 200
WORDS = {"true", "false", "null", "none", "n/a"}  # cells, hardly ever names
DATE = re.compile(r"\d{1,4}([-/. ])\w{1,9}\1\d{1,4}|\d{8}T\d")
HEXADECIMAL = re.compile(r"[+-]?0x[0-9a-f]+", re.IGNORECASE)


def looks_like_data(name: str) -> bool:
    """Whether a cell of the first line is a number, a date, an address or a long text.

    Examples
    --------
    >>> [looks_like_data(name) for name in ("age", "income 2020", "2020", "12/31/1999", "-inf")]
    [False, False, True, True, True]
    """
    text = name.strip()
    if not text:
        return False
    if not any(map(str.isalpha, text)):
        return any(map(str.isdigit, text))  # numbers, dates, times, telephones, amounts of money
    if len(text) > LONGEST_NAME or "@" in text or text.casefold() in WORDS:
        return True
    return bool(DATE.match(text) or HEXADECIMAL.fullmatch(text)) or _is_float(text)


def _is_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def checked_header(path: str | Path, cells: Sequence[str], *, rename: bool = False) -> list[str]:
    """The names in the first line of a CSV file, or an error that quotes none of them."""
    names = [name.strip() for name in cells]
    odd = next((k for k, name in enumerate(names, start=1) if looks_like_data(name)), None)
    if odd is None and _has_gaps(names):
        odd = 1 + names.index("")
    if odd is not None:
        raise CommandError(
            f"the first line of {path} looks like a record and not like column names (see its "
            f"column {odd}: a number, a date, a long text, an address or nothing at all); names "
            "are printed and stored in the model, so nothing was used. Put a line with the names "
            "of the columns first (a name needs a letter, as in y2020), or give them: --names "
            "A,B,..., and --no-header if the first line is a record"
        )
    return checked_names(path, names, rename=rename)


def _has_gaps(names: Sequence[str]) -> bool:
    """Whether names lack elsewhere than in front (a row's number) or at the end (stray marks)."""
    last = next((k for k in range(len(names), 0, -1) if names[k - 1]), 0)
    return "" in names[1:last] or 2 * names.count("") > len(names)


def checked_names(path: str | Path, header: Sequence[str], *, rename: bool = False) -> list[str]:
    """Different, printable names; a column without one is called by its place."""
    names = [name or f"column {place}" for place, name in enumerate(header, start=1)]
    names = _renamed(names) if rename else names
    seen: dict[str, int] = {}
    for place, name in enumerate(names, start=1):
        if not name.isprintable():
            raise CommandError(
                f"the name of column {place} of {path} holds a character that cannot be printed; "
                "rename the column"
            )
        if name in seen:
            raise CommandError(
                f"columns {seen[name]} and {place} of {path} have the same name; rename one, or "
                "add --rename-duplicates to tell them apart by their places"
            )
        seen[name] = place
    return names


def _renamed(names: Sequence[str]) -> list[str]:
    """Names that came before get their place.

    Examples
    --------
    >>> _renamed(["age", "visit", "visit"])
    ['age', 'visit', 'visit (column 3)']
    """
    seen: set[str] = set()
    found = []
    for place, name in enumerate(names, start=1):
        found.append(f"{name} (column {place})" if name in seen else name)
        seen.add(name)
    return found
