"""Histograms of signed values, column by column: octaves first, even bins then."""

import math

from privlearn._core.jit import jit

__all__ = ["count_evenly", "count_octaves"]


@jit(nogil=True)
def count_octaves(X, present, octaves, counts):
    """How many rows that are present lie in which signed octave of each column.

    The middle bin takes 0 and what is smaller than 2^-octaves/2; the first and the last take
    everything beyond. A row is in one bin of each column.
    """
    for i in range(present.size):
        if present[i]:
            for j in range(X.shape[1]):
                exponent = math.frexp(X[i, j])[1] + octaves // 2
                place = 0
                if X[i, j] != 0.0 and exponent > 0:
                    place = min(exponent, octaves)
                counts[j, octaves + place if X[i, j] > 0.0 else octaves - place] += 1.0


@jit(error_model="numpy", nogil=True)
def count_evenly(X, present, low, per_width, counts):
    """How many rows that are present lie in which of the even bins of each column.

    Bins start at `low` and there are `per_width` to a unit; the first and the last take everything
    beyond.
    """
    last = counts.shape[1] - 1
    for i in range(present.size):
        if present[i]:
            for j in range(X.shape[1]):
                place = (X[i, j] - low[j]) * per_width[j]
                counts[j, int(min(max(place, 0.0), float(last)))] += 1.0
