"""Sizes of a table that may be planned for."""

from __future__ import annotations

from numbers import Integral

from privlearn._core.numerics import MAX_COLUMNS, MAX_ROWS

__all__ = ["check_size"]


def check_size(n: object, n_features: object) -> tuple[int | None, int]:
    """Numbers of rows and columns as plain integers; those that no table has are refused."""
    rows = None if n is None else _whole("n", n, MAX_ROWS)
    return rows, _whole("n_features", n_features, MAX_COLUMNS)


def _whole(name: str, value: object, most: int) -> int:
    if isinstance(value, Integral) and not isinstance(value, bool) and 1 <= int(value) <= most:
        return int(value)
    given = str(value)[:20] if isinstance(value, Integral | float) else type(value).__name__
    raise ValueError(f"{name} is {given}, but a whole number from 1 to {most} is needed")
