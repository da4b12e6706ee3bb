"""What every private estimator shares: parameters, `plan` and `fit`."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from functools import partial
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from privlearn.certificate import Certificate
from privlearn.data import bound, read_features, refuse_not_finite, validate
from privlearn.exceptions import DeltaWarning, InvalidBudget, UnsupportedCombination
from privlearn.losses import Loss
from privlearn.penalties import Penalty
from privlearn.plan import Plan, calibrate
from privlearn.problem import Bounds, Budget, Neighbors, Problem
from privlearn.release import spend
from privlearn.solvers import Solution, Solver, resolve

__all__ = ["PrivateLinearRegressor"]


class PrivateLinearRegressor(RegressorMixin, BaseEstimator):
    """Base of linear regressors with a privacy guarantee; subclasses name loss and penalty."""

    coef_: NDArray[np.float64]
    intercept_: float
    privacy_: Certificate

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "neighbors": [StrOptions({relation.value for relation in Neighbors})],
        "data_norm": [None, Interval(Real, 0, None, closed="neither")],
        "fit_intercept": ["boolean"],
        "on_invalid": [StrOptions({"raise", "drop"})],
        "dataset": [None, str],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        neighbors: str = "zero_out",
        solver: str | Solver = "auto",
        data_norm: float | None = None,
        bounds_X: Any = None,  # noqa: ANN401 (a pair of array-likes)
        bounds_y: tuple[float, float] | None = None,
        fit_intercept: bool = True,
        on_invalid: str = "raise",
        ledger: Any = None,  # noqa: ANN401 (anything with charge(plan, dataset))
        dataset: str | None = None,
        random_state: Any = None,  # noqa: ANN401 (as in scikit-learn)
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.neighbors = neighbors
        self.solver = solver
        self.data_norm = data_norm
        self.bounds_X = bounds_X
        self.bounds_y = bounds_y
        self.fit_intercept = fit_intercept
        self.on_invalid = on_invalid
        self.ledger = ledger
        self.dataset = dataset
        self.random_state = random_state

    @abstractmethod
    def _loss(self) -> Loss:
        """Loss of one prediction."""

    @abstractmethod
    def _penalty(self) -> Penalty:
        """Penalty on the coefficients."""

    def plan(self, n: int | None = None, *, n_features: int) -> Plan:
        """What a fit would release and cost, before any data.

        Parameters
        ----------
        n : int or None, default=None
            Number of rows. With ``neighbors="add_remove"`` it only serves the forecast.
        n_features : int
            Number of columns of X.

        Returns
        -------
        Plan
            `str()` it, or ask `.epsilon(delta)`, `.releases`, `.forecast()`.
        """
        self._validate_params()
        problem, budget, solver = self._set_up(n, n_features)
        settings, plan = self._calibrated(problem, budget, solver)
        if n is None:
            return plan
        return _with_outlook(plan, solver.forecast(problem, settings, plan, n))

    def fit(self, X: Any, y: Any, sample_epsilon: Any = None, **unsupported: object) -> Self:  # noqa: ANN401
        """Fit the model and publish its coefficients with their certificate.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            One row per person.
        y : array-like of shape (n_samples,)
            Target.
        sample_epsilon : None
            A privacy level per person; no solver offers it yet.
        **unsupported
            `sample_weight` and the like are refused: there is no proof for them.

        Returns
        -------
        self
            Fitted, with `coef_`, `intercept_` and `privacy_`.
        """
        _refuse(sample_epsilon=sample_epsilon, **unsupported)
        self._validate_params()
        public = Neighbors(self.neighbors).n_is_public
        table = validate(self, X, y, n_is_public=public, on_invalid=self.on_invalid)
        problem, budget, solver = self._set_up(*table.X.shape)
        settings, plan = self._calibrated(problem, budget, solver)
        charged = {"ledger": self.ledger, "dataset": self.dataset}
        with spend(plan, budget, random_state=self.random_state, **charged) as release:
            solution = solver.solve(problem, settings, bound(table, problem), release)
        return self._publish(solution, release.certificate())

    def predict(self, X: Any) -> NDArray[np.float64]:  # noqa: ANN401
        """Predict the target; X is not clipped.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows to predict.
        """
        check_is_fitted(self)
        features = read_features(self, X, reset=False)
        refuse_not_finite("X", features, "for a prediction needs every feature")
        return np.asarray(safe_sparse_dot(features, self.coef_)) + self.intercept_

    def _set_up(self, n: int | None, n_features: int) -> tuple[Problem, Budget, Solver]:
        """Public facts, budget and solver; everything that can be refused is refused here."""
        budget = _budget(self.epsilon, self.delta)
        problem = self._problem(n, n_features)
        if problem.n is not None and budget.delta > 1.0 / problem.n:
            warnings.warn(
                f"delta={budget.delta:g} is above 1/n = {1 / problem.n:.2g}: publishing one random "
                "row would keep such a promise; choose a smaller delta",
                DeltaWarning,
                stacklevel=3,
            )
        return problem, budget, resolve(self.solver, problem, budget)

    def _problem(self, n: int | None, n_features: int) -> Problem:
        neighbors = Neighbors(self.neighbors)
        return Problem(
            n=n if neighbors.n_is_public else None,
            n_features=n_features,
            bounds=Bounds.declared(
                n_features,
                bounds_X=self.bounds_X,
                bounds_y=self.bounds_y,
                data_norm=self.data_norm,
                fit_intercept=self.fit_intercept,
            ),
            loss=self._loss(),
            penalty=self._penalty(),
            neighbors=neighbors,
            fit_intercept=self.fit_intercept,
            rows_may_be_empty=self.on_invalid == "drop",
        )

    @staticmethod
    def _calibrated(problem: Problem, budget: Budget, solver: Solver) -> tuple[Any, Plan]:
        settings = solver.configure(problem, budget)
        return settings, calibrate(partial(solver.plan, problem, settings), budget)

    def _publish(self, solution: Solution, certificate: Certificate) -> Self:
        self.coef_ = solution.coef
        self.intercept_ = solution.intercept
        self.privacy_ = certificate
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _budget(epsilon: object, delta: object) -> Budget:
    for name, value in (("epsilon", epsilon), ("delta", delta)):
        if not isinstance(value, Real) or isinstance(value, bool):
            raise InvalidBudget(f"{name} is a {type(value).__name__}, but a number is needed")
    return Budget(float(epsilon), float(delta))  # type: ignore[arg-type]


def _refuse(**arguments: object) -> None:
    for name, value in arguments.items():
        if value is not None:
            raise UnsupportedCombination(
                f"{name} is not supported: there is no privacy proof for it here; leave it out"
            )


def _with_outlook(plan: Plan, outlook: Any) -> Plan:  # noqa: ANN401
    from dataclasses import replace

    return replace(plan, outlook=outlook)
