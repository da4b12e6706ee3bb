"""How a CSV file is written: said by options, or guessed from its header line and nothing else."""

from __future__ import annotations

import argparse
import codecs
import csv
from dataclasses import dataclass, replace

from privlearn.cli.errors import CommandError

__all__ = ["Dialect", "add_dialect", "encoding", "separator"]

SEPARATORS = {",": "','", ";": "';'", "\t": "tab", "|": "'|'"}
PRINTED = "".join(map(chr, range(32, 127))) + "\n"
STATEFUL = ("2022", "hz", "utf-7")  # in which a quote may be a part of another character


@dataclass(frozen=True)
class Dialect:
    """What options say about CSV files; None where the header line is to tell.

    Attributes
    ----------
    separator : str or None
        Between cells.
    encoding : str or None
        Of the text, in Python's words.
    names : tuple of str or None
        Names of all columns, in place of those in the header.
    header : bool
        Whether the first line holds names.
    rename : bool
        Whether a name that comes a second time gets its place as an addition.
    line_breaks : bool
        Whether a quoted cell may go on in the next line.
    """

    separator: str | None = None
    encoding: str | None = None
    names: tuple[str, ...] | None = None
    header: bool = True
    rename: bool = False
    line_breaks: bool = False

    @classmethod
    def of(cls, args: argparse.Namespace) -> Dialect:
        """What the options say."""
        if not args.header and args.names is None:
            raise CommandError(
                "--no-header says that the first line is a record; add the names of all columns: "
                "--names age,sex,wage"
            )
        return cls(
            args.separator, args.encoding, args.names, args.header, args.rename, args.line_breaks
        )

    def guessed(self, line: bytes) -> Dialect:
        """With what was left open decided by the header line; without one, commas and UTF-8.

        Examples
        --------
        >>> found = Dialect().guessed("größe;alter".encode("latin-1"))
        >>> found.separator, found.encoding
        (';', 'cp1252')
        >>> Dialect(header=False).guessed(b"1;2").separator
        ','
        """
        coded = self.encoding or (_encoding_of(line) if self.header else "utf-8")
        text = line.decode(coded, errors="replace")
        parted = self.separator or (_separator_of(text) if self.header else ",")
        return replace(self, separator=parted, encoding=coded)

    def note(self, found: Dialect, name: str) -> str | None:
        """What was guessed and is not usual, with what to type where it is wrong."""
        parts = []
        if self.separator is None and found.separator != ",":
            word = SEPARATORS[found.separator or ","]
            parts.append(f"columns separated by {word} (otherwise add --separator ',')")
        if self.encoding is None and found.encoding != "utf-8":
            parts.append(f"text in {found.encoding} (otherwise add --encoding utf-8, or another)")
        return f"by its first line, {name} has {' and '.join(parts)}" if parts else None


def _encoding_of(line: bytes) -> str:
    """UTF-8 where it can be; else what Windows writes in the west, or latin-1, which has all."""
    for name in ("utf-8", "cp1252"):
        try:
            line.decode(name)
        except UnicodeDecodeError:
            continue
        return name
    return "latin-1"


def _separator_of(text: str) -> str:
    """The mark that gives most cells outside quotes; a comma where marks are even."""

    def cells(mark: str) -> int:
        try:
            return len(next(csv.reader([text], delimiter=mark, strict=True), []))
        except csv.Error:
            return 0

    return max(SEPARATORS, key=cells)


def separator(text: str) -> str:
    """One character, for argparse; a tab may be written as a word.

    Examples
    --------
    >>> separator("tab")
    '\\t'
    """
    character = {"tab": "\t", "\\t": "\t"}.get(text, text)
    if len(character) != 1 or character in '"\r\n':
        raise argparse.ArgumentTypeError(f"{text!r} is not one character such as ; or the word tab")
    return character


def encoding(text: str) -> str:
    """A text encoding in which a line is told by its own bytes, for argparse.

    Examples
    --------
    >>> encoding("Latin-1"), encoding("UTF-8-SIG")
    ('iso8859-1', 'utf-8')
    """
    try:
        found = codecs.lookup(text.strip())
    except (LookupError, ValueError):
        examples = "write for example utf-8, latin-1, cp1252 or shift_jis"
        raise argparse.ArgumentTypeError(f"{text!r} is no known encoding; {examples}") from None
    name = found.name.removesuffix("-sig")
    try:
        same = all(char.encode(name) == char.encode("ascii") for char in PRINTED)
    except (LookupError, ValueError, TypeError):
        same = False
    if not same or any(word in name for word in STATEFUL):
        raise argparse.ArgumentTypeError(
            f"{text!r} cannot be read line by line; convert the file: iconv -f {name.upper()} "
            "-t UTF-8 FILE > utf8.csv"
        )
    return name


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(","))


def add_dialect(parser: argparse._ActionsContainer) -> None:
    """How CSV files are written."""
    group = parser.add_argument_group(
        "CSV files", "What is left out is told by the header line alone; no record is looked at."
    )
    add = group.add_argument
    add(
        "--separator",
        "--delimiter",
        type=separator,
        metavar="CHAR",
        help="between cells: a character, or tab (default: , ; | or tab, by the header)",
    )
    add(
        "--encoding",
        type=encoding,
        metavar="NAME",
        help="of the text, such as utf-8, latin-1 or cp1252 (default: utf-8, or by the header)",
    )
    add(
        "--names",
        type=_names,
        metavar="A,B,...",
        help="names of all columns, in place of those in the first line",
    )
    add(
        "--no-header",
        dest="header",
        action="store_false",
        help="the first line is a record, and --names has the names",
    )
    add(
        "--rename-duplicates",
        dest="rename",
        action="store_true",
        help="call a name's second column 'NAME (column 5)', after its place",
    )
    add(
        "--quoted-newlines",
        dest="line_breaks",
        action="store_true",
        help="cells in quotes may hold line breaks; assumes that quotes come in pairs in every "
        "record, which the certificate then says",
    )
