"""A few data sets from OpenML, brought into the form that the Parquet files have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["IDENTIFIERS", "adult_split", "fetch"]

IDENTIFIERS = {"adult": 1590, "mnist": 554}
ADULT_ROWS = {"train": 32_561, "test": 16_281}  # as the UCI documentation counts them
ADULT_TEST_RICH = 3_846  # test rows above 50K, likewise


def fetch(name: str) -> pd.DataFrame:
    """Download a data set; the columns "target" and "split" are added where there is a split."""
    from sklearn.datasets import fetch_openml

    bunch = fetch_openml(data_id=IDENTIFIERS[name], as_frame=True)
    frame = bunch.data.rename(columns=lambda column: column.replace("-", "_"))
    frame["target"] = bunch.target.astype(str).to_numpy()
    if name == "mnist":
        frame["target"] = frame["target"].astype(int)
        frame["split"] = np.repeat(["train", "test"], [60_000, 10_000])
        return frame
    return _adult(frame)


def _adult(frame: pd.DataFrame) -> pd.DataFrame:
    for column in frame.select_dtypes(exclude="number"):
        frame[column] = frame[column].astype(object).where(frame[column].notna(), "?").astype(str)
    frame["split"] = adult_split(frame["target"].to_numpy() == ">50K")
    return frame


def adult_split(rich: np.ndarray) -> np.ndarray:
    """Which rows are train and test, from the order of the two files and the published counts."""
    for order in (("train", "test"), ("test", "train")):
        split = np.repeat(order, [ADULT_ROWS[part] for part in order])
        if len(rich) == len(split) and np.sum(rich[split == "test"]) == ADULT_TEST_RICH:
            return split
    raise ValueError("this Adult does not have the published counts of rows and labels")
