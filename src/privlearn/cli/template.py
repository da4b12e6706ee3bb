"""A schema file to fill in: column names, and nothing else from the data."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from privlearn._core.harmless import harmless
from privlearn.cli.design import demand_target

__all__ = ["template"]

HEAD = """\
# Public metadata of {file}: what is known without looking at these people's data.
# Columns of numbers: fill in [low, high], or leave them as they are, []. Ranges that are left out
# are estimated for {features:.0%} of the privacy budget, which adds noise to the model.
# Columns of text: move them down to [categories] and list all values that there can be.
# Dates, flags, and cells that may be missing: move them down to [schema].
# Columns that are not to be used: delete them, and their names in the list of columns.
"""

TARGET = """\
# The target may be left as it is, too: its range then costs {target:.0%}, or more if rows are few.
"""

TAIL = """\

[categories]
# for example: region = ["north", "south"]

[schema]
# for example: hours = { kind = "number", low = 0, high = 99, missing = "fill" }
"""


def template(names: Sequence[str], target: str | None, file: str, *, classifies: bool) -> str:
    """The text of the file.

    Examples
    --------
    >>> names = ["age", "hours a week", "wage"]
    >>> print(template(names, "wage", "people.csv", classifies=False))  # doctest: +ELLIPSIS
    # Public metadata of people.csv...
    target = "wage"
    columns = ["age", "hours a week"]
    <BLANKLINE>
    [bounds]
    wage = []
    age = []
    "hours a week" = []
    ...
    """
    target = demand_target(names, target, file)
    columns = [name for name in names if name != target]
    lines = [f"target = {_text(target)}"]
    if classifies:
        lines.append('classes = []  # all labels of the target, for example ["no", "yes"]')
    lines += [f"columns = [{', '.join(map(_text, columns))}]", "", "[bounds]"]
    if not classifies:
        lines.append(f"{_key(target)} = []")
    lines += [f"{_key(name)} = []" for name in columns]
    return _head(file, classifies) + "\n".join(lines) + "\n" + TAIL


def _head(file: str, classifies: bool) -> str:
    from privlearn.private_bounds import solver as bounds_solver

    text = HEAD if classifies else HEAD + TARGET
    return text.format(
        file=harmless(file, "terminal"),
        features=bounds_solver.FEATURES,
        target=bounds_solver.TARGET,
    )


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def _text(name: str) -> str:
    """A text of TOML, which is one of JSON but for how it spells what is beyond 16 bits."""
    return json.dumps(name, ensure_ascii=False)
