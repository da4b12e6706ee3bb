"""Products and sums of integer rows, compiled: the same bits as NumPy's (../integer_rows.py).

Sums of integers below 2^53 are exact in float64, in any order, so they may use vector instructions.
Slopes are computed row by row, in the order in which NumPy computes arrays.
"""

import math

import numpy as np

from privlearn._core.jit import ANY_ORDER, jit
from privlearn._objective.losses import logistic, squared

__all__ = [
    "add_gradients",
    "add_moments",
    "count_gradients",
    "integer_slope",
    "shorten_block",
    "store_column",
    "store_lengths",
    "store_rows",
    "store_targets",
]

SQUARED, LOGISTIC = squared.SQUARED, logistic.LOGISTIC
LIMB = 20  # bits of a sum's lower part
LOWER = (1 << LIMB) - 1
MOST = 2.0**26  # of a slope: with 15 bits of a row, the sum over 2^12 rows is at most 2^53
MORE = 2.0**8  # units of a wide feature's second column in one of its first
TURNED = 128  # rows at once
ROUNDS = 1.5 * 2.0**52
squared_slope, logistic_slope = squared.slope, logistic.slope


@jit()
def integer_slope(slope, norm, per_unit, reach):
    """A slope as an integer, of numbers or of arrays; times the row's length within `reach`."""
    limit = np.minimum(np.floor(reach / norm), MOST)
    return np.copysign(np.minimum(np.rint(np.abs(slope) * per_unit), limit), slope)


@jit(fastmath=ANY_ORDER)
def _add_scores(block, weights, scores):
    """Four columns at a time: each score is read and written once for them."""
    columns, rows = block.shape
    whole = columns - columns % 4
    scores[:] = 0.0
    for j in range(0, whole, 4):
        w0, w1, w2, w3 = weights[j], weights[j + 1], weights[j + 2], weights[j + 3]
        x0, x1, x2, x3 = block[j], block[j + 1], block[j + 2], block[j + 3]
        for i in range(rows):
            scores[i] += (w0 * x0[i] + w1 * x1[i]) + (w2 * x2[i] + w3 * x3[i])
    for j in range(whole, columns):
        w0, x0 = weights[j], block[j]
        for i in range(rows):
            scores[i] += w0 * x0[i]


@jit(fastmath=ANY_ORDER)
def _sum_columns(block, slopes, sums):
    """Four columns at a time: each slope is read once for them. The last sum is the slopes'."""
    columns, rows = block.shape
    whole = columns - columns % 4
    for j in range(0, whole, 4):
        x0, x1, x2, x3 = block[j], block[j + 1], block[j + 2], block[j + 3]
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        for i in range(rows):
            slope = slopes[i]
            s0 += slope * x0[i]
            s1 += slope * x1[i]
            s2 += slope * x2[i]
            s3 += slope * x3[i]
        sums[j], sums[j + 1], sums[j + 2], sums[j + 3] = s0, s1, s2, s3
    for j in range(whole, columns):
        x0, s0 = block[j], 0.0
        for i in range(rows):
            s0 += slopes[i] * x0[i]
        sums[j] = s0
    total = 0.0
    for i in range(rows):
        total += slopes[i]
    sums[columns] = total


@jit(error_model="numpy", nogil=True)
def store_targets(y, low, high, center, scale, targets):
    """Write targets in a solver's units, clipped."""
    for i in range(y.size):
        targets[i] = (min(max(y[i], low), high) - center) / scale


@jit(error_model="numpy")
def _targets_of(b, targets, room):
    """Targets of block `b`: those that are stored, or else written to `room`."""
    stored, classes, numbers, units = targets
    if stored.size:
        return stored[b]
    first, (low, high, center, scale) = b * room.size, units
    if classes.size:
        own = classes[first : first + room.size]
        store_targets(own, low, high, center, scale, room)
    else:
        given = numbers[first : first + room.size]
        store_targets(given, low, high, center, scale, room)
    return room


