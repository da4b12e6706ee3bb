"""Dual steps row by row in Python, with numpy's products for each row: what a loop is compared to.

Clipping, batches and constants are those of the compiled loop, without its noise, its averages and
its grid.
"""

import math

import numpy as np

__all__ = ["STEPS_OF_ROWS"]


def _ridge(y, score, held, stiffness):
    return (y - score - held) / (1.0 + stiffness)


def _hinge(y, score, held, stiffness):
    return y * min(max(y * held + (1.0 - y * score) / stiffness, 0.0), 1.0) - held


def _logistic(y, score, held, stiffness):
    f = 1.0 / (1.0 + math.exp(y * score))
    return (y * f - held) / (1.0 + stiffness * f * (1.0 - f))


def _loop_with(move):
    def loop(X, y, batches, clip, stiffness, step_size):
        held, w = np.zeros(len(X)), np.zeros(X.shape[1])
        total = np.zeros(X.shape[1])
        for batch in batches:
            for i in batch:
                x = X[i]
                square = x @ x
                change = move(y[i], x @ w, held[i], stiffness * square)
                limit = clip / math.sqrt(square)
                change = min(max(change, -limit), limit)
                held[i] += change
                total += change * x
            w = step_size * total
        return w

    return loop


STEPS_OF_ROWS = {
    "ridge": _loop_with(_ridge),
    "hinge": _loop_with(_hinge),
    "logistic": _loop_with(_logistic),
}
