"""What histograms of magnitudes tell: scales of features, and where to clip gradients.

Bins are octaves (or half octaves) below a public limit, so that one release covers seven orders of
magnitude, however generous the limit is. All of this is post-processing of noisy counts.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["EVEN", "LENGTH_BINS", "MAGNITUDE_BINS", "clip_for", "scales_from", "trimmed"]

Array = NDArray[np.float64]
MAGNITUDE_BINS = 24
LENGTH_BINS = 48
FALSE_ALARMS = 1e-3  # of all the counts that are compared with their noise
READABLE = 0.05  # noise on a count, relative to the rows, above which a histogram says nothing
EVEN = math.sqrt(1.0 / 3.0)  # root mean square of what fills its limits evenly
LARGEST = 0.5  # part of the largest magnitude in a scale, the rest is the root mean square's
# Mean of x^2 over an octave (1/2, 1] for a density proportional to 1/x, and of x over half of one.
SQUARE_IN_OCTAVE = (1.0 - 0.25) / (2.0 * math.log(2.0))
MIDDLE_OF_HALF = (1.0 - math.sqrt(0.5)) / math.log(math.sqrt(2.0))
# Part of the clipped lengths that counts as bias: clipped parts of different rows point in
# different directions. Chosen with benchmarks/derive/cd.py.
ALIGNED = 0.2
THINNING = math.sqrt(0.5)  # of hidden rows, per half octave: a tail that barely has a mean


def _significant(comparisons: int) -> float:
    """Standard deviations that noise exceeds in none of so many comparisons, most likely."""
    return math.sqrt(2.0 * math.log(comparisons / FALSE_ALARMS))


def trimmed(counts: Array, noise: float) -> tuple[Array, NDArray[np.int64]]:
    """Counts without what may be noise, and the first bin that is believed.

    Bin 0 is the largest magnitude. A few rows there are indistinguishable from noise; they are
    moved down to the first bin at which the count so far is significant.

    Parameters
    ----------
    counts : array of shape (histograms, bins)
        Noisy.
    noise : float
        Standard deviation of the noise on a count.
    """
    bins = counts.shape[1]
    so_far = np.cumsum(counts, axis=1)
    believed = so_far > _significant(counts.size) * noise * np.sqrt(np.arange(1, bins + 1))
    first = np.where(believed.any(axis=1), believed.argmax(axis=1), bins - 1)
    kept = np.where(np.arange(bins) < first[:, None], 0.0, np.maximum(counts, 0.0))
    own = np.arange(len(counts))
    kept[own, first] = np.maximum(so_far[own, first], 0.0)
    return kept, first


def scales_from(counts: Array, noise: float, rows: float) -> tuple[Array, Array]:
    """Scale of each feature relative to its limit, and its mean square in units of the scale.

    The scale lies between the root mean square m and the largest magnitude h that a significant
    number of rows has. Noise on a coefficient costs s^2 / m^2, and gradients are as long as h^2 /
    s^2 lets them, so the sum of the one times the sum of the other is least for s^2 = m h.

    Too small a scale is worse than too large a one: it makes steps too long. So where single
    histograms drown in noise, all features get the scale of their sum, unless one is surely larger.
    A feature of which no significant number of rows is seen may still have a few: they are taken
    for `noise` rows at the limit.
    """
    bins = counts.shape[1]
    squares = np.append(SQUARE_IN_OCTAVE * 0.25 ** np.arange(bins - 1), 0.0)
    if noise > READABLE * rows:
        features = len(counts)
        pooled, first = trimmed(counts.sum(axis=0)[None, :], noise * math.sqrt(features))
        together = float(pooled[0] @ squares) / features
        surely = counts @ squares - _significant(features) * noise * float(np.linalg.norm(squares))
        mean = np.maximum(together, surely) / rows
        if first[0] == bins - 1:  # not even their sum says anything
            return np.full(features, EVEN), np.ones(features)
        first = np.full(features, first[0])
    else:
        kept, first = trimmed(counts, noise)
        seen = first < bins - 1
        mean = np.where(seen, kept @ squares, noise) / rows
        first = np.where(seen, first, 0)
    mean = np.clip(mean, 0.25**bins, 1.0)
    largest = np.maximum(0.5**first, np.sqrt(mean))
    square = mean ** (1.0 - LARGEST) * largest ** (2.0 * LARGEST)
    return np.sqrt(square), mean / square


def clip_for(
    counts: Array,
    noise: float,
    *,
    longest: float,
    rows: float,
    blur: float,
    otherwise: float,
    hidden: float,
) -> float:
    """The length to which gradients are clipped: where noise and bias are least.

    Parameters
    ----------
    counts : array of shape (bins,)
        Noisy counts of gradient norms in half octaves below `longest`.
    noise : float
        Standard deviation of the noise on a count.
    longest : float
        Public limit of the lengths.
    rows : float
        Number of rows.
    blur : float
        Length of the noise on the mean gradient per unit of clip.
    otherwise : float
        The clip where the counts say nothing.
    hidden : float
        Rows beyond the longest gradients that are seen, in deviations of the noise.
    """
    kept, first = trimmed(counts[None, :], noise)
    if first[0] == len(counts) - 1:
        return otherwise
    beyond = first[0] - np.arange(len(counts))
    kept[0] += np.where(beyond > 0, hidden * noise * THINNING ** np.maximum(beyond, 0), 0.0)
    edges = longest * math.sqrt(0.5) ** np.arange(len(counts))
    lengths = edges * MIDDLE_OF_HALF
    cut = np.maximum(lengths[None, :] - edges[:, None], 0.0) @ kept[0] / rows
    return float(edges[np.argmin((blur * edges) ** 2 + (ALIGNED * cut) ** 2)])
