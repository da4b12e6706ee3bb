"""How far noise moves the ends of estimated ranges, as far as what was released tells."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["EndNoise"]


class EndNoise(NamedTuple):
    """Of the lower and upper ends of columns; all arrays have shape (2, columns)."""

    deviation: NDArray[np.float64]  # in the units of the column; 0 where noise does not move an end
    beyond: NDArray[np.float64]  # part of the rows
