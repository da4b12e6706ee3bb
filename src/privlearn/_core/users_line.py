"""Where a warning points: the line of whoever uses the library, however deep it was found."""

from __future__ import annotations

import contextlib
import os
import sys
from types import FrameType

__all__ = ["users_line"]

OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
BETWEEN = os.sep + "sklearn" + os.sep  # which calls a fit for somebody, as a pipeline does


def users_line() -> int:
    """The `stacklevel` by which a warning of the caller names the first line outside."""
    frame: FrameType | None = sys._getframe(1)
    level = 1
    while frame is not None and _is_between(frame.f_code.co_filename):
        frame, level = frame.f_back, level + 1
    return level


def _is_between(file: str) -> bool:
    return file.startswith(OURS) or BETWEEN in file or file == contextlib.__file__
