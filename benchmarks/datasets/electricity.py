"""Electricity (Elec2): features as they are, with bounds from its documentation alone.

The page of the data set at OpenML (number 151) says that every column is normalised to [0, 1] apart
from the day of the week, which is a label from 1 to 7. It is used as that number, not divided.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.datasets.columns import bounds_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["BOXES", "CLASSES", "bounds", "features"]

BOXES = {
    "date": (0.0, 1.0),
    "day": (1.0, 7.0),
    "period": (0.0, 1.0),
    "nswprice": (0.0, 1.0),
    "nswdemand": (0.0, 1.0),
    "vicprice": (0.0, 1.0),
    "vicdemand": (0.0, 1.0),
    "transfer": (0.0, 1.0),
}
CLASSES = ("DOWN", "UP")  # the price against its mean of the last 24 hours


def features(table: pd.DataFrame) -> np.ndarray:
    """The eight columns in the order of `BOXES`; the day, which comes as text, as its number."""
    return table[list(BOXES)].astype(np.float64).to_numpy()


def bounds() -> tuple[np.ndarray, np.ndarray]:
    """`BOXES` as the two arrays that estimators take."""
    return bounds_of(BOXES)
