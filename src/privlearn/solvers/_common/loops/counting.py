"""Counting rows in bins, compiled: the same counts as NumPy's (../counting.py).

Rows come as they are and are clipped here, so that nothing is copied. Some rows at a time: places
first, by vector instructions, and what they need is repeated for each of these rows.
"""

import numpy as np

from privlearn._core.jit import jit

__all__ = ["count_evenly", "count_scaled", "count_signed"]

AT_ONCE = 256  # numbers


@jit()
def _repeated(values, rows):
    found = np.empty(rows * values.size, values.dtype)
    for i in range(rows):
        for j in range(values.size):
            found[i * values.size + j] = values[j]
    return found


@jit()
def _first_bins(columns, bins, rows):
    """The place of each column's first bin, of some rows."""
    return _repeated(np.arange(columns) * bins, rows)


@jit()
def _add_ones(places, columns, present, first, counts):
    """Count the rows that are there: all, where `present` is empty."""
    if present.size == 0:
        for k in range(places.size):
            counts[np.uintp(places[k])] += 1.0
        return
    for k in range(places.size):
        if present[first + k // columns]:
            counts[np.uintp(places[k])] += 1.0


@jit()
def _exponent(bits):
    """What frexp finds in the bits of a number, far below every power that counts for 0."""
    return ((bits >> 52) & 0x7FF) - 1022


@jit()
def _write_signed(given, low, high, bins, powers, values, places):
    for k in range(given.size):
        values[k] = min(max(given[k], low[k]), high[k])
    bits = values.view(np.int64)
    for k in range(given.size):
        place = min(max(_exponent(bits[k]) + powers // 2, 0), powers)
        places[k] = bins[k] + (powers - place if bits[k] < 0 else powers + place)


@jit(nogil=True)
def count_signed(X, present, box, powers, counts):
    """How many rows that are present lie between which signed powers of two, of each column.

    The middle bin takes 0 and what is smaller than 2^-powers/2; the first and the last take
    everything beyond. A row is in one bin of each column.
    """
    (n, columns), flat, found = X.shape, X.ravel(), counts.ravel()
    rows = max(1, AT_ONCE // columns)
    low, high = _repeated(box[0], rows), _repeated(box[1], rows)
    bins = _first_bins(columns, counts.shape[1], rows)
    values, places = np.empty(bins.size), np.empty(bins.size, np.int64)
    for first in range(0, n, rows):
        given = flat[first * columns : (first + rows) * columns]
        _write_signed(given, low, high, bins, powers, values, places)
        _add_ones(places[: given.size], columns, present, first, found)


@jit()
def _write_scaled(given, low, high, center, inverse_scale, bins, last, values, places):
    for k in range(given.size):
        value = min(max(given[k], low[k]), high[k])
        values[k] = abs((value - center[k]) * inverse_scale[k])
    bits = values.view(np.int64)
    for k in range(given.size):
        places[k] = bins[k] + min(max(-_exponent(bits[k]), 0), last)


@jit(nogil=True)
def count_scaled(X, present, box, center, inverse_scale, counts):
    """How many rows that are present lie between two powers of two below 1, of each column.

    Columns are centred and scaled first. The last bin takes 0 and the rest.
    """
    (n, columns), flat, found = X.shape, X.ravel(), counts.ravel()
    rows, last = max(1, AT_ONCE // columns), counts.shape[1] - 1
    low, high = _repeated(box[0], rows), _repeated(box[1], rows)
    middle, factor = _repeated(center, rows), _repeated(inverse_scale, rows)
    bins = _first_bins(columns, counts.shape[1], rows)
    values, places = np.empty(bins.size), np.empty(bins.size, np.int64)
    for first in range(0, n, rows):
        given = flat[first * columns : (first + rows) * columns]
        _write_scaled(given, low, high, middle, factor, bins, last, values, places)
        _add_ones(places[: given.size], columns, present, first, found)


@jit()
def _write_even(given, low, high, begin, per_width, bins, last, places):
    for k in range(given.size):
        place = (min(max(given[k], low[k]), high[k]) - begin[k]) * per_width[k]
        places[k] = bins[k] + int(min(max(place, 0.0), last))


@jit(nogil=True)
def count_evenly(X, present, box, begin, per_width, counts):
    """How many rows that are present lie in which of the even bins of each column.

    Bins begin at `begin` and there are `per_width` to a unit; the first and the last take
    everything beyond.
    """
    (n, columns), flat, found = X.shape, X.ravel(), counts.ravel()
    rows, last = max(1, AT_ONCE // columns), counts.shape[1] - 1.0
    low, high = _repeated(box[0], rows), _repeated(box[1], rows)
    zero, factor = _repeated(begin, rows), _repeated(per_width, rows)
    bins = _first_bins(columns, counts.shape[1], rows)
    places = np.empty(bins.size, np.int64)
    for first in range(0, n, rows):
        given = flat[first * columns : (first + rows) * columns]
        _write_even(given, low, high, zero, factor, bins, last, places)
        _add_ones(places[: given.size], columns, present, first, found)
