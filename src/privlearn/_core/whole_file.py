"""Files that are there as a whole, or as they were: whatever stops the writing."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

__all__ = ["write_whole"]


def write_whole(path: str | os.PathLike[str], text: str) -> None:
    """Write a text beside its name and rename it then; a file of that name is replaced.

    Examples
    --------
    >>> name = Path(tempfile.mkdtemp()) / "model.json"
    >>> write_whole(name, "{}")
    >>> name.read_text()
    '{}'
    """
    place = Path(os.path.realpath(path))
    descriptor, part = tempfile.mkstemp(prefix=".privlearn-", suffix=".part", dir=place.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(part, _mode(place))
        os.replace(part, place)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise


def _mode(place: Path) -> int:
    """Who may read the file: as before, or as the system lets new files be read."""
    with suppress(OSError):
        return place.stat().st_mode & 0o777
    mask = os.umask(0o077)
    os.umask(mask)
    return 0o666 & ~mask
