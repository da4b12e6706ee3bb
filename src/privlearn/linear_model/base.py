"""What every private estimator shares: parameters, `plan` and `fit`."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from privlearn._core.certificate import Certificate
from privlearn._core.docstrings import documented
from privlearn._core.plan import Plan, check_size
from privlearn._core.problem import Adjacency, Bounds, Budget, Problem, budget_of
from privlearn._core.releaser import charge_and_open
from privlearn._data.bounded import Table, read_features, refuse_not_finite
from privlearn._data.clipping import within
from privlearn._data.personal_budgets import Levels, read_levels
from privlearn._objective.losses import Loss
from privlearn._objective.penalties import Penalty
from privlearn.exceptions import DeltaWarning, UnsupportedCombinationError
from privlearn.linear_model.atomic import blank, demand_finite, publish
from privlearn.linear_model.job import Job
from privlearn.linear_model.saved import fill, plain_values
from privlearn.private_bounds import with_private_bounds
from privlearn.solvers import Solution, Solver, resolve

__all__ = ["PrivateEstimator", "budget_of", "warn_of_delta"]


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateEstimator(BaseEstimator):
    """Base of linear models with a privacy guarantee; subclasses name loss and penalty.

    The fields are the parameters of `__init__`, which stores them as they are; `fit` checks them.
    """

    epsilon: float = 1.0
    delta: float = 1e-6
    adjacency: str = "zero_out"
    solver: str | Solver = "auto"
    data_norm: float | None = None
    bounds_X: Any = None  # a pair of array-likes
    scale_X: Any = None  # a number or an array-like
    fit_intercept: bool = True
    on_invalid: str = "raise"
    ledger: Any = None  # a path, or anything with charge(plan, dataset)
    dataset: str | None = None
    random_state: Any = None  # as in scikit-learn

    coef_: NDArray[np.float64] = field(init=False)
    intercept_: Any = field(init=False)  # a number, or one per output
    privacy_: Certificate = field(init=False)
    _clip_bounds: Bounds | None = field(
        init=False
    )  # only where the model was learned on clipped rows

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "adjacency": [StrOptions({relation.value for relation in Adjacency})],
        "data_norm": [None, Interval(Real, 0, None, closed="neither")],
        "fit_intercept": ["boolean"],
        "on_invalid": [StrOptions({"raise", "drop"})],
        "dataset": [None, str],
        "random_state": ["random_state"],
    }

    @abstractmethod
    def _loss(self, n_classes: int) -> Loss:
        """Loss of one prediction; regressors have 0 classes."""

    @abstractmethod
    def _penalty(self, n_features: int) -> Penalty:
        """Penalty on the coefficients."""

    @abstractmethod
    def _read(self, X: Any, y: Any, labels: Any = None) -> Table:  # noqa: ANN401
        """X and y as numbers, or a refusal; `labels` are declared where they are given."""

    @abstractmethod
    def _publish(self, solution: Solution) -> None:
        """Set the fitted attributes."""

    def _assumed(self) -> tuple[str, ...]:
        """Assumptions beyond those of every problem."""
        return ()

    @documented
    def plan(
        self,
        n: int | None = None,
        *,
        n_features: int,
        sample_epsilon: Any = None,  # noqa: ANN401
    ) -> Plan:
        """What a fit would release and cost, before any data.

        Returns
        -------
        Plan
            `str()` it, or ask `.epsilon(delta)`, `.releases`, `.forecast()`.
        """
        return self._planned(n, n_features, 0, sample_epsilon)

    def _planned(
        self,
        n: int | None,
        n_features: int,
        n_classes: int,
        sample_epsilon: Any,  # noqa: ANN401
    ) -> Plan:
        self._validate_params()
        n, n_features = check_size(n, n_features)
        job = self._prepare(n, n_features, n_classes, self._levels(sample_epsilon, n))
        return job.plan if n is None else job.forecast(n)

    @documented
    def fit(self, X: Any, y: Any, sample_epsilon: Any = None, **unsupported: object) -> Self:  # noqa: ANN401
        """Fit the model and publish its coefficients with their certificate.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            One row per person.
        y : array-like of shape (n_samples,)
            Target, one per row.

        Returns
        -------
        self
            Fitted, with `coef_`, `intercept_` and `privacy_`.
        """
        _refuse(**unsupported)
        work = blank(self)
        work._learn(X, y, sample_epsilon)
        publish(self, work)
        return self

    def _learn(self, X: Any, y: Any, sample_epsilon: Any) -> None:  # noqa: ANN401
        """Fit this very object, which nobody else has yet.

        Up to the charge nothing is spent; after it there is nothing but the loop.
        """
        self._validate_params()
        table = self._read(X, y)
        n_classes = len(getattr(self, "classes_", ()))
        n, n_features = table.X.shape
        levels = self._levels(sample_epsilon, n)
        table = replace(table, level=None if levels is None else levels.of_row)
        job = self._prepare(n, n_features, n_classes, levels, sparse=_is_sparse(table))
        job.rehearse(table)
        charged = {
            "ledger": self.ledger,
            "dataset": self.dataset,
            "random_state": self.random_state,
        }
        with charge_and_open(job.plan, job.budget, **charged) as release:
            solution = job.solve(table, release)
        demand_finite(coef_=solution.coef, intercept_=solution.intercept)
        self._keep_clip_bounds(solution.clip_bounds)
        self._publish(solution)
        self.privacy_ = release.certificate()

    def to_dict(self) -> dict[str, Any]:
        """The fitted model as plain values, for JSON: coefficients, limits and certificate.

        Returns
        -------
        dict
            Numbers, texts, lists and dictionaries; `from_dict` reads them.

        Examples
        --------
        >>> import numpy as np
        >>> from privlearn import Ridge
        >>> X = np.linspace(0, 1, 2_000).reshape(-1, 2)
        >>> model = Ridge(bounds_X=(0, 1), bounds_y=(0, 1)).fit(X, X[:, 0])
        >>> bool((Ridge.from_dict(model.to_dict()).predict(X) == model.predict(X)).all())
        True
        """
        check_is_fitted(self)
        return plain_values(self)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """The model that `to_dict` wrote; it predicts, and its certificate is there.

        Parameters
        ----------
        content : dict
            What `to_dict` gave, or JSON gave back.

        Returns
        -------
        estimator
            Fitted. Parameters of the fit are not kept, the certificate says what they led to.
        """
        model = cls()
        fill(model, content)
        return model

    def _scores(self, X: Any) -> NDArray[np.float64]:  # noqa: ANN401
        """Rows times coefficients plus intercept; X is clipped where the model learned so."""
        features = self._features(X)
        return np.asarray(safe_sparse_dot(features, self.coef_.T)) + self.intercept_

    def _features(self, X: Any) -> Any:  # noqa: ANN401
        """X to predict from, within the limits that the model was learned with, if any."""
        check_is_fitted(self)
        features = read_features(self, X, reset=False)
        refuse_not_finite("X", features, "for a prediction needs every feature")
        return within(features, getattr(self, "_clip_bounds", None), self.fit_intercept)

    @property
    def bounds_X_(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:  # noqa: N802
        """Ends of the features to which predictions clip X; only where they were estimated.

        Released with noise, so they may be looked at and passed on.
        """
        reach = getattr(self, "_clip_bounds", None)
        if reach is None or reach.low is None:
            raise AttributeError("bounds_X_ is only there after a fit that estimated it privately")
        return reach.low, reach.high

    def _keep_clip_bounds(self, reach: Bounds | None) -> None:
        """Remember what predictions clip; nothing where nothing is."""
        self.__dict__.pop("_clip_bounds", None)
        if reach is not None:
            self._clip_bounds = reach

    def _levels(self, sample_epsilon: Any, n: int | None) -> Levels | None:  # noqa: ANN401
        """Everybody's own promise, where people have one."""
        if sample_epsilon is None:
            return None
        promised = budget_of(self.epsilon, self.delta).epsilon
        return read_levels(sample_epsilon, promised, n, n_is_public=self._n_is_public())

    def _n_is_public(self) -> bool:
        return Adjacency(self.adjacency).n_is_public

    def _prepare(
        self,
        n: int | None,
        n_features: int,
        n_classes: int,
        levels: Levels | None = None,
        *,
        sparse: bool | None = None,
    ) -> Job:
        """All that is fixed before the data; with `sparse` memory is asked for, too."""
        problem, budget, solver = self._set_up(n, n_features, n_classes, levels)
        solver = self._with_private_bounds(solver, problem, budget)
        return Job.of(problem, budget, solver, sparse=sparse)

    def _set_up(
        self, n: int | None, n_features: int, n_classes: int, levels: Levels | None = None
    ) -> tuple[Problem, Budget, Solver]:
        """Public facts, budget and solver; everything that can be refused is refused here."""
        budget = budget_of(self.epsilon, self.delta)
        problem = self._problem(n, n_features, n_classes)
        if levels is not None and levels.epsilons:
            problem = replace(problem, levels=levels.public(self._n_is_public()))
            budget = replace(budget, epsilon=max(levels.epsilons))
        warn_of_delta(budget, problem.n)
        return problem, budget, resolve(self.solver, problem, budget)

    def _with_private_bounds(self, solver: Solver, problem: Problem, budget: Budget) -> Solver:
        """The solver, or one that estimates what nobody declared before."""
        automatic = isinstance(self.solver, str) and self.solver == "auto"
        return with_private_bounds(solver, problem, budget, select=automatic)

    def _problem(self, n: int | None, n_features: int, n_classes: int) -> Problem:
        adjacency = Adjacency(self.adjacency)
        return Problem(
            n=n if adjacency.n_is_public else None,
            n_features=n_features,
            bounds=Bounds.declared(
                n_features,
                bounds_X=self.bounds_X,
                bounds_y=getattr(self, "bounds_y", None),
                data_norm=self.data_norm,
                scale_X=self.scale_X,
                fit_intercept=self.fit_intercept,
            ),
            loss=self._loss(n_classes),
            penalty=self._penalty(n_features),
            adjacency=adjacency,
            fit_intercept=self.fit_intercept,
            rows_may_be_empty=self.on_invalid == "drop",
            assumed=self._assumed(),
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _is_sparse(table: Table) -> bool:
    return not isinstance(table.X, np.ndarray)


def warn_of_delta(budget: Budget, rows: int | None) -> None:
    """Warn where the number of rows is public and delta is above its inverse."""
    if rows is not None and budget.delta * rows > 1.0:
        warnings.warn(
            f"delta={budget.delta:g} is above 1/n = {1 / rows:.2g}: publishing one random row "
            "would keep such a promise; choose a smaller delta",
            DeltaWarning,
            stacklevel=5,
        )


def _refuse(**arguments: object) -> None:
    for name, value in arguments.items():
        if value is not None:
            raise UnsupportedCombinationError(
                f"{name} is not supported: there is no privacy proof for it here; leave it out"
            )
