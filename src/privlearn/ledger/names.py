"""Names of data sets: one spelling each, and none that looks like another."""

from __future__ import annotations

import unicodedata

from privlearn.exceptions import MissingFactError

__all__ = ["normal_name", "twin_key"]

_LONGEST = 200


def normal_name(name: object) -> str:
    """The one spelling under which a data set is recorded: NFKC, without white space around it.

    Examples
    --------
    >>> normal_name(" patients-2026 ")
    'patients-2026'
    """
    if not isinstance(name, str) or not name.strip():
        given = repr(name) if isinstance(name, str) else f"a {type(name).__name__}"
        raise MissingFactError(
            f"dataset is {given}, but a data set needs a name; pass a text such as 'patients-2026'"
        )
    found = unicodedata.normalize("NFKC", name).strip()
    if not found or any(_unseen(letter) for letter in found):
        raise MissingFactError(
            f"dataset={name!a} holds characters that cannot be seen, so that two names could "
            "look the same; pass a text of visible letters, such as 'patients-2026'"
        )
    scripts = sorted({script for script in map(_script, found) if script})
    if len(scripts) > 1:
        raise MissingFactError(
            f"dataset={name!a} mixes {' and '.join(scripts)} letters, some of which look the same; "
            "pass a text of one alphabet, such as 'patients-2026'"
        )
    if len(found) > _LONGEST:
        raise MissingFactError(
            f"the name of the data set has {len(found)} characters; pass one of at most {_LONGEST}"
        )
    return found


# Letters and marks that leave no trace (Unicode's Default_Ignorable_Code_Point), and a blank sign.
_BLANK = frozenset((0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0)).union(
    range(0x180B, 0x1810), range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0)
)
_ALIKE = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE")  # that share shapes of letters


def _unseen(letter: str) -> bool:
    return unicodedata.category(letter).startswith("C") or ord(letter) in _BLANK


def _script(letter: str) -> str:
    """The alphabet of a letter, of those that look alike; empty for all others."""
    if not letter.isalpha():
        return ""
    script = unicodedata.name(letter, "").split(" ")[0]
    return script if script in _ALIKE else ""


def twin_key(name: str) -> str:
    """What names have in common that people take for the same: all but case, spaces and signs.

    Examples
    --------
    >>> twin_key("Patients 2026") == twin_key("patients_2026") == twin_key("patients-2026")
    True
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    kept = [letter for letter in folded if unicodedata.category(letter)[0] in "LNM"]
    return "".join(kept) or folded