@jit(error_model="numpy")
def _write_slopes(loss, targets, unit, shift, scores, slopes):
    if loss == SQUARED:
        for i in range(scores.size):
            slopes[i] = squared_slope(np.float64(targets[i]), scores[i] * unit + shift)
    else:
        for i in range(scores.size):
            slopes[i] = logistic_slope(np.float64(targets[i]), scores[i] * unit + shift)


@jit(error_model="numpy")
def _write_integer_slopes(norms, per_unit, reach, slopes):
    for i in range(slopes.size):
        slopes[i] = integer_slope(slopes[i], np.float64(norms[i]), per_unit, reach)


@jit(error_model="numpy", nogil=True)
def add_gradients(rows, first, last, how, weights, per_unit, reach, upper, lower):
    """Add blocks of gradients, each shortened, to sums in two parts of `LIMB` bits and the rest."""
    values, targets, norms = rows
    loss, unit, shift = how
    size = values.shape[2]
    scores, slopes, sums = np.empty(size), np.empty(size), np.empty(values.shape[1] + 1)
    room = np.zeros(size, np.float32)
    for b in range(first, last):
        _add_scores(values[b], weights, scores)
        _write_slopes(loss, _targets_of(b, targets, room), unit, shift, scores, slopes)
        _write_integer_slopes(norms[b], per_unit, reach, slopes)
        _sum_columns(values[b], slopes, sums)
        for j in range(sums.size):
            found = np.int64(sums[j])
            upper[j] += found >> LIMB
            lower[j] += found & LOWER


@jit(error_model="numpy", nogil=True)
def count_gradients(rows, first, last, how, weights, longest, counts):
    """Count gradients of rows that are there by half powers of two below the longest."""
    values, targets, norms = rows
    loss, unit, shift = how
    size, end = values.shape[2], counts.size - 1
    scores, slopes, room = np.empty(size), np.empty(size), np.zeros(size, np.float32)
    bits = slopes.view(np.int64)
    for b in range(first, last):
        _add_scores(values[b], weights, scores)
        _write_slopes(loss, _targets_of(b, targets, room), unit, shift, scores, slopes)
        for i in range(size):
            relative = slopes[i] * np.float64(norms[b, i]) / longest
            slopes[i] = relative * relative
        for i in range(size):
            if norms[b, i] < math.inf:
                counts[min(max(1022 - ((bits[i] >> 52) & 0x7FF), 0), end)] += 1.0


@jit(error_model="numpy")
def _shorten(column, factor, shorter, found):
    for i in range(column.size):
        found[i] = np.trunc(column[i] * factor * shorter[i])


@jit(error_model="numpy")
def _shorten_wide(upper, lower, factor, finer, shorter, found):
    for i in range(upper.size):
        found[i] = np.trunc((upper[i] * factor + lower[i] * finer) * shorter[i])


@jit(error_model="numpy", nogil=True)
def shorten_block(block, norms, factor, wide, limit, entry, found):
    """Write a block's rows in other units, each shortened to a limit, rounded towards zero.

    The last row of `found` is the intercept's, whose whole entry is `entry`, where there is one.
    """
    features = block.shape[0] - wide.size
    shorter = np.empty(norms.size)
    for i in range(norms.size):
        shorter[i] = min(1.0, limit / np.float64(norms[i]))
    for j in range(features):
        _shorten(block[j], factor[j], shorter, found[j])
    for k in range(wide.size):
        j, second = wide[k], features + k
        _shorten_wide(block[j], block[second], factor[j], factor[second], shorter, found[j])
    for j in range(features, found.shape[0]):
        for i in range(shorter.size):
            found[j, i] = np.trunc(entry * shorter[i])


@jit(error_model="numpy", nogil=True)
def add_moments(rows, first, last, how, upper, lower):
    """Add products of the entries of shortened rows to sums in two parts, below the diagonal."""
    values, norms = rows
    factor, wide, limit, entry = how
    width = upper.shape[0]
    shortened, sums = np.empty((width, values.shape[2])), np.empty(width + 1)
    for b in range(first, last):
        shorten_block(values[b], norms[b], factor, wide, limit, entry, shortened)
        for i in range(width):
            _sum_columns(shortened[: i + 1], shortened[i], sums)
            for j in range(i + 1):
                found = np.int64(sums[j])
                upper[i, j] += found >> LIMB
                lower[i, j] += found & LOWER


