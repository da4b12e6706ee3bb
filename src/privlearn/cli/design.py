"""Which columns a model uses and how: decided from names and declared facts, before any row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from privlearn.cli.encoding import AsIs, Categories, Column, Scaled
from privlearn.cli.errors import CommandError, closest, option
from privlearn.cli.facts import Facts, Range

__all__ = ["Design", "design"]


@dataclass(frozen=True)
class Design:
    """The public side of a fit.

    Attributes
    ----------
    target : str
        The column to predict.
    columns : tuple of Column
        The columns to predict from, with their encodings.
    target_bounds : pair or None
        The range of a numeric target.
    classes : tuple of str or None
        The declared labels of a target that is no number.
    row_norm : float or None
        A bound on the Euclidean norm of an encoded row, the intercept's 1 included; None where
        the boxes say all there is to say.
    """

    target: str
    columns: tuple[Column, ...]
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
    def box(self) -> tuple[list[float], list[float]]:
        """Lowest and highest value of every feature."""
        low: list[float] = []
        high: list[float] = []
        for column in self.columns:
            limited = not isinstance(column, AsIs)
            reach = 1.0 if limited else float(self.row_norm or 0.0)
            low += [0.0 if limited else -reach] * column.width
            high += [reach] * column.width
        return low, high


def design(names: Sequence[str], facts: Facts, *, where: str, classifies: bool) -> Design:
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
    """
    target = _target(names, facts, where)
    chosen = _chosen(names, facts, target, where)
    _refuse_strangers(names, facts, where)
    missing = _missing(chosen, facts, target, classifies)
    if missing:
        raise CommandError(_explain(missing, chosen, facts, target))
    columns = tuple(_column(name, facts) for name in chosen)
    return Design(
        target=target,
        columns=columns,
        target_bounds=None if classifies else facts.bounds[target],
        classes=facts.classes,
        row_norm=_row_norm(columns, facts.data_norm),
    )


def _target(names: Sequence[str], facts: Facts, where: str) -> str:
    if facts.target is None:
        raise CommandError("which column is to be predicted? Add --target COLUMN")
    if facts.target not in names:
        raise CommandError(
            f"{where} has no column {facts.target!r} to predict; {closest(facts.target, names)}"
        )
    return facts.target


def _chosen(names: Sequence[str], facts: Facts, target: str, where: str) -> list[str]:
    chosen = list(facts.columns) if facts.columns else [name for name in names if name != target]
    for name in chosen:
        if name not in names:
            raise CommandError(f"{where} has no column {name!r}; {closest(name, names)}")
    if target in chosen:
        raise CommandError(f"{target!r} is the target; leave it out of --columns")
    if len(set(chosen)) < len(chosen):
        raise CommandError("--columns names a column twice; name each once")
    if not chosen:
        raise CommandError(f"{where} has no column besides the target; there is nothing to learn")
    return chosen


def _refuse_strangers(names: Sequence[str], facts: Facts, where: str) -> None:
    for name in (*facts.bounds, *facts.categories):
        if name not in names:
            raise CommandError(
                f"there are facts about {name!r}, but {where} has no such column; "
                f"{closest(name, names)}"
            )


def _missing(chosen: list[str], facts: Facts, target: str, classifies: bool) -> list[str]:
    known = {*facts.bounds, *facts.categories}
    missing = [] if facts.data_norm else [name for name in chosen if name not in known]
    if not classifies and target not in facts.bounds:
        missing.append(target)
    return missing


def _explain(missing: list[str], chosen: list[str], facts: Facts, target: str) -> str:
    lines = ["these columns need a fact from public knowledge, never read off the data; add"]
    for name in missing:
        if name == target:
            lines.append("  --bounds-y LOW:HIGH   (the range of the target)")
            continue
        text = option("--categories", f"{name}=A,B,...")
        lines.append(f"  {option('--bounds', f'{name}=LOW:HIGH')}   or, if it holds text, {text}")
    rest = [name for name in chosen if name not in missing]
    if rest and set(missing) - {target}:
        lines.append(f"or use the other columns only: {option('--columns', ','.join(rest))}")
    return "\n".join(lines)


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
    if all(column.width == 1 for column in columns):
        return None
    return math.sqrt(1.0 + len(columns))
