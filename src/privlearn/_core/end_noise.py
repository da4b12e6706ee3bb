"""How far noise moves the ends of estimated ranges, as far as what was released tells."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["EndNoise"]


class EndNoise(NamedTuple):
    """Of the lower and upper ends of columns; all arrays have shape (2, columns)."""

    deviation: NDArray[np.float64]  # in the column's units; 0 of ends that stay, NaN where unknown
    beyond: NDArray[np.float64]  # part of the rows
