"""Where the values of columns lie, from noisy histograms of each (private_bounds/proof.md).

Signed powers of two come first: they cover magnitudes from 2^-64 to 2^64 and say where to look.
Even bins between the ends that they tell come next, twice. All but the counting is post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privlearn._data.bounded import BoundedData, Rows
from privlearn.solvers._common.histograms import significance
from privlearn.solvers._common.loops import histograms

__all__ = [
    "EVEN_BINS",
    "SIGNED_BINS",
    "CoarseRange",
    "Columns",
    "Range",
    "coarse_range",
    "even_counts",
    "refined_range",
    "signed_counts",
]

Array = NDArray[np.float64]
Columns = Callable[[Rows], Array]  # which columns of a block are meant
POWERS = 128  # to either side of zero: magnitudes from 2^-64 to 2^64
SIGNED_BINS = 2 * POWERS + 1
EVEN_BINS = 32
NEXT_TO_SURE = 3.5  # deviations of noise by which a bin next to a significant one must stand out
SIGNED_WINDOWS = (1, 2)
EVEN_WINDOWS = (1, 2, 4, 8, 16, 32)
COVERED = 0.6  # of the rows: with fewer between the ends, the rest is missing
UNKNOWN = 1.0  # half the range of a column of which nothing but zeros is seen


@dataclass(frozen=True, eq=False)
class Range:
    """Ends of the columns' values, low < high."""

    low: Array
    high: Array


@dataclass(frozen=True, eq=False)
class CoarseRange(Range):
    """Ends of bins with values; values are surely beyond `latest_low` and `earliest_high`."""

    latest_low: Array
    earliest_high: Array


def signed_counts(data: BoundedData, columns: Columns, width: int) -> Array:
    """Rows between signed powers of two of each of `width` columns; a secret."""
    counts = np.zeros((width, SIGNED_BINS))
    for rows in data.blocks():
        histograms.count_signed(columns(rows), rows.present, POWERS, counts)
    return counts


def even_counts(data: BoundedData, columns: Columns, within: Range) -> Array:
    """Rows in each of the even bins between the ends; a secret."""
    counts = np.zeros((len(within.low), EVEN_BINS))
    per_width = EVEN_BINS / (within.high - within.low)
    for rows in data.blocks():
        histograms.count_evenly(columns(rows), rows.present, within.low, per_width, counts)
    return counts


def coarse_range(counts: Array, noise: float, rows: int | None = None) -> CoarseRange:
    """Ends of the powers of two that hold more than noise would; [-1, 1] where none but zeros do.

    Where they hold too few of the rows, the others are taken to lie around zero, as far out.

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
    first, last = _significant_bins(counts, noise, SIGNED_WINDOWS, (POWERS, POWERS))
    (low, low_inner), (high_inner, high) = _ends_of_powers(first), _ends_of_powers(last)
    unseen = low == high
    far = np.where(unseen, UNKNOWN, np.maximum(-low, high))
    around = unseen
    if rows is not None:
        place = np.arange(SIGNED_BINS)
        between = (place >= first[:, None]) & (place <= last[:, None])
        around = unseen | (np.sum(counts * between, axis=1) <= COVERED * rows)
    return CoarseRange(
        np.where(around, -far, low),
        np.where(around, far, high),
        np.where(unseen, -far, np.where(around, -far / 2.0, low_inner)),
        np.where(unseen, far, np.where(around, far / 2.0, high_inner)),
    )


def _ends_of_powers(bins: NDArray[np.int64]) -> tuple[Array, Array]:
    """Lower and upper end of signed powers of two; both 0 for the one around zero."""
    place = np.abs(bins - POWERS)
    outer = np.where(place > 0, 2.0 ** (place - POWERS // 2), 0.0)
    inner = outer / 2.0
    return np.where(bins >= POWERS, inner, -outer), np.where(bins > POWERS, outer, -inner)


def refined_range(counts: Array, noise: float, outer: CoarseRange) -> CoarseRange:
    """Ends of the even bins that hold more than noise would, as far as `outer` lets them move."""
    first, last = _significant_bins(counts, noise, EVEN_WINDOWS, (0, EVEN_BINS - 1))
    width = (outer.high - outer.low) / EVEN_BINS
    return CoarseRange(
        np.minimum(outer.low + first * width, outer.latest_low),
        np.maximum(outer.low + (last + 1) * width, outer.earliest_high),
        np.minimum(outer.low + (first + 1) * width, outer.latest_low),
        np.maximum(outer.low + last * width, outer.earliest_high),
    )


def _significant_bins(
    counts: Array, noise: float, windows: tuple[int, ...], otherwise: tuple[int, int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First and last bin of each row of counts that hold rows, as far as noise lets one tell.

    A bin, or a window of several, that stands out among all is significant; next to it a window
    needs less, for values rarely leave gaps. Where nothing stands out it is `otherwise`.
    """
    sure = significance(counts.size * 2 * len(windows)) * noise
    levels, end = (sure, NEXT_TO_SURE * noise), counts.shape[1] - 1
    first = _outermost(counts, levels, windows, otherwise[0])
    last = end - _outermost(counts[:, ::-1], levels, windows, end - otherwise[1])
    return np.minimum(first, last), np.maximum(first, last)  # one thin window has its ends crossed


def _outermost(
    counts: Array, levels: tuple[float, float], windows: tuple[int, ...], otherwise: int
) -> NDArray[np.int64]:
    """The first bin from which on there are rows."""
    sure, likely = (_above(counts, level, windows) for level in levels)
    place = np.where(sure.any(axis=1), sure.argmax(axis=1), otherwise)
    for row in np.flatnonzero(sure.any(axis=1)):
        at = int(place[row])
        while True:  # the next window outwards that is likely filled, up to the longest one
            start = max(at - windows[-1], 0)
            near = likely[row, start:at]
            if not near.any():
                break
            at = start + int(near.argmax())
        place[row] = at
    return place


def _above(counts: Array, level: float, windows: tuple[int, ...]) -> NDArray[np.bool_]:
    """Whether a bin ends a window that holds more than `level` times the root of its bins."""
    so_far = np.cumsum(counts, axis=1)
    above = np.zeros(counts.shape, dtype=bool)
    for window in windows:
        inside = so_far.copy()
        inside[:, window:] -= so_far[:, :-window]
        above |= inside > level * math.sqrt(window)
    return above
