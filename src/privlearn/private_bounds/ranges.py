"""Where the values of columns lie, from noisy histograms of each (private_bounds/proof.md).

Signed powers of two come first: they cover magnitudes from 2^-64 to 2^64 and say where to look. A
column within one power of two may be as narrow as it likes: many even bins between its ends find
it, twice. Few even bins, in which tails show best, tell the ends of all columns at last. All but
the counting is post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from privlearn._data.bounded import BoundedData, Rows
from privlearn.solvers._common.loops import histograms

__all__ = [
    "LAST_BINS",
    "SIGNED_BINS",
    "CoarseRange",
    "Columns",
    "Range",
    "coarse_range",
    "even_counts",
    "located_range",
    "refined_range",
    "signed_counts",
    "widened",
    "zoom_bins",
]

Array = NDArray[np.float64]
Places = NDArray[np.int64]
Windows = tuple[int, ...]
Columns = Callable[[Rows], Array]  # which columns of a block are meant
POWERS = 128  # to either side of zero: magnitudes from 2^-64 to 2^64
SIGNED_BINS = 2 * POWERS + 1
LAST_BINS = 32
MOST_BINS, BINS_IN_ALL = 2**12, 2**16  # of a column, and of all of them, in one release
READABLE = 8.0  # deviations of noise above which a window of even bins is surely filled, or so
# False alarms of a release: one far power of two ruins a fit, an even bin only widens a range.
SIGNED_ALARMS, EVEN_ALARMS = 1e-5, 1e-4
# Deviations by which bins next to a significant one must stand out, and how many are next to it.
SIGNED_WINDOWS = (1, 2, 4)
SIGNED_NEXT, SIGNED_NEAR = 3.5, 2
# Deviations by which rows that are not zero must stand out, and then a bin that has them.
SURELY_ELSEWHERE, LIKELY = 8.0, 4.5
EVEN_NEXT, EVEN_NEAR = 4.0, 8
COVERED = 0.6  # of the rows: with fewer between the ends, the rest is missing
SLACK = 1.5  # deviations of the noise on their number, where a column may be narrow
# Rows in no power of two that was seen, as a part of all and in deviations of noise, from which on
# zero is within the range; where nobody knows how many there are, deviations of zero's own bin.
MISSING, SURELY_MISSING, LIKELY_ZERO = 0.1, 2.0, 4.0
INSIDE = 0.95  # of the rows between two ends that even bins between them must hold
TELLING = 2  # bins: a column that fills more is no narrower than they are
GENEROUS = 1.0  # widths of what many bins show, by which a range is widened before the last zoom
HIDING = 200.0  # rows per deviation of noise up to which tails are hidden
PILED = 0.9  # of the rows in one bin of the last histogram: then they have one value
UNKNOWN = 1.0  # half the range of a column of which nothing but zeros is seen
FEW = 1.25  # thresholds below which rows beside many zeros may be noise


@dataclass(frozen=True, eq=False)
class Range:
    """Ends of the columns' values, low < high."""

    low: Array
    high: Array


@dataclass(frozen=True, eq=False)
class CoarseRange(Range):
    """Ends of bins with values; values are surely beyond `latest_low` and `earliest_high`.

    Attributes
    ----------
    rows : array
        How many lie between the ends, after noise.
    may_be_narrow : array of bool
        Whether nothing tells how narrow the column is: it lies in one or two powers of two, or in
        one or two even bins, or in more of them but so thinly that none shows it.
    """

    latest_low: Array
    earliest_high: Array
    rows: Array
    may_be_narrow: NDArray[np.bool_]


