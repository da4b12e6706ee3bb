"""No two paths of a command are the same file, and a ledger is never written over."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Mapping
from pathlib import Path

from privlearn.cli.errors import CommandError
from privlearn.cli.outputs import check_name
from privlearn.cli.streams import STDIN

__all__ = ["check_paths", "is_ledger"]

BESIDE = ("-journal", "-wal", "-shm")  # files that a ledger may keep beside itself
MAGIC = b"SQLite format 3\0"
MARK, MARK_AT = b"PRVL", 68  # the application's number in the head of an SQLite file


def is_ledger(path: str | Path) -> bool:
    """Whether a file is a ledger, by its content, or lies beside one as a part of it."""
    place = Path(path)
    if _has_mark(place):
        return True
    name = str(place)
    return any(name.endswith(end) and _has_mark(Path(name.removesuffix(end))) for end in BESIDE)


def _has_mark(path: Path) -> bool:
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            head = file.read(MARK_AT + len(MARK))
    except OSError:
        return False
    return head.startswith(MAGIC) and head[MARK_AT:] == MARK


def check_paths(
    inputs: Mapping[str, str | None],
    outputs: Mapping[str, str | None],
    *,
    ledger: str | None = None,
    overwrite: bool = False,
) -> None:
    """Refuse to write over what the same command needs, or over what is there already.

    Two inputs may be one file: reading twice does no harm.

    Parameters
    ----------
    inputs, outputs : mapping from what it is to a path
        None where it was not given.
    ledger : str or None
        The ledger that will be charged.
    overwrite : bool, default=False
        Whether outputs may be there already.

    Examples
    --------
    >>> check_paths({"the data": "people.csv"}, {"the model": "no-such-model.json"})
    >>> try:
    ...     check_paths({"the data": "people.csv"}, {"the model": "./people.csv"})
    ... except CommandError as error:
    ...     print(str(error).partition(";")[0])
    the model and the data are the same file, people.csv
    """
    if (several := [what for what, path in inputs.items() if path == STDIN])[1:]:
        raise CommandError(
            f"{' and '.join(several)} are both standard input (-), which is read once; give one of "
            "them as a file"
        )
    taken = [(what, path) for what, path in inputs.items() if path not in (None, STDIN)]
    written = [(what, path) for what, path in outputs.items() if path is not None]
    if ledger is not None:
        charged = os.path.expanduser(ledger)
        parts = [("the ledger", charged)]
        parts += [("a part of the ledger", charged + end) for end in BESIDE]
        for what, path in parts:
            _refuse_same(taken, what, path)
        taken += parts
    for what, path in written:
        _refuse_same(taken, what, path)
        if is_ledger(os.path.realpath(path)) or is_ledger(path):
            raise CommandError(
                f"{path} is a ledger, which counts what was spent and is never written over; "
                f"choose another name for {what}"
            )
        taken.append((what, path))
    for _, path in written:
        check_name(path, overwrite=overwrite)


def _refuse_same(taken: list[tuple[str, str]], what: str, path: str) -> None:
    for other, place in taken:
        if _same(path, place):
            raise CommandError(
                f"{what} and {other} are the same file, {place}; choose another name for one"
            )


def _same(one: str, other: str) -> bool:
    """Whether two paths are one file, also through links, or would be where case is ignored."""
    real, again = os.path.realpath(one), os.path.realpath(other)
    if real == again:
        return True
    try:
        return os.path.samefile(real, again)
    except OSError:  # one of them is not there yet
        one, other = (unicodedata.normalize("NFKC", path).casefold() for path in (real, again))
        return one == other
