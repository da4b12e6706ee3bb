"""Where the values of columns lie, from noisy histograms of each (private_bounds/proof.md).

Signed powers of two come first: they cover magnitudes from 2^-64 to 2^64 and say where to look.
Even bins between the ends that they tell come next, twice: thousands where a column lies in one
power of two and may be as narrow as it likes, 32 elsewhere. All but the counting is
post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from privlearn._data.bounded import BoundedData, Rows
from privlearn.solvers._common.loops import histograms

__all__ = [
    "SIGNED_BINS",
    "ZOOMS",
    "CoarseRange",
    "Columns",
    "Range",
    "bins_in_use",
    "coarse_range",
    "even_counts",
    "refined_range",
    "signed_counts",
    "widened",
    "zoom_bins",
]

Array = NDArray[np.float64]
Places = NDArray[np.int64]
Columns = Callable[[Rows], Array]  # which columns of a block are meant
POWERS = 128  # to either side of zero: magnitudes from 2^-64 to 2^64
SIGNED_BINS = 2 * POWERS + 1
ZOOMS = 2
FEWEST_BINS, MOST_BINS, BINS_IN_ALL = 32, 2**16, 2**18
READABLE = 10.0  # deviations of noise above which a window of even bins is surely filled, or so
# False alarms of a release: one far power of two ruins a fit, an even bin only widens a range.
SIGNED_ALARMS, EVEN_ALARMS = 1e-5, 1e-4
# Deviations by which bins next to a significant one must stand out, and how many are next to it.
SIGNED_NEXT, SIGNED_NEAR = 3.5, 2
EVEN_NEXT, EVEN_NEAR = 4.0, 4
COVERED = 0.6  # of the rows: with fewer between the ends, the rest is missing
SLACK = 1.5  # deviations of the noise on a sum of counts
INSIDE = 0.95  # of the rows between two ends that even bins between them must hold
GENEROUS = 1.0  # widths of what many bins show, by which a range is widened before the last zoom
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
        Whether all of it is one or two powers of two beside zero, so that nothing tells how narrow
        the column is.
    """

    latest_low: Array
    earliest_high: Array
    rows: Array
    may_be_narrow: NDArray[np.bool_]


