"""Compiled losses for a block of rows, chosen by code: the tables that loops read.

The choice is made outside of the loop over rows, so that each loop is short and vectorises. A loop
that is compiled compiles all losses with it; one in Python asks `write_loss_gradients.py_func`, and
compiles one.
`auxiliary` is the value of what the loss learns beside the coefficients, 1 where that is nothing.
"""

from privlearn._core.jit import jit
from privlearn._objective.losses import (
    hinge,
    huber,
    logistic,
    poisson,
    softmax,
    squared,
    squared_hinge,
)
from privlearn._objective.losses.base import Array

__all__ = [
    "OF_SCORES_ALONE",
    "column_sum",
    "moved_auxiliary",
    "write_dual_updates",
    "write_loss_gradients",
]

# Names that compiled functions read: they know no attributes of modules' attributes.
SQUARED, HUBER, LOGISTIC = squared.SQUARED, huber.HUBER, logistic.LOGISTIC
HINGE, SQUARED_HINGE, SOFTMAX = hinge.HINGE, squared_hinge.SQUARED_HINGE, softmax.SOFTMAX
POISSON = poisson.POISSON
# Losses of one score and nothing else.
OF_SCORES_ALONE = {
    SQUARED: squared.write_gradients,
    LOGISTIC: logistic.write_gradients,
    HINGE: hinge.write_gradients,
    SQUARED_HINGE: squared_hinge.write_gradients,
}


@jit(error_model="numpy")
def write_loss_gradients(code, threshold, targets, scores, auxiliary, slopes, along_auxiliary):
    """Turn scores into dloss/dz, and into dloss/d(auxiliary weight), 0 without one."""
    along_auxiliary[: targets.size] = 0.0
    if code == SQUARED:
        squared.write_gradients(targets, scores, slopes)
    elif code == LOGISTIC:
        logistic.write_gradients(targets, scores, slopes)
    elif code == HINGE:
        if slopes.shape[1] == 1:
            hinge.write_gradients(targets, scores, slopes)
        else:
            hinge.write_gradients_by_class(targets, scores, slopes)
    elif code == SQUARED_HINGE:
        if slopes.shape[1] == 1:
            squared_hinge.write_gradients(targets, scores, slopes)
        else:
            squared_hinge.write_gradients_by_class(targets, scores, slopes)
    elif code == HUBER:
        huber.write_gradients(threshold, auxiliary, targets, scores, slopes, along_auxiliary)
    elif code == POISSON:
        poisson.write_gradients(threshold, targets, scores, slopes)
    elif code == SOFTMAX:
        softmax.write_gradients(targets, scores, slopes)


def write_dual_updates(
    code: int,
    threshold: float,
    targets: Array,
    scores: Array,
    auxiliary: float,
    dual: Array,
    stiffness: Array,
    updates: Array,
) -> None:
    """Turn scores and dual variables into the steps of the latter.

    A row's dual variable a stands for minus the derivative of its loss. Its step minimises

        conjugate(-a') + score (a' - a) + stiffness (a' - a)^2 / 2

    over a' (Shalev-Shwartz, Zhang 2013; Damaskinos et al. 2021, eq. 8), in closed form or nearly.
    """
    if code == SQUARED:
        squared.write_dual_updates(targets, scores, dual, stiffness, updates)
    elif code == HUBER:
        huber.write_dual_updates(threshold, auxiliary, targets, scores, dual, stiffness, updates)
    elif code == LOGISTIC:
        logistic.write_dual_updates(targets, scores, dual, stiffness, updates)
    elif code == HINGE:
        hinge.write_dual_updates(targets, scores, dual, stiffness, updates)
    elif code == SQUARED_HINGE:
        squared_hinge.write_dual_updates(targets, scores, dual, stiffness, updates)


@jit(error_model="numpy")
def column_sum(code, threshold, auxiliary, own, before, change, limit, targets, scores):
    """Add `change` x column `before` to the scores, then sum derivatives along the column `own`.

    Each is within its limit. Scores are less the targets where a loss depends on that alone.
    """
    if code == SQUARED:
        return squared.column_sum(own, before, change, limit, scores)
    if code == LOGISTIC:
        return logistic.column_sum(own, before, change, limit, targets, scores)
    if code == POISSON:
        return poisson.column_sum(own, before, change, limit, threshold, targets, scores)
    return huber.column_sum(own, before, change, limit, threshold, auxiliary, scores)


auxiliary_sum = huber.scale_sum  # the same for the derivative in the auxiliary weight
moved_auxiliary = huber.moved_scale  # the auxiliary weight after a dual step
