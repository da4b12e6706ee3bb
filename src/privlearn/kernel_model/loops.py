"""Counting values between edges and mapping them to ranks, compiled: the same bits as NumPy's."""

import numpy as np

from privlearn._core.jit import jit

__all__ = ["count_between", "write_ranks"]


@jit(error_model="numpy")
def _bin_of(inner, value):
    """How many of the 64 inner edges are at most the value: halves of halves, and no branches."""
    k = 32 if inner[31] <= value else 0
    k += 16 if inner[k + 15] <= value else 0
    k += 8 if inner[k + 7] <= value else 0
    k += 4 if inner[k + 3] <= value else 0
    k += 2 if inner[k + 1] <= value else 0
    k += 1 if inner[k] <= value else 0
    k += 1 if inner[k] <= value else 0
    return k


@jit(error_model="numpy", nogil=True)
def count_between(X, edges, counts):
    """Add to `counts` how many rows lie between which edges of each column."""
    for j in range(X.shape[1]):
        inner, own = edges[j, 1:-1], counts[j]
        for i in range(X.shape[0]):
            own[_bin_of(inner, X[i, j])] += 1.0


@jit(error_model="numpy", nogil=True)
def write_ranks(X, edges, ranks, slopes, out):
    """Write ranks of values, linear between those of the edges, in single precision."""
    for j in range(X.shape[1]):
        inner, own, of_own, slope = edges[j, 1:-1], edges[j], ranks[j], slopes[j]
        least, most = of_own[0], of_own[-1]
        for i in range(X.shape[0]):
            k = _bin_of(inner, X[i, j])
            found = slope[k] * (X[i, j] - own[k]) + of_own[k]
            found = most if X[i, j] >= own[-1] else found
            out[i, j] = np.float32(min(max(found, least), most))
