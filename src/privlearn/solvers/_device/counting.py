"""Counting rows on a device in bins, where it has kernels for it; else copies are counted."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privlearn._data.device_data import DeviceData

__all__ = ["counted_there"]

Array = NDArray[np.float64]
KINDS = {"count_scaled": 0, "count_signed": 1, "count_evenly": 2}


def counted_there(
    data: DeviceData, what: str, bins: int, loop: str, facts: tuple[Any, ...]
) -> Array | None:
    """Counts of shape (columns, bins) as the loop of that name counts them, or None.

    Parameters
    ----------
    data : DeviceData
        Rows on a device.
    what : {"features", "target"}
        Whose columns.
    bins : int
        How many.
    loop : str
        The name of a compiled loop.
    facts : tuple
        What it needs: two numbers for each column, or how many powers there are.
    """
    if not data.xp.triton:
        return None
    from privlearn.solvers._device import launch

    array = data.array if what == "features" else data.numbers[:, None]
    columns = int(array.shape[1])
    if not launch.usable(columns) or not launch.reads(array):
        return None
    known = np.zeros((4, columns))
    known[:2] = _ends(data, what, columns)
    if loop != "count_signed":
        known[2:] = facts
    return np.asarray(launch.counts(array, known, bins, KINDS[loop]))


def _ends(data: DeviceData, what: str, columns: int) -> Array:
    """To what numbers are clipped, infinite where nothing bounds them."""
    ends: Any = data.bounds.target
    if what == "features":
        ends = None if data.bounds.low is None else (data.bounds.low, data.bounds.high)
    low, high = (-math.inf, math.inf) if ends is None else ends
    return np.stack([np.broadcast_to(low, columns), np.broadcast_to(high, columns)])
