"""Wages of 28,155 men from the March 1988 Current Population Survey of the United States."""

from importlib.resources import files
from typing import Any, Literal, overload

import numpy as np

from privlearn.datasets._bunch import Bunch

TARGET_NAME = "wage"

# The code of a region in the data file; the base level gets no column.
REGION_CODES = {"northeast": 0, "midwest": 1, "south": 2, "west": 3}

# (low, high, reason). Each follows from a definition or a round public number; none is computed
# from the sample. The bounds of the wage are the only ones that are a choice.
_INDICATOR = (0.0, 1.0, "an indicator is 0 or 1 by its definition")
PUBLIC_BOUNDS: dict[str, tuple[float, float, str]] = {
    "education": (0.0, 18.0, "the survey of the time coded schooling as 0 to 18 whole years"),
    "experience": (
        -6.0,
        64.0,
        "it is defined as age - education - 6, for ages 18 to 70 and education 0 to 18",
    ),
    "afam": _INDICATOR,
    "smsa": _INDICATOR,
    "parttime": _INDICATOR,
    "region_midwest": _INDICATOR,
    "region_south": _INDICATOR,
    "region_west": _INDICATOR,
    "wage": (
        25.0,
        5000.0,
        "a choice of round numbers: 25 dollars was about a day's work at the federal minimum wage "
        "of 3.35 dollars an hour, and 5000 a week is far above what the survey of the time "
        "recorded as a year's pay; wages outside are clipped",
    ),
}
FEATURE_NAMES = tuple(name for name in PUBLIC_BOUNDS if name != TARGET_NAME)

DESCR = """\
Wages of men in the United States, March 1988 (CPS 1988)
--------------------------------------------------------

One row is one person: 28,155 men aged 18 to 70 from the March 1988 Current Population Survey,
with a positive income, not self-employed and not working without pay.

Target: wage, dollars per week, in the prices of 1992.

Features:
  education       years of schooling
  experience      potential years of work, age - education - 6; it can be negative
  afam            1 if African-American, 0 if Caucasian
  smsa            1 if living in a standard metropolitan statistical area
  parttime        1 if working part-time
  region_midwest  1 if living in the Midwest      (all three are 0
  region_south    1 if living in the South         in the Northeast)
  region_west     1 if living in the West

Bounds: `bounds_X` and `bounds_y` are not computed from the sample; `bounds_reasons` says where
each comes from. The bounds of the wage are a choice, not a rule of the survey: a few wages
lie outside and are clipped by an estimator that is given these bounds.

Source: the United States Census Bureau, Current Population Survey, a work of the federal
government. The sample was put together by H. J. Bierens and D. Ginther (2001), "Integrated
Conditional Moment Testing of Quantile Regression Models", Empirical Economics 26, 307-324, and is
known as CPS1988 in the R package AER.
"""


@overload
def load_cps1988(*, return_X_y: Literal[False] = False, as_frame: bool = False) -> Bunch: ...


@overload
def load_cps1988(*, return_X_y: Literal[True], as_frame: bool = False) -> tuple[Any, Any]: ...


def load_cps1988(*, return_X_y: bool = False, as_frame: bool = False) -> Bunch | tuple[Any, Any]:
    """Load the wages of 28,155 men, with bounds that are public knowledge.

    Parameters
    ----------
    return_X_y : bool, default False
        Return `(data, target)` instead of a Bunch.
    as_frame : bool, default False
        Give `data` as a pandas DataFrame and `target` as a Series. Needs pandas.

    Returns
    -------
    Bunch or tuple
        A Bunch has `data` (28155 x 8), `target`, `frame` (None unless `as_frame`),
        `feature_names`, `target_name`, `bounds_X` (a pair of arrays, low and high), `bounds_y` (a
        pair of floats), `bounds_reasons` (a dict from column to sentence) and `DESCR`.

    Examples
    --------
    >>> from privlearn.datasets import load_cps1988
    >>> cps = load_cps1988()
    >>> cps.data.shape
    (28155, 8)
    >>> cps.bounds_y
    (25.0, 5000.0)
    """
    data, target = _arrays()
    frame = None
    if as_frame:
        frame, data, target = _frames(data, target)
    if return_X_y:
        return data, target
    low, high = np.array([PUBLIC_BOUNDS[name][:2] for name in FEATURE_NAMES]).T.copy()
    return Bunch(
        data=data,
        target=target,
        frame=frame,
        feature_names=list(FEATURE_NAMES),
        target_name=TARGET_NAME,
        bounds_X=(low, high),
        bounds_y=PUBLIC_BOUNDS[TARGET_NAME][:2],
        bounds_reasons={name: reason for name, (_, _, reason) in PUBLIC_BOUNDS.items()},
        DESCR=DESCR,
    )


def _arrays() -> tuple[np.ndarray, np.ndarray]:
    """Read the data file: features as float64, wages in dollars."""
    with (
        files("privlearn.datasets").joinpath("cps1988.npz").open("rb") as file,
        np.load(file, allow_pickle=False) as stored,
    ):
        columns = [stored[name] for name in FEATURE_NAMES[:5]]
        region = stored["region"]
        wage = stored["wage_cents"] / 100.0
    regions = (name.removeprefix("region_") for name in FEATURE_NAMES[5:])
    columns += [region == REGION_CODES[name] for name in regions]
    return np.column_stack(columns).astype(np.float64), wage


def _frames(data: np.ndarray, target: np.ndarray) -> tuple[Any, Any, Any]:
    """Return (everything, features, target) as pandas objects."""
    import pandas as pd

    frame = pd.DataFrame(data, columns=list(FEATURE_NAMES))
    frame[TARGET_NAME] = target
    return frame, frame[list(FEATURE_NAMES)], frame[TARGET_NAME]
