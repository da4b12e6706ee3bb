"""Lasso on groups of rows, each of which votes for the features of its largest coefficients."""

import math

import numpy as np

from privlearn._core.jit import jit
from privlearn._objective.prox import soft_threshold

__all__ = ["cast_ballots"]

SWEEPS = 100
TOLERANCE = 1e-6  # of a change, where the target has length 1


@jit(nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _product(a, b):
    """Inner product of two short vectors; a library call would cost more than the work."""
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total


@jit(nogil=True, error_model="numpy")
def _standardise(column):
    """Centre a column in place and give it length 1; zeros where it is constant or not finite."""
    largest = np.max(np.abs(column))
    scale = largest if 0.0 < largest < math.inf else 1.0  # 1e308 must not overflow
    column /= scale
    column -= np.mean(column)
    length = math.sqrt(_product(column, column))
    if length > 1e-12:
        column /= length
    else:
        column[:] = 0.0


@jit(nogil=True, error_model="numpy")
def _lasso(columns, residual, penalty, weights):
    """Minimise |residual - columns' w|^2 / 2 + penalty |w|_1, columns of length 1, from w = 0."""
    weights[:] = 0.0
    for _ in range(SWEEPS):
        largest = 0.0
        for j in range(weights.size):
            target = weights[j] + _product(columns[j], residual)
            moved = soft_threshold(target, penalty)
            change = moved - weights[j]
            if change != 0.0:
                weights[j] = moved
                for i in range(residual.size):
                    residual[i] -= change * columns[j, i]
                largest = max(largest, abs(change))
        if largest <= TOLERANCE:
            break


@jit(nogil=True, error_model="numpy")
def _vote(weights, k, votes):
    """One vote for each of the k largest weights that are not 0."""
    for _ in range(k):
        best = np.argmax(np.abs(weights))
        if not abs(weights[best]) > 0.0:
            break
        votes[best] += 1.0
        weights[best] = 0.0


@jit(nogil=True, error_model="numpy")
def cast_ballots(X, y, starts, k, share, votes):
    """Add the ballot of every group, rows starts[g] to starts[g + 1], to `votes`.

    The penalty is `share` of the least that leaves no feature. A group whose target is constant,
    or that has less than two rows, votes for nothing.
    """
    weights = np.empty(X.shape[1])
    for group in range(starts.size - 1):
        first, last = starts[group], starts[group + 1]
        if last - first < 2:
            continue
        columns, target = X[first:last].T.copy(), y[first:last].copy()
        _standardise(target)
        penalty = 0.0
        for j in range(weights.size):
            _standardise(columns[j])
            penalty = max(penalty, share * abs(_product(columns[j], target)))
        _lasso(columns, target, penalty, weights)
        _vote(weights, k, votes)
