"""Noisy top-k: features chosen one after the other, by rank correlation or by votes.

Dick, Gillenwater and Joseph 2023, Algorithms 1 and 2. Kendall's correlation looks at orders only,
so it needs no bounds: what one row can move is known for every data set.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent import futures  # loads its threads when they are asked for
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from privlearn._core.mechanisms import GUMBEL
from privlearn._core.norms import BALLOT, LINF
from privlearn._core.numerics import MAX_ROWS, BlockSum
from privlearn._core.plan import Release
from privlearn._core.problem import Adjacency
from privlearn._core.releaser import Releaser
from privlearn._core.threads import in_parts
from privlearn._data.bounded import BoundedData
from privlearn.solvers._common.loops import kendall
from privlearn.solvers._common.loops.kendall import Ranks

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = [
    "FIRST",
    "FURTHER",
    "VOTES",
    "Correlations",
    "kendall_releases",
    "refuse_k",
    "row_clip",
    "select_another",
    "select_by_kendall",
    "select_by_votes",
    "votes_release",
]

Array = NDArray[np.float64]
T = TypeVar("T")
FIRST, FURTHER, VOTES = "first feature", "further features", "most votes"
FEW_ROWS = 20_000  # up to which threads cost more than they save
MOST_THREADS = 8  # each needs a workspace of two columns
PAIRS_AT_MOST = 4096  # stored entries of a sparse column, up to which all pairs are looked at
FAR = 2.0**20  # in noise scales: Gumbel noise goes beyond with probability exp(-FAR)


def kendall_releases(k: int, n_features: int, adjacency: Adjacency) -> tuple[Release, ...]:
    """The planned releases of `select_by_kendall`; each of the k rounds costs the same.

    Parameters
    ----------
    k : int
        How many features to select.
    n_features : int
        How many there are.
    adjacency : Adjacency
        The relation. A row moves a correlation by 3/2 under `add_remove`, by 1 or 2 otherwise.

    Examples
    --------
    >>> [release.clip for release in kendall_releases(3, 10, Adjacency.ADD_REMOVE)]
    [1.5, 3.0]
    """
    refuse_k(k, n_features)
    clip = row_clip(adjacency)
    first = Release(FIRST, (n_features,), clip, LINF, GUMBEL)
    if k == 1:
        return (first,)
    # A correlation with the target less a mean of correlations: each moves by the clip.
    further = Release(FURTHER, (n_features,), 2.0 * clip, LINF, GUMBEL, count=k - 1)
    return first, further


def votes_release(k: int, n_features: int) -> Release:
    """The planned release of `select_by_votes`: k rounds."""
    refuse_k(k, n_features)
    return Release(VOTES, (n_features,), 1.0, BALLOT, GUMBEL, count=k)


def refuse_k(k: int, n_features: int) -> None:
    """Refuse to select more features than there are."""
    if not 1 <= k <= n_features:
        raise ValueError(
            f"k={k}, but k features are to be selected out of {n_features}; choose k between 1 "
            f"and {n_features}"
        )


def select_by_kendall(data: BoundedData, k: int, release: Releaser) -> list[int]:
    """Features that follow the target but not each other, in the order of their selection.

    Each round takes the largest |tau(x_j, y)| less the mean of |tau(x_j, x_i)| over the chosen i,
    after noise (Dick et al. 2023, (1)). Empty rows are in no pair.

    Parameters
    ----------
    data : BoundedData
        Rows as they are: nothing has to be bounded.
    k : int
        As in `kendall_releases`.
    release : Releaser
        With `kendall_releases` in its plan.
    """
    correlations = Correlations(data, release.plan.adjacency)
    relevance = np.abs(correlations.with_target())
    overlap, chosen = BlockSum(relevance.shape), list[int]()
    clip = row_clip(release.plan.adjacency)
    chosen.append(release.select(FIRST, relevance, clip=clip))
    while len(chosen) < k:
        overlap.add(np.abs(correlations.with_column(chosen[-1])))
        scores = relevance - overlap.value() / len(chosen)
        chosen.append(select_another(FURTHER, scores, chosen, release, 2.0 * clip))
    return chosen


def select_by_votes(votes: Array, k: int, release: Releaser) -> list[int]:
    """The k features with the most votes after noise, in the order of their selection."""
    chosen = list[int]()
    while len(chosen) < k:
        chosen.append(select_another(VOTES, votes, chosen, release, 1.0))
    return chosen


def row_clip(adjacency: Adjacency) -> float:
    """What one row adds to a correlation; where n is private, what it does to the divisor, too."""
    return 1.5 if adjacency is Adjacency.ADD_REMOVE else 1.0


def select_another(
    name: str, scores: Array, chosen: list[int], release: Releaser, clip: float
) -> int:
    """The best after noise of those that are not chosen yet, which is public.

    Chosen ones get a public score that noise does not lift to where the others are: no score is
    below -rows.
    """
    rows = MAX_ROWS if release.plan.rows is None else release.plan.rows
    others = scores.copy()
    others[chosen] = -(rows + FAR * release.noise_scale(name))
    return release.select(name, others, clip=clip)


class Correlations:
    """Kendall's tau, (concordant - discordant) / (n - 1), of columns that are ranked once."""

    def __init__(self, data: BoundedData, adjacency: Adjacency) -> None:
        present = data.present()
        count = int(present.sum())
        X, y = data.as_given()
        whole = kendall.starts_without_ties(count)
        self._target = kendall.rank_column(np.array(y[present]), whole)
        self._columns = (_RankedColumns if isinstance(X, np.ndarray) else _SparseColumns)(
            X, present
        )
        # Where n is private it is part of the statistic; one row alone is in no pair.
        self._divisor = max(1, (present.size if adjacency.n_is_public else count) - 1)

    def with_target(self) -> Array:
        """Tau of every feature and the target."""
        return self._columns.concordance_with(self._target) / self._divisor

    def with_column(self, j: int) -> Array:
        """Tau of every feature and feature j."""
        return self._columns.concordance_with(self._columns.ranks_of(j)) / self._divisor


