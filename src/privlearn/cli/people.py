"""Which column tells whose each row is: it is no column to predict from."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from privlearn.cli.errors import CommandError, closest
from privlearn.cli.schema import Facts

__all__ = ["without_person"]


def without_person(names: Sequence[str], args: argparse.Namespace, facts: Facts) -> list[str]:
    """The other columns of the file, or what is wrong with --person and --max-rows."""
    person = args.person
    if person is None:
        if args.max_rows is not None:
            raise CommandError(
                "--max-rows limits the rows of one person; add --person COLUMN, the column that "
                "tells whose each row is, or leave it out: then every row is a person"
            )
        return list(names)
    if args.max_rows is None:
        raise CommandError(
            "how many rows of one person count? Add --max-rows 5, say, chosen without looking at "
            "the data; of people with more rows so many are drawn, and noise grows with the number"
        )
    if person not in names:
        raise CommandError(f"{args.data} has no column {person!r}; {closest(person, names)}")
    if person == facts.target:
        raise CommandError(f"{person!r} is the target; --person needs the column of ids")
    if person in (*(facts.columns or ()), *facts.bounds, *facts.categories):
        raise CommandError(
            f"{person!r} is the column of ids, from which nothing is predicted; leave it out of "
            "--columns, --bounds and --categories"
        )
    return [name for name in names if name != person]
