"""Noisy histograms: counting rows, what stands out of the noise, and what it tells.

Bins are powers of two (or of their root) below a public limit, so that one release covers seven
orders of magnitude, however generous the limit is; or even ones between ends that are known. A row
is in at most one bin of each histogram, whatever it holds: the proof of all of them is
histograms.md. All but the counting is post-processing.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from privlearn._core.norms import ONE_BIN
from privlearn._core.plan import FACTS, Release

__all__ = [
    "EVEN",
    "LENGTH_BINS",
    "MAGNITUDE_BINS",
    "best_clip",
    "clip_for",
    "count_lengths",
    "count_magnitudes",
    "count_within",
    "histogram_release",
    "mean_length",
    "moments_from",
    "scales_from",
    "significance",
    "slopes_of",
    "trimmed",
]

Array = NDArray[np.float64]
MAGNITUDE_BINS = 24
LENGTH_BINS = 48
FALSE_ALARMS = 1e-3  # of all the counts that are compared with their noise
READABLE = 0.05  # noise on a count, relative to the rows, above which a histogram says nothing
EVEN = math.sqrt(1.0 / 3.0)  # root mean square of what fills its limits evenly
LARGEST = 0.5  # part of the largest magnitude in a scale, the rest is the root mean square's
# Powers of the mean square, where hidden rows outweigh those that are seen: the largest magnitude,
# unless some are seen that far out.
HIDDEN_LARGEST, SEEN_FAR = 1 / 8, 0.55
# Means for a density proportional to 1/x: of x^2 and x over (1/2, 1], and of x over (root 1/2, 1].
MEAN_SQUARE = (1.0 - 0.25) / (2.0 * math.log(2.0))
MIDDLE = 0.5 / math.log(2.0)
MIDDLE_OF_HALF = (1.0 - math.sqrt(0.5)) / math.log(math.sqrt(2.0))
# Part of the clipped lengths that counts as bias: clipped parts of different rows point in
# different directions. Chosen with benchmarks/derive/cd.py.
ALIGNED = 0.2
HIDEABLE = 6.0  # rows of one size that nobody sees, in deviations of the noise on their count
THINNING = math.sqrt(0.5)  # of hidden rows, per half a power of two: a tail that barely has a mean


def histogram_release(
    name: str, bins: int, histograms: int | None = None, *, count: int = 1
) -> Release:
    """The planned release of some histograms: a row is a 1 in at most one bin of each.

    Parameters
    ----------
    name : str
        Of the release.
    bins : int
        Of each histogram.
    histograms : int or None, default=None
        How many are released together; None releases one, as a vector.
    count : int, default=1
        How often.
    """
    shape = (bins,) if histograms is None else (histograms, bins)
    clip = 1.0 if histograms is None else math.sqrt(histograms)
    return Release(name, shape, clip, ONE_BIN, count=count, stage=FACTS)


def count_lengths(lengths: Array) -> Array:
    """How many lie in each half power of two below 1; what rounding put above it counts as 1."""
    smallest = 2.0 ** (-LENGTH_BINS)
    halves = -2.0 * np.log2(np.clip(lengths, smallest, 1.0))
    bins = np.minimum(halves.astype(np.int64), LENGTH_BINS - 1)
    return np.bincount(bins, minlength=LENGTH_BINS).astype(np.float64)


def count_magnitudes(values: Array, top: int, bins: int) -> Array:
    """How many lie between two powers of two, from 2^top down; zeros are in none."""
    places = np.clip(top - np.frexp(values)[1], 0, bins - 1)
    return np.bincount(places[values != 0.0], minlength=bins).astype(np.float64)


def count_within(X: NDArray[np.floating], edges: Array) -> Array:
    """How many rows lie between which edges of each column, of shape (columns, bins)."""
    bins = edges.shape[1] - 1
    counts = np.zeros((len(edges), bins))
    for j, own in enumerate(edges):
        places = np.searchsorted(own[1:-1], X[:, j], side="right")
        counts[j] = np.bincount(places, minlength=bins)
    return counts


def slopes_of(edges: Array, values: Array) -> Array:
    """Of a function that is linear between edges; 0 in bins of no width, or of hardly any."""
    with np.errstate(all="ignore"):
        slopes = np.diff(values, axis=1) / np.diff(edges, axis=1)
    slopes[~np.isfinite(slopes)] = 0.0
    return np.asarray(slopes)


def significance(comparisons: int) -> float:
    """Standard deviations that noise exceeds in none of so many comparisons, most likely."""
    return math.sqrt(2.0 * math.log(comparisons / FALSE_ALARMS))


def trimmed(counts: Array, noise: float) -> tuple[Array, NDArray[np.int64]]:
    """Counts without what may be noise, and the first significant bin.

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
    significant = so_far > significance(counts.size) * noise * np.sqrt(np.arange(1, bins + 1))
    first = np.where(significant.any(axis=1), significant.argmax(axis=1), bins - 1)
    kept = np.where(np.arange(bins) < first[:, None], 0.0, np.maximum(counts, 0.0))
    own = np.arange(len(counts))
    kept[own, first] = np.maximum(so_far[own, first], 0.0)
    return kept, first


