"""Which features to look at where there are more than a budget can tell about.

Rank correlation with the target, as in DPKendall (noisy_top_k.md), without its term for overlap,
which doubles the noise: with hundreds of columns many features without it are better.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from privlearn._core.mechanisms import GUMBEL
from privlearn._core.norms import LINF
from privlearn._core.plan import Release
from privlearn._core.problem import Adjacency, Bounds, Budget, Problem
from privlearn._core.releaser import Releaser
from privlearn._data.bounded import BoundedData
from privlearn._objective.losses import Target
from privlearn.private_bounds.declared import CentredRange
from privlearn.solvers import Solution
from privlearn.solvers._common.snr import gdp_mu, public_n_or_default

__all__ = [
    "SHARE",
    "bounds_of",
    "columns_of",
    "in_all_columns",
    "most_relevant",
    "number_to_keep",
    "relevance_release",
]

RELEVANCE = "relevant features"
SHARE = 0.2  # of the budget, where anything is selected
# Features to keep, and above which to select: per root of n mu, or, where that is more, one for so
# much of n mu. What few rows tell is the few that matter most; what more rows tell is most of them.
KEPT, TOO_MANY = 1.6, 3.0
PER_KEPT, PER_COLUMN = 14.0, 8.0


def number_to_keep(problem: Problem, budget: Budget) -> int | None:
    """How many features to select; None keeps them all.

    All of them where a person may have several rows: ranks have no proof for that. And where rows
    stay on disk, for ranks need all of a column at once.
    """
    if problem.most_rows > 1 or problem.from_source:
        return None
    seen = public_n_or_default(problem) * gdp_mu(problem, budget)
    root = math.sqrt(seen)
    ordered = problem.loss.target is not Target.CLASS  # several classes have no order
    one_box = len(problem.penalty.low) == len(problem.penalty.high) == 1
    few = problem.n_features <= max(TOO_MANY * root, seen / PER_COLUMN)
    if few or not (ordered and one_box) or problem.bounds.scale is not None:
        return None
    return min(max(1, round(max(KEPT * root, seen / PER_KEPT))), problem.n_features)


def relevance_release(keep: int, n_features: int, adjacency: Adjacency) -> Release:
    """Rounds of a noisy maximum; a row moves every score by at most the clip."""
    from privlearn.solvers._common.noisy_top_k import row_clip

    return Release(RELEVANCE, (n_features,), row_clip(adjacency), LINF, GUMBEL, count=keep)


def most_relevant(data: BoundedData, keep: int, release: Releaser) -> NDArray[np.int64]:
    """The features whose ranks follow the target's most, after noise; in their own order."""
    from privlearn.solvers._common.noisy_top_k import Correlations, row_clip, select_another

    adjacency, chosen = release.plan.adjacency, list[int]()
    relevance, clip = np.abs(Correlations(data, adjacency).with_target()), row_clip(adjacency)
    while len(chosen) < keep:
        chosen.append(select_another(RELEVANCE, relevance, chosen, release, clip))
    return np.sort(np.asarray(chosen, dtype=np.int64))


def columns_of(data: BoundedData, chosen: NDArray[np.int64]) -> BoundedData:
    """The same rows with the chosen columns only; a row that is empty stays so."""
    return data.of_columns(chosen, bounds_of(data.bounds, chosen))


def bounds_of(bounds: Bounds, chosen: NDArray[np.int64]) -> Bounds:
    """The same limits of the chosen columns."""
    if bounds.low is None or bounds.high is None:
        return bounds
    known = None if bounds.known is None else bounds.known[chosen]
    units = None if bounds.own_units is None else bounds.own_units[chosen]
    rare = None if bounds.rare is None else bounds.rare[chosen]
    low, high = bounds.low[chosen], bounds.high[chosen]
    return replace(bounds, low=low, high=high, known=known, own_units=units, rare=rare)


def in_all_columns(
    solution: Solution, chosen: NDArray[np.int64], n_features: int, ranges: dict[str, CentredRange]
) -> Solution:
    """The model of all features, those not chosen with 0, and what its predictions clip."""
    low = high = target = None
    if "features" in ranges:
        low, high = np.full(n_features, -np.inf), np.full(n_features, np.inf)
        found = ranges["features"]
        own = slice(None) if found.estimated is None else found.estimated
        low[chosen[own]], high[chosen[own]] = found.low[own], found.high[own]
    if "target" in ranges:
        target = float(ranges["target"].low[0]), float(ranges["target"].high[0])
    clip_bounds = Bounds(low, high, target, None)
    if len(chosen) == n_features:
        return replace(solution, clip_bounds=clip_bounds)
    coef = np.zeros((len(solution.coef), n_features))
    coef[:, chosen] = solution.coef
    noise = solution.coef_noise
    if noise is not None:
        noise = np.full(coef.shape, np.nan)  # of a feature that was not chosen, nothing is known
        noise[:, chosen] = solution.coef_noise
    return replace(solution, coef=coef, clip_bounds=clip_bounds, coef_noise=noise)
