"""Derivatives of the losses for a block of rows, chosen by code, for compiled loops.

The choice is made outside of the loop over rows, so that each loop is short and vectorises.
"""

import math

from numba import njit

from privlearn.losses import HINGE, HUBER, LOGISTIC, SOFTMAX, SQUARED

__all__ = ["write_slopes"]


@njit(cache=True, error_model="numpy")
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


@njit(cache=True, error_model="numpy")
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
        for b in range(n):
            # exp of a large margin is infinite, and y / infinity the right limit
            slopes[b, 0] = -targets[b] / (1.0 + math.exp(targets[b] * scores[b, 0]))
    elif code == HINGE:
        for b in range(n):
            slopes[b, 0] = -targets[b] if targets[b] * scores[b, 0] < 1.0 else 0.0
    elif code == HUBER:
        for b in range(n):
            slope = min(max((scores[b, 0] - targets[b]) / scale, -threshold), threshold)
            slopes[b, 0] = slope
            along_scale[b] = 0.5 * (1.0 - slope * slope)
    elif code == SOFTMAX:
        for b in range(n):
            _softmax(targets[b], scores[b], slopes[b])
