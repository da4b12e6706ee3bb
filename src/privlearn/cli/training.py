"""Rows to learn from, as numbers."""

from __future__ import annotations

import re
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privlearn._data.named_cells import NamedCells
from privlearn.cli.design import Design
from privlearn.cli.errors import CommandError, option, shortened
from privlearn.cli.people import SOME_ROWS, ids_of
from privlearn.cli.tables import Source, read_encoded
from privlearn.schema import Date, Number
from privlearn.schema.encoding import Column, EncodedRows
from privlearn.schema.raw import RawRows

__all__ = ["NOTATION", "read_training"]

MOST_COMPLAINTS = 20  # that an error lists
MOST_IGNORED = 3  # that it spells out as options
NOTATION = "Numbers such as 1.234,50 EUR need --decimal , --thousands . --currency EUR."
KINDS = (
    "Dates, yes and no, and gaps are described in a schema file (kind, missing); for one to fill "
    "in: privlearn plan --template DATA --target COLUMN"
)
OTHERWISE = (
    "If cells hold something in another notation, or values that are not in a list, say so there "
    '(format, decimal, currency, values): missing = "flag" or "fill" would take all of them for '
    "gaps."
)
ID = re.compile(r"(?:^|[\W_])(?:id|ids|uuid|key|nr|ssn)(?:$|[\W_])", re.IGNORECASE)
MOST_LABELS = 20  # more are probably numbers; declared ones may be more


def read_training(
    source: Source,
    design: Design,
    *,
    remedy: str | None,
    n_is_public: bool,
    person: str | None = None,
) -> tuple[EncodedRows | RawRows, NDArray[Any], NamedCells | None]:
    """Features, target and ids; without `remedy`, the estimator is left to unusable rows.

    Parameters
    ----------
    source : Source
        The file.
    design : Design
        Columns and encodings.
    remedy : str or None
        The option that makes unusable rows count as empty rows, for an error about them; None
        means that it was given.
    n_is_public : bool
        Whether it may be said that there are no rows.
    person : str or None, default=None
        The column of ids; None where every row is a person.
    """
    if remedy is None and design.unlimited:
        print(
            "privlearn: warning: columns that are not described are taken for numbers: "
            f"{shortened(design.unlimited)}. Rows that hold text in them count as empty; a column "
            "of text needs --categories, and one that is not to be used --ignore",
            file=sys.stderr,
        )
    encoding, more = design.encoding, [] if person is None else [person]
    X, table = read_encoded(source, encoding, [design.target, *more], remedy=remedy)
    if table.rows == 0 and n_is_public:
        raise CommandError(f"{source.path} names its columns but has no rows to learn from")
    if design.classifies:
        missing = None if design.classes is None else ""  # what the estimator takes for missing
        y = np.array([label or missing for label in table.labels(design.target)], dtype=object)
    else:
        y = table.numbers(design.target, design.number)
    ids = ids_of(table, person)
    if remedy is not None:
        _refuse_invalid(source, design, X, y, ids, remedy)
    if design.classifies and design.classes is None:
        _refuse_odd_labels(design.target, set(y) - {None})
    return X, y, ids


def _refuse_odd_labels(target: str, labels: set[str]) -> None:
    """The set of labels is public here, so its size may be told."""
    if len(labels) < 2:
        raise CommandError(
            f"{target!r} holds one label only, but a classifier needs two; declare all labels "
            "that there can be: --classes no,yes"
        )
    if any(_is_fraction(label) for label in labels):
        raise CommandError(
            f"{target!r} holds numbers with fractions, which are no labels; use --model linear, or "
            "declare all labels: --classes A,B,..."
        )
    if len(labels) > MOST_LABELS:
        raise CommandError(
            f"{target!r} holds more than {MOST_LABELS} different labels; if it is a number, use "
            "--model linear, otherwise declare all labels: --classes A,B,..."
        )


def _is_fraction(label: str) -> bool:
    """Whether a label spells a number that is not whole: what is measured is no label."""
    try:
        return not float(label).is_integer()
    except (ValueError, OverflowError):
        return False


