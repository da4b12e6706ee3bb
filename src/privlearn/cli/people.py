"""Which column tells whose each row is: it is no column to predict from."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

from privlearn._data.named_cells import NamedCells
from privlearn.cli.errors import CommandError, closest
from privlearn.cli.schema import Facts
from privlearn.cli.tables import Table
from privlearn.schema.encoding import Column
from privlearn.schema.identifiers import open_to_all, warn_of_identifiers

__all__ = [
    "SOME_ROWS",
    "add_person",
    "checked_person",
    "demand_most",
    "facts_of_others",
    "ids_of",
    "refuse_as_feature",
    "warn_of_ids",
    "without_person",
]

SOME_ROWS = 5  # what errors and help write where a number has to be chosen


def ids_of(table: Table, person: str | None) -> NamedCells | None:
    """The cells of the column of ids; None where every row is a person."""
    if person is None:
        return None
    ids = NamedCells(table.labels(person))
    ids.name = person
    return ids


def demand_most(args: argparse.Namespace) -> None:
    """Refuse --person without --max-rows."""
    if args.person is not None and args.max_rows is None:
        raise CommandError(
            f"how many rows of one person count? Add --max-rows {SOME_ROWS}, say: a number from "
            "public knowledge (how the data came about), never from the data; of people with more "
            "rows so many are drawn, and noise grows with the number"
        )


def add_person(parser: argparse.ArgumentParser) -> None:
    """The column of ids."""
    parser.add_argument(
        "--person",
        metavar="COLUMN",
        help="whose each row is, where people have several: the column of ids, from which nothing "
        "is predicted; needs --max-rows. The promise is then about people, not rows",
    )


def checked_person(names: Sequence[str], args: argparse.Namespace, target: str | None) -> None:
    """Refuse --person without --max-rows, the reverse, and columns that hold no ids."""
    person = args.person
    if person is None:
        if args.max_rows is not None:
            raise CommandError(
                "--max-rows limits the rows of one person; add --person COLUMN, the column that "
                "tells whose each row is, or leave it out: then every row is a person"
            )
        return
    demand_most(args)
    if person not in names:
        raise CommandError(f"{args.data} has no column {person!r}; {closest(person, names)}")
    if person == target:
        raise CommandError(f"{person!r} is the target; --person needs the column of ids")


def facts_of_others(facts: Facts, person: str | None) -> Facts:
    """The same without what a schema says about the column of ids, as templates do."""
    if person not in facts.schema:
        return facts
    return replace(facts, schema={k: v for k, v in facts.schema.items() if k != person})


def without_person(names: Sequence[str], args: argparse.Namespace, facts: Facts) -> list[str]:
    """The other columns of the file, or what is wrong with --person and --max-rows."""
    person = args.person
    checked_person(names, args, facts.target)
    refuse_as_feature(person, facts)
    return [name for name in names if name != person]


def refuse_as_feature(person: str | None, facts: Facts) -> None:
    """Refuse facts by which the column of ids would be one to predict from."""
    if person in (*(facts.columns or ()), *facts.bounds, *facts.categories):
        raise CommandError(
            f"{person!r} is the column of ids, from which nothing is predicted; leave it out of "
            "--columns, --bounds and --categories"
        )


def warn_of_ids(
    columns: Sequence[Column], target: str, names: Sequence[str], person: str | None
) -> None:
    """Say which columns of the file seem to tell people apart, by their names alone."""
    features = open_to_all((column.name, column.kind) for column in columns)
    used = {*(column.name for column in columns), target, person}
    left_out = [name for name in names if name not in used]
    warn_of_identifiers(features, left_out, people=person is not None)
