"""Physical lines of a CSV file. What a line holds is decided by its own bytes alone."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

from privlearn.cli.errors import CommandError

__all__ = ["Fault", "cells_of", "physical_lines"]

LONGEST_CELL = 131_072  # characters
LONGEST_LINE = 2**26  # bytes; of a longer one, no more than this is kept in memory
MARK = b"\xef\xbb\xbf"  # the byte order mark, which some programs write first


class Fault(Enum):
    """Why a line cannot be split into cells, and how to mend it. No line is quoted."""

    BLANK = "a blank line; delete it"
    CELLS = (
        "a line with more or fewer cells than its header, which has {width}; mend the file (a cell "
        "that holds a separator needs double quotes)"
    )
    ENCODING = (
        "text that is not UTF-8; save it as 'CSV UTF-8', or give a Parquet file a name that ends "
        "in .parquet"
    )
    LENGTH = "a line or a cell that is too long; shorten it or leave its column out of the file"
    NUL = "a NUL byte, which is no text; save it as 'CSV UTF-8'"
    QUOTE = (
        "a quoting that cannot be read; put cells that hold quotes or separators in double "
        'quotes, write a quote inside them twice (""), and close them on their own line: a row is '
        "one line, and no cell may hold a line break"
    )
    RETURN = (
        "a carriage return inside a line; end lines with a line feed, with or without a carriage "
        "return before it"
    )


def physical_lines(path: Path) -> Iterator[bytes]:
    """The lines of a file without their ends, and without a byte order mark.

    A line ends with a line feed; the last one may lack it. A line that is too long for anything is
    cut, but never merged with the next.
    """
    try:
        with path.open("rb") as file:
            first = True
            while line := file.readline(LONGEST_LINE):
                rest = line
                while rest and not rest.endswith(b"\n"):
                    rest = file.readline(LONGEST_LINE)
                if first and line.startswith(MARK):
                    line = line[len(MARK) :]
                first = False
                yield line.removesuffix(b"\n").removesuffix(b"\r")
    except OSError as error:
        reason = error.strerror
    else:
        return
    raise CommandError(f"{path} cannot be read: {reason}")


def cells_of(line: bytes, separator: str) -> list[str] | Fault:
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
        text = line.decode("utf-8")
        plain = '"' not in text
        reader = csv.reader([text], delimiter=separator, strict=True)
        cells = text.split(separator) if plain else next(reader)
    except UnicodeDecodeError:
        return Fault.ENCODING
    except csv.Error:
        return Fault.QUOTE
    too_long = len(text) > LONGEST_CELL and max(map(len, cells)) > LONGEST_CELL
    return Fault.LENGTH if too_long else cells
