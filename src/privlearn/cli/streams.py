"""The bytes of a file or of standard input, unpacked; what is no CSV file is told at once."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, cast

from privlearn.cli.errors import CommandError

__all__ = ["STDIN", "open_bytes", "refuse_by_name", "shown"]

STDIN = "-"
HEAD = 512  # bytes that tell what a file is: they belong to its first line or to a format's mark

SHEET = (
    "a workbook of {program}, not a CSV file; open it there, choose 'Save As', type 'CSV UTF-8 "
    "(Comma delimited)', and give that file"
)
EXCEL, OTHERS = SHEET.format(program="Excel"), SHEET.format(program="a spreadsheet program")
SHEETS = {
    **dict.fromkeys((".xlsx", ".xls", ".xlsm", ".xlsb"), EXCEL),
    **dict.fromkeys((".ods", ".numbers"), OTHERS),
}
UTF16 = (
    "text in UTF-16 (Excel's 'Unicode text'), in which one byte moves all that follow it; save it "
    "as 'CSV UTF-8', or type: iconv -f UTF-16 -t UTF-8 {name} > utf8.csv"
)
PARQUET = "a Parquet file by its first bytes; give it a name that ends in .parquet"
NO_TABLE = "no table; give a CSV file (first line: names of the columns) or a .parquet file"
MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", EXCEL),
    (b"\xff\xfe", UTF16),
    (b"\xfe\xff", UTF16),
    (b"PAR1", PARQUET),
    (b"%PDF", f"a PDF, which is {NO_TABLE}"),
    (b"SQLite format 3\0", f"a database (SQLite), which is {NO_TABLE}: export the table as CSV"),
    (b"\x28\xb5\x2f\xfd", "packed by zstd; unpack it: zstd -d {name}"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive; unpack it, and give the CSV file in it"),
    (b"\x89PNG", f"an image, which is {NO_TABLE}"),
    *((mark, f"a web page or XML, which is {NO_TABLE}") for mark in (b"<!", b"<?xml", b"<html")),
    *((mark, f"JSON, which is {NO_TABLE}") for mark in (b'{"', b"{\n", b"[{", b"[\n", b"[[")),
)
ZIP = "a zip archive; unpack it (unzip {name}), and give the CSV file in it"
INSIDE = ((b"xl/", EXCEL), (b"[Content_Types]", EXCEL), (b"opendocument", OTHERS))
Unpack = Callable[[BinaryIO], object]
PACKED: tuple[tuple[str, bytes, Unpack], ...] = (
    (".gz", b"\x1f\x8b", lambda file: gzip.GzipFile(fileobj=file)),
    (".bz2", b"BZh", bz2.BZ2File),
    (".xz", b"\xfd7zXZ\0", lzma.LZMAFile),
)


def shown(path: str | Path) -> str:
    """How messages call it."""
    return "standard input" if str(path) == STDIN else str(path)


def refuse_by_name(path: Path) -> None:
    """Say of a spreadsheet how it becomes a CSV file."""
    found = SHEETS.get(path.suffix.lower())
    if found is not None:
        raise CommandError(f"{path} is {found}")


class _Unpacked(io.BufferedReader):
    """What was unpacked, which takes the packed file along when it is closed."""

    def __init__(self, unpacked: object, packed: BinaryIO) -> None:
        super().__init__(cast("io.RawIOBase", unpacked))
        self._packed = packed

    def close(self) -> None:
        super().close()
        self._packed.close()


def open_bytes(path: str | Path, *, header: bool = True) -> BinaryIO:
    """A stream to be read once, from the start; what gzip, bzip2 or xz packed is unpacked.

    Which of them it was is told by the first bytes, as is what is no text at all. Without a header
    these would be a record's, which decides nothing: the file's name tells.
    """
    name = shown(path)
    with ExitStack() as stack:
        try:
            raw = sys.stdin.buffer if str(path) == STDIN else open(path, "rb")  # noqa: SIM115
            file = stack.enter_context(_unpacked(_buffered(raw), None if header else name))
            head = file.peek(HEAD)[:HEAD]
        except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            problem = getattr(error, "strerror", None) or "it is packed, and damaged"
        else:
            if header:
                _refuse_by_content(head, name)
            stack.pop_all()
            return cast("BinaryIO", file)
    raise CommandError(f"{name} cannot be read: {problem}")


def _buffered(raw: object) -> io.BufferedReader:
    return io.BufferedReader(cast("io.RawIOBase", raw))


def _unpacked(file: io.BufferedReader, name: str | None) -> io.BufferedReader:
    """The file, unpacked where its name says so, or without one its first bytes."""
    head = b"" if name is not None else file.peek(HEAD)
    for end, magic, unpack in PACKED:
        if head.startswith(magic) if name is None else name.lower().endswith(end):
            packed = cast("BinaryIO", file)
            return _Unpacked(unpack(packed), packed)
    return file


def _refuse_by_content(head: bytes, name: str) -> None:
    """What is known by its first bytes: of a CSV file they are the header, which is public."""
    words = next((words for magic, words in MAGIC if head.startswith(magic)), None)
    if head.startswith(b"PK\x03\x04"):
        words = next((words for mark, words in INSIDE if mark in head), ZIP)
    elif words is None and b"\0" in head.partition(b"\n")[0]:
        words = UTF16
    if words is not None:
        raise CommandError(f"{name} is {words.format(name=name)}")