def zoom_bins(rows_per_noise: float, columns: int) -> tuple[int, int]:
    """How many even bins there are in the two zooms into columns that may be narrow.

    Rows that fill k bins evenly are seen where they exceed `READABLE` sqrt(k) deviations of noise.
    With the square of that k in the first zoom, a column that it does not show is so wide that k
    show it in the second.

    Parameters
    ----------
    rows_per_noise : float
        Rows, over the deviation of the noise on a count: public.
    columns : int
        How many there are; they share `BINS_IN_ALL`.
    """
    visible = min((rows_per_noise / READABLE) ** 2, float(MOST_BINS))
    most = max(min(MOST_BINS, BINS_IN_ALL // columns), LAST_BINS)
    first, second = (min(max(int(bins), LAST_BINS), most) for bins in (visible**2, visible))
    return first, second


def signed_counts(data: BoundedData, columns: Columns, width: int) -> Array:
    """Rows between signed powers of two of each of `width` columns; a secret."""
    counts = np.zeros((width, SIGNED_BINS))
    for rows in data.blocks():
        histograms.count_signed(columns(rows), rows.present, POWERS, counts)
    return counts


def even_counts(data: BoundedData, columns: Columns, within: Range, bins: int) -> Array:
    """Rows in each of the even bins between the ends; a secret."""
    counts = np.zeros((len(within.low), bins))
    per_width = bins / (within.high - within.low)
    for rows in data.blocks():
        histograms.count_evenly(columns(rows), rows.present, within.low, per_width, counts)
    return counts


def coarse_range(counts: Array, noise: float, rows: int | None = None) -> CoarseRange:
    """Ends of the powers of two that hold more than noise would; [-1, 1] where none but zeros do.

    Where they hold too few of the rows, the others are taken to lie around zero, as far out. The
    bin of zero is next to none: its neighbours are 2^-64. Where zeros dominate, and what else is
    seen may be noise, the range reaches at least to 1.

    Parameters
    ----------
    counts : array of shape (columns, SIGNED_BINS)
        Noisy.
    noise : float
        Standard deviation of the noise on a count.
    rows : int or None, default=None
        The public number of rows. None, where it is private, looks for nothing that is missing: a
        sum over all bins has too much noise to tell.
    """
    sure = _significance(len(SIGNED_WINDOWS) * counts.size, SIGNED_ALARMS) * noise
    zeros, level = counts[:, POWERS], np.full((len(counts), 1), sure)
    above, below = _both_sides(counts, level, noise)
    if rows is not None:  # surely some rows are not zero: they may be where they hardly stand out
        elsewhere = ~(above.seen | below.seen) & (rows - zeros > SURELY_ELSEWHERE * noise)
        level[elsewhere] = LIKELY * noise
        above, below = _both_sides(counts, level, noise)
    beside = above.rows + below.rows
    zero = (zeros > sure) | _elsewhere(zeros, beside, above.bins + below.bins, noise, rows)
    few = zero & (beside < FEW * sure) & (beside < zeros)
    low, latest_low = _lower_ends(below, above, zero, few)
    high, earliest_high = (-end for end in _lower_ends(above, below, zero, few))
    # Beside many zeros, rows that spread over several powers are too thin to be seen closer.
    dominated = zero & (zeros > beside)
    earliest_high = np.where(dominated & above.spread, high, earliest_high)
    latest_low = np.where(dominated & below.spread, low, latest_low)
    unseen = ~(above.seen | below.seen)
    inside = beside + np.where(zero | (above.seen & below.seen), zeros, 0.0)
    around = unseen if rows is None else unseen | (inside <= COVERED * rows)
    far = np.where(unseen, UNKNOWN, np.maximum(-low, high))
    inner = np.where(unseen, far, far / 2.0)
    one_side = (above.seen ^ below.seen) & ~zero & ~around
    narrow = one_side & (above.bins + below.bins <= 2)
    return CoarseRange(
        np.where(around, -far, low),
        np.where(around, far, high),
        np.where(around, -inner, np.where(narrow, high, latest_low)),
        np.where(around, inner, np.where(narrow, low, earliest_high)),
        inside,
        narrow,
    )


def _elsewhere(
    zeros: Array, beside: Array, bins: Places, noise: float, rows: int | None
) -> NDArray[np.bool_]:
    """Whether zero must be within the range, although its bin does not stand out among all.

    Too many rows are in no bin that was seen. Where their number is private, zero's bin tells.
    """
    if rows is None:
        return np.asarray(zeros > LIKELY_ZERO * noise)
    missing = rows - beside
    return (missing > MISSING * rows) & (missing > SURELY_MISSING * noise * np.sqrt(bins + 1.0))


@dataclass(frozen=True, eq=False)
class _Powers:
    """Significant powers of two on one side of zero: ends of them all, how many, rows in them.

    Those next to a significant one, which need less, do not count.
    """

    seen: NDArray[np.bool_]
    least: Array  # magnitudes: the outer and inner end of the smallest and of the largest power
    least_outer: Array
    most_inner: Array
    most: Array
    bins: Places
    rows: Array

    @property
    def spread(self) -> NDArray[np.bool_]:
        """Whether there are rows in several of them."""
        return self.seen & (self.most_inner > self.least)


def _both_sides(counts: Array, sure: Array, noise: float) -> tuple[_Powers, _Powers]:
    """Above zero and below."""
    above, below = counts[:, POWERS + 1 :], counts[:, POWERS - 1 :: -1]
    return _powers(above, sure, noise), _powers(below, sure, noise)


def _powers(counts: Array, sure: Array, noise: float) -> _Powers:
    """What one side holds, the smallest power first."""
    near = SIGNED_NEXT * noise
    windows = SIGNED_WINDOWS
    surely_first, surely_last, _ = _significant_bins(counts, sure, math.inf, windows, SIGNED_NEAR)
    first, last, seen = _significant_bins(counts, sure, near, windows, SIGNED_NEAR)
    start, end = (np.asarray(2.0 ** (place - POWERS // 2)) for place in (first, last))
    return _Powers(
        seen,
        start,
        np.asarray(2.0 * start),
        end,
        np.asarray(2.0 * end),
        np.where(seen, surely_last - surely_first + 1, 0),
        np.where(seen, _sums(counts, first, last), 0.0),
    )


def _lower_ends(
    below: _Powers, above: _Powers, zero: NDArray[np.bool_], few: NDArray[np.bool_]
) -> tuple[Array, Array]:
    """The lower end, and the upper end of its bin; those on the other side are its mirror image."""
    reach = np.where(few, UNKNOWN, 0.0)
    positive = above.seen & ~zero
    low = np.where(positive, above.least, 0.0)
    latest = np.where(positive, above.least_outer, 0.0)
    return (
        np.where(below.seen, -np.maximum(below.most, reach), low),
        np.where(below.seen, -np.maximum(below.most_inner, reach), latest),
    )


def located_range(counts: Array, noise: float, outer: CoarseRange) -> CoarseRange:
    """Columns that may be narrow, between the even bins that show them and as much on either side.

    Tails are left to fewer bins. The other columns stay as they are.
    """
    bins, narrow = counts.shape[1], outer.may_be_narrow
    width = (outer.high - outer.low) / bins
    first, last, wide = _filled(counts, noise, outer)
    more = GENEROUS * (last - first)
    low = np.where(narrow, outer.low + np.maximum(first - more, 0.0) * width, outer.low)
    high = np.where(narrow, outer.low + np.minimum(last + 1.0 + more, bins) * width, outer.high)
    return CoarseRange(
        low,
        high,
        np.where(narrow, high, outer.latest_low),
        np.where(narrow, low, outer.earliest_high),
        outer.rows,
        narrow & ~wide,
    )


def refined_range(counts: Array, noise: float, outer: CoarseRange) -> CoarseRange:
    """Ends of the even bins that hold more than noise would, as far as `outer` lets them move.

    Where a narrow column has one value, it reaches to zero: noise may hide zeros of a flag.
    """
    width = (outer.high - outer.low) / counts.shape[1]
    first, last, _ = _filled(counts, noise, outer)
    low = np.minimum(outer.low + first * width, outer.latest_low)
    high = np.maximum(outer.low + (last + 1) * width, outer.earliest_high)
    one_value = outer.may_be_narrow & (counts.max(axis=1) >= PILED * outer.rows - 3.0 * noise)
    return replace(
        outer,
        low=np.where(one_value, np.minimum(low, 0.0), low),
        high=np.where(one_value, np.maximum(high, 0.0), high),
    )


def _filled(
    counts: Array, noise: float, outer: CoarseRange
) -> tuple[Places, Places, NDArray[np.bool_]]:
    """The first and the last even bin with rows, all where none stands out; whether many do.

    Ends are moved outwards until most of the rows that there are lie between them: values may pile
    up in one bin while the rest is spread too thinly to be seen. Where a column may be narrow,
    noise alone would move them far out, so there is some slack.
    """
    bins = counts.shape[1]
    windows = tuple(2**k for k in range(bins.bit_length()))
    sure = _significance(counts.size * len(windows), EVEN_ALARMS) * noise
    surely = _significant_bins(counts, sure, math.inf, windows, EVEN_NEAR)
    start, end, seen = _significant_bins(counts, sure, EVEN_NEXT * noise, windows, EVEN_NEAR)
    first, last = np.where(seen, start, 0), np.where(seen, end, bins - 1)
    slack = np.where(outer.may_be_narrow, SLACK * noise, 0.0)
    more = 1
    while more <= bins:
        needed = INSIDE * outer.rows - slack * np.sqrt(last - first + 3.0)
        missing = _sums(counts, first, last) < needed
        if not missing.any():
            break
        first = np.where(missing, np.maximum(start - more, 0), first)
        last = np.where(missing, np.minimum(end + more, bins - 1), last)
        more *= 2
    return first, last, seen & (surely[1] - surely[0] >= TELLING)


def widened(found: CoarseRange, noise: float, by: float) -> Range:
    """The range with room for tails that noise hides, but not across zero.

    Where nothing was seen it stays as it is.

    Parameters
    ----------
    found : CoarseRange
        Ends of what was seen.
    noise : float
        Standard deviation of the noise on a count.
    by : float
        Part of its width, on either side; less where there is little noise beside the rows.
    """
    unknown = (found.low == -UNKNOWN) & (found.high == UNKNOWN)
    hidden = np.minimum(1.0, HIDING * noise / np.maximum(found.rows, HIDING * noise + 1.0))
    more = np.where(unknown, 0.0, by * hidden * (found.high - found.low))
    return Range(
        np.where(found.low >= 0.0, np.maximum(found.low - more, 0.0), found.low - more),
        np.where(found.high <= 0.0, np.minimum(found.high + more, 0.0), found.high + more),
    )


def _significance(comparisons: int, alarms: float) -> float:
    """Deviations that noise exceeds in none of so many comparisons but with chance `alarms`."""
    return -float(ndtri(alarms / comparisons))


def _sums(counts: Array, first: Places, last: Places) -> Array:
    """Of the counts from bin `first` to bin `last`, of each row."""
    so_far = np.cumsum(counts, axis=1)
    own = np.arange(len(counts))
    return np.asarray(so_far[own, last] - so_far[own, first] + counts[own, first])


def _significant_bins(
    counts: Array, sure: Array | float, likely: float, windows: Windows, near: int
) -> tuple[Places, Places, NDArray[np.bool_]]:
    """First and last bin of each row of counts that hold rows, and whether any seem to.

    A bin, or a window of several, that stands out among all is significant; at most `near` bins
    further out a window needs less, for values rarely leave gaps, and so on from there.
    """
    short = tuple(window for window in windows if window <= near)
    first, seen = _outermost(counts, sure, likely, windows, short)
    last, _ = _outermost(counts[:, ::-1], sure, likely, windows, short)
    last = counts.shape[1] - 1 - last
    # Of one window that stands out, with no bin of it, the ends are crossed.
    return np.minimum(first, last), np.maximum(first, last), seen


def _outermost(
    counts: Array, sure: Array | float, likely: float, windows: Windows, short: Windows
) -> tuple[Places, NDArray[np.bool_]]:
    """The first bin from which on there are rows, and whether there are."""
    surely = _above(counts, sure, windows)
    perhaps = _above(counts, likely, short)
    place, seen = surely.argmax(axis=1), np.asarray(surely.any(axis=1))
    for row in np.flatnonzero(seen):
        at = int(place[row])
        while True:  # the next window outwards that is likely filled, up to the longest one
            start = max(at - short[-1], 0)
            close = perhaps[row, start:at]
            if not close.any():
                break
            at = start + int(close.argmax())
        place[row] = at
    return place, seen


def _above(counts: Array, level: Array | float, windows: Windows) -> NDArray[np.bool_]:
    """Whether a bin ends a window that holds more than `level` times the root of its bins."""
    so_far = np.cumsum(counts, axis=1)
    above = np.zeros(counts.shape, dtype=bool)
    for window in windows:
        inside = so_far.copy()
        inside[:, window:] -= so_far[:, :-window]
        above |= inside > level * math.sqrt(window)
    return above
