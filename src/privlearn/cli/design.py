"""Which columns a model uses and how: decided from names and declared facts, before any row."""

from __future__ import annotations

import sys
from collections.abc import Sequence, Set
from dataclasses import dataclass

from privlearn._core.close_names import hint_at_columns, listed
from privlearn.cli.errors import CommandError, closest, option, shortened, similar
from privlearn.cli.schema import Facts, Range
from privlearn.schema import Ignore, Number
from privlearn.schema.encoding import Column, Encoding
from privlearn.schema.kinds import Kind

__all__ = ["Design", "demand_target", "design"]

PLAIN = Number()
MOST_OPTIONS = 20  # that an error lists
ABOUT_ALL = (
    "--decimal, --thousands and --currency are about the target and all columns; one whose numbers "
    "are written otherwise needs its own line in a schema file: "
    "privlearn plan --template DATA --target COLUMN > schema.toml"
)


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
    data_norm : float or None
        A declared bound on the Euclidean norm of an encoded row, the intercept's 1 included.
    number : Number
        How numbers are written where nothing else is said, as in the target.
    """

    target: str
    columns: tuple[Column, ...]
    classifies: bool
    target_bounds: Range | None
    classes: tuple[str, ...] | None
    data_norm: float | None
    number: Number = PLAIN
    estimable: bool = False  # whether it could be found out privately what columns are

    @property
    def names(self) -> list[str]:
        """The columns to predict from."""
        return [column.name for column in self.columns]

    @property
    def encoding(self) -> Encoding:
        """How they become numbers."""
        return Encoding(self.columns)

    @property
    def schema(self) -> dict[str, Kind] | None:
        """What an estimator is told about them; None where nothing is declared."""
        kinds = {column.name: column.kind for column in self.columns}
        return None if set(kinds.values()) == {self.number} else kinds

    @property
    def n_features(self) -> int:
        """How many numbers an encoded row has."""
        return sum(len(column.features) for column in self.columns)

    @property
    def unlimited(self) -> list[str]:
        """Columns of numbers whose ranges are to be estimated."""
        if self.data_norm is not None:
            return []
        known = [column for column in self.columns if not column.kind.pending]
        return [column.name for column in known if column.bounds is None]


def design(
    names: Sequence[str],
    facts: Facts,
    *,
    where: str,
    classifies: bool,
    estimates: bool = True,
    mapped: bool = False,
    named: bool = False,
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
    mapped : bool, default=False
        Whether the model is a kernel, for which kinds and lists cannot be estimated.
    named : bool, default=False
        Whether it is known that these are names, as another one was found among them.
    """
    named |= not {*facts.kinds, *(facts.columns or ())}.isdisjoint(names)
    target = demand_target(names, facts.target, where, named=named)
    if facts.estimate:
        _refuse_to_find_out(estimates, mapped)
        if facts.number != PLAIN:
            print(f"privlearn: note: {ABOUT_ALL}", file=sys.stderr)
    kinds, rest = facts.kinds, facts.rest
    chosen = [(name, kinds.get(name, rest)) for name in _chosen(names, facts, target, where)]
    columns = tuple(Column(name, kind) for name, kind in chosen if isinstance(kind, Kind))
    # A schema may say no more than which columns are left out, or what goes without saying.
    described = not all(kind in (Ignore(), PLAIN) for kind in facts.schema.values())
    found = Design(
        target=target,
        columns=columns,
        classifies=classifies,
        target_bounds=None if classifies else facts.bounds.get(target),
        classes=facts.classes,
        data_norm=facts.data_norm,
        number=facts.number,
        estimable=estimates and not (mapped or described),
    )
    if not estimates:
        _refuse_to_estimate(found)
    return found


def demand_target(
    names: Sequence[str], target: str | None, where: str, *, named: bool = False
) -> str:
    """The column to predict, if it was said and is there; names are told if they are `named`."""
    if target is None:
        raise CommandError("which column is to be predicted? Add --target COLUMN")
    if target not in names:
        hint = (closest if named else similar)(target, names)
        raise CommandError(f"{where} has no column {target!r} to predict; {hint}")
    return target


def _chosen(names: Sequence[str], facts: Facts, target: str, where: str) -> list[str]:
    """The columns to predict from; every name that was given must be in the file."""
    ignored = {name for name, kind in facts.schema.items() if isinstance(kind, Ignore)}
    others = [name for name in names if name != target and name not in ignored]
    chosen = list(facts.columns) if facts.columns else others
    known = set(names)
    if absent := [name for name in chosen if name not in known]:
        each = f"column{'' if len(absent) == 1 else 's'} {listed([*map(repr, absent)])}"
        raise CommandError(f"{where} has no {each}; {_hint(absent, names)}")
    if target in chosen:
        raise CommandError(f"{target!r} is the target; leave it out of --columns")
    if len(set(chosen)) < len(chosen):
        raise CommandError("--columns names a column twice; name each once")
    if unwanted := [name for name in chosen if name in ignored]:
        raise CommandError(f"{unwanted[0]!r} is ignored by the schema; leave it out of --columns")
    if target in facts.schema:
        raise CommandError(
            f"{target!r} is the target, but [schema] is about columns to predict from; give its "
            "range in [bounds], or its labels as classes"
        )
    if not chosen:
        raise CommandError(f"{where} has no column besides the target; there is nothing to learn")
    _refuse_absent([name for name in facts.kinds if name not in known], ignored, where, names)
    return chosen


def _refuse_absent(
    absent: Sequence[str], ignored: Set[str], where: str, names: Sequence[str]
) -> None:
    """Name all columns at once that the schema has and the file has not."""
    if not absent:
        return
    source = "the schema" if ignored.isdisjoint(absent) else "--ignore or the schema"
    if len(absent) == 1:
        raise CommandError(
            f"{source} has {absent[0]!r}, but {where} has no such column; "
            f"{closest(absent[0], names)}"
        )
    raise CommandError(
        f"{source} has {listed([*map(repr, absent)])}, but {where} has no such columns; "
        f"{_hint(absent, names)}"
    )


def _hint(absent: Sequence[str], names: Sequence[str]) -> str:
    """What they may have been meant to be."""
    if len(absent) == 1:
        return closest(absent[0], names)
    return hint_at_columns(absent, names, f"there are: {shortened(names)}")


def _refuse_to_find_out(estimates: bool, mapped: bool) -> None:
    """Say where --schema estimate has no way, and what to type in its place."""
    instead = "describe the columns: privlearn plan --template DATA --target COLUMN > schema.toml"
    if mapped:
        raise CommandError(
            "--schema estimate is for linear models; with a kernel, columns of numbers need "
            f"nothing, those of text --categories COLUMN=A,B,...; or {instead}"
        )
    if not estimates:
        raise CommandError(
            f"--schema estimate needs noise with delta > 0; add --delta 1e-6, or {instead}"
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
