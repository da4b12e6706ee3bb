"""p-values of a column without effect are uniform, and would not be with a wrong standard error."""

import numpy as np
import pytest
from scipy.stats import kstest, norm

from privlearn import LinearRegression

FITS, ROWS, NO_EFFECT = 150, 3_000, 2
KNOWN = {"epsilon": 1.0, "bounds_X": (-5, 5), "bounds_y": (-10, 10), "intervals": True}


def scores(correlation):
    """Estimates over their standard errors; rows are drawn anew for every fit."""
    found = []
    for seed in range(FITS):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((ROWS, 3))
        X[:, 2] = correlation * X[:, 0] + np.sqrt(1.0 - correlation**2) * X[:, 2]
        y = 0.5 * X[:, 0] - 0.3 * X[:, 1] + rng.standard_normal(ROWS)
        found.append(LinearRegression(random_state=seed, **KNOWN).fit(X, y).summary().z[NO_EFFECT])
    return np.array(found)


@pytest.mark.slow
@pytest.mark.parametrize("correlation", [0.0, 0.7])
def test_p_values_are_uniform(correlation):
    z = scores(correlation)
    assert kstest(2 * norm.sf(np.abs(z)), "uniform").pvalue > 0.001
    for wrong in (0.5, 2.0):
        assert kstest(2 * norm.sf(np.abs(z / wrong)), "uniform").pvalue < 0.001
