"""AUC from counts of scores by class, with an interval."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from privlearn.metrics.intervals import ratio_interval
from privlearn.metrics.result import Score
from privlearn.metrics.score_tree import BINS, BRANCHES, Leaves

__all__ = ["auc_from", "linear_noise"]

Array = NDArray[np.float64]
READABLE = 0.25  # error of the mass of ties, relative to it, up to which a level tells it
HARDLY_ANY = 0.05  # of all pairs: an error up to which classes are apart that share no bin
FEW_TIES = 0.1  # pairs that share a bin, below which noise within bins counts to first order alone
MOST_BINS = 256  # of the levels for which noise times noise is computed


def auc_from(leaves: Leaves) -> Score:
    """The area under the ROC curve: pairs in order, ties as halves, over all pairs."""
    minus, plus = leaves.counts
    pairs = float(plus.sum() * minus.sum())
    ties = _ties(leaves, pairs) if plus.sum() > 0.0 and minus.sum() > 0.0 else [1.0]
    if len(ties) == 1:  # noise hides one of the classes
        return Score("auc", math.nan, 0.0, 1.0, math.inf)
    level = next((k for k, mass in enumerate(ties[1:]) if mass <= FEW_TIES), len(ties) - 2)
    even_minus, even_plus = leaves.even(level)
    below, above = _below(even_minus), _above(even_plus)
    # <x, K y> with y = even y + rest, less <rest of x, K rest of y>: mostly noise times noise.
    ordered = float(plus @ below + (minus - even_minus) @ above)
    ordered = min(max(ordered, 0.0), pairs)
    noise = _noise(leaves, below, above, level)
    value = ordered / pairs
    sampling = np.zeros((2, 2))
    sampling[0, 0] = pairs**2 * _sampling(plus, minus, below, above, value)
    low, high = ratio_interval(ordered, pairs, noise + sampling)
    # Half of the pairs that share a finest bin: how far the order within bins could move AUC.
    shrinks = max(ties[-1] / ties[-2], 1.0 / BRANCHES)
    binning = 0.5 * ties[-1] * shrinks ** (len(BINS) + 1 - len(ties))
    low, high = max(low - binning, 0.0), min(high + binning, 1.0)
    slope = np.array([1.0, -value])
    return Score("auc", value, low, high, math.sqrt(max(slope @ noise @ slope, 0.0)) / pairs)


def _below(minus: Array) -> Array:
    """Negatives that score less than each bin, and half of those in it."""
    return np.asarray(np.cumsum(minus) - minus / 2.0)


def _above(plus: Array) -> Array:
    """Positives that score more than each bin, and half of those in it."""
    return np.asarray(plus.sum() - np.cumsum(plus) + plus / 2.0)


def _noise(leaves: Leaves, below: Array, above: Array, level: int) -> Array:
    """Covariance of the noise on ordered pairs and on all pairs.

    Both are bilinear in the classes' counts. Weights with noise in them count the product of both
    classes' noise twice, so it is taken away once where it can be computed.
    """
    linear = linear_noise(leaves, below, above)
    if BINS[level] > MOST_BINS:
        return linear
    own = leaves.matrix(level)
    order = np.tri(BINS[level], k=-1) + np.eye(BINS[level]) / 2.0
    kernels = (order, np.ones_like(order))
    twice = [[np.sum((own @ a @ own) * b) for b in kernels] for a in kernels]
    left = linear - np.array(twice)
    return left if left[0, 0] > 0.0 and left[1, 1] > 0.0 else linear


def linear_noise(leaves: Leaves, below: Array, above: Array) -> Array:
    """Covariance of the noise on both to first order, with these weights of positives, negatives.

    It is the noise itself where the weights are those of the counts without noise.
    """
    ones = np.ones_like(below)
    negatives, positives = leaves.counts.sum(axis=1)
    return _gram(leaves, (below, ones * negatives)) + _gram(leaves, (above, ones * positives))


def _gram(leaves: Leaves, weights: tuple[Array, Array]) -> Array:
    return np.array([[leaves.covariance(a, b) for b in weights] for a in weights])


def _sampling(plus: Array, minus: Array, below: Array, above: Array, value: float) -> float:
    """Variance of AUC over samples of rows (DeLong, DeLong and Clarke-Pearson 1988).

    Both parts are variances of numbers in [0, 1] with mean `value`, and noise must not take them
    beyond what such have.
    """
    most, total = value * (1.0 - value), 0.0
    for own, others, rank in ((plus, minus, below), (minus, plus, above)):
        rows = max(float(own.sum()), 1.0)
        share = rank / max(float(others.sum()), 1.0)
        total += min(max(float(own @ (share - value) ** 2) / rows, 0.0), most) / rows
    return total


def _ties(leaves: Leaves, pairs: float) -> list[float]:
    """The share of pairs that have one bin in common: of one bin for all, then by level.

    It ends with the finest level that noise does not hide. Beyond, it is taken to shrink from
    level to level as it did last, at most as fast as where scores fill their bins evenly: equal
    scores, and those of a model that hardly varies, do not shrink.
    """
    found = [1.0]
    for level, bins in enumerate(BINS):
        (minus, plus), variance = leaves.at(level), leaves.variances[level]
        signal = np.maximum(plus**2 + minus**2 - 2.0 * variance, 0.0).sum()
        error = math.sqrt(variance * float(signal) + bins * variance**2)
        ties = float(plus @ minus)
        if not error <= READABLE * ties:
            apart = level == 0 and error <= HARDLY_ANY * pairs
            return [1.0, max(ties, error) / pairs] if apart else found
        found.append(min(ties / pairs, found[-1]))
    return found
