"""Counting stored rows in bins: magnitudes of features, lengths of gradients."""

import math

import numpy as np
from numpy.typing import NDArray

from privlearn._core.jit import jit
from privlearn.solvers._common.loops.row_products import StoredRows
from privlearn.solvers._common.loops.sgd import (
    CompiledObjective,
    auxiliary_value,
    loss_gradients,
    scored_blocks,
)

__all__ = ["count_lengths", "count_magnitudes"]

Array = NDArray[np.float64]


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


def count_lengths(
    rows: StoredRows,
    present: NDArray[np.bool_],
    objective: CompiledObjective,
    weights: Array,
    longest: float,
    counts: Array,
) -> None:
    """How many gradients lie in each half power of two below `longest`, at the given weights."""
    auxiliary = auxiliary_value(objective, weights)
    for block in scored_blocks(rows, np.arange(rows.targets.size), objective, weights):
        slopes, along = loss_gradients(block, objective, auxiliary)
        _count_relative(slopes, along, rows.norms, present, block.batch, longest, counts)


@jit(error_model="numpy", nogil=True)
def _count_relative(slopes, along, norms, present, batch, longest, counts):
    bins = counts.size
    for b in range(batch.size):
        if present[batch[b]]:
            squares = 0.0
            for k in range(slopes.shape[1]):
                squares += slopes[b, k] * slopes[b, k]
            length = abs(slopes[b, 0]) if slopes.shape[1] == 1 else math.sqrt(squares)
            across = length * norms[batch[b]]
            relative = (across * across + along[b] * along[b]) / (longest * longest)
            half = bins - 1  # where a length is 0 or not a number
            if relative > 0.0:
                half = int(min(max(-math.log2(relative), 0.0), bins - 1.0))
            counts[half] += 1.0
