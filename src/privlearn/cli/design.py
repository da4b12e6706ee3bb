"""Which columns a model uses and how: decided from names and declared facts, before any row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from privlearn.cli.encoding import AsIs, Categories, Column, Scaled
from privlearn.cli.errors import CommandError, closest, option, shortened, similar
from privlearn.cli.schema import Facts, Range

__all__ = ["Design", "design"]

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
        return sum(column.width for column in self.columns)

    @property
    def unlimited(self) -> list[str]:
        """Columns of numbers whose ranges are to be estimated."""
        if self.row_norm is not None:
            return []
        return [column.name for column in self.columns if isinstance(column, AsIs)]

    @property
    def box(self) -> tuple[list[float], list[float]] | None:
        """Lowest and highest value of every feature; None where they are to be estimated."""
        if self.unlimited:
            return None
        low: list[float] = []
        high: list[float] = []
        for column in self.columns:
            limited = not isinstance(column, AsIs)
            reach = 1.0 if limited else float(self.row_norm or 0.0)
            low += [0.0 if limited else -reach] * column.width
            high += [reach] * column.width
        return low, high


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
    target = _target(names, facts, where)
    chosen = _chosen(names, facts, target, where)
    _refuse_strangers(names, facts, where)
    columns = tuple(_column(name, facts) for name in chosen)
    found = Design(
        target=target,
        columns=columns,
        classifies=classifies,
        target_bounds=None if classifies else facts.bounds.get(target),
        classes=facts.classes,
        row_norm=_row_norm(columns, facts.data_norm),
    )
    if not estimates:
        _refuse_to_buy(found)
    _refuse_some_bounds(found)
    return found


def _target(names: Sequence[str], facts: Facts, where: str) -> str:
    if facts.target is None:
        raise CommandError("which column is to be predicted? Add --target COLUMN")
    if facts.target not in names:
        raise CommandError(
            f"{where} has no column {facts.target!r} to predict; {similar(facts.target, names)}"
        )
    return facts.target


def _chosen(names: Sequence[str], facts: Facts, target: str, where: str) -> list[str]:
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
    return chosen


def _refuse_strangers(names: Sequence[str], facts: Facts, where: str) -> None:
    known = set(names)
    for name in (*facts.bounds, *facts.categories):
        if name not in known:
            raise CommandError(
                f"the schema has {name!r}, but {where} has no such column; {closest(name, names)}"
            )


def _refuse_some_bounds(found: Design) -> None:
    """Ranges are estimated for all columns of numbers or for none: half a box is no box."""
    without = found.unlimited
    declared = [column.name for column in found.columns if isinstance(column, Scaled)]
    if not (without and declared):
        return
    raise CommandError(
        "some columns of numbers have bounds and others have none; give all of them bounds, or "
        "none: ranges are then estimated privately, with a share of the budget\n"
        f"  with bounds: {shortened(declared)}\n  without: {shortened(without)}\n"
        "either add, from public knowledge and never read off the data,\n"
        + _options(without)
        + f"\nor use the other columns only: {_rest(found, without)}"
        "\nor leave out the bounds of all columns"
    )


def _refuse_to_buy(found: Design) -> None:
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


def _rest(found: Design, without: Sequence[str]) -> str:
    left_out = set(without)
    return option("--columns", ",".join(name for name in found.names if name not in left_out))


def _column(name: str, facts: Facts) -> Column:
    if name in facts.categories:
        return Categories(name, facts.categories[name])
    if name in facts.bounds:
        return Scaled(name, *facts.bounds[name])
    return AsIs(name)


def _row_norm(columns: Sequence[Column], declared: float | None) -> float | None:
    """The declared norm, or the one that follows from lists: one 1 per list, not one per entry."""
    if declared is not None:
        return declared
    if any(isinstance(column, AsIs) for column in columns):
        return None
    if all(column.width == 1 for column in columns):
        return None
    return math.sqrt(1.0 + len(columns))
