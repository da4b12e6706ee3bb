"""Derivatives of the losses for a block of rows, chosen by code, for compiled loops.

The choice is made outside of the loop over rows, so that each loop is short and vectorises.
"""

import math

from privlearn._core.jit import jit
from privlearn._objective.losses import HINGE, HUBER, LOGISTIC, SOFTMAX, SQUARED, SQUARED_HINGE
from privlearn.solvers._common.loops.row_products import ANY_ORDER

__all__ = ["between", "fade", "write_slopes"]

FLAT = 40.0  # margins beyond it change the slope by less than 2^-57


@jit(fastmath=ANY_ORDER)
def between(value, limit):
    """`value` within [-limit, limit]; what is not a number counts as the limit."""
    value = value if value < limit else limit
    return value if value > -limit else -limit


@jit(fastmath=ANY_ORDER, error_model="numpy")
def fade(margin):
    """1 / (1 + exp(margin)), in additions and products alone, which vectorise.

    exp(x) = exp(x / 256)^256, with Taylor's polynomial of degree 7 for the inner one: it is off by
    256 (x / 256)^8 / 8! at most, relatively, and rounding adds about 256 units of the last place.
    """
    x = between(margin, FLAT) * 0.00390625
    e = 1.0 / 24.0 + x * (1.0 / 120.0 + x * (1.0 / 720.0 + x * (1.0 / 5040.0)))
    e = 1.0 + x * (1.0 + x * (1.0 / 2.0 + x * (1.0 / 6.0 + x * e)))
    e *= e  # 2
    e *= e  # 4
    e *= e  # 8
    e *= e  # 16
    e *= e  # 32
    e *= e  # 64
    e *= e  # 128
    return 1.0 / (1.0 + e * e)


@jit(fastmath=ANY_ORDER, error_model="numpy")
def _logistic(targets, scores, slopes):
    for b in range(targets.size):
        slopes[b, 0] = -targets[b] * fade(targets[b] * scores[b, 0])


@jit(error_model="numpy")
def _hinge(targets, scores, slopes):
    for b in range(targets.size):
        slopes[b, 0] = -targets[b] if targets[b] * scores[b, 0] < 1.0 else 0.0


@jit(error_model="numpy")
def _hinge_by_class(targets, scores, slopes):
    """As if every class were another's; then the own class, one per row."""
    for b in range(targets.size):
        for k in range(slopes.shape[1]):
            slopes[b, k] = 1.0 if scores[b, k] > -1.0 else 0.0
    for b in range(targets.size):
        own = int(targets[b])
        slopes[b, own] = -1.0 if scores[b, own] < 1.0 else 0.0


@jit(error_model="numpy")
def _squared_hinge(targets, scores, slopes):
    for b in range(targets.size):
        y, z = targets[b], scores[b, 0]
        slopes[b, 0] = 2.0 * (z - y) if y * z < 1.0 else 0.0


@jit(error_model="numpy")
def _squared_hinge_by_class(targets, scores, slopes):
    """As if every class were another's; then the own class, one per row."""
    for b in range(targets.size):
        for k in range(slopes.shape[1]):
            slopes[b, k] = 2.0 * (scores[b, k] + 1.0) if scores[b, k] > -1.0 else 0.0
    for b in range(targets.size):
        own = int(targets[b])
        slopes[b, own] = 2.0 * (scores[b, own] - 1.0) if scores[b, own] < 1.0 else 0.0


@jit(error_model="numpy")
def _softmax(y, scores, slopes):
    top = scores[0]
    for k in range(1, scores.size):
        top = max(top, scores[k])
    total = 0.0
    for k in range(scores.size):
        slopes[k] = math.exp(scores[k] - top)
        total += slopes[k]
    for k in range(scores.size):
        slopes[k] /= total
    slopes[int(y)] -= 1.0


@jit(error_model="numpy")
def write_slopes(code, threshold, targets, scores, scale, slopes, along_scale):
    """Turn scores into dloss/dz, and into dloss/dscale for Huber (0 for the others).

    Huber with a learned scale s is (s + 2 s H(r / s)) / 2, H Huber's loss, half of scikit-learn's;
    its derivatives are those below, both without units (Owen 2007, eq. 8).
    """
    n = targets.size
    along_scale[:n] = 0.0
    if code == SQUARED:
        for b in range(n):
            slopes[b, 0] = scores[b, 0] - targets[b]
    elif code == LOGISTIC:
        _logistic(targets, scores, slopes)
    elif code == HINGE:
        if slopes.shape[1] == 1:
            _hinge(targets, scores, slopes)
        else:
            _hinge_by_class(targets, scores, slopes)
    elif code == SQUARED_HINGE:
        if slopes.shape[1] == 1:
            _squared_hinge(targets, scores, slopes)
        else:
            _squared_hinge_by_class(targets, scores, slopes)
    elif code == HUBER:
        for b in range(n):
            slope = min(max((scores[b, 0] - targets[b]) / scale, -threshold), threshold)
            slopes[b, 0] = slope
            along_scale[b] = 0.5 * (1.0 - slope * slope)
    elif code == SOFTMAX:
        for b in range(n):
            _softmax(targets[b], scores[b], slopes[b])
