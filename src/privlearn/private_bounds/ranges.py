"""Where the values of columns lie, from noisy histograms of each (private_bounds/proof.md).

Signed powers of two come first (powers.py) and say where to look. A column within one of them may
be as narrow as it likes: many even bins between its ends find it, twice. Few even bins, in which
tails show best, tell the ends of all columns at last. All but the counting is post-processing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

__all__ = [
    "LAST_BINS",
    "CoarseRange",
    "Range",
    "Tails",
    "located_range",
    "refined_range",
    "significance",
    "significant_bins",
    "sums",
    "zoom_bins",
]

Array = NDArray[np.float64]
Places = NDArray[np.int64]
Windows = tuple[int, ...]
LAST_BINS = 32
MOST_BINS, BINS_IN_ALL = 2**12, 2**16  # of a column, and of all of them, in one release
READABLE = 8.0  # deviations of noise above which a window of even bins is surely filled, or so
EVEN_ALARMS = 1e-4  # false ones of a release
# Deviations by which bins next to a significant one must stand out, and how many are next to it.
EVEN_NEXT, EVEN_NEAR = 4.0, 8
SLACK = 1.5  # deviations of the noise on the number of rows, where a column may be narrow
INSIDE = 0.95  # of the rows between two ends that even bins between them must hold
TELLING = 2  # bins: a column that fills more is no narrower than they are
GENEROUS = 1.0  # widths of what many bins show, by which a range is widened before the last zoom
# Bins beside one or two that stand out, and deviations by which rows must be missing in all these
# for the rest to be elsewhere.
ELSEWHERE = 2, 3.0
PILED = 0.97, 4.0  # of the rows in one bin, less so many deviations: then they have one value


@dataclass(frozen=True, eq=False)
class Range:
    """Ends of the columns' values, low < high."""

    low: Array
    high: Array


class Tails(NamedTuple):
    """Powers of two in which the number of rows from outside passes `steady_rows` (steady.py).

    All are of shape (2, columns), of the lower and the upper ends.
    """

    beyond: Array  # rows further out
    rows: Array  # in the power itself; NaN where powers of two do not tell
    inner: Array  # its ends
    outer: Array
    side: Array  # all rows on this side of zero
    open: NDArray[np.bool_]  # ends of thin rows that may be another power of two in another fit

    def untold(self, columns: NDArray[np.bool_]) -> Tails:
        """The same, where powers of two do not tell of some columns."""
        return self._replace(rows=np.where(columns, np.nan, self.rows))


@dataclass(frozen=True, eq=False)
class CoarseRange(Range):
    """Ends of bins with values; values are surely beyond `latest_low` and `earliest_high`.

    Attributes
    ----------
    rows : array
        How many lie between the ends, after noise.
    tails : Tails or None
        Where few rows are beyond the lower, and beyond the upper end; None tells nothing.
    may_be_narrow : array of bool
        Whether nothing tells how narrow the column is: it lies in one or two powers of two, or in
        one or two even bins, or in more of them but so thinly that none shows it.
    """

    latest_low: Array
    earliest_high: Array
    rows: Array
    may_be_narrow: NDArray[np.bool_]
    tails: Tails | None = None


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


def located_range(counts: Array, noise: float, outer: CoarseRange) -> CoarseRange:
    """Columns that may be narrow, between the even bins that show them and as much on either side.

    Tails are left to fewer bins. The other columns stay as they are.
    """
    bins, narrow = counts.shape[1], outer.may_be_narrow
    if not narrow.any():
        return outer
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
        None if outer.tails is None else outer.tails.untold(narrow),
    )