def zoom_bins(rows_per_noise: float, columns: int) -> tuple[int, int]:
    """How many even bins may be used for a column that may be narrow, in the two zooms.

    Rows that fill k bins evenly are seen where they exceed `READABLE` sqrt(k) deviations of noise,
    so k at most is the square of what follows. With so many bins in the second zoom a column of any
    width is seen there, and with the square of it in the first no narrower one is lost before.

    Parameters
    ----------
    rows_per_noise : float
        Rows, over the deviation of the noise on a count: public.
    columns : int
        How many there are; they share `BINS_IN_ALL`.
    """
    visible = min((rows_per_noise / READABLE) ** 2, float(MOST_BINS))
    most = max(min(MOST_BINS, BINS_IN_ALL // columns), FEWEST_BINS)
    first, second = (min(max(int(wanted), FEWEST_BINS), most) for wanted in (visible**2, visible))
    return first, second


def bins_in_use(found: CoarseRange, bins: int) -> Places:
    """How many of the even bins each column has; the others hold noise and nobody looks."""
    return np.where(found.may_be_narrow, bins, min(bins, FEWEST_BINS))


def signed_counts(data: BoundedData, columns: Columns, width: int) -> Array:
    """Rows between signed powers of two of each of `width` columns; a secret."""
    counts = np.zeros((width, SIGNED_BINS))
    for rows in data.blocks():
        histograms.count_signed(columns(rows), rows.present, POWERS, counts)
    return counts


def even_counts(
    data: BoundedData, columns: Columns, within: Range, used: Places, bins: int
) -> Array:
    """Rows in each of the even bins between the ends, `used` of `bins` of them; a secret."""
    counts = np.zeros((len(within.low), bins))
    per_width = used / (within.high - within.low)
    for rows in data.blocks():
        histograms.count_evenly(columns(rows), rows.present, within.low, per_width, used, counts)
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
    sure = _significance(2 * counts.size, SIGNED_ALARMS) * noise
    above = _powers(counts[:, POWERS + 1 :], sure, noise)
    below = _powers(counts[:, POWERS - 1 :: -1], sure, noise)
    zeros = counts[:, POWERS]
    zero = zeros > sure
    beside = above.rows + below.rows
    few = zero & (beside < FEW * sure) & (beside < zeros)
    low, latest_low = _lower_ends(below, above, zero, few)
    high, earliest_high = (-end for end in _lower_ends(above, below, zero, few))
    unseen = ~(above.seen | below.seen)
    inside = beside + np.where(zero | (above.seen & below.seen), zeros, 0.0)
    around = unseen if rows is None else unseen | (inside <= COVERED * rows)
    far = np.where(unseen, UNKNOWN, np.maximum(-low, high))
    inner = np.where(unseen, far, far / 2.0)
    one_side = (above.seen ^ below.seen) & ~zero & ~around
    return CoarseRange(
        np.where(around, -far, low),
        np.where(around, far, high),
        np.where(around, -inner, latest_low),
        np.where(around, inner, earliest_high),
        inside,
        one_side & (above.bins + below.bins <= 2),
    )


@dataclass(frozen=True, eq=False)
class _Powers:
    """Significant powers of two on one side of zero: ends of them all, how many, rows in them."""

    seen: NDArray[np.bool_]
    least: Array  # magnitudes: the outer and inner end of the smallest and of the largest power
    least_outer: Array
    most_inner: Array
    most: Array
    bins: Places
    rows: Array


def _powers(counts: Array, sure: float, noise: float) -> _Powers:
    """What one side holds, the smallest power first."""
    near = SIGNED_NEXT * noise
    first, last, seen = _significant_bins(counts, sure, near, (1, 2), SIGNED_NEAR)
    first, last = np.minimum(first, last), np.maximum(first, last)
    start, end = (2.0 ** (place - POWERS // 2) for place in (first, last))
    return _Powers(
        seen,
        start,
        2.0 * start,
        end,
        2.0 * end,
        np.where(seen, last - first + 1, 0),
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


def refined_range(
    counts: Array, noise: float, outer: CoarseRange, used: Places, *, final: bool
) -> CoarseRange:
    """Ends of the even bins that hold more than noise would, as far as `outer` lets them move.

    Between them are most of the rows that `outer` holds: values may pile up in one bin while the
    rest is spread too thinly to be seen.
    """
    width = (outer.high - outer.low) / used
    # Bins: the first and the last with rows, and beyond which there surely are some.
    ends = np.empty((4, len(counts)))
    for bins in np.unique(used):
        own = used == bins
        ends[:, own] = _filled(counts[own, :bins], noise, outer.rows[own], len(counts), final)
    low, high, latest_low, earliest_high = outer.low + ends * width
    return CoarseRange(
        np.minimum(low, outer.latest_low),
        np.maximum(high, outer.earliest_high),
        np.minimum(latest_low, outer.latest_low),
        np.maximum(earliest_high, outer.earliest_high),
        outer.rows,
        outer.may_be_narrow,
    )


def _filled(
    counts: Array, noise: float, rows: Array, columns: int, final: bool
) -> tuple[Places, Places, Places, Places]:
    """Ends of the even bins with rows, and ends that rows are surely beyond, in bins.

    They are moved outwards until most rows are between them; all bins have rows where none has for
    sure.
    """
    bins = counts.shape[1]
    windows = tuple(2**k for k in range(bins.bit_length()))
    sure = _significance(columns * bins * len(windows), EVEN_ALARMS) * noise
    near = EVEN_NEXT * noise
    first, last, seen = _significant_bins(counts, sure, near, windows, EVEN_NEAR)
    latest_low, earliest_high = np.where(seen, first + 1, bins), np.where(seen, last, 0)
    inner = np.minimum(first, last), np.maximum(first, last)  # of one window they are crossed
    start, end = np.where(seen, inner[0], 0), np.where(seen, inner[1], bins - 1)
    more = 1
    while more <= bins and (missing := _rows_missing(counts, noise, rows, start, end)).any():
        start = np.where(missing, np.maximum(inner[0] - more, 0), start)
        end = np.where(missing, np.minimum(inner[1] + more, bins - 1), end)
        more *= 2
    if bins > FEWEST_BINS and not final:  # tails are seen better by fewer bins
        beyond = (GENEROUS * (end - start)).astype(np.int64)
        start, end = np.maximum(start - beyond, 0), np.minimum(end + beyond, bins - 1)
    return start, end + 1, latest_low, earliest_high


def _rows_missing(
    counts: Array, noise: float, rows: Array, first: Places, last: Places
) -> NDArray[np.bool_]:
    """Whether less than most of the rows seem to be between two bins: both numbers are noisy."""
    slack: Array | float = 0.0
    if counts.shape[1] > FEWEST_BINS:  # with many bins, noise would move the ends far out
        slack = SLACK * noise * np.sqrt(last - first + 3.0)
    return np.asarray(_sums(counts, first, last) < INSIDE * rows - slack)


def widened(found: Range, by: float) -> Range:
    """The range with room for tails that noise hides, but not across zero.

    Parameters
    ----------
    found : Range
        Ends of what was seen.
    by : float
        Part of its width, on either side.
    """
    more = by * (found.high - found.low)
    return Range(
        np.where(found.low >= 0.0, np.maximum(found.low - more, 0.0), found.low - more),
        np.where(found.high <= 0.0, np.minimum(found.high + more, 0.0), found.high + more),
    )


def _significance(comparisons: int, alarms: float) -> float:
    """Deviations that noise exceeds in none of so many comparisons but with chance `alarms`."""
    return -NormalDist().inv_cdf(alarms / comparisons)


def _sums(counts: Array, first: Places, last: Places) -> Array:
    """Of the counts from bin `first` to bin `last`, of each row."""
    so_far = np.cumsum(counts, axis=1)
    own = np.arange(len(counts))
    return np.asarray(so_far[own, last] - so_far[own, first] + counts[own, first])


def _significant_bins(
    counts: Array, sure: float, likely: float, windows: tuple[int, ...], near: int
) -> tuple[Places, Places, NDArray[np.bool_]]:
    """First and last bin of each row of counts that hold rows, and whether any seem to.

    A bin, or a window of several, that stands out among all is significant; at most `near` bins
    further out a window needs less, for values rarely leave gaps, and so on from there. There are
    rows in the first or before, and in the last or after; where one window of several bins is all
    that is seen, the first is its end and the last its start.
    """
    short = tuple(window for window in windows if window <= near)
    first, seen = _outermost(counts, sure, likely, windows, short)
    last, _ = _outermost(counts[:, ::-1], sure, likely, windows, short)
    return first, counts.shape[1] - 1 - last, seen


def _outermost(
    counts: Array, sure: float, likely: float, windows: tuple[int, ...], short: tuple[int, ...]
) -> tuple[Places, NDArray[np.bool_]]:
    """The first bin from which on there are rows, and whether there are."""
    surely = _above(counts, sure, windows)
    perhaps = _above(counts, likely, short)
    place, seen = surely.argmax(axis=1), surely.any(axis=1)
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


def _above(counts: Array, level: float, windows: tuple[int, ...]) -> NDArray[np.bool_]:
    """Whether a bin ends a window that holds more than `level` times the root of its bins."""
    so_far = np.cumsum(counts, axis=1)
    above = np.zeros(counts.shape, dtype=bool)
    for window in windows:
        inside = so_far.copy()
        inside[:, window:] -= so_far[:, :-window]
        above |= inside > level * math.sqrt(window)
    return above
