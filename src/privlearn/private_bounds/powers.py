"""Powers of two in which the values of columns lie: where to look, from a noisy histogram of each.

Bins are signed powers of two, magnitudes from 2^-64 to 2^64, and zero. All but the counting is
post-processing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from privlearn.private_bounds.ranges import (
    CoarseRange,
    Tails,
    significance,
    significant_bins,
    sums,
)
from privlearn.private_bounds.steady import steady_rows

__all__ = ["POWERS", "SIGNED_BINS", "UNKNOWN", "coarse_range"]

Array = NDArray[np.float64]
Places = NDArray[np.int64]
POWERS = 128  # to either side of zero
SIGNED_BINS = 2 * POWERS + 1
SIGNED_ALARMS, SHAPE_ALARMS = 1e-5, 1e-3  # false ones of a release: a far power ruins a fit
SIGNED_WINDOWS = (1, 2, 4)
# Deviations by which bins next to a significant one must stand out, and how many are next to it.
SIGNED_NEXT, SIGNED_NEAR = 3.5, 2
SIGNED_MAYBE = 1.5  # deviations by which they stand out that might be seen in another fit
# Where powers that stand out hold at most this part of the rows that are not zero, and those so
# many deviations of noise, the others are looked for by their shape.
SEEN, ELSEWHERE = 0.8, 8.0
# Shares of rows in powers of two, but for tails: of a half-normal law, and of log-normal ones whose
# logarithms have deviations 1 and 2. One or two powers alone must stand out by themselves.
SHAPES = (
    np.array([0.05, 0.10, 0.19, 0.30, 0.27]),
    np.array([0.05, 0.10, 0.18, 0.25, 0.20, 0.12]),
    np.array([0.05, 0.07, 0.09, 0.11, 0.13, 0.13, 0.11, 0.09, 0.07, 0.05]),
)
COVERED = 0.6  # of the rows: with fewer between the ends, the rest is missing
# Rows in no power of two that was seen, as a part of all and in deviations of noise, from which on
# zero is within the range; where nobody knows how many there are, deviations of zero's own bin.
MISSING, SURELY_MISSING, LIKELY_ZERO = 0.1, 2.0, 4.0
UNKNOWN = 1.0  # half the range of a column of which nothing but zeros is seen
FEW = 1.25  # thresholds below which rows beside many zeros may be noise


def coarse_range(counts: Array, noise: float, rows: float | None = None) -> CoarseRange:
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
    rows : float or None, default=None
        The number of rows, public or released. None looks for nothing that is missing: a sum over
        all bins has too much noise to tell.
    """
    sure = significance(len(SIGNED_WINDOWS) * counts.size, SIGNED_ALARMS) * noise
    zeros = counts[:, POWERS]
    above, below = (
        _powers(side, np.full((len(counts), 1), sure), noise) for side in _sides(counts)
    )
    if rows is not None:  # where too few are seen, they may have a shape that stands out
        others = rows - zeros
        asked = (above.rows + below.rows <= SEEN * others) & (others > ELSEWHERE * noise)
        if asked.any():
            above, below = map(_joined, (above, below), _by_shape(counts, noise, others, asked))
    beside = above.rows + below.rows
    zero = (zeros > sure) | _elsewhere(zeros, beside, above.bins + below.bins, noise, rows)
    few = zero & (beside < FEW * sure) & (beside < zeros)
    low, latest_low = _lower_ends(below, above, zero, few)
    high, earliest_high = (-end for end in _lower_ends(above, below, zero, few))
    # Beside many zeros, rows that spread over several powers are too thin to be seen closer.
    dominated = zero & (zeros > beside)
    thin = np.array([dominated & below.spread, dominated & above.spread])
    latest_low, earliest_high = np.where(thin, [low, high], [latest_low, earliest_high])
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
        _tails(above, below, around | few, thin),
    )


def _by_shape(
    counts: Array, noise: float, others: Array, asked: NDArray[np.bool_]
) -> tuple[_Powers, _Powers]:
    """What a shape holds that stands out, above zero and below, of the columns asked for.

    Bins that hold rows too thinly to stand out one by one may do so together. A shape is the
    likelier, the closer its counts of all `others`, the rows that are not zero, are to those that
    were found: noise in one bin cannot pass for one that holds them all. To cut off a side of zero
    is worse than to keep one, so a shape is taken to be on both, unless most rows are zero.
    """
    level = significance(3 * len(SHAPES) * counts.size, SHAPE_ALARMS) * noise
    expected = np.zeros(counts.shape)
    least = np.full((len(counts), 1), math.inf)
    places = np.flatnonzero(asked)
    above, below = _sides(counts[places])
    rows, best = others[places], np.zeros(len(places))
    one_side = counts[places, POWERS] > rows
    for shape in SHAPES:
        on = [sliding_window_view(side, len(shape), axis=1) @ shape for side in (above, below)]
        for up, down in ((0.5, 0.5), (1.0, 0.0), (0.0, 1.0)):
            fits = up * on[0] + down * on[1]
            square = float(shape @ shape) * (up**2 + down**2)
            first, most = fits.argmax(axis=1), fits.max(axis=1)
            gain = rows * (most - 0.5 * rows * square)
            better = (most > level * math.sqrt(square)) & (gain > best)
            best[better] = gain[better]
            for k in np.flatnonzero(better):
                own = np.zeros((2, POWERS))
                sides = (up, down) if one_side[k] else (0.5, 0.5)
                own[:, first[k] : first[k] + len(shape)] = np.outer(sides, shape) * rows[k]
                expected[places[k], POWERS + 1 :], expected[places[k], POWERS - 1 :: -1] = own
                least[places[k]] = 0.5 * own[own > 0.0].min()
    above, below = _sides(expected)
    return _powers(above, least, math.inf), _powers(below, least, math.inf)