class _RankedColumns:
    """Dense columns, each sorted once."""

    def __init__(self, X: NDArray[np.floating], present: NDArray[np.bool_]) -> None:
        count = int(present.sum())
        whole, threads = kendall.starts_without_ties(count), _threads(count)

        def ranks(j: int) -> Ranks:
            own = X[:, j] if count == present.size else X[present, j]
            return kendall.rank_column(np.array(own), whole)  # one layout, whatever X has

        self._ranks = _in_threads(ranks, X.shape[1], threads)
        self._workspaces = [np.empty((2, count), dtype=np.uint32) for _ in range(threads)]

    def ranks_of(self, j: int) -> Ranks:
        return self._ranks[j]

    def concordance_with(self, other: Ranks) -> Array:
        found = np.empty(len(self._ranks))

        def count(part: int) -> None:
            for j in range(part, len(found), len(self._workspaces)):
                found[j] = kendall.concordance(self._ranks[j], other, self._workspaces[part])

        _in_threads(count, len(self._workspaces), len(self._workspaces))
        return found


class _SparseColumns:
    """Sparse columns, of which only what is stored is looked at."""

    def __init__(self, X: csr_array, present: NDArray[np.bool_]) -> None:
        rows = X if present.all() else X[np.flatnonzero(present)]
        columns = rows.tocsc()
        columns.sum_duplicates()
        self._n = int(columns.shape[0])
        self._values = columns.data.astype(np.float64)
        self._rows, self._starts = columns.indices.astype(np.int64), columns.indptr.astype(np.int64)

    def ranks_of(self, j: int) -> Ranks:
        own, values = slice(self._starts[j], self._starts[j + 1]), np.zeros(self._n)
        values[self._rows[own]] = self._values[own]
        return kendall.rank_column(values, kendall.starts_without_ties(self._n))

    def concordance_with(self, other: Ranks) -> Array:
        found = np.zeros(len(self._starts) - 1, np.int64)
        stored = self._values, self._rows, self._starts

        def count(first: int, last: int) -> None:
            of_other = other.ranks, other.starts.astype(np.int64), self._n
            kendall.count_sparse(*stored, *of_other, PAIRS_AT_MOST, first, last, found)

        in_parts(len(found), count)
        for j in np.flatnonzero(np.diff(self._starts) > PAIRS_AT_MOST):
            found[j] = self._of_long(slice(self._starts[j], self._starts[j + 1]), other)
        return found.astype(np.float64)

    def _of_long(self, own: slice, other: Ranks) -> int:
        """The same for a column with many stored entries, in the time that it takes to sort them.

        Pairs of stored entries, then pairs of one with a zero: whether it is above zero, times by
        how many more of the rows that are not stored it is above, in the other column, than below.
        """
        x, ranks = self._values[own], other.ranks[self._rows[own]]
        whole, room = kendall.starts_without_ties(x.size), np.empty((2, x.size), dtype=np.uint32)
        inner = kendall.rank_column(ranks, whole)
        pairs = kendall.concordance(kendall.rank_column(x, whole), inner, room)
        below = other.starts[ranks].astype(np.int64) - inner.starts[inner.ranks]
        above = self._n - other.starts[ranks + 1].astype(np.int64)
        above -= x.size - inner.starts[inner.ranks + 1].astype(np.int64)
        return int(pairs) + int(np.sum(np.sign(x).astype(np.int64) * (below - above)))


def _threads(rows: int) -> int:
    return min(os.cpu_count() or 1, MOST_THREADS) if rows > FEW_ROWS else 1


def _in_threads(work: Callable[[int], T], tasks: int, threads: int) -> list[T]:
    """Results of `work` for 0, 1, ..., in order; compiled loops and sorts leave the others room."""
    if threads == 1:
        return [work(k) for k in range(tasks)]
    with futures.ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, range(tasks)))
