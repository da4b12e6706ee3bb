"""Around what to centre columns whose ranges are estimated: post-processing of the last histogram.

A column of 0 to 15 with mean 8 is long about zero and short about its mean, and noise follows the
length of rows. A rare flag is short about zero, where most of its rows are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privlearn.private_bounds.ranges import Range

__all__ = ["CentredRange", "centers"]

Array = NDArray[np.float64]
READABLE = 0.1  # noise of a mean, relative to the range, above which it says nothing


@dataclass(frozen=True, eq=False)
class CentredRange(Range):
    """Ends of the columns' values, and around what to centre them; None leaves that open."""

    center: Array | None = None


def centers(counts: Array, noise: float, within: Range, found: Range) -> Array:
    """The mean of each column where it is more than a deviation from zero, else zero.

    Where noise hides the mean it is the middle of a range that excludes zero, and zero else.

    Parameters
    ----------
    counts : array of shape (columns, bins)
        Noisy, of even bins between the ends of `within`.
    noise : float
        Standard deviation of the noise on a count.
    within, found : Range
        Ends of the bins, and those that were found by them.
    """
    bins = counts.shape[1]
    width = (within.high - within.low) / bins
    middles = within.low[:, None] + (np.arange(bins) + 0.5) * width[:, None]
    inside = (middles >= found.low[:, None]) & (middles <= found.high[:, None])
    kept = np.where(inside, counts, 0.0)
    rows = kept.sum(axis=1)
    some = np.maximum(rows, 1.0)
    mean = (kept * middles).sum(axis=1) / some
    away = np.where(inside, middles - mean[:, None], 0.0)
    variance = (kept * away**2).sum(axis=1) / some
    error = noise * np.sqrt((away**2).sum(axis=1)) / some
    readable = (rows > 0.0) & (error <= READABLE * (found.high - found.low))
    far = mean**2 > np.maximum(variance, 0.0)
    believed = np.where(far, np.clip(mean, found.low, found.high), 0.0)
    excluded = (found.low > 0.0) | (found.high < 0.0)
    middle = np.where(excluded, found.low / 2 + found.high / 2, 0.0)
    return np.asarray(np.where(readable, believed, middle))
