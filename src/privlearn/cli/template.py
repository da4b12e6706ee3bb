"""A facts file to fill in: column names, and nothing else from the data."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from privlearn.cli.errors import CommandError, closest

__all__ = ["template"]

HEAD = """\
# Public facts about {file}: what is known without looking at these people's data.
# Fill in [low, high] for every column of numbers. Move columns of text down to [categories]
# and list all values that there can be. Columns that are not to be used: delete them, and
# their names in the list of columns.
"""

TAIL = """\

[categories]
# for example: region = ["north", "south"]
"""


def template(names: Sequence[str], target: str | None, file: str, *, classifies: bool) -> str:
    """The text of the file.

    Examples
    --------
    >>> names = ["age", "hours a week", "wage"]
    >>> print(template(names, "wage", "people.csv", classifies=False))  # doctest: +ELLIPSIS
    # Public facts about people.csv...
    target = "wage"
    columns = ["age", "hours a week"]
    <BLANKLINE>
    [bounds]
    wage = []  # the target
    age = []
    "hours a week" = []
    ...
    """
    if target is None:
        raise CommandError("which column is to be predicted? Add --target COLUMN")
    if target not in names:
        raise CommandError(f"{file} has no column {target!r} to predict; {closest(target, names)}")
    columns = [name for name in names if name != target]
    lines = [f"target = {json.dumps(target)}"]
    if classifies:
        lines.append('classes = []  # all labels of the target, for example ["no", "yes"]')
    lines += [f"columns = [{', '.join(map(json.dumps, columns))}]", "", "[bounds]"]
    if not classifies:
        lines.append(f"{_key(target)} = []  # the target")
    lines += [f"{_key(name)} = []" for name in columns]
    return HEAD.format(file=file) + "\n".join(lines) + "\n" + TAIL


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name)
