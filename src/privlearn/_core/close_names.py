"""Which known name somebody may have meant; names of columns are public."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from itertools import islice

__all__ = ["did_you_mean"]

MOST_COMPARED = 2_000  # names; comparing takes long
SHORTEST = 3  # letters that tell something as a part of a name


def did_you_mean(name: str, names: Iterable[str]) -> str | None:
    """A hint at the most similar known name, or at one that holds it; None where there is none.

    Examples
    --------
    >>> did_you_mean("agee", ["age", "hours"]), did_you_mean("Cost", ["age", "yearly_cost"])
    ("did you mean 'age'?", "did you mean 'yearly_cost'?")
    """
    known = list(islice(names, MOST_COMPARED))
    part = name.casefold()
    holding = [one for one in known if len(part) >= SHORTEST and part in one.casefold()]
    found = difflib.get_close_matches(name, known, n=1) or holding
    return f"did you mean {found[0]!r}?" if found else None
