"""Files that a command writes: complete under their name, or not there at all."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from itertools import count
from pathlib import Path

from privlearn.cli.errors import CommandError

__all__ = ["Output", "check_name", "write_or_print"]

PART = ".privlearn-{}-{}.part"  # what a killed command may leave behind; safe to delete
BLOCK = bytes(2**16)


def check_name(path: str | Path, *, overwrite: bool) -> Path:
    """The file that a name stands for, if it may be written."""
    place = Path(os.path.realpath(path))
    if not place.parent.is_dir():
        raise CommandError(f"the folder of {path} does not exist; create it first")
    if place.is_dir():
        raise CommandError(f"{path} is a folder; give the name of a file in it")
    if place.exists() and not place.is_file():
        raise CommandError(f"{path} is no ordinary file; give another name")
    if place.exists() and not overwrite:
        raise CommandError(
            f"{path} exists and is not replaced unasked; choose another name, or add --overwrite"
        )
    return place


class Output:
    """A name that is reserved now and filled later, all at once.

    Reserving opens a file beside the name and takes the bytes that the text will need, so that a
    full disk, a folder that cannot be written to or a name that is taken shows before anything is
    spent. `write` fills that file, has the disk confirm it and gives it its name in one step. As a
    context manager it removes what was not given a name.

    Parameters
    ----------
    path : str or Path
        The name; of a link, what it points to.
    overwrite : bool, default=False
        Whether the name may be taken.
    size : int, default=65536
        Bytes that the text will need, roughly.

    Examples
    --------
    >>> import tempfile
    >>> name = Path(tempfile.mkdtemp()) / "model.json"
    >>> with Output(name) as output:
    ...     name.exists(), output.write("{}\\n"), name.read_text()
    (False, None, '{}\\n')
    """

    def __init__(self, path: str | Path, *, overwrite: bool = False, size: int = 2**16) -> None:
        self.given = str(path)
        self._overwrite = overwrite
        self._part: Path | None = None
        self._descriptor = -1
        self._path = check_name(path, overwrite=overwrite)
        try:
            self._open()
            self._take(size)
        except BaseException as error:  # an interrupt, too
            self.discard()
            if not isinstance(error, OSError):
                raise
            reason = error.strerror or type(error).__name__
            raise CommandError(
                f"{self.given} cannot be written ({reason}); choose a folder that can be written "
                "to and has room"
            ) from None

    def _open(self) -> None:
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
        for number in count():
            part = self._path.with_name(PART.format(os.getpid(), number))
            with suppress(FileExistsError):  # of a killed command whose number was the same
                self._descriptor, self._part = os.open(part, flags, 0o666), part
                return

    def _take(self, size: int) -> None:
        """Write zeros, which the text will replace: no other file can take their place."""
        while size > 0:
            size -= os.write(self._descriptor, BLOCK[: min(size, len(BLOCK))])

    def write(self, text: str) -> None:
        """Fill the file and give it its name."""
        if self._part is None:
            raise ValueError(f"{self.given} was written or given up already")
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        data = memoryview(text.encode("utf-8"))
        os.truncate(self._descriptor, len(data))
        while data:
            data = data[os.write(self._descriptor, data) :]
        os.fsync(self._descriptor)
        descriptor, self._descriptor = self._descriptor, -1
        os.close(descriptor)
        self._name(self._part)
        self._part = None
        _confirm(self._path.parent)

    def _name(self, part: Path) -> None:
        if self._overwrite:
            os.replace(part, self._path)
            return
        try:
            os.link(part, self._path)  # unlike a renaming, it fails if the name is taken
        except FileExistsError:
            raise
        except OSError:  # a file system without links
            if self._path.exists():
                raise FileExistsError(errno.EEXIST, "File exists", self.given) from None
            os.rename(part, self._path)
        else:
            os.unlink(part)

    def discard(self) -> None:
        """Give the name up, unless it was filled."""
        part, self._part = self._part, None
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)
        if part is not None:
            part.unlink(missing_ok=True)

    def __enter__(self) -> Output:
        return self

    def __exit__(self, *_: object) -> None:
        self.discard()


def write_or_print(output: Output, text: str, what: str) -> None:
    """Save what privacy was spent on, or else print it, with an error that says so.

    Called before anything is printed: a reader that left, as `head` does, must not cost the file.

    Parameters
    ----------
    output : Output
        The file.
    text : str
        What goes into it, JSON with a line's end.
    what : str
        What it is in words, with a verb, for the error.
    """
    try:
        output.write(text)
        return
    except OSError as error:
        problem = f"{output.given} cannot be written ({error.strerror}). The privacy is spent, "
    try:
        _to_standard_output(text)
    except OSError as error:
        problem += f"and the {what} lost: standard output cannot be written ({error.strerror})"
        raise CommandError(problem) from None
    problem += f"so the {what} printed instead: copy the JSON from there into a file"
    raise CommandError(problem)


def _to_standard_output(text: str) -> None:
    """Print it as it is; a stream that is not there, or closed, takes nothing without a word."""
    stream = sys.stdout
    if stream is None or stream.closed:  # as with `>&-`
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    print(text, end="", flush=True)


def _confirm(folder: Path) -> None:
    """Have the disk confirm a new name, where the system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
