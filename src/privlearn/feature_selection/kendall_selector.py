"""Features that follow the target but not each other, by rank correlation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from privlearn._core.plan import Release
from privlearn._core.problem import Adjacency
from privlearn._core.releaser import Releaser
from privlearn._data.bounded import BoundedData
from privlearn.feature_selection.base import PrivateSelector
from privlearn.solvers._common.noisy_top_k import kendall_releases, select_by_kendall

__all__ = ["KendallSelector"]


@dataclass(eq=False, repr=False)
class KendallSelector(PrivateSelector):
    """Select k features by Kendall's rank correlation, with a privacy guarantee.

    The first feature is the one whose order follows the target's best; each further one also loses
    what it shares, on average, with those already chosen (Dick, Gillenwater and Joseph 2023). Only
    orders count, so no bounds are needed, and outliers and units do not matter.

    Parameters
    ----------
    k : int, default=5
        How many features to select.
    epsilon : float, default=1.0
        Promised in total for this fit.
    delta : float, default=0.0
        Promised; 0 is enough, and more buys better composition of the k rounds.
    adjacency : {"zero_out", "add_remove", "replace_one"}, default="zero_out"
        Which data sets the guarantee makes hard to tell apart.
    on_invalid : {"raise", "drop"}, default="raise"
        What happens to rows with NaN or infinity: an error before anything is spent, or they count
        as empty rows, which are in no pair, and the guarantee covers them.
    ledger, dataset : Ledger or its path, and str, default=None
        What is charged before anything is released, and the name the charge is booked under.
    random_state : int, RandomState, Generator or None, default=None
        For tests only: a reproducible run is not private, and the certificate says so.

    Attributes
    ----------
    selected_ : array of shape (k,)
        Columns in the order of their selection.
    privacy_ : Certificate
    n_features_in_ : int
    feature_names_in_ : array of str
        Only when X has column names.

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

    def _releases(self, n_features: int) -> tuple[Release, ...]:
        return kendall_releases(self.k, n_features, Adjacency(self.adjacency))

    def _select(self, data: BoundedData, release: Releaser) -> list[int]:
        return select_by_kendall(data, self.k, release)
