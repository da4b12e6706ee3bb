"""Which known name somebody may have meant; names of columns are public."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from itertools import islice

__all__ = ["did_you_mean", "hint_at_columns", "listed"]

MOST_COMPARED = 2_000  # names; comparing takes long
MOST_NAMED = 10  # columns in one error
SHORTEST = 3  # letters that tell something as a part of a name
SEPARATORS = re.compile(r"[,;\t|]")


def did_you_mean(name: str, names: Iterable[str]) -> str | None:
    """A hint at the most similar known name, or one that holds or begins so; None without any.

    Examples
    --------
    >>> did_you_mean("agee", ["age", "hours"]), did_you_mean("Cost", ["age", "yearly_cost"])
    ("did you mean 'age'?", "did you mean 'yearly_cost'?")
    >>> did_you_mean("los", ["age", "length_of_stay"])  # by the first letters of its words
    "did you mean 'length_of_stay'?"
    """
    known = list(islice(names, MOST_COMPARED))
    part = name.casefold()
    holding = [one for one in known if len(part) >= SHORTEST and part in one.casefold()]
    spelled = [one for one in known if len(part) >= SHORTEST and part == _initials(one)]
    found = difflib.get_close_matches(name, known, n=1) or holding or spelled
    return f"did you mean {found[0]!r}?" if found else None


def _initials(name: str) -> str:
    return "".join(word[0] for word in re.split(r"[\W_]+", name.casefold()) if word)


def listed(words: Sequence[str]) -> str:
    """Words of several columns, or of the first of very many.

    Examples
    --------
    >>> listed(["'a'", "'b'"]), listed([str(k) for k in range(1_000)])[-17:]
    ("'a', 'b'", '8, 9 and 990 more')
    """
    more = len(words) - MOST_NAMED
    return ", ".join(words[:MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def hint_at_columns(absent: str | Sequence[str], names: Sequence[str], otherwise: str) -> str:
    """What to do about columns that a data frame does not have.

    Examples
    --------
    >>> hint_at_columns("age", ["wage;age;sex"], "check its name")
    'X has one column only; was its file read with the wrong separator?'
    >>> hint_at_columns(["agee", "sexx", "town"], ["age", "sex", "wage"], "check its name")
    "by 'agee', did you mean 'age'? By 'sexx', did you mean 'sex'?"
    """
    if len(names) == 1 and SEPARATORS.search(names[0]):
        return "X has one column only; was its file read with the wrong separator?"
    if isinstance(absent, str) or len(absent) == 1:
        return did_you_mean(absent if isinstance(absent, str) else absent[0], names) or otherwise
    hints = ((name, did_you_mean(name, names)) for name in absent[:MOST_NAMED])
    told = " By ".join(f"{name!r}, {hint}" for name, hint in hints if hint is not None)
    return f"by {told}" if told else otherwise