@jit()
def _whole(value, largest):
    """The nearest integer within limits, of ties the even one: as rint, by vector instructions.

    Limits are integers, so it does not matter that they come first; below 2^51 a float64 that is
    added to 1.5 2^52 loses its fraction, and nothing else.
    """
    return (min(max(value, -largest), largest) + ROUNDS) - ROUNDS


@jit(error_model="numpy")
def _write_integers(column, fact, upper, squares):
    """Write numbers of one feature as integers, and add their squares."""
    low, high, center, factor, largest, unit = fact
    for i in range(column.size):
        value = min(max(np.float64(column[i]), low), high)
        value = _whole((value - center) * factor, largest)
        upper[i] = np.int16(value)
        squares[i] += value * value * unit


@jit(error_model="numpy")
def _split_wide(column, fact, upper, lower, squares):
    """The same of a feature in two columns."""
    low, high, center, factor, largest, unit = fact
    for i in range(column.size):
        value = min(max(np.float64(column[i]), low), high)
        value = _whole((value - center) * factor, largest)
        squares[i] += value * value * unit
        above = np.floor(value / MORE)
        upper[i] = np.int16(above)
        lower[i] = np.int16(value - above * MORE)


@jit(error_model="numpy")
def _write_lengths(squares, intercept, norms):
    """Upper bounds of rows' lengths, infinite for rows without any."""
    for i in range(squares.size):
        length = math.sqrt(squares[i] + intercept * intercept)
        norms[i] = length * (1.0 + 2.0**-22) if length > 0.0 else math.inf


@jit(error_model="numpy", nogil=True)
def store_rows(X, present, facts, wide, intercept, place, values, norms):
    """Write rows as integers, by columns, from row `place` on: the first of a block; and lengths.

    Some rows are turned at a time, so that they stay near the processor.
    """
    (n, features), size = X.shape, values.shape[2]
    turned, squares = np.empty((features, TURNED + 8)), np.empty(TURNED)  # no power of two apart
    second = np.full(features, -1)
    for k in range(wide.size):
        second[wide[k]] = features + k
    first = 0
    while first < n:
        b, at = (place + first) // size, (place + first) % size
        rows = min(TURNED, size - at, n - first)
        for i in range(rows):
            for j in range(features):
                turned[j, i] = X[first + i, j]
        squares[:] = 0.0
        for j in range(features):
            column, upper = turned[j, :rows], values[b, j, at : at + rows]
            if second[j] < 0:
                _write_integers(column, facts[j], upper, squares[:rows])
            else:
                lower = values[b, second[j], at : at + rows]
                _split_wide(column, facts[j], upper, lower, squares[:rows])
        _write_lengths(squares[:rows], intercept, norms[b, at : at + rows])
        if present.size:
            for i in range(rows):
                if not present[first + i]:
                    values[b, :, at + i] = 0
                    norms[b, at + i] = math.inf
        first += rows


@jit(error_model="numpy", nogil=True)
def store_column(column, fact, j, second, values, squares):
    """Write one feature of rows that come by columns, and add squares, as `store_rows` does."""
    size = values.shape[2]
    for b in range(values.shape[0]):
        first, last = b * size, min((b + 1) * size, column.size)
        own, room = column[first:last], squares[first:last]
        upper = values[b, j, : last - first]
        if second < 0:
            _write_integers(own, fact, upper, room)
        else:
            _split_wide(own, fact, upper, values[b, second, : last - first], room)


@jit(error_model="numpy", nogil=True)
def store_lengths(squares, intercept, norms):
    """Write lengths of rows once all features were added; what is beyond them stays."""
    _write_lengths(squares, intercept, norms[: squares.size])
