"""Physical lines of a CSV file. What a line holds is decided by its own bytes alone."""

from __future__ import annotations

import csv
import lzma
import zlib
from collections import deque
from collections.abc import Iterator
from enum import Enum
from itertools import islice
from typing import BinaryIO

from privlearn.cli.errors import CommandError

__all__ = ["Fault", "cells_of", "joined_lines", "physical_lines"]

LONGEST_CELL = 131_072  # characters
LONGEST_LINE = 2**26  # bytes; of a longer one, no more than this is kept in memory
QUOTE = b'"'
MOST_JOINED = 1_000  # lines of one record
MARK = b"\xef\xbb\xbf"  # the byte order mark, which some programs write first


class Fault(Enum):
    """Why a line cannot be split into cells, and how to mend it. No line is quoted."""

    BLANK = "a blank line; delete it"
    CELLS = (
        "a line with more or fewer cells than its header, which has {width} by the separator "
        "{mark!r}; look first whether separator and quotes are right: add --separator if that is "
        "wrong, put a cell that holds a separator in double quotes, and add --quoted-newlines if "
        "cells hold line breaks"
    )
    ENCODING = (
        "text that is not {code}; add --encoding with the right one (latin-1 and cp1252 are common "
        "in the west), or save it as 'CSV UTF-8'"
    )
    LENGTH = "a line or a cell that is too long; shorten it or leave its column out of the file"
    NUL = "a NUL byte, which is no text; save it as 'CSV UTF-8'"
    QUOTE = (
        "a quoting that cannot be read; put cells that hold quotes or separators in double "
        'quotes, write a quote inside them twice (""), and close them on their own line, or add '
        "--quoted-newlines if cells hold line breaks"
    )
    RETURN = (
        "a carriage return inside a line; end lines with a line feed, with or without a carriage "
        "return before it (tr '\\r' '\\n' < old.csv > new.csv where it is all they end with)"
    )


def physical_lines(file: BinaryIO, name: str) -> Iterator[bytes]:
    """The lines of a stream without their ends, and without a byte order mark.

    A line ends with a line feed; the last one may lack it. A line that is too long for anything is
    cut, but never merged with the next.
    """
    problem = None
    try:
        with file:
            first = True
            while line := file.readline(LONGEST_LINE):
                rest = line
                while rest and not rest.endswith(b"\n"):
                    rest = file.readline(LONGEST_LINE)
                if first and line.startswith(MARK):
                    line = line[len(MARK) :]
                first = False
                yield line.removesuffix(b"\n").removesuffix(b"\r")
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        problem = getattr(error, "strerror", None) or "it is packed, and damaged or cut off"
    if problem is not None:
        raise CommandError(f"{name} cannot be read: {problem}")


def joined_lines(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Records of a file whose quoted cells may hold line breaks: lines up to an even quote.

    Where quotes do not come in pairs, a line stands for itself, as it does without this.

    Examples
    --------
    >>> list(joined_lines(iter([b'1,"a', b'b"', b'2,"c', b"3,d"])))
    [b'1,"a\\nb"', b'2,"c', b'3,d']
    """
    ahead: deque[bytes] = deque()
    while True:
        if not ahead:
            ahead.extend(islice(lines, 1))
        if not ahead:
            return
        count = _lines_of_a_record(ahead, lines)
        yield b"\n".join(ahead.popleft() for _ in range(count))


def _lines_of_a_record(ahead: deque[bytes], lines: Iterator[bytes]) -> int:
    """How many lines the first record has; those looked at are kept in `ahead`."""
    quotes = size = 0
    for count in range(1, MOST_JOINED + 1):
        if count > len(ahead):
            ahead.extend(islice(lines, 1))
        if count > len(ahead) or size > LONGEST_LINE:
            return 1
        quotes, size = quotes + ahead[count - 1].count(QUOTE), size + len(ahead[count - 1])
        if quotes % 2 == 0:
            return count
    return 1


def cells_of(line: bytes, separator: str, encoding: str = "utf-8") -> list[str] | Fault:
    """The cells of one line, or what is wrong with it.

    Examples
    --------
    >>> cells_of(b'30,"Smith, J.",900', ",")
    ['30', 'Smith, J.', '900']
    >>> cells_of(b'30,"Smith', ",").name
    'QUOTE'
    """
    if not line:
        return Fault.BLANK
    if len(line) >= LONGEST_LINE:
        return Fault.LENGTH
    if b"\0" in line:
        return Fault.NUL
    if b"\r" in line:
        return Fault.RETURN
    try:
        text = line.decode(encoding)
        plain = '"' not in text
        reader = csv.reader([text], delimiter=separator, strict=True)
        cells = text.split(separator) if plain else next(reader)
    except UnicodeError:
        return Fault.ENCODING
    except csv.Error:
        return Fault.QUOTE
    too_long = len(text) > LONGEST_CELL and max(map(len, cells)) > LONGEST_CELL
    return Fault.LENGTH if too_long else cells
