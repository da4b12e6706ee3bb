"""Counting stored rows in bins: magnitudes of features, lengths of gradients."""

import math

import numpy as np

from privlearn._core.jit import jit
from privlearn._objective.losses.compiled import write_loss_gradients
from privlearn.solvers._common.loops.row_products import score_rows
from privlearn.solvers._common.loops.sgd import auxiliary_value, split_weights

__all__ = ["count_lengths", "count_magnitudes"]

AT_ONCE = 256


@jit()
def _power_of_two(magnitude, bins):
    """0 for (1/2, 1] and above, then one more per halving; the last bin takes the rest and 0."""
    if not magnitude > 0.0:
        return bins - 1
    return min(max(-math.frexp(magnitude)[1], 0), bins - 1)


@jit(nogil=True)
def count_magnitudes(values, columns, starts, present, counts):
    """For each feature, how many rows that are present lie between two powers of two below 1."""
    n, bins = present.size, counts.shape[1]
    if columns.size == 0:
        for i in range(n):
            if present[i]:
                for j in range(counts.shape[0]):
                    counts[j, _power_of_two(abs(values[i, j]), bins)] += 1.0
        return
    there = 0.0
    for i in range(n):
        if present[i]:
            there += 1.0
            for k in range(starts[i], starts[i + 1]):
                place = _power_of_two(abs(values[0, k]), bins)
                counts[columns[k], place] += 1.0
                counts[columns[k], bins - 1] -= 1.0
    counts[:, bins - 1] += there


@jit(error_model="numpy")
def row_length(slopes):
    """Length of a vector; of one number its size."""
    squares = 0.0
    for k in range(slopes.size):
        squares += slopes[k] * slopes[k]
    return abs(slopes[0]) if slopes.size == 1 else math.sqrt(squares)


@jit(error_model="numpy", nogil=True)
def count_lengths(rows, present, objective, weights, longest, counts):
    """How many gradients lie in each half power of two below `longest`, at the given weights."""
    width, unit, outputs = objective.width, objective.intercept_value, objective.outputs
    features = width if unit == 0.0 else width - 1
    inner, shift = np.empty((outputs, features)), np.empty(outputs)
    split_weights(weights, width, unit, inner, shift)
    auxiliary = auxiliary_value(objective, weights)
    scores, slopes = np.empty((AT_ONCE, outputs)), np.empty((AT_ONCE, outputs))
    gathered = np.empty((AT_ONCE if outputs > 1 and rows.columns.size == 0 else 0, features))
    along_auxiliary = np.empty(AT_ONCE)
    everyone = np.arange(rows.targets.size)
    bins = counts.size
    for start in range(0, everyone.size, AT_ONCE):
        part = everyone[start : start + AT_ONCE]
        score_rows(rows, part, inner, gathered, scores)
        if unit != 0.0:
            scores[: part.size] += shift
        targets = rows.targets[part]
        write_loss_gradients(
            objective.loss, objective.threshold, targets, scores, auxiliary, slopes, along_auxiliary
        )
        for b in range(part.size):
            if present[part[b]]:
                across = row_length(slopes[b]) * rows.norms[part[b]]
                along = along_auxiliary[b] * objective.auxiliary_unit
                relative = (across * across + along * along) / (longest * longest)
                half = bins - 1  # where a length is 0 or not a number
                if relative > 0.0:
                    half = int(min(max(-math.log2(relative), 0.0), bins - 1.0))
                counts[half] += 1.0
