"""Columns whose names are those of identifiers: names are public, and cells are never asked."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Sequence

from privlearn._core.close_names import listed
from privlearn._core.users_line import users_line
from privlearn.exceptions import FactWarning
from privlearn.schema.encoding import EncodedRows, Encoding
from privlearn.schema.kinds import Ignore, Kind, Number
from privlearn.schema.raw import RawRows
from privlearn.schema.reading import checked_schema

__all__ = [
    "looks_like_an_identifier",
    "open_to_all",
    "warn_of_identifiers",
    "warn_of_identifiers_in",
]

IDENTIFIER = re.compile(r"(.*[ _.-])?(id|ids|uid|uuid|guid|ssn)|.*[a-z]I[dD]", re.ASCII)
CAPITALS = re.compile(r"([^a-z]*[ _.-])?(ID|IDS|UID|UUID|GUID|SSN)")  # not state_ID, Idaho's flag
USELESS = (
    "nothing can be learned of it, and it is paid for all the same (Ignore() in the schema; "
    "--ignore)"
)


def looks_like_an_identifier(name: str) -> bool:
    """Whether a column is called as one that tells people, or rows, apart.

    Examples
    --------
    >>> [looks_like_an_identifier(name) for name in ("id", "patient_id", "userId", "paid", "valid")]
    [True, True, True, False, False]
    >>> [looks_like_an_identifier(name) for name in ("ID", "PATIENT_ID", "PAID", "state_ID")]
    [True, True, False, False]
    """
    return any(names.fullmatch(name) for names in (IDENTIFIER, CAPITALS))


def warn_of_identifiers(features: Iterable[str], left_out: Iterable[str], *, people: bool) -> None:
    """Say which columns seem to tell people apart, where the promise is about single rows.

    Parameters
    ----------
    features : iterable of str
        Columns to predict from that may be anything: a declared list, say, is no identifier.
    left_out : iterable of str
        Columns that are known and not predicted from.
    people : bool
        Whether it was said whose each row is.
    """
    used = [name for name in features if looks_like_an_identifier(name)]
    unused = [] if people else [name for name in left_out if looks_like_an_identifier(name)]
    if used:
        text = _of_features(used, people)
    elif unused:
        text = _of_left_out(unused)
    else:
        return
    warnings.warn(text, FactWarning, stacklevel=users_line())


def _of_features(names: Sequence[str], people: bool) -> str:
    """An identifier is predicted from."""
    if people:
        return (
            f"{_look(names)} and the model would predict from it, although it was said whose each "
            "row is (groups in fit; --person on the command line). If it tells the same, or tells "
            f"rows apart, leave it out: {USELESS}"
        )
    return (
        f"{_look(names)}. If a person may have several rows, it must say whose each row is, or the "
        f"promise is about single rows: {_how(names[0])}. If each row is another person, leave it "
        f"out: {USELESS}"
    )


def _of_left_out(names: Sequence[str]) -> str:
    """An identifier is not predicted from, and nobody was told what else it is for."""
    return (
        f"{_look(names)}, and it is left out. That takes it away from what the model predicts "
        "from, but the promise is about single rows all the same: it is one about people where "
        "each has one row. If a person may have several rows, it must say whose each row is: "
        f"{_how(names[0])}"
    )


def _look(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"column {names[0]!r} looks like an identifier by its name"
    more = listed([*map(repr, names[1:])])
    return f"column {names[0]!r} looks like an identifier by its name (so do {more})"


def _how(name: str) -> str:
    """How to say whose each row is."""
    return (
        f"groups={name!r} in fit, with max_rows_per_person (on the command line: --person {name!r} "
        "--max-rows K)"
    )


def open_to_all(kinds: Iterable[tuple[str, Kind]]) -> list[str]:
    """Columns in which anything may be: numbers, and those of which something is estimated."""
    return [name for name, kind in kinds if kind.pending or isinstance(kind, Number)]


def warn_of_identifiers_in(estimator: object, X: object) -> None:
    """The same of what an estimator has read: once per fit, before anything is charged.

    Of rows that the command line has read it speaks itself: it knows the file's other columns.
    """
    if isinstance(X, EncodedRows | RawRows):
        return
    encoding: Encoding | None = getattr(estimator, "_encoding", None)
    named = getattr(estimator, "feature_names_in_", ())
    features = [str(name) for name in named]
    left_out: list[str] = []
    if encoding is not None:
        features = open_to_all((column.name, column.kind) for column in encoding.columns)
        entries = checked_schema(getattr(estimator, "schema", None))
        left_out = [name for name, kind in entries.items() if isinstance(kind, Ignore)]
    people = getattr(estimator, "max_rows_per_person", None) is not None
    warn_of_identifiers(features, left_out, people=people)