def best_clip(
    edges: Array,
    middles: Array,
    kept: Array,
    noise_std: float,
    *,
    aligned: float,
    rows: float = 1.0,
) -> float:
    """The edge at which noise, which grows with a clip, and bias of what is cut off are least.

    Parameters
    ----------
    edges, middles, kept : arrays of shape (bins,)
        Upper ends of the bins, where their rows lie, and how many there are.
    noise_std : float
        Length of the noise on a sum (a mean, given `rows`) per unit of clip.
    aligned : float
        Part of what is cut off that counts as bias.
    rows : float, default=1.0
        What sums are divided by.
    """
    cut = np.maximum(middles - edges[:, None], 0.0) @ kept / rows
    return float(edges[np.argmin((noise_std * edges) ** 2 + (aligned * cut) ** 2)])


def scales_from(
    counts: Array, noise: float, rows: float, *, close: bool = False
) -> tuple[Array, Array]:
    """Scale of each feature relative to its limit, and its mean square in units of the scale.

    The scale lies between the root mean square m and the largest magnitude h that a significant
    number of rows has. Noise on a coefficient costs s^2 / m^2, and gradients are as long as h^2 /
    s^2 lets them, so the sum of the one times the sum of the other is least for s^2 = m h.

    Too small a scale is worse than too large a one: it makes steps too long. So where single
    histograms drown in noise, all features get the scale of their sum, unless one is surely larger,
    or noise leaves a part of the differences between them unexplained: that part is believed.
    A feature of which no significant number of rows is seen may still have a few: they are taken
    for `noise` rows at the limit. So are those of every feature whose limit is `close`, as that of
    an estimated range is: of a flag around its mean, the rarer value is far out and may be hidden.
    Where nothing outweighs them, nor is far out, the largest magnitude is near the limit, too: a
    rare flag around a mean that is all noise had a scale up to five times too small, and the
    longest rows of all.
    """
    bins = counts.shape[1]
    least: Array | float = 0.0  # of the largest magnitudes
    squares = np.append(MEAN_SQUARE * 0.25 ** np.arange(bins - 1), 0.0)
    if noise > READABLE * rows:
        features = len(counts)
        pooled, first = trimmed(counts.sum(axis=0)[None, :], noise * math.sqrt(features))
        together = float(pooled[0] @ squares) / features
        own = noise * float(np.linalg.norm(squares))
        surely = counts @ squares - significance(features) * own
        mean = np.maximum(np.maximum(together, surely), _shrunk(counts @ squares, own)) / rows
        if first[0] == bins - 1:  # not even their sum says anything
            return np.full(features, EVEN), np.ones(features)
        first = np.full(features, first[0])
    else:
        kept, first = trimmed(counts, noise)
        seen = first < bins - 1
        mean = np.where(seen, kept @ squares, noise) / rows
        first = np.where(seen, first, 0)
        if close:
            mean = np.maximum(mean, noise / rows)
            hidden = (mean <= noise / rows) & (0.5**first < mean**SEEN_FAR)
            least = np.where(hidden, mean**HIDDEN_LARGEST, 0.0)
    mean = np.clip(mean, 0.25**bins, 1.0)
    largest = np.maximum(np.maximum(0.5**first, np.sqrt(mean)), least)
    square = mean ** (1.0 - LARGEST) * largest ** (2.0 * LARGEST)
    return np.sqrt(square), mean / square


