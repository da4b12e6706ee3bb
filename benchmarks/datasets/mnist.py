"""Features of MNIST from public knowledge alone.

Pixels are numbers of 0 to 255 by their file format, so they are divided by 255. The mean 0.1307 and
standard deviation 0.3081 of a pixel have been in countless tutorials for years; they give a typical
squared norm of an image of 784 (0.1307^2 + 0.3081^2) = 88. Rows, with the intercept's 1, are
clipped to the root of 89, so that typical images stay nearly as they are.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["BOUNDS", "DATA_NORM", "features"]

BOUNDS = (0.0, 1.0)
DATA_NORM = math.sqrt(89.0)


def features(frame: pd.DataFrame) -> np.ndarray:
    """The matrix of pixels in [0, 1]."""
    return frame.to_numpy(dtype=np.float64) / 255.0
