"""Which columns a model uses and how: decided from names and declared facts, before any row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from privlearn.cli.encoding import Categories, Column, Numbers
from privlearn.cli.errors import CommandError, closest, option, shortened, similar
from privlearn.cli.schema import Facts, Range

__all__ = ["Design", "demand_target", "design"]

MOST_OPTIONS = 20  # that an error lists


@dataclass(frozen=True)
class Design:
    """The public side of a fit.

    Attributes
    ----------
    target : str
        The column to predict.
    columns : tuple of Column
        The columns to predict from, with their encodings.
    classifies : bool
        Whether the target holds labels.
    target_bounds : pair or None
        The range of a numeric target; None where it is to be estimated.
    classes : tuple of str or None
        The declared labels of a target that is no number.
    row_norm : float or None
        A bound on the Euclidean norm of an encoded row, the intercept's 1 included; None where
        the boxes say all there is to say, or nothing is known.
    """

    target: str
    columns: tuple[Column, ...]
    classifies: bool
    target_bounds: Range | None
    classes: tuple[str, ...] | None
    row_norm: float | None

    @property
    def names(self) -> list[str]:
        """The columns to predict from."""
        return [column.name for column in self.columns]

    @property
    def n_features(self) -> int:
        """How many numbers an encoded row has."""
        return sum(len(column.features) for column in self.columns)

    @property
    def unlimited(self) -> list[str]:
        """Columns of numbers whose ranges are to be estimated."""
        if self.row_norm is not None:
            return []
        return [column.name for column in self.columns if column.bounds is None]

    @property
    def box(self) -> tuple[list[float], list[float]] | None:
        """Lowest and highest value of every feature; None where they are to be estimated."""
        if self.unlimited:
            return None
        norm = self.row_norm or 0.0  # where it is unknown, every column has a range
        ends = [
            (-norm, norm) if column.bounds is None else (0.0, 1.0)
            for column in self.columns
            for _ in column.features
        ]
        return [low for low, _ in ends], [high for _, high in ends]


def design(
    names: Sequence[str], facts: Facts, *, where: str, classifies: bool, estimates: bool = True
) -> Design:
    """Choose columns and encodings, or say everything that is missing at once.

    Parameters
    ----------
    names : sequence of str
        All columns of the file.
    facts : Facts
        What was declared.
    where : str
        The file, for messages.
    classifies : bool
        Whether the target is a label and needs no range.
    estimates : bool, default=True
        Whether ranges that nobody declared can be estimated: the budget has a delta.
    """
    target = demand_target(names, facts.target, where)
    columns = tuple(
        Categories(name, facts.categories[name])
        if name in facts.categories
        else Numbers(name, facts.bounds.get(name))
        for name in _chosen(names, facts, target, where)
    )
    found = Design(
        target=target,
        columns=columns,
        classifies=classifies,
        target_bounds=None if classifies else facts.bounds.get(target),
        classes=facts.classes,
        row_norm=_row_norm(columns, facts.data_norm),
    )
    if not estimates:
        _refuse_to_estimate(found)
    _refuse_some_bounds(found)
    return found


def demand_target(names: Sequence[str], target: str | None, where: str) -> str:
    """The column to predict, if it was said and is there."""
    if target is None:
        raise CommandError("which column is to be predicted? Add --target COLUMN")
    if target not in names:
        raise CommandError(f"{where} has no column {target!r} to predict; {similar(target, names)}")
    return target


def _chosen(names: Sequence[str], facts: Facts, target: str, where: str) -> list[str]:
    """The columns to predict from; every name that was given must be in the file."""
    chosen = list(facts.columns) if facts.columns else [name for name in names if name != target]
    known = set(names)
    for name in chosen:
        if name not in known:
            raise CommandError(f"{where} has no column {name!r}; {closest(name, names)}")
    if target in chosen:
        raise CommandError(f"{target!r} is the target; leave it out of --columns")
    if len(set(chosen)) < len(chosen):
        raise CommandError("--columns names a column twice; name each once")
    if not chosen:
        raise CommandError(f"{where} has no column besides the target; there is nothing to learn")
    for name in (*facts.bounds, *facts.categories):
        if name not in known:
            raise CommandError(
                f"the schema has {name!r}, but {where} has no such column; {closest(name, names)}"
            )
    return chosen


def _refuse_some_bounds(found: Design) -> None:
    """Ranges are estimated for all columns of numbers or for none: half a box is no box."""
    without = found.unlimited
    numbers = [column for column in found.columns if isinstance(column, Numbers)]
    declared = [column.name for column in numbers if column.bounds is not None]
    if not (without and declared):
        return
    rest = ",".join(column.name for column in found.columns if column.bounds is not None)
    raise CommandError(
        "some columns of numbers have bounds and others have none; give all of them bounds, or "
        "none: ranges are then estimated privately, with a share of the budget\n"
        f"  with bounds: {shortened(declared)}\n  without: {shortened(without)}\n"
        "either add, from public knowledge and never read off the data,\n"
        + _options(without)
        + f"\nor use the other columns only: {option('--columns', rest)}"
        "\nor leave out the bounds of all columns"
    )


def _refuse_to_estimate(found: Design) -> None:
    """Without a delta nothing can be estimated, so everything must have been declared."""
    without = found.unlimited
    lacks_target = not found.classifies and found.target_bounds is None
    if not (without or lacks_target):
        return
    lines = [
        "--delta 0 leaves no way to estimate ranges privately that nobody declared (the noise "
        "for that needs "
        "delta > 0); add --delta 1e-6, or declare, from public knowledge and never read off the "
        "data,"
    ]
    if without:
        lines.append(_options(without))
    if lacks_target:
        lines.append(f"  --bounds-y LOW:HIGH   (the range of {found.target})")
    raise CommandError("\n".join(lines))


def _options(names: Sequence[str]) -> str:
    lines = [
        f"  {option('--bounds', f'{name}=LOW:HIGH')}   or, if it holds text, "
        f"{option('--categories', f'{name}=A,B,...')}"
        for name in names[:MOST_OPTIONS]
    ]
    if len(names) > MOST_OPTIONS:
        lines.append(f"  and so on for {len(names) - MOST_OPTIONS:,} more")
    return "\n".join(lines)


def _row_norm(columns: Sequence[Column], declared: float | None) -> float | None:
    """The declared norm, or the one that follows from lists: one 1 per list, not one per entry."""
    lists = any(isinstance(column, Categories) for column in columns)
    if declared is not None or not lists or any(column.bounds is None for column in columns):
        return declared
    return math.sqrt(1.0 + len(columns))
