"""What noise on the ends of estimated ranges does to weights: post-processing of what was released.

Rows beyond an end of feature j have its value e there. With the end at e + d each of them adds
d (slope at j + weight w_j times its curvature along all entries) to the gradients of all steps. The
mean of these slopes is not known; a part of the typical one is taken. If entries of such rows are
those that feature j lets expect, the second term moves w_j alone, by w_j d (e - mean) / variance
times the part of the rows that is beyond. A moved end of the target's range pulls all weights, as
far as they explain the target, to or away from zero.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privlearn._core.problem import Bounds
from privlearn.solvers._common.objective import Objective
from privlearn.solvers.coordinate_descent.private_scales import RowMoments

__all__ = ["NoiseOfEnds", "noise_of_ends"]

Array = NDArray[np.float64]
# Mean slope of rows beyond an end, relative to the mean size of slopes, and how much of what their
# weight does is not undone by it: both point in opposite directions (derive/coefficients.py).
SLOPE, OWN = 0.6, 0.5
LEAST_VARIANCE = 0.05  # of a feature, relative to its mean square: less may be noise
TINY = float(np.finfo(np.float64).tiny)  # in the place of zero


class NoiseOfEnds(NamedTuple):
    """Standard deviations that noise on ends causes."""

    gradient: Array  # of each entry of all gradients alike
    weights: Array  # of each weight, besides


def noise_of_ends(
    bounds: Bounds, objective: Objective, moments: RowMoments, weights: Array, slope: float
) -> NoiseOfEnds | None:
    """What is known of ends that were estimated; None where none were.

    Nothing is told (NaN) of a feature one of whose ends may be far elsewhere in another fit.

    Parameters
    ----------
    bounds : Bounds
        Estimated.
    objective : Objective
        Loss and units.
    moments : RowMoments
        Of rows in these units.
    weights : array of shape (width,)
        Of features and the intercept.
    slope : float
        Mean size of the loss's slopes.
    """
    ends, target = bounds.end_noise, bounds.target_noise
    if ends is None and target is None:
        return None
    gradient, moved = np.zeros((2, len(weights)))
    mean, variance = _mean_and_variance(moments, bool(objective.scaling.intercept_value))
    if ends is not None and bounds.low is not None and bounds.high is not None:
        scaling, own = objective.scaling, slice(len(bounds.low))
        at = (np.array([bounds.low, bounds.high]) - scaling.center) * scaling.inverse_scale
        untold = np.isnan(ends.deviation)
        pushed = ends.beyond * np.where(untold, 0.0, ends.deviation) * scaling.inverse_scale
        gradient[own] = SLOPE * slope * np.linalg.norm(pushed, axis=0)
        pulled = pushed * (at - mean[own]) / variance[own]
        moved[own] = OWN * np.abs(weights[own]) * np.linalg.norm(pulled, axis=0)
        moved[own][untold.any(axis=0)] = np.nan
    if target is not None:
        explained = float(weights @ (moments.noisy - np.outer(mean, mean)) @ weights)
        rest = (slope / objective.loss.curvature) ** 2
        away = np.array([-1.0, 1.0])[:, None] - float(mean @ weights)
        shift = target.beyond * np.nan_to_num(target.deviation) / objective.scaling.target_scale
        part = OWN * float(np.linalg.norm(shift * away)) / max(explained + rest, rest, TINY)
        moved = np.hypot(moved, part * weights)
    return NoiseOfEnds(gradient, moved)


def _mean_and_variance(moments: RowMoments, intercept: bool) -> tuple[Array, Array]:
    """Of the entries of rows, as released."""
    squares = np.diag(moments.damped)
    mean = moments.noisy[-1] if intercept else np.zeros(len(squares))
    return mean, np.maximum(np.maximum(squares - mean**2, LEAST_VARIANCE * squares), TINY)