def _elsewhere(
    zeros: Array, beside: Array, bins: Places, noise: float, rows: float | None
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
    least: Array  # magnitudes: the smallest, and where not too few are smaller; so of the largest
    least_outer: Array
    most_inner: Array
    most: Array
    bins: Places
    rows: Array
    open: NDArray[np.bool_]  # whether another power may be the largest that is seen
    tails: Array  # (2, 3, columns): of both ends a power, rows beyond it and in it

    @property
    def spread(self) -> NDArray[np.bool_]:
        """Whether there are rows in several of them."""
        return self.seen & (self.most > 2.0 * self.least)


ENDS = {
    "least": np.minimum,
    "least_outer": np.minimum,
    "most_inner": np.maximum,
    "most": np.maximum,
}


def _sides(counts: Array) -> tuple[Array, Array]:
    """Above zero and below, the smallest power first."""
    return counts[:, POWERS + 1 :], counts[:, POWERS - 1 :: -1]


def _joined(one: _Powers, other: _Powers) -> _Powers:
    """What either holds: where one has seen nothing, the other's ends."""
    ends = dict[str, Array]()
    for end, of_both in ENDS.items():
        first, second = getattr(one, end), getattr(other, end)
        both = np.where(other.seen, of_both(first, second), first)
        ends[end] = np.where(one.seen, both, second)
    bins, rows = np.maximum(one.bins, other.bins), np.maximum(one.rows, other.rows)
    tails = np.where(other.seen, np.nan, one.tails)  # a shape tells no numbers
    seen, unsure = one.seen | other.seen, one.open | other.seen
    return _Powers(seen=seen, bins=bins, rows=rows, open=unsure, tails=tails, **ends)


def _powers(counts: Array, sure: Array, noise: float) -> _Powers:
    """What one side holds, the smallest power first."""
    near = SIGNED_NEXT * noise
    windows = SIGNED_WINDOWS
    first, last, seen, surely = significant_bins(counts, sure, near, windows, SIGNED_NEAR)
    rows = np.where(seen, sums(counts, first, last), 0.0)
    places = np.arange(counts.shape[1])
    between = (places >= first[:, None]) & (places <= last[:, None])
    own, (beyond, few) = np.where(between, counts, 0.0), steady_rows(noise, rows)
    small, *under = _passed(own, beyond)
    large, *over = _passed(own[:, ::-1], beyond)
    large = len(places) - 1 - large
    next_to = np.pad(counts, ((0, 0), (0, SIGNED_NEAR)))[
        np.arange(len(counts))[:, None], last[:, None] + np.arange(SIGNED_NEAR + 1)
    ]
    unsure = (next_to[:, 0] < sure[:, 0]) | (next_to[:, 1:].max(axis=1) > SIGNED_MAYBE * noise)
    return _Powers(
        seen,
        _power_of(first),
        _power_of(np.where(few, small, first) + 1),
        _power_of(np.where(few, large, last)),
        _power_of(last + 1),
        np.where(seen, surely, 0),
        rows,
        unsure,
        np.array([[_power_of(small), *under], [_power_of(large), *over]]),
    )


def _tails(
    above: _Powers, below: _Powers, unknown: NDArray[np.bool_], thin: NDArray[np.bool_]
) -> Tails:
    """Of lower ends the large powers below zero, or the small ones above; and so of upper ends.

    Where a column is unknown, powers do not tell; where rows are thin, they do not fix an end.
    """
    ends, sides = list[Array](), list[Array]()
    for own, other, sign in ((below, above, -1.0), (above, below, 1.0)):
        large, small = own.tails[1], other.tails[0]
        power = np.where(own.seen, sign * large[0], -sign * small[0])
        inner, outer = np.where(own.seen, [power, 2.0 * power], [2.0 * power, power])
        ends.append(np.array([*np.where(own.seen, large[1:], small[1:]), inner, outer]))
        sides.append(np.where(own.seen, own.rows, other.rows))
    beyond, rows, inner, outer = np.array(ends).transpose(1, 0, 2)
    side = np.where(unknown | thin, 0.0, sides)
    unsure = thin & ~unknown & np.array([below.open, above.open])
    return Tails(beyond, np.where(unknown, np.nan, rows), inner, outer, side, unsure)


def _power_of(place: Places) -> Array:
    """The lower end of a bin on one side of zero."""
    return np.asarray(2.0 ** (place - POWERS // 2))


def _passed(counts: Array, wanted: Array) -> tuple[Places, Array, Array]:
    """The first bin up to which there are so many rows, those before it and those in it.

    NaN where there never are so many.
    """
    so_far, own = np.cumsum(counts, axis=1), np.arange(len(counts))
    passed = so_far >= wanted[:, None]
    at = np.argmax(passed, axis=1)
    there = np.where(passed[own, at], counts[own, at], np.nan)
    return at, so_far[own, at] - counts[own, at], there


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
