"""SGEMM GPU kernel performance: features and bounds from its documentation alone.

The page of the data set at UCI (number 440, Ballester-Ripoll, Paredes and Pajarola 2017) lists the
values that each of the 14 kernel parameters takes, and says that run times are given in
milliseconds for products of two 2048 x 2048 matrices. Every parameter is divided by the largest
value in its list.

The target is the logarithm of one plus the time of the first run. Such a product takes 17 billion
operations; from 10 ms (1.7 Tflop/s, a good kernel on the card used) to 4,000 ms is a generous
range. Half of the way between the logarithms of its ends is taken off, which centres the target
without a look at it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["BOUNDS_Y", "CENTRE", "LARGEST", "MILLISECONDS", "features", "log_time", "target"]

LARGEST = {
    "mwg": 128,
    "nwg": 128,
    "kwg": 32,
    "mdimc": 32,
    "ndimc": 32,
    "mdima": 32,
    "ndimb": 32,
    "kwi": 8,
    "vwm": 8,
    "vwn": 8,
    "strm": 1,
    "strn": 1,
    "sa": 1,
    "sb": 1,
}
MILLISECONDS = (10.0, 4000.0)
_ENDS = tuple(math.log1p(time) for time in MILLISECONDS)
CENTRE = sum(_ENDS) / 2.0
BOUNDS_Y = (_ENDS[0] - CENTRE, _ENDS[1] - CENTRE)


def features(table: pd.DataFrame) -> np.ndarray:
    """The 14 kernel parameters in the order of `LARGEST`, each over its largest value."""
    largest = np.array(list(LARGEST.values()), dtype=np.float64)
    return table[list(LARGEST)].to_numpy(dtype=np.float64) / largest


def log_time(milliseconds: np.ndarray) -> np.ndarray:
    """log(1 + time), not centred."""
    return np.log1p(np.asarray(milliseconds, dtype=np.float64))


def target(milliseconds: np.ndarray) -> np.ndarray:
    """log(1 + time), less `CENTRE`, clipped into `BOUNDS_Y`."""
    return np.clip(log_time(milliseconds) - CENTRE, *BOUNDS_Y)