def refined_range(counts: Array, noise: float, outer: CoarseRange) -> CoarseRange:
    """Ends of the even bins that hold more than noise would, as far as `outer` lets them move.

    Where a narrow column has one value, it reaches to zero: noise may hide zeros of a flag.
    """
    width = (outer.high - outer.low) / counts.shape[1]
    first, last, _ = _filled(counts, noise, outer)
    low = np.minimum(outer.low + first * width, outer.latest_low)
    high = np.maximum(outer.low + (last + 1) * width, outer.earliest_high)
    part, less = PILED
    one_value = outer.may_be_narrow & (counts.max(axis=1) >= part * outer.rows - less * noise)
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
    noise alone would move them far out, so there is some slack; where one or two bins stand out and
    rows are surely elsewhere, all of them count.
    """
    bins = counts.shape[1]
    windows = tuple(2**k for k in range(bins.bit_length()))
    sure = significance(counts.size * len(windows), EVEN_ALARMS) * noise
    start, end, seen, surely = significant_bins(counts, sure, EVEN_NEXT * noise, windows, EVEN_NEAR)
    first, last = np.where(seen, start, 0), np.where(seen, end, bins - 1)
    wide = seen & (surely > TELLING)
    piled = outer.may_be_narrow & seen & ~wide & _rows_elsewhere(counts, noise, first, last, outer)
    start, first = np.where(piled, 0, start), np.where(piled, 0, first)
    end, last = np.where(piled, bins - 1, end), np.where(piled, bins - 1, last)
    slack = np.where(outer.may_be_narrow, SLACK * noise, 0.0)
    more = 1
    while more <= bins:
        needed = INSIDE * outer.rows - slack * np.sqrt(last - first + 3.0)
        missing = sums(counts, first, last) < needed
        if not missing.any():
            break
        first = np.where(missing, np.maximum(start - more, 0), first)
        last = np.where(missing, np.minimum(end + more, bins - 1), last)
        more *= 2
    return first, last, wide | piled


def _rows_elsewhere(
    counts: Array, noise: float, first: Places, last: Places, outer: CoarseRange
) -> NDArray[np.bool_]:
    """Whether bins from the first to the last, and a few beside, hold surely too few rows."""
    beside, deviations = ELSEWHERE
    first = np.maximum(first - beside, 0)
    last = np.minimum(last + beside, counts.shape[1] - 1)
    missing = INSIDE * outer.rows - sums(counts, first, last)
    return np.asarray(missing > deviations * noise * np.sqrt(last - first + 1.0))


def significance(comparisons: int, alarms: float) -> float:
    """Deviations that noise exceeds in none of so many comparisons but with chance `alarms`."""
    return -float(ndtri(alarms / comparisons))


def sums(counts: Array, first: Places, last: Places) -> Array:
    """Of the counts from bin `first` to bin `last`, of each row."""
    so_far = np.cumsum(counts, axis=1)
    own = np.arange(len(counts))
    return np.asarray(so_far[own, last] - so_far[own, first] + counts[own, first])


def significant_bins(
    counts: Array, sure: Array | float, likely: float, windows: Windows, near: int
) -> tuple[Places, Places, NDArray[np.bool_], Places]:
    """First and last bin of each row of counts that hold rows, whether any seem to, how many do.

    A bin, or a window of several, that stands out among all is significant; at most `near` bins
    further out a window needs less, for values rarely leave gaps, and so on from there. The number
    is that of the bins between those that are significant.
    """
    short, end = tuple(window for window in windows if window <= near), counts.shape[1] - 1
    first, seen, surely = _outermost(counts, sure, likely, windows, short)
    last, _, from_behind = _outermost(counts[:, ::-1], sure, likely, windows, short)
    # Of one window that stands out, with no bin of it, the ends are crossed.
    between = np.abs(end - from_behind - surely) + 1
    last = end - last
    return np.minimum(first, last), np.maximum(first, last), seen, between


def _outermost(
    counts: Array, sure: Array | float, likely: float, windows: Windows, short: Windows
) -> tuple[Places, NDArray[np.bool_], Places]:
    """The first bin from which on there are rows, whether there are, and the first that is sure."""
    so_far = np.cumsum(counts, axis=1)
    surely, perhaps = _above(so_far, sure, windows), _above(so_far, likely, short)
    found, seen = surely.argmax(axis=1), np.asarray(surely.any(axis=1))
    place = found.copy()
    for row in np.flatnonzero(seen):
        at = int(place[row])
        while True:  # the next window outwards that is likely filled, up to the longest one
            start = max(at - short[-1], 0)
            close = perhaps[row, start:at]
            if not close.any():
                break
            at = start + int(close.argmax())
        place[row] = at
    return place, seen, found


def _above(so_far: Array, level: Array | float, windows: Windows) -> NDArray[np.bool_]:
    """Whether a bin ends a window that holds more than `level` times the root of its bins.

    `so_far` has the counts up to each bin.
    """
    above = np.zeros(so_far.shape, dtype=bool)
    for window in windows:
        most = level * math.sqrt(window)
        above[:, :window] |= so_far[:, :window] > most
        above[:, window:] |= so_far[:, window:] - so_far[:, :-window] > most
    return above
