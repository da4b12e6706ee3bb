"""Least squares of many small blocks of rows, each from its own rows and nothing else."""

import numpy as np

from privlearn._core.jit import jit

__all__ = ["fit_blocks"]

DEPENDENT = 2.0**-30  # of a column's length: what is left of a column that others explain


@jit(error_model="numpy", nogil=True)
def fit_blocks(X, y, present, starts, intercept, models):
    """Fit block k to rows starts[k]:starts[k + 1]; `models` gets one row per block.

    A column that is zero, or that columns before it in the pivoting explain, gets coefficient 0;
    so a block without rows is the model 0. Whatever overflows is left to the caller.
    """
    d = models.shape[1]
    first = 1 if intercept else 0
    largest = 0
    for k in range(models.shape[0]):
        largest = max(largest, starts[k + 1] - starts[k])
    table = np.empty((d + 1, largest))
    units = np.empty(d + 1)
    order = np.empty(d, dtype=np.int64)
    for k in range(models.shape[0]):
        rows = 0
        for i in range(starts[k], starts[k + 1]):
            if present[i]:
                if intercept:
                    table[0, rows] = 1.0
                for j in range(first, d):
                    table[j, rows] = X[i, j - first]
                table[d, rows] = y[i]
                rows += 1
        for j in range(d + 1):
            units[j] = _to_unit_length(table[j], rows)
        rank = _triangular(table, rows, order)
        _solve(table, units, order, rank, models[k])


@jit(error_model="numpy")
def _to_unit_length(column, rows):
    """Scale a column to length 1, without overflow, and give the factor that undoes it."""
    top = 0.0
    for i in range(rows):
        top = max(top, abs(column[i]))
    if top == 0.0:
        return 1.0
    total = 0.0
    for i in range(rows):
        column[i] /= top
        total += column[i] * column[i]
    length = np.sqrt(total)
    for i in range(rows):
        column[i] /= length
    return top * length


@jit(error_model="numpy")
def _triangular(table, rows, order):
    """Householder reflections, longest remaining column first; returns the rank.

    Column order[r] holds r + 1 entries of the triangle; the target, last, is reflected, too.
    """
    d = table.shape[0] - 1
    for j in range(d):
        order[j] = j
    for r in range(min(rows, d)):
        pivot, most = r, -1.0
        for c in range(r, d):
            rest = 0.0
            for i in range(r, rows):
                rest += table[order[c], i] ** 2
            if rest > most:
                pivot, most = c, rest
        length = np.sqrt(most)
        if not length > DEPENDENT:
            return r
        order[r], order[pivot] = order[pivot], order[r]
        _reflect(table, rows, order, r, length)
    return min(rows, d)


@jit(error_model="numpy")
def _reflect(table, rows, order, r, length):
    """Turn the rest of column order[r] into one entry, and the columns after it alike."""
    d = table.shape[0] - 1
    column = table[order[r]]
    head = column[r]
    diagonal = -length if head > 0 else length
    column[r] = head - diagonal
    half = length * (length + abs(head))  # half of the reflected vector's squared length
    for c in range(r + 1, d + 1):
        other = table[order[c]] if c < d else table[d]
        product = 0.0
        for i in range(r, rows):
            product += column[i] * other[i]
        product /= half
        for i in range(r, rows):
            other[i] -= product * column[i]
    column[r] = diagonal


@jit(error_model="numpy")
def _solve(table, units, order, rank, model):
    """Back substitution, in the units of the data."""
    d = table.shape[0] - 1
    model[:] = 0.0
    for r in range(rank - 1, -1, -1):
        value = table[d, r]
        for c in range(r + 1, rank):
            value -= table[order[c], r] * model[order[c]]
        model[order[r]] = value / table[order[r], r]
    for j in range(d):
        if model[j] != 0.0:
            model[j] = model[j] * (units[d] / units[j])
