"""How much too small released second moments of rare values are: post-processing.

Rows are shortened for the second moments, so that noise can be small, and a row with a rare value
of a feature is long because of it. If no significant number of rows shows a feature's magnitude,
what it has lies at its limit, as a rare flag's 1 does. A row there is sqrt(limit^2 + typical^2)
long, and its square counts by (length to which rows are shortened)^2 over that. For a feature that
is seen most of its mean square is of ordinary rows, and shortening takes a tenth or two of it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privlearn._core.releaser import Releaser
from privlearn.solvers.coordinate_descent import rules
from privlearn.solvers.coordinate_descent.private_scales import MAGNITUDES, Prepared, RowMoments
from privlearn.solvers.coordinate_descent.rules import Settings

__all__ = ["shortened_by"]

Array = NDArray[np.float64]
# Second moments, in deviations of their noise: below the first they are taken for noise, which is
# not too small, above the second for what they are (python -m benchmarks.derive coefficients).
NOISE_OR_REAL = 1.0, 4.0
EQUAL = 1.0 + 1e-9


def shortened_by(
    prepared: Prepared, settings: Settings, moments: RowMoments, release: Releaser
) -> Array:
    """By what the second moment of each weight's feature is to be multiplied, 1 or more."""
    found = np.ones(prepared.objective.scaling.width)
    if settings.scales_given or moments.noise <= 0.0:
        return found
    own, scales, squares = slice(len(prepared.scales)), prepared.scales, prepared.squares
    hidden = squares * scales**2 <= EQUAL * release.noise_scale(MAGNITUDES) / prepared.count
    typical = float(squares.sum()) + prepared.objective.scaling.intercept_value**2
    times = (scales**-2.0 + typical) / (rules.LONGEST_ROW * typical)
    noise, real = NOISE_OR_REAL
    clear = np.diag(moments.noisy)[own] / moments.noise
    part = np.clip((clear - noise) / (real - noise), 0.0, 1.0)
    found[own] = np.where(hidden, 1.0 + part * np.maximum(times - 1.0, 0.0), 1.0)
    return found
