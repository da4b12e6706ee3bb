"""Names of data sets: one spelling each, and none that looks like another."""

from __future__ import annotations

import unicodedata

from privlearn.exceptions import MissingFact

__all__ = ["normal_name", "twin_key"]

_LONGEST = 200


def normal_name(name: object) -> str:
    """The one spelling under which a data set is booked: NFKC, without white space around it.

    Examples
    --------
    >>> normal_name(" patients-2026 ")
    'patients-2026'
    """
    if not isinstance(name, str) or not name.strip():
        given = repr(name) if isinstance(name, str) else f"a {type(name).__name__}"
        raise MissingFact(
            f"dataset is {given}, but a data set needs a name; pass a text such as 'patients-2026'"
        )
    found = unicodedata.normalize("NFKC", name).strip()
    if not found or any(unicodedata.category(letter).startswith("C") for letter in found):
        raise MissingFact(
            f"dataset={name!a} holds characters that cannot be seen, so that two names could "
            "look the same; pass a text of visible letters, such as 'patients-2026'"
        )
    if len(found) > _LONGEST:
        raise MissingFact(
            f"the name of the data set has {len(found)} characters; pass one of at most {_LONGEST}"
        )
    return found


def twin_key(name: str) -> str:
    """What names have in common that people take for the same: case, spaces, hyphens.

    Examples
    --------
    >>> twin_key("Patients 2026") == twin_key("patients_2026") == twin_key("patients-2026")
    True
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    kept = [
        letter
        for letter in folded
        if not letter.isspace() and letter != "_" and unicodedata.category(letter) != "Pd"
    ]
    return "".join(kept) or folded