def _shrunk(found: Array, noise: float) -> Array:
    """Noisy numbers, drawn to their mean by the part of their variance that noise explains."""
    middle, variance = found.mean(), found.var()
    real = max(0.0, 1.0 - noise**2 / variance) if variance > 0.0 else 0.0
    return np.asarray(middle + real * (found - middle))


def moments_from(counts: Array, noise: float, rows: float) -> tuple[float, float] | None:
    """Mean and mean square of one column, relative to its limit; None where noise hides them.

    Where nothing is seen, as many rows as noise can hide may still be at half of the limit.
    """
    if noise > READABLE * rows:
        return None
    bins = counts.shape[1]
    kept, first = trimmed(counts, noise)
    if first[0] == bins - 1:
        hidden = HIDEABLE * noise / rows
        return hidden * 0.5, hidden * 0.25
    sizes = np.append(0.5 ** np.arange(bins - 1), 0.0)
    return float(kept[0] @ sizes) * MIDDLE / rows, float(kept[0] @ sizes**2) * MEAN_SQUARE / rows


def clip_for(
    counts: Array,
    noise: float,
    *,
    longest: float,
    rows: float,
    noise_std: float,
    otherwise: float,
    hidden: float,
    cut_seen: bool = True,
) -> float:
    """The length to which gradients are clipped: where noise and bias are least.

    Parameters
    ----------
    counts : array of shape (bins,)
        Noisy counts of gradient norms in half powers of two below `longest`.
    noise : float
        Standard deviation of the noise on a count.
    longest : float
        Public limit of the lengths.
    rows : float
        Number of rows.
    noise_std : float
        Length of the noise on the mean gradient per unit of clip.
    otherwise : float
        The clip where the counts say nothing.
    hidden : float
        Rows beyond the longest gradients that are seen, in deviations of the noise.
    cut_seen : bool, default=True
        Whether gradients may be clipped that are seen; otherwise those alone that noise hides.
    """
    kept, first = trimmed(counts[None, :], noise)
    if first[0] == len(counts) - 1:
        return otherwise
    beyond = first[0] - np.arange(len(counts))
    kept[0] += np.where(beyond > 0, hidden * noise * THINNING ** np.maximum(beyond, 0), 0.0)
    edges: Array = longest * math.sqrt(0.5) ** np.arange(len(counts), dtype=np.float64)
    middles = edges * MIDDLE_OF_HALF
    found = best_clip(edges, middles, kept[0], noise_std, aligned=ALIGNED, rows=rows)
    return found if cut_seen else max(found, float(edges[first[0]]))


def mean_length(counts: Array, noise: float, longest: float) -> float | None:
    """Of gradients, as far as half powers of two below `longest` tell; None where noise hides it.

    Parameters
    ----------
    counts : array of shape (bins,)
        Noisy counts of gradient norms.
    noise : float
        Standard deviation of the noise on a count.
    longest : float
        Public limit of the lengths.
    """
    kept, first = trimmed(counts[None, :], noise)
    if first[0] == len(counts) - 1:
        return None
    middles = longest * math.sqrt(0.5) ** np.arange(len(counts)) * MIDDLE_OF_HALF
    return float(kept[0] @ middles / kept[0].sum())
