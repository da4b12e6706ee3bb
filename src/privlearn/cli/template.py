"""A schema file to fill in: column names, and nothing else from the data."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from privlearn._core.harmless import harmless
from privlearn.cli.design import demand_target
from privlearn.cli.errors import option
from privlearn.schema.identifiers import looks_like_an_identifier

__all__ = ["template"]

HEAD = """\
# Public metadata of {file}: what is known without looking at these people's data.
# Each column has its line below. Where it holds no numbers, or more is known, write one of
#   {{ kind = "number", low = 0, high = 99 }}
#     and of numbers written as 1.234,50 EUR: decimal = ",", thousands = ".", currency = "EUR"
#   {{ kind = "category", values = ["north", "south"] }}  other = true: others share a place
#   {{ kind = "date", first = 2020-01-01, last = 2024-12-31 }}  of cells such as 2020-01-31;
#     of others add format = "%d/%m/%Y"
#   {{ kind = "flag" }}      yes and no
#   {{ kind = "estimate" }}  found out privately, for a share of the budget
#   {{ kind = "ignore" }}    not used
# and missing = "flag" (or "fill", "drop") beside these where cells may be empty. A cell in another
# notation, or with a value that is not in the list, counts as empty, too; with outside = "missing"
# so does a number outside of the range, such as 999 or -1 for "unknown". With missing = "fill" say
# what is typical, from public knowledge: fill = 40.
# Ranges that are left out are estimated for {features:.0%} of the privacy budget, which adds noise
# to the model. So are they inside declared ones, for the same share, since values mostly lie in a
# small part of what people declare; --solver cd takes declared ranges as they are, for nothing.
"""

TARGET = """\
# The target may be left as it is, []: its range then costs {target:.0%}, or more if rows are few.
# So it does inside a declared one.
"""


def template(names: Sequence[str], target: str | None, file: str, *, classifies: bool) -> str:
    """The text of the file.

    Examples
    --------
    >>> names = ["age", "hours a week", "wage"]
    >>> print(template(names, "wage", "people.csv", classifies=False))  # doctest: +ELLIPSIS
    # Public metadata of people.csv...
    target = "wage"
    <BLANKLINE>
    [bounds]
    wage = []
    <BLANKLINE>
    [schema]
    age = { kind = "number" }
    "hours a week" = { kind = "number" }
    <BLANKLINE>
    """
    target = demand_target(names, target, file)
    lines = [f"target = {_text(target)}"]
    if classifies:
        lines.append('classes = []  # all labels of the target, for example ["no", "yes"]')
    else:
        lines += ["", "[bounds]", f"{_key(target)} = []"]
    lines += ["", "[schema]"]
    for name in names:
        if name != target:
            lines += [*_about_ids(name), f'{_key(name)} = {{ kind = "number" }}']
    return _head(file, classifies) + "\n".join(lines) + "\n"


def _head(file: str, classifies: bool) -> str:
    from privlearn.private_bounds import solver as bounds_solver

    text = HEAD if classifies else HEAD + TARGET
    return text.format(
        file=harmless(file, "terminal"),
        features=bounds_solver.FEATURES,
        target=bounds_solver.TARGET,
    )


def _about_ids(name: str) -> list[str]:
    """A comment on a column that is called as one of ids is."""
    if not looks_like_an_identifier(name):
        return []
    return [
        "# The next looks like an id. Where people have several rows, leave it as it is, and add",
        f"# {option('--person', name)} --max-rows K: else the promise is about single rows.",
    ]


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def _text(name: str) -> str:
    """A text of TOML, which is one of JSON but for how it spells what is beyond 16 bits."""
    return json.dumps(name, ensure_ascii=False)
