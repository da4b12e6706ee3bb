"""Refusing NaN and infinity, without a word about where they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privlearn._data.reading import is_sparse

__all__ = ["refuse_not_finite"]


def refuse_not_finite(name: str, array: Any, remedy: str) -> None:  # noqa: ANN401
    """Raise when a dense or sparse array holds NaN or infinity."""
    values = array.data if is_sparse(array) else array
    if not _all_finite(values):
        large = "infinity or a value too large for dtype('float64')"
        what = "NaN" if np.isnan(values).any() else large
        raise ValueError(f"Input {name} contains {what}. Clean those rows, {remedy}")


def _all_finite(array: NDArray[np.floating]) -> bool:
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.sum(array, dtype=np.float64)  # one pass, no temporary, in the common case
    return bool(np.isfinite(total) or np.isfinite(array).all())
