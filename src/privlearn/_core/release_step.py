"""The one way out of a compiled loop: round to the grid, add the noise, record for audits."""

import numpy as np

from privlearn._core.jit import jit

__all__ = ["release_step"]

LARGEST = 2.0**52


@jit()
def release_step(statistic, k, noise, grid, statistics, released, answers, out):
    """Release number `k`: write `statistic` with its noise to `out`; False if it does not fit.

    `statistics` and `released` record, `answers` replays; each is empty outside of audits.
    """
    for j in range(statistic.size):
        units = np.rint(statistic[j] / grid)
        if not abs(units) < LARGEST:
            return False
        out[j] = (units + noise[k, j]) * grid
        if k < statistics.shape[0]:
            statistics[k, j] = statistic[j]
        if k < answers.shape[0]:
            out[j] = answers[k, j]
        if k < released.shape[0]:
            released[k, j] = out[j]
    return True