def _refuse_invalid(
    source: Source,
    design: Design,
    X: EncodedRows | RawRows,
    y: NDArray[Any],
    ids: NamedCells | None,
    remedy: str,
) -> None:
    broken = set(X.invalid(but=("drop",)))
    lines = [_complaint(column) for column in design.columns if column.name in broken]
    if len(lines) > MOST_COMPLAINTS:
        lines[MOST_COMPLAINTS:] = [f"  and {len(lines) - MOST_COMPLAINTS:,} more columns"]
    of_numbers = y.dtype != object and bool(np.isnan(y).any())
    if of_numbers:
        labels = "if it holds labels: --model logistic, or kernel-classifier"
        lines.append(f"  {design.target}: a cell of the target is empty or no number ({labels})")
    if y.dtype == object and not {*y} <= {*(design.classes or y)} - {None}:
        none = "" if design.classes is None else " or none of --classes"
        lines.append(f"  {design.target}: a cell of the target is empty{none}")
    if ids is not None and None in ids:
        lines.append(f"  {ids.name}: a cell of the ids is empty, so that the row is nobody's")
    if not lines:
        return
    if any("no number" in line for line in lines):
        lines += [NOTATION] if design.number == Number() else []
        lines += [KINDS] if broken else []
    if any(column.name in broken and column.kind != Number() for column in design.columns):
        lines += [OTHERWISE]
    raise CommandError(
        f"{source.path} has rows that cannot be used{_found_out(design, broken)}:\n"
        + "\n".join(lines)
        + f"\nMend them{_left_out(design, broken)}, or add {remedy}: such rows then add "
        f"nothing, and the guarantee covers them{_all_of_them(design, broken, of_numbers)}"
    )


def _left_out(design: Design, broken: set[str]) -> str:
    """How columns are left out that nobody can use."""
    names = [name for name in design.names if name in broken]
    if not names:
        return ""
    flags = " ".join(option("--ignore", name) for name in names[:MOST_IGNORED])
    more = "" if len(names) <= MOST_IGNORED else " and so on"
    words = "columns" if len(names) > 1 else "the column"
    return f", describe {words} in a schema file, leave {words} out with {flags}{more}"


def _all_of_them(design: Design, broken: set[str], of_numbers: bool) -> str:
    """What dropping rows may cost: of a column of which nothing is said, or of a target of text."""
    columns = any(name in broken for name in design.unlimited)
    found = ["a target of labels"] * of_numbers + ["a column of text"] * columns
    mend = ["add --model logistic"] * of_numbers + ["describe or leave out columns"] * columns
    if not found:
        return ""
    return (
        f". {' or '.join(found).capitalize()} then empties every row, and the budget is spent on "
        f"nothing: {' or '.join(mend)} first"
    )


def _found_out(design: Design, broken: set[str]) -> str:
    """The shortest remedy, where columns are in the way of which nothing is said."""
    if not any(name in broken and not ID.search(name) for name in design.unlimited):
        return ""
    if design.estimable:
        return (
            "; add --schema estimate to have it found out privately what every column is: numbers, "
            "text with its frequent values, dates, yes and no, gaps. Or say it of these"
        )
    return "; say what these columns are"


def _complaint(column: Column) -> str:
    if column.is_list and column.kind.pending:
        return f"  {column.name}: a cell is empty"
    if column.is_list:
        return f"  {column.name}: a cell is empty or holds none of its --categories"
    if not isinstance(column.kind, Number):
        how = f" ({column.kind.written})" if isinstance(column.kind, Date) else ""
        return f"  {column.name}: a cell is empty or no {column.kind.word}{how}"
    if ID.search(column.name):
        person = f"{option('--person', column.name)} --max-rows {SOME_ROWS}"
        known = f"{SOME_ROWS} stands for a number from public knowledge"
        return f"  {column.name}: no number (if it tells whose each row is: {person}; {known})"
    if column.kind.limits is not None:
        low, high = column.kind.limits
        return (
            f"  {column.name}: a cell is empty, no number, or outside of {low:g} to {high:g}, "
            "which the schema takes for missing"
        )
    text = option("--categories", f"{column.name}=A,B,...")
    return f"  {column.name}: a cell is empty or no number (if it holds text: {text})"
