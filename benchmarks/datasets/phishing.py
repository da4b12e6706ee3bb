"""Phishing Websites as LIBSVM encodes it: 68 indicators, of which every row has thirty.

The data set has thirty categorical features (UCI 327, Mohammad and McCluskey 2012), and each row
has one indicator per feature. So a row has the length sqrt(30) whatever it holds: dividing by it is
what LIBSVM does, and neither the largest value of a column (1) nor a row's length is a fact about
somebody's row.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CLASSES", "COLUMNS", "ROW_LENGTH", "features", "labels"]

COLUMNS = tuple(f"f{number}" for number in range(1, 69))
ROW_LENGTH = math.sqrt(30.0)
CLASSES = (-1.0, 1.0)  # a phishing site, a legitimate one


def features(table: pd.DataFrame) -> np.ndarray:
    """The indicators, not yet divided by `ROW_LENGTH`."""
    return table[list(COLUMNS)].to_numpy(dtype=np.float64)


def labels(target: np.ndarray) -> np.ndarray:
    """1 for a legitimate site, else -1."""
    return np.where(np.asarray(target) == 1, 1.0, -1.0)
