"""The data sets of Dick et al. 2023 that are here, as matrices; categories are written down below.

The paper takes tasks of OpenML's suite of tabular regressions and gives n and d alone (its Figure
3). d counts the intercept, and one 0/1 column for each category of a categorical column, none left
out; with the lists below every d comes out as printed, but for superconduct, where three of 79
columns are not here. Two tasks have n = 20,640 and d = 9: least squares tells which is which.

Lists of categories and the values of two-valued columns come from the documentation of each data
set; a value that is not in its list gets no 1 at all. Numbers stay as they are, on their own
scales.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

__all__ = ["EXTRA", "NAMES", "TASKS", "Rows", "Task", "encode", "load", "split"]

_YES = ("no", "yes")
_BITS = (0, 1)
_CHANNELS = ["lifestyle", "entertainment", "bus", "socmed", "tech", "world"]
_DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]


@dataclass(frozen=True)
class Task:
    """A data set: its number at OpenML, what Figure 3 prints, and its categorical columns."""

    name: str
    number: int | None
    n: int | None
    d: int | None
    categories: dict[str, tuple]
    dropped: tuple[str, ...] = ()
    note: str = ""


def _task(name, number, n, d, categories=None, **more):
    return Task(name, number, n, d, categories or {}, **more)


_ALL = (
    _task("cpu_act", 361072, 8192, 22),
    _task("pol", 361073, 15000, 27),
    _task("elevators", 361074, 16599, 17),
    _task("isolet", 361075, 7797, 614),
    _task("wine_quality", 361076, 6497, 12),
    _task("ailerons", 361077, 13750, 34),
    _task("houses", 361078, 20640, 9),
    _task("house_16h", 361079, 22784, 17),
    _task("sulfur", 361085, 10081, 7),
    _task("miami_housing", 361087, 13932, 14),
    _task("superconduct", 361088, 21263, 80, note="76 of its 79 columns"),
    _task("california_housing", 361089, 20640, 9),
    _task(
        "analcatdata_supreme",
        361093,
        4052,
        13,
        dict.fromkeys(
            (
                "liberal",
                "unconstitutional",
                "precedent_alteration",
                "unanimous",
                "lower_court_disagreement",
            ),
            _BITS,
        ),
    ),
    _task("visualizing_soil", 361094, 8641, 6, {"isns": _YES}),
    _task(
        "black_friday",
        361095,
        166821,
        24,
        {
            "gender": ("F", "M"),
            "age": ("0-17", "18-25", "26-35", "36-45", "46-50", "51-55", "55+"),
            "city_category": ("A", "B", "C"),
            "stay_in_current_city_years": ("0", "1", "2", "3", "4+"),
            "marital_status": _BITS,
        },
    ),
    _task(
        "diamonds",
        361096,
        53940,
        27,
        {
            "cut": ("Fair", "Good", "Very Good", "Premium", "Ideal"),
            "color": tuple("DEFGHIJ"),
            "clarity": ("I1", "SI2", "SI1", "VS2", "VS1", "VVS2", "VVS1", "IF"),
        },
    ),
    _task(
        "brazilian_houses",
        361098,
        10692,
        18,
        {
            "city": (
                "São Paulo",
                "Rio de Janeiro",
                "Belo Horizonte",
                "Porto Alegre",
                "Campinas",
            ),
            "animal": ("acept", "not acept"),
            "furniture": ("furnished", "not furnished"),
        },
    ),
    _task(
        "bike_sharing_demand",
        361099,
        17379,
        21,
        {
            "season": ("spring", "summer", "fall", "winter"),
            "year": (2011, 2012),
            "holiday": _YES,
            "workingday": _YES,
            "weather": ("clear", "misty", "rain", "heavy_rain"),
        },
    ),
    _task(
        "online_news_popularity_subset",
        361100,
        39644,
        74,
        dict.fromkeys(
            (
                *(f"data_channel_is_{channel}" for channel in _CHANNELS),
                *(f"weekday_is_{day}" for day in _DAYS),
                "is_weekend",
            ),
            _BITS,
        ),
        note="21,553 of its 39,644 rows",
    ),
    _task("house_sales", 361102, 21613, 20, {"waterfront": _YES, "date_year": (2014, 2015)}),
    _task(
        "sgemm_gpu_kernel_performance",
        361104,
        241600,
        16,
        {"kwg": (16, 32), "kwi": (2, 8)} | dict.fromkeys(("strm", "strn", "sa", "sb"), _BITS),
    ),
    _task(
        "nycflights13_flights",
        None,
        None,
        None,
        {
            "carrier": tuple(
                [
                    "9E",
                    "AA",
                    "AS",
                    "B6",
                    "DL",
                    "EV",
                    "F9",
                    "FL",
                    "HA",
                    "MQ",
                    "OO",
                    "UA",
                    "US",
                    "VX",
                    "WN",
                    "YV",
                ]
            ),
            "origin": ("EWR", "JFK", "LGA"),
        },
        dropped=("dest",),
        note="not in the paper; rows without a missing value; destination (105) left out",
    ),
)
TASKS = {task.name: task for task in _ALL}
EXTRA = tuple(task.name for task in _ALL if task.number is None)
NAMES = tuple(task.name for task in _ALL if task.number is not None)


@dataclass(frozen=True, eq=False)
class Rows:
    """One split: rows to learn from and rows to score."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


@cache
def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Features and target of a data set, the target as published benchmarks use it."""
    from benchmarks.datasets import manifest

    table = manifest.load(name)
    columns = manifest.entry(name).get("benchmark_columns", list(table.features))
    target = manifest.transform_target(name, np.asarray(table.target, dtype=np.float64))
    matrix = encode(table.features[columns], TASKS[name])
    complete = np.isfinite(matrix).all(axis=1) & np.isfinite(target)
    return matrix[complete], target[complete]


def encode(frame: object, task: Task) -> np.ndarray:
    """Numbers as they are, a 0/1 column for each category of the others."""
    columns = []
    for column in frame.columns:
        if column in task.dropped:
            continue
        values = frame[column].to_numpy()
        if column in task.categories:
            columns += [values == category for category in task.categories[column]]
        else:
            columns.append(values)
    return np.column_stack([np.asarray(column, dtype=np.float64) for column in columns])


def split(X: np.ndarray, y: np.ndarray, seed: int, share: float = 0.1) -> Rows:
    """A random tenth of the rows to score, the others to learn from."""
    order = np.random.default_rng(seed).permutation(len(y))
    held = int(np.ceil(share * len(y)))
    test, train = order[:held], order[held:]
    return Rows(X[train], y[train], X[test], y[test])
