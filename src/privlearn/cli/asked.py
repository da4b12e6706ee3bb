"""What is asked of the coefficients of a saved model: references, ratios and sums."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import Any

from privlearn.cli.errors import CommandError, closest
from privlearn.cli.model_file import SavedModel

__all__ = ["add_reference", "parse_contrasts", "parse_references", "told_model"]

FORM = "'NAME: COEFFICIENT=WEIGHT, COEFFICIENT=WEIGHT'"
EQUALS = r"\s*=\s*"
Terms = dict[str, float]


def add_reference(parser: argparse.ArgumentParser) -> None:
    """Declare how coefficients may be told."""
    add = parser.add_argument
    add(
        "--reference",
        action="append",
        default=[],
        metavar="COLUMN=CATEGORY",
        help="tell coefficients of this list of categories relative to that one, which the "
        "intercept then includes; repeat for each list",
    )
    add(
        "--ratios",
        action="store_true",
        help="tell odds ratios (logistic) or rate ratios (poisson) in place of coefficients",
    )


def told_model(saved: SavedModel, path: str) -> Any:  # noqa: ANN401
    """The estimator of a file that holds standard errors of coefficients."""
    if saved.mapped:
        raise CommandError(
            f"the model {path} is a curve, whose coefficients mean nothing one by one; intervals "
            "of its predictions are told by privlearn predict --intervals, if it was fitted with "
            "--intervals"
        )
    if saved.content.values.get("errors") is None:
        raise CommandError(
            f"the model {path} holds no standard errors, so there is no table of them; fit it with "
            "--intervals (linear, ridge, poisson, logistic of two classes), which takes a share "
            "of that fit's budget"
        )
    try:
        return saved.content.model()
    except (ValueError, KeyError, TypeError):
        problem = f"the model {path} is incomplete or damaged; see privlearn verify"
    raise CommandError(problem)


def parse_references(texts: Sequence[str], saved: SavedModel) -> dict[str, str] | None:
    """Read ``COLUMN=CATEGORY``, as the table has it or without blanks; None where none is given."""
    found: dict[str, str] = {}
    for text in texts:
        column, category = _reference(text, [one.name for one in saved.columns if one.is_list])
        if column in found:
            raise CommandError(f"--reference was given twice for column {column!r}; keep one")
        found[column] = category
    return found or None


def _reference(text: str, lists: Sequence[str]) -> tuple[str, str]:
    """Column and category; what a known column is called may hold "=" as well."""
    known = "".join(f"{re.escape(name)}|" for name in sorted(lists, key=len, reverse=True))
    match = re.fullmatch(rf"\s*({known}[^=]*?)\s*=\s*(.*?)\s*", text, re.DOTALL)
    if match is None or not all(match.groups()):
        raise CommandError(
            f"--reference {text!r} is no column with a category; write --reference COLUMN=CATEGORY"
        )
    return match[1], match[2]


def parse_contrasts(texts: Sequence[str], names: Sequence[str]) -> dict[str, Terms]:
    """Read ``NAME: COEFFICIENT=WEIGHT, COEFFICIENT=WEIGHT``.

    A coefficient's name may hold commas, blanks and "=". Blanks around its "=" may be left out.

    Parameters
    ----------
    texts : sequence of str
        One for each sum.
    names : sequence of str
        Of the coefficients.

    Examples
    --------
    >>> parse_contrasts(["burns: ward = burns=1, ward=heart=-1"], ["ward = burns", "ward = heart"])
    {'burns': {'ward = burns': 1.0, 'ward = heart': -1.0}}
    """
    found: dict[str, Terms] = {}
    for text in texts:
        label, colon, sum_ = (part.strip() for part in text.partition(":"))
        if not (label and colon and sum_):
            raise CommandError(f"--contrast {text!r} is no sum with a name; write {FORM}")
        if label in found:
            raise CommandError(f"--contrast was given twice for {label!r}; keep one, or rename one")
        found[label] = _terms(sum_, names)
    return found


def _terms(text: str, names: Sequence[str]) -> Terms:
    """Coefficients with their weights: known names as far as they go, else up to the last "="."""
    longest = sorted(map(_parts, names), key=lambda parts: sum(map(len, parts)), reverse=True)
    known = "".join(EQUALS.join(map(re.escape, parts)) + "|" for parts in longest)
    pattern = re.compile(rf"\s*({known}.+?){EQUALS}([^=,]*?)\s*(?:,|$)", re.DOTALL)
    found: Terms = {}
    place = 0
    while place < len(text):
        match = pattern.match(text, place)
        if match is None:
            raise CommandError(f"--contrast: {text[place:]!r} has no weight; write {FORM}")
        name = _known(match[1], match[2], names)
        if name in found:
            raise CommandError(f"--contrast: {name!r} has two weights in one sum; keep one")
        found[name] = _weight(match[2], match[1])
        place = match.end()
    return found


def _parts(name: str) -> list[str]:
    """A name without what is around and between its signs of equality."""
    return [part.strip() for part in name.split("=")]


def _known(text: str, weight: str, names: Sequence[str]) -> str:
    """The coefficient that is meant, or what is wrong with its name."""
    if text in names:
        return text
    alike = [name for name in names if _parts(name) == _parts(text)]
    if len(alike) == 1:
        return alike[0]
    if any(_parts(name) == _parts(f"{text}={weight}") for name in names):
        raise CommandError(f"--contrast: '{text} = {weight}' has no weight; write {FORM}")
    raise CommandError(f"--contrast: no coefficient is called {text!r}; {closest(text, names)}")


def _weight(text: str, name: str) -> float:
    try:
        return float(text)
    except ValueError:
        problem = f"--contrast: the weight of {name!r} is {text!r}, which is no number; write"
    raise CommandError(f"{problem} {FORM}, such as 'ten years: age=10'")
