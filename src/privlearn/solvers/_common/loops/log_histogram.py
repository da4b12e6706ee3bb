"""Histograms of magnitudes over stored rows, and the lengths of their gradients."""

import math

import numpy as np

from privlearn._core.jit import jit
from privlearn._objective.losses import HUBER
from privlearn.solvers._common.loops.loss_gradients import write_slopes
from privlearn.solvers._common.loops.row_products import score_rows

__all__ = ["count_lengths", "count_magnitudes", "rescale"]

AT_ONCE = 256


@jit()
def _octave(magnitude, bins):
    """0 for (1/2, 1] and above, then one more per halving; the last bin takes the rest and 0."""
    if not magnitude > 0.0:
        return bins - 1
    return min(max(-math.frexp(magnitude)[1], 0), bins - 1)


@jit(nogil=True)
def count_magnitudes(values, columns, starts, present, counts):
    """For each feature, how many rows that are present lie in each octave below 1."""
    n, bins = present.size, counts.shape[1]
    if columns.size == 0:
        for i in range(n):
            if present[i]:
                for j in range(counts.shape[0]):
                    counts[j, _octave(abs(values[i, j]), bins)] += 1.0
        return
    there = 0.0
    for i in range(n):
        if present[i]:
            there += 1.0
            for k in range(starts[i], starts[i + 1]):
                octave = _octave(abs(values[0, k]), bins)
                counts[columns[k], octave] += 1.0
                counts[columns[k], bins - 1] -= 1.0
    counts[:, bins - 1] += there


@jit(nogil=True)
def rescale(values, columns, starts, factor, unit, norms):
    """Multiply each feature by its factor in place; write upper bounds of the rows' lengths.

    Rounding errors of a sum of squares are far below 2^-30 of it. Empty rows have norm 0 and keep
    it.
    """
    for i in range(norms.size):
        squares = unit * unit
        if columns.size == 0:
            for j in range(values.shape[1]):
                values[i, j] *= factor[j]
                squares += np.float64(values[i, j]) * np.float64(values[i, j])
        else:
            for k in range(starts[i], starts[i + 1]):
                values[0, k] *= factor[columns[k]]
                squares += np.float64(values[0, k]) * np.float64(values[0, k])
        if norms[i] > 0.0:
            norms[i] = math.sqrt(squares) * (1.0 + 2.0**-30)


@jit(error_model="numpy", nogil=True)
def count_lengths(rows, present, model, weights, longest, counts):
    """How many gradients lie in each half octave below `longest`, at the given weights."""
    width, unit = model.width, model.unit
    features = width if unit == 0.0 else width - 1
    inner = np.ascontiguousarray(weights[:features]).reshape(1, features)
    scale = weights[-1] * model.scale_unit if model.loss == HUBER else 1.0
    scores, slopes = np.empty((AT_ONCE, 1)), np.empty((AT_ONCE, 1))
    along_scale, gathered = np.empty(AT_ONCE), np.empty((0, features))
    everyone = np.arange(rows.targets.size)
    bins = counts.size
    for start in range(0, everyone.size, AT_ONCE):
        part = everyone[start : start + AT_ONCE]
        score_rows(rows, part, inner, gathered, scores)
        if unit != 0.0:
            scores[: part.size] += unit * weights[features]
        targets = rows.targets[part]
        write_slopes(model.loss, model.threshold, targets, scores, scale, slopes, along_scale)
        for b in range(part.size):
            if present[part[b]]:
                across = slopes[b, 0] * rows.norms[part[b]]
                along = along_scale[b] * model.scale_unit
                relative = (across * across + along * along) / (longest * longest)
                half = bins - 1  # where a length is 0 or not a number
                if relative > 0.0:
                    half = int(min(max(-math.log2(relative), 0.0), bins - 1.0))
                counts[half] += 1.0
