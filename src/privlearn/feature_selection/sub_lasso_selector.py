"""Features that many small Lasso models agree on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from privlearn._core.docstrings import documented
from privlearn._core.plan import Release
from privlearn._core.problem import Adjacency
from privlearn._core.releaser import Releaser
from privlearn._core.sampling import Batches
from privlearn._data.bounded import BoundedData
from privlearn.feature_selection import lasso_votes
from privlearn.feature_selection.base import PrivateSelector
from privlearn.solvers._common.noisy_top_k import select_by_votes, votes_release
from privlearn.solvers._common.row_count import fewest_rows, fewest_rows_release

__all__ = ["SubLassoSelector"]

MOST_MODELS = 2**24  # so many groups are still numbers in memory, whatever is private about n
# Chosen on generated data by benchmarks/derive/sub_lasso.py (noisy_top_k.md, "The rule").
ROWS_PER_FEATURE = 4  # rows of a group, for each feature that it votes for
PENALTY = 0.1  # of the least that leaves no feature
COUNT_SHARE = 0.05  # of epsilon, where the number of rows is private (Dick et al. 2023, 4.2)
CELLS = 4_000_000  # of X that are copied at a time


@documented
@dataclass(eq=False, repr=False)
class SubLassoSelector(PrivateSelector):
    """Select k features by the votes of many Lasso models, with a privacy guarantee.

    Rows are dealt to groups; each group fits a Lasso to its standardised columns and votes for the
    features of the k largest coefficients; the features with the most votes after noise are
    selected (Kifer, Smith and Thakurta 2012; Dick, Gillenwater and Joseph 2023, Algorithm 2). No
    bounds are needed. A group has one voice for all its rows, so this needs more rows or budget
    than `KendallSelector`; where features correlate and both are ample, it is the better one.

    Parameters
    ----------
    models : int or None
        How many groups. None takes groups of about 4 k rows; where the number of rows is private,
        it is estimated with 5 % of epsilon.

    See Also
    --------
    KendallSelector : Needs fewer rows or less budget.

    Examples
    --------
    >>> import numpy as np
    >>> from privlearn.feature_selection import SubLassoSelector
    >>> X = np.random.default_rng(0).standard_normal((5_000, 10))
    >>> y = X[:, 3] - 2 * X[:, 7]
    >>> selector = SubLassoSelector(2, epsilon=1).fit(X, y)
    >>> selector.get_support(indices=True)
    array([3, 7])
    """

    models: int | None = field(default=None, kw_only=True)

    _paper: ClassVar[str] = "SubLasso (Kifer et al. 2012; Dick, Gillenwater, Joseph 2023)"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PrivateSelector._parameter_constraints,
        "models": [None, Interval(Integral, 1, MOST_MODELS, closed="both")],
    }

    def _estimates_count(self) -> bool:
        return self.models is None and not Adjacency(self.adjacency).n_is_public

    def _kind(self) -> object:
        return self.models is None

    def _releases(self, n_features: int) -> list[tuple[Release, float | None]]:
        count = [(fewest_rows_release(), COUNT_SHARE)] if self._estimates_count() else []
        return [*count, (votes_release(self.k, n_features), None)]

    def _select(self, data: BoundedData, release: Releaser) -> list[int]:
        present = data.present()
        groups = release.partition(data.n, self._groups(data, present, release))
        votes = np.zeros(data.n_features)
        for rows, starts in _portions(_among_present(groups, present), votes.size):
            X, y = (given[rows] for given in data.as_given())
            dense = X if isinstance(X, np.ndarray) else X.toarray()
            values = dense.astype(np.float64, copy=False)
            lasso_votes.cast_ballots(values, y, starts, int(self.k), PENALTY, votes)
        return select_by_votes(votes, self.k, release)

    def _groups(self, data: BoundedData, present: NDArray[np.bool_], release: Releaser) -> int:
        if self.models is not None:
            return int(self.models)
        public = None if self._estimates_count() else data.n
        rows = fewest_rows(public, int(present.sum()), release)
        return max(1, rows // (ROWS_PER_FEATURE * self.k))


def _among_present(groups: Batches, present: NDArray[np.bool_]) -> Batches:
    """The groups without empty rows."""
    kept = present[groups.rows]
    before = np.concatenate([[0], np.cumsum(kept)])
    return Batches(groups.rows[kept], before[groups.starts])


def _portions(groups: Batches, width: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Rows of some groups, and where each group starts among them."""
    rows, starts = groups
    first, count = 0, len(starts) - 1
    while first < count:
        room = starts[first] + max(1, CELLS // width)
        last = max(first + 1, int(np.searchsorted(starts, room, side="right")) - 1)
        yield rows[starts[first] : starts[last]], starts[first : last + 1] - starts[first]
        first = last
