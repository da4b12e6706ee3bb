"""Dual steps of the losses for a block of rows, chosen by code, for compiled loops.

A row's dual variable a stands for minus the derivative of its loss. Its step minimises

    conjugate(-a') + score (a' - a) + stiffness (a' - a)^2 / 2

over a' (Shalev-Shwartz, Zhang 2013; Damaskinos et al. 2021, eq. 8): in closed form, or for the
logistic loss by Newton's step from where the stiffness is zero. Hinges are written for b = sign a.
"""

from privlearn._core.jit import jit
from privlearn._objective.losses import HINGE, HUBER, LOGISTIC, SQUARED, SQUARED_HINGE
from privlearn.solvers._common.loops.loss_gradients import fade
from privlearn.solvers._common.loops.row_products import ANY_ORDER

__all__ = ["write_moves"]


@jit(fastmath=ANY_ORDER, error_model="numpy")
def _squared(targets, scores, held, stiffness, moves):
    for i in range(targets.size):
        moves[i, 0] = (targets[i] - scores[i, 0] - held[i, 0]) / (1.0 + stiffness[i])


@jit(error_model="numpy")
def _huber(threshold, scale, targets, scores, held, stiffness, moves):
    """The conjugate is scale a^2 / 2 - y a for |a| <= threshold.

    Weights move in proportion to the scale, and so does the stiffness.
    """
    for i in range(targets.size):
        a, s = held[i, 0], stiffness[i]
        best = ((targets[i] - scores[i, 0]) / scale + s * a) / (1.0 + s)
        moves[i, 0] = min(max(best, -threshold), threshold) - a


@jit(fastmath=ANY_ORDER, error_model="numpy")
def _logistic(targets, scores, held, stiffness, moves):
    """Between b and 1 / (1 + exp(margin)), so b never leaves [0, 1] and needs no logarithm.

    With f the latter, log(t / (1 - t)) + margin + s (t - b) has value s (f - b) and slope
    1 / (f (1 - f)) + s at t = f.
    """
    for i in range(targets.size):
        y = targets[i]
        f = fade(y * scores[i, 0])
        moves[i, 0] = (y * f - held[i, 0]) / (1.0 + stiffness[i] * f * (1.0 - f))


@jit(error_model="numpy")
def _sign(targets, i, k, outputs):
    if outputs == 1:
        return targets[i]
    return 1.0 if int(targets[i]) == k else -1.0


@jit(error_model="numpy")
def _hinge(targets, scores, held, stiffness, moves):
    """The conjugate is -b for b in [0, 1]."""
    outputs = moves.shape[1]
    for i in range(targets.size):
        for k in range(outputs):
            y = _sign(targets, i, k, outputs)
            best = y * held[i, k] + (1.0 - y * scores[i, k]) / stiffness[i]
            moves[i, k] = y * min(max(best, 0.0), 1.0) - held[i, k]


@jit(error_model="numpy")
def _squared_hinge(targets, scores, held, stiffness, moves):
    """The conjugate is b^2 / 4 - b for b >= 0."""
    outputs = moves.shape[1]
    for i in range(targets.size):
        s = stiffness[i]
        for k in range(outputs):
            y = _sign(targets, i, k, outputs)
            best = (1.0 - y * scores[i, k] + s * y * held[i, k]) / (0.5 + s)
            moves[i, k] = y * max(best, 0.0) - held[i, k]


@jit(error_model="numpy")
def write_moves(code, threshold, targets, scores, scale, held, stiffness, moves):
    """Turn scores and dual variables into the steps of the latter; `scale` is Huber's."""
    if code == SQUARED:
        _squared(targets, scores, held, stiffness, moves)
    elif code == HUBER:
        _huber(threshold, scale, targets, scores, held, stiffness, moves)
    elif code == LOGISTIC:
        _logistic(targets, scores, held, stiffness, moves)
    elif code == HINGE:
        _hinge(targets, scores, held, stiffness, moves)
    elif code == SQUARED_HINGE:
        _squared_hinge(targets, scores, held, stiffness, moves)
