"""California housing: features as they are, with bounds from its documentation alone.

Sources: Pace and Barry 1997, and the page of the data set in scikit-learn's guide, whose derived
columns these are. One row is a block group of the 1990 census.

- Median income is in units of 10,000 USD and coded at the top by 15, the age of a house by 52
  years, its value (the target here, in units of 100,000 USD) by 5.00001.
- A block group has 600 to 3,000 people as a rule; 40,000 leaves room for the largest.
- Rooms, bedrooms and people per household are averages; the guide warns of large ones where most
  houses are empty. 50, 10 and 50 are far above what a household has.
- Latitude and longitude: the state lies within 32 and 42 degrees north, 114 and 125 degrees west.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.datasets.columns import bounds_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["BOUNDS_Y", "BOXES", "bounds", "features", "rows"]

BOXES = {
    "med_inc": (0.0, 15.0),
    "house_age": (0.0, 52.0),
    "ave_rooms": (0.0, 50.0),
    "ave_bedrms": (0.0, 10.0),
    "population": (0.0, 40_000.0),
    "ave_occup": (0.0, 50.0),
    "latitude": (32.0, 42.0),
    "longitude": (-125.0, -114.0),
}
BOUNDS_Y = (0.0, 5.1)


def features(table: pd.DataFrame) -> np.ndarray:
    """The eight columns in the order of `BOXES`, unchanged."""
    return table[list(BOXES)].to_numpy(dtype=np.float64)


def bounds() -> tuple[np.ndarray, np.ndarray]:
    """`BOXES` as the two arrays that estimators take."""
    return bounds_of(BOXES)


def rows(*, quick: bool) -> tuple[np.ndarray, np.ndarray]:
    """Features and target; for a short run some that are generated in the boxes."""
    from benchmarks.datasets import manifest, standins

    if quick:
        return standins.california()
    table = manifest.load("california_housing")
    return features(table.features), table.target.astype(np.float64)
