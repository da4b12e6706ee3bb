"""Releases that a compiled loop makes by itself: batches and noise, drawn beforehand."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privlearn._core.sampling import Batches
from privlearn.exceptions import PlanViolationError

__all__ = ["ReleaseBatch"]

Array = NDArray[np.float64]


class ReleaseBatch(NamedTuple):
    """Everything that a compiled loop needs for some releases of one name, charged beforehand.

    The loop calls `release_step` for each release: it rounds the statistic to the grid and adds
    `noise`. Audits make `statistics` and `released` as long as there are steps, to record, and
    `answers`, to replay; for everyone else they are empty.
    """

    batches: Batches
    noise: NDArray[np.int64]  # (steps, size), in units of the grid
    grid: float
    statistics: Array
    released: Array
    answers: Array

    @property
    def taken(self) -> int:
        """Number of releases."""
        return len(self.noise)

    def rows(self, k: int) -> NDArray[np.int64]:
        """Rows of batch `k`."""
        return self.batches.rows[self.batches.starts[k] : self.batches.starts[k + 1]]

    def release_step(self, k: int, statistic: Array) -> Array:
        """Release number `k`, for loops that are not compiled."""
        from privlearn._core.release_step import release_step  # late: once compiled, no wrapper

        out = np.empty(statistic.size)
        record = (self.statistics, self.released, self.answers)
        if not release_step(statistic, k, self.noise, self.grid, *record, out):
            raise PlanViolationError("a statistic does not fit its grid: a solver bug")
        return out
