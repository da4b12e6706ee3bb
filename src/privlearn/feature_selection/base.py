"""What the selectors share: parameters, `plan`, `fit`, and what scikit-learn asks of a selector."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field, replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from privlearn._core.budget import budget_of, warn_of_delta
from privlearn._core.calibration import calibrate
from privlearn._core.certificate import Certificate
from privlearn._core.docstrings import documented
from privlearn._core.numerics import MAX_COLUMNS
from privlearn._core.plan import Plan, Release, check_size
from privlearn._core.problem import Adjacency, Bounds, Budget
from privlearn._core.releaser import Releaser, charge_and_open
from privlearn._data.bounded import BoundedData, Table
from privlearn._data.reading import is_frame, rows_and_columns
from privlearn._data.tables import read_table
from privlearn.linear_model.atomic import blank
from privlearn.linear_model.base import PrivateEstimator
from privlearn.solvers._common.noisy_top_k import refuse_k
from privlearn.solvers._common.rehearsal import made_up_table, once, run_through

__all__ = ["PrivateSelector"]

NOTHING_DECLARED = Bounds(None, None, None, None)


@dataclass(eq=False, repr=False)
class PrivateSelector(SelectorMixin, BaseEstimator):
    """Base of private feature selectors; subclasses name their releases and score features.

    The fields are the parameters of `__init__`, which stores them as they are; `fit` checks them.

    Parameters
    ----------
    delta : float
        Probability with which the promise of `epsilon` may fail. 0 is enough, and more makes the
        composition of the k rounds cheaper.
    on_invalid : {"raise", "drop"}
        What happens to rows with NaN or infinity: an error before anything is spent, or they count
        as empty rows, which have no part in the selection, and the guarantee covers them.
    """

    k: int = 5
    _: KW_ONLY
    epsilon: float = 1.0
    delta: float = 0.0
    adjacency: str = "zero_out"
    on_invalid: str = "raise"
    ledger: Any = None  # a path, or anything with charge()
    dataset: str | None = None
    random_state: Any = None  # as in scikit-learn

    selected_: NDArray[np.int64] = field(init=False)
    privacy_: Certificate = field(init=False)

    _paper: ClassVar[str]
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PrivateEstimator._parameter_constraints,  # of those that selectors share with estimators
        "k": [Interval(Integral, 1, MAX_COLUMNS, closed="both")],
    }

    @abstractmethod
    def _releases(self, n_features: int) -> list[tuple[Release, float | None]]:
        """Everything that a fit will release, with shares of the budget as in `Plan.split`."""

    @abstractmethod
    def _select(self, data: BoundedData, release: Releaser) -> list[int]:
        """The features, in the order of their selection."""

    @documented
    def plan(self, n: int | None = None, *, n_features: int) -> Plan:
        """What a fit would release and cost, before any data.

        Returns
        -------
        Plan
            `str()` it, or ask `.epsilon(delta)` and `.releases`.
        """
        self._validate_params()
        adjacency = Adjacency(self.adjacency)
        rows = n if adjacency.n_is_public else None
        rows, n_features = check_size(rows, n_features)
        refuse_k(self.k, n_features)
        assumed = () if rows is None else ("the number of rows is public",)
        plan = Plan((), adjacency, 1.0, rows, assumed, self._paper)
        plan = plan.split(self._releases(n_features))
        budget = budget_of(self.epsilon, self.delta)
        warn_of_delta(budget, rows)
        return calibrate(lambda scale: replace(plan, scale=scale), budget)

    def fit(self, X: object, y: object) -> Self:
        """Select features and publish which, with the certificate.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            One row per person; numbers and booleans.
        y : array-like of shape (n_samples,)
            Target: numbers or booleans, two classes as 0 and 1. Labels have no order.

        Returns
        -------
        self
            Fitted, with `selected_` and `privacy_`.
        """
        work = blank(self)
        work._learn(X, y)
        self.__dict__ = work.__dict__
        return self

    def _learn(self, X: object, y: object) -> None:
        """Fit this very object, which nobody else has yet."""
        self._validate_params()
        budget = budget_of(self.epsilon, self.delta)
        table = read_table(self, X, y)
        plan = self.plan(len(table.y), n_features=table.X.shape[1])
        self._rehearse(plan, budget, table)
        charged = {"ledger": self.ledger, "dataset": self.dataset}
        with charge_and_open(plan, budget, random_state=self.random_state, **charged) as release:
            chosen = self._select(BoundedData(table, NOTHING_DECLARED, True), release)
        self.selected_ = np.array(chosen, dtype=np.int64)
        self.privacy_ = release.certificate()

    def _rehearse(self, plan: Plan, budget: Budget, table: Table) -> None:
        """Select among few columns of made-up rows, so that nothing compiles after the charge."""
        few, columns = blank(self), min(table.X.shape[1], 3)
        few.k = min(int(self.k), columns)
        small = Plan((), plan.adjacency, 1.0, None if plan.rows is None else 8)
        small = small.split(few._releases(columns))
        rows = made_up_table(table, columns, np.arange(8.0))
        container = (isinstance(table.X, np.ndarray), table.X.dtype.str, table.finite)
        key = (type(self), few.k > 1, plan.adjacency, container, self._kind())

        def select(release: Releaser) -> None:
            few._select(BoundedData(rows, NOTHING_DECLARED, True), release)

        once(key, lambda: run_through(small, budget, select))

    def _kind(self) -> object:
        """What decides which code runs, beyond the class."""
        return None

    def transform(self, X: object) -> Any:  # noqa: ANN401 (what X is)
        """Keep the selected columns.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        array, data frame or sparse matrix of shape (n_samples, k)
            The selected columns, in their order in X.
        """
        return self._without_quoting(super().transform, X)

    def inverse_transform(self, X: object) -> Any:  # noqa: ANN401 (what X is)
        """Put selected columns back in their places, zeros in all others.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_selected)
            Rows with the selected columns.

        Returns
        -------
        array or sparse matrix of shape (n_samples, n_features)
            With as many columns as X had.
        """
        return self._without_quoting(super().inverse_transform, X)

    def _without_quoting(self, change: Callable[[Any], Any], X: object) -> Any:  # noqa: ANN401
        """What scikit-learn makes of X, whose errors may quote cells: here they are refused before.

        What is no frame is given on as it was read. Numbers that nothing can be done with are
        refused in words.
        """
        check_is_fitted(self)
        found = rows_and_columns(X, strict=True)
        with suppress(ArithmeticError):  # as of decimal.Decimal("sNaN"), which no operation takes
            return change(X if is_frame(X) else found)
        raise ValueError(
            "X holds numbers that cannot be computed with; convert its columns to float"
        )

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=np.bool_)
        mask[self.selected_] = True
        return mask

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags
