"""The number of rows where it is private: one release, the same in every solver."""

from __future__ import annotations

import numpy as np

from privlearn._core.mechanisms import GAUSSIAN, Mechanism
from privlearn._core.plan import FACTS, Release
from privlearn._core.problem import Problem
from privlearn._core.releaser import Releaser
from privlearn._data.bounded import BoundedData

__all__ = ["COUNT", "count_release", "rows_in_all"]

COUNT = "number of rows"


def count_release(mechanism: Mechanism = GAUSSIAN) -> Release:
    """The planned release."""
    return Release(COUNT, (1,), clip=1.0, mechanism=mechanism, stage=FACTS)


def rows_in_all(problem: Problem, data: BoundedData, release: Releaser) -> float:
    """The public number of rows, or a released one; at least 1."""
    if problem.n is not None:
        return float(problem.n)
    present = np.full(1, float(data.present().sum()))
    return max(1.0, float(release(COUNT, present, clip=1.0)[0]))
