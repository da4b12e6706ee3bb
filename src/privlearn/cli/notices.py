"""Warnings of the library as sentences on stderr: the exit status stays what it is."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from privlearn.exceptions import (
    DeltaWarning,
    FactWarning,
    FewRowsWarning,
    NotPrivateWarning,
    StandardErrorsWarning,
)

__all__ = ["plain_warnings"]

OURS = (DeltaWarning, FactWarning, FewRowsWarning, NotPrivateWarning, StandardErrorsWarning)


@contextmanager
def plain_warnings(*, show: bool = True) -> Iterator[None]:
    """Print our own warnings without file and line, or not at all; others go their usual way."""
    with warnings.catch_warnings():
        usual = warnings.showwarning

        def tell(message, category, filename, lineno, file=None, line=None):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            if not issubclass(category, OURS):
                usual(message, category, filename, lineno, file, line)
            elif show:
                print(f"privlearn: warning: {message}", file=sys.stderr)

        warnings.showwarning = tell
        for category in OURS:
            warnings.simplefilter("always", category)
        yield
