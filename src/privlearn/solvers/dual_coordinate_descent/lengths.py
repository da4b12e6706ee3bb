"""What dual coordinate descent estimates privately first: lengths of rows and gradients.

Two histograms of half powers of two below a public limit, in one release (histograms.md).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from privlearn._core.plan import Release
from privlearn._core.problem import Problem
from privlearn._core.releaser import Releaser
from privlearn.solvers._common import histograms
from privlearn.solvers._common.histograms import (
    LENGTH_BINS,
    MIDDLE_OF_HALF,
    clip_for,
    histogram_release,
    trimmed,
)
from privlearn.solvers._common.loops.row_products import StoredRows
from privlearn.solvers._common.objective import n_weights

__all__ = ["LENGTHS", "lengths_release", "private_lengths", "slopes_are_unknown"]

Array = NDArray[np.float64]
LENGTHS = "row and gradient norms"
UNREADABLE = 0.5  # the length where the histogram says nothing, relative to its limit


def slopes_are_unknown(problem: Problem) -> bool:
    """Whether the loss has no steepest slope, and y's range is no guess of a typical one."""
    return problem.loss.has_unit and not math.isfinite(problem.loss.lipschitz)


def lengths_release(problem: Problem) -> Release:
    """Of rows; and of gradients where nothing else says how large slopes are."""
    return histogram_release(LENGTHS, LENGTH_BINS, 2 if slopes_are_unknown(problem) else 1)


def private_lengths(
    problem: Problem,
    rows: StoredRows,
    present: NDArray[np.bool_],
    count: float,
    mu: float,
    release: Releaser,
) -> tuple[float, float | None]:
    """Typical length of a row, and where to clip gradients at zero weights for squared errors."""
    kinds = 2 if slopes_are_unknown(problem) else 1
    norms, targets = rows.norms[present], rows.targets[present]
    lengths = [norms, np.abs(targets) * norms][:kinds]
    counts = np.stack([histograms.count_lengths(each) for each in lengths])
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
        noise_std=math.sqrt(n_weights(problem)) / (mu * count),
        otherwise=UNREADABLE * length,
        hidden=0.0,
    )
    return length, clip


def _typical(counts: Array, noise: float, rows: float) -> float:
    """Root mean square of the lengths, as far as the counts tell."""
    kept, first = trimmed(counts[None, :], noise)
    if first[0] == len(counts) - 1:
        return UNREADABLE
    middles = MIDDLE_OF_HALF * math.sqrt(0.5) ** np.arange(len(counts))
    square = float(kept[0] @ middles**2) / max(float(kept[0].sum()), 1.0)
    return min(math.sqrt(square), 1.0)
