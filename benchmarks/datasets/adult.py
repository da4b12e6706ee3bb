"""Features of Adult from public knowledge alone: nothing here was read off the rows.

Sources are the documentation of the data set at UCI (Becker and Kohavi 1996), which lists every
category, and that of the survey it comes from (Current Population Survey, March 1994).

- Numbers are brought to [0, 1] by public boxes. Age: the data set holds people above 16, and the
  survey writes 90 for everybody older. Years of education: 16 codes. Hours: the survey asks for 1
  to 99. Capital gain and loss: the top codes of the survey, by log(1 + x), since money is.
- `fnlwgt` is left out: it tells how many people a row stands for, not who the person is.
- Each of the eight categorical columns becomes one 0/1 column per documented category, "?"
  (unknown) included. A value that is not documented gets no 1 at all.

Row norm: the eight indicators and the intercept give 9. For a person of 40 with some college and 40
hours the numbers add 0.6; for one of 60 with a doctorate and 60 hours 1.7; a capital gain of 15,000
adds 0.7 more, and nobody ordinary has all of it. So rows are clipped to sqrt(12).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.datasets.columns import indicator_names, indicators, matrix

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["BOUNDS", "BOXES", "CATEGORIES", "DATA_NORM", "feature_names", "features", "labels"]

BOUNDS = (0.0, 1.0)
DATA_NORM = math.sqrt(12.0)

BOXES = {"age": (17, 90), "education_num": (1, 16), "hours_per_week": (1, 99)}
TOP_CODES = {"capital_gain": 99_999, "capital_loss": 4_356}

_LISTS = {
    "workclass": "? Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov "
    "Without-pay Never-worked",
    "education": "Bachelors Some-college 11th HS-grad Prof-school Assoc-acdm Assoc-voc 9th 7th-8th "
    "12th Masters 1st-4th 10th Doctorate 5th-6th Preschool",
    "marital_status": "Married-civ-spouse Divorced Never-married Separated Widowed "
    "Married-spouse-absent Married-AF-spouse",
    "occupation": "? Tech-support Craft-repair Other-service Sales Exec-managerial Prof-specialty "
    "Handlers-cleaners Machine-op-inspct Adm-clerical Farming-fishing Transport-moving "
    "Priv-house-serv Protective-serv Armed-Forces",
    "relationship": "Wife Own-child Husband Not-in-family Other-relative Unmarried",
    "race": "White Asian-Pac-Islander Amer-Indian-Eskimo Other Black",
    "sex": "Female Male",
    "native_country": "? United-States Cambodia England Puerto-Rico Canada Germany "
    "Outlying-US(Guam-USVI-etc) India Japan Greece South China Cuba Iran Honduras Philippines "
    "Italy Poland Jamaica Vietnam Mexico Portugal Ireland France Dominican-Republic Laos Ecuador "
    "Taiwan Haiti Columbia Hungary Guatemala Nicaragua Scotland Thailand Yugoslavia El-Salvador "
    "Trinadad&Tobago Peru Hong Holand-Netherlands",
}
CATEGORIES = {column: tuple(words.split()) for column, words in _LISTS.items()}


def feature_names() -> list[str]:
    """Names of the columns of `features`."""
    return [*BOXES, *TOP_CODES, *indicator_names(CATEGORIES)]


def features(frame: pd.DataFrame) -> np.ndarray:
    """The matrix of features, every value in [0, 1]."""
    columns = [_boxed(frame[column], *box) for column, box in BOXES.items()]
    columns += [
        _boxed(np.log1p(_from_zero(frame[column])), 0.0, math.log1p(top))
        for column, top in TOP_CODES.items()
    ]
    return matrix(columns + indicators(frame, CATEGORIES))


def labels(target: np.ndarray) -> np.ndarray:
    """1 for an income above 50,000 dollars, else 0."""
    return (np.asarray(target, dtype=str) == ">50K").astype(int)


def _from_zero(values: object) -> np.ndarray:
    return np.maximum(np.asarray(values, dtype=np.float64), 0.0)


def _boxed(values: object, low: float, high: float) -> np.ndarray:
    return np.clip((np.asarray(values, dtype=np.float64) - low) / (high - low), 0.0, 1.0)
