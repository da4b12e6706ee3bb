"""Features that follow the target but not each other, by rank correlation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from privlearn._core.docstrings import documented
from privlearn._core.plan import Release
from privlearn._core.problem import Adjacency
from privlearn._core.releaser import Releaser
from privlearn._data.bounded import BoundedData
from privlearn.feature_selection.base import PrivateSelector
from privlearn.solvers._common.noisy_top_k import kendall_releases, select_by_kendall

__all__ = ["KendallSelector"]


@documented
@dataclass(eq=False, repr=False)
class KendallSelector(PrivateSelector):
    """Select k features by Kendall's rank correlation, with a privacy guarantee.

    The first feature is the one whose order follows the target's best; each further one also loses
    what it shares, on average, with those already chosen (Dick, Gillenwater and Joseph 2023). Only
    orders count, so no bounds are needed, and outliers and units do not matter.

    See Also
    --------
    SubLassoSelector : Where features correlate and rows are many.

    Examples
    --------
    >>> import numpy as np
    >>> from privlearn.feature_selection import KendallSelector
    >>> X = np.random.default_rng(0).standard_normal((5_000, 10))
    >>> y = X[:, 3] - 2 * X[:, 7]
    >>> selector = KendallSelector(2, epsilon=1).fit(X, y)
    >>> selector.selected_
    array([7, 3])
    >>> selector.transform(X).shape
    (5000, 2)
    """

    _paper: ClassVar[str] = "DPKendall (Dick, Gillenwater, Joseph 2023), ties counted 0"

    def _releases(self, n_features: int) -> list[tuple[Release, float | None]]:
        planned = kendall_releases(self.k, n_features, Adjacency(self.adjacency))
        return [(release, None) for release in planned]

    def _select(self, data: BoundedData, release: Releaser) -> list[int]:
        return select_by_kendall(data, self.k, release)
