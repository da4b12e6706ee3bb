"""What a certificate takes for granted, in words for people who do not program."""

from __future__ import annotations

import re

from privlearn._core.problem import assumed_of_people

__all__ = ["in_words"]

UNSEEN = re.compile(r"(.+) (?:was|were) chosen without looking at the data")
FACTS = {
    "bounds_X": "the ranges of the columns",
    "bounds_y": "the range of what is predicted",
    "classes": "the labels that there can be",
    "data_norm": "the greatest length of a row",
    "scale_X": "the usual sizes of the columns",
    "schema": "what is declared about the columns",
}
PERSONAL = re.compile(r"every person's sample_epsilon was chosen .*")
LABELS = "the set of class labels in y is public"
MOST, IDS = assumed_of_people(public=False)
PLAIN = {
    MOST: "How many rows of one person count was chosen without looking at the data.",
    IDS: "The ids tell people apart: all rows of a person have one id, which nobody else has. If "
    "they are ids of something else, households or firms, this is true of those.",
    LABELS: "Which labels there are is public; who has which is not.",
}


def in_words(assumed: str) -> str | None:
    """The sentence without words of programs; None where it has none, or nobody knows them.

    Examples
    --------
    >>> in_words("bounds_X was chosen without looking at the data")
    'Chosen without looking at the data: the ranges of the columns.'
    >>> in_words("the number of rows is public") is None
    True
    """
    if assumed in PLAIN:
        return PLAIN[assumed]
    if PERSONAL.fullmatch(assumed):
        return (
            "Every person's own epsilon was chosen without looking at the data, and the list of "
            "these numbers is public."
        )
    found = UNSEEN.fullmatch(assumed)
    facts = [] if found is None else re.split(r", | and ", found[1])
    if not facts or not {*facts} <= {*FACTS}:
        return None
    return f"Chosen without looking at the data: {'; '.join(FACTS[one] for one in facts)}."
