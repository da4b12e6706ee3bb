"""What dual coordinate descent buys before it moves: how long rows and their gradients are.

Two histograms of half octaves below a public limit, in one release: each row is in one bin of each.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from privlearn._core.plan import FACTS, ONE_BIN, Release
from privlearn._core.problem import Problem
from privlearn._core.releaser import Releaser
from privlearn._objective.losses import SQUARED
from privlearn.solvers._common.descent import size_of
from privlearn.solvers._common.log_histogram import LENGTH_BINS, MIDDLE_OF_HALF, clip_for, trimmed

if TYPE_CHECKING:
    from privlearn.solvers._common.loops.row_products import StoredRows

__all__ = ["LENGTHS", "bought_lengths", "lengths_release"]

Array = NDArray[np.float64]
LENGTHS = "row and gradient norms"
UNREADABLE = 0.5  # the length where the histogram says nothing, relative to its limit


def _histograms(problem: Problem) -> int:
    """Of rows; and of gradients where nothing else says how large slopes are."""
    return 2 if problem.loss.code == SQUARED else 1


def lengths_release(problem: Problem, weight: float) -> Release:
    """The planned release, with its noise multiplier relative to the plan's scale."""
    kinds = _histograms(problem)
    diameter = ONE_BIN.diameter / 2.0 if problem.adjacency.replaces else 1.0  # the steps' is 2
    shape, weight = (kinds, LENGTH_BINS), diameter * weight
    return Release(LENGTHS, shape, math.sqrt(kinds), ONE_BIN, weight=weight, stage=FACTS)


def bought_lengths(
    problem: Problem,
    rows: StoredRows,
    present: NDArray[np.bool_],
    count: float,
    mu: float,
    release: Releaser,
) -> tuple[float, float | None]:
    """Typical length of a row, and where to clip gradients at zero weights for squared errors."""
    kinds = _histograms(problem)
    norms, targets = rows.norms[present], rows.targets[present]
    lengths = [norms, np.abs(targets) * norms][:kinds]
    counts = np.stack([_counted(each) for each in lengths])
    noisy = release(LENGTHS, counts, clip=math.sqrt(kinds))
    noise = release.noise_scale(LENGTHS)
    length = _typical(noisy[0], noise, count)
    if kinds == 1:
        return length, None
    clip = clip_for(
        noisy[1],
        noise,
        longest=1.0,
        rows=count,
        blur=math.sqrt(size_of(problem)) / (mu * count),
        otherwise=UNREADABLE * length,
        hidden=0.0,
    )
    return length, clip


def _counted(lengths: Array) -> Array:
    """How many lie in each half octave below 1; what rounding put above it counts as 1."""
    smallest = 2.0 ** (-LENGTH_BINS)
    halves = -2.0 * np.log2(np.clip(lengths, smallest, 1.0))
    bins = np.minimum(halves.astype(np.int64), LENGTH_BINS - 1)
    return np.bincount(bins, minlength=LENGTH_BINS).astype(np.float64)


def _typical(counts: Array, noise: float, rows: float) -> float:
    """Root mean square of the lengths, as far as the counts tell."""
    kept, first = trimmed(counts[None, :], noise)
    if first[0] == len(counts) - 1:
        return UNREADABLE
    middles = MIDDLE_OF_HALF * math.sqrt(0.5) ** np.arange(len(counts))
    square = float(kept[0] @ middles**2) / max(float(kept[0].sum()), 1.0)
    return min(math.sqrt(square), 1.0)
