"""What every private estimator shares: parameters, `plan` and `fit`."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cache, partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions

from privlearn._core.budget import warn_of_delta
from privlearn._core.calibration import calibrate
from privlearn._core.certificate import Certificate
from privlearn._core.docstrings import documented
from privlearn._core.forecast import Forecast
from privlearn._core.numerics import MAX_ROWS
from privlearn._core.out_of_memory import BEFORE, no_sizes_told
from privlearn._core.plan import Plan, check_size
from privlearn._core.problem import Adjacency, Bounds, Budget, Problem, budget_of
from privlearn._core.releaser import charge_and_open
from privlearn._data.bounded import Table, bound
from privlearn._data.named_cells import with_target
from privlearn._objective.losses import Loss
from privlearn._objective.penalties import Penalty
from privlearn.exceptions import DeltaWarning
from privlearn.linear_model.atomic import blank, demand_finite, remember_target
from privlearn.linear_model.exports import Exportable
from privlearn.linear_model.fitted import FittedModel
from privlearn.linear_model.job import Job
from privlearn.linear_model.penalty_parameters import in_a_box
from privlearn.linear_model.predicting import Predicting
from privlearn.private_bounds import solver_by_rule, with_private_bounds
from privlearn.solvers import Solution, Solver, resolve
from privlearn.solvers._common.memory import refuse_too_large
from privlearn.solvers._common.rehearsal import rehearse
from privlearn.solvers._common.row_count import planned_count

if TYPE_CHECKING:
    from privlearn.schema.encoding import Encoding
    from privlearn.solvers._common.standard_errors import StandardErrors

__all__ = ["PrivateEstimator"]


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateEstimator(FittedModel, Predicting, Exportable, BaseEstimator):
    """Base of linear models with a privacy guarantee; subclasses name loss and penalty.

    The fields are the parameters of `__init__`, which stores them as they are; `fit` checks them.
    """

    epsilon: float = 1.0
    delta: float = 1e-6
    adjacency: str = "zero_out"
    solver: str | Solver = "auto"
    data_norm: float | None = None
    bounds_X: Any = None  # a pair of array-likes, or ranges by name
    scale_X: Any = None  # a number or an array-like
    max_rows_per_person: int | None = None
    schema: Any = None  # kinds of columns by name
    fit_intercept: bool = True
    on_invalid: str = "raise"
    ledger: Any = None  # a path, or anything with charge(plan, dataset)
    dataset: str | None = None
    random_state: Any = None  # as in scikit-learn
    verbose: int = 0

    coef_: NDArray[np.float64] = field(init=False)
    intercept_: Any = field(init=False)  # a number, or one per output
    privacy_: Certificate = field(init=False)
    _encoding: Encoding = field(init=False)  # only with a schema
    _clip_bounds: Bounds = field(init=False)  # only where it was learned on clipped rows
    _coef_noise: NDArray[np.float64] = field(init=False)  # only where the solver knows it
    _errors: StandardErrors = field(init=False)  # only where standard errors were asked for
    _target_name: str = field(init=False)  # only where the target has one
    _rows_stay: bool = field(init=False)  # only while a fit of rows on disk is planned

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "adjacency": [StrOptions({relation.value for relation in Adjacency})],
        "data_norm": [None, Interval(Real, 0, None, closed="neither")],
        "max_rows_per_person": [None, Interval(Integral, 1, MAX_ROWS, closed="both")],
        "fit_intercept": ["boolean"],
        "on_invalid": [StrOptions({"raise", "drop"})],
        "dataset": [None, str],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
        # Of those that have them:
        "alpha": [Interval(Real, 0, None, closed="left")],
        "C": [Interval(Real, 0, None, closed="right")],
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
        "positive": ["boolean"],
        "intervals": ["boolean"],
    }

    @abstractmethod
    def _loss(self, n_classes: int) -> Loss:
        """Loss of one prediction; regressors have 0 classes."""

    def _penalty(self) -> Penalty:
        """Penalty on the coefficients; limits on them are added to it."""
        return Penalty()

    @abstractmethod
    def _read(self, X: object, y: object, labels: object = None, *, reset: bool = True) -> Table:
        """X and y as numbers, or a refusal; `labels` are declared where they are given.

        Columns of X are remembered, or with ``reset=False`` compared to those remembered.
        """

    @abstractmethod
    def _publish(self, solution: Solution) -> None:
        """Set the fitted attributes."""

    def _advise(self) -> None:
        """Warn of parameters that are seldom meant together, before a plan or a fit."""

    @documented
    def plan(
        self,
        n: int | None = None,
        *,
        n_features: int | None = None,
        sample_epsilon: object = None,
    ) -> Plan:
        """What a fit would release and cost, before any data.

        Returns
        -------
        Plan
            `str()` it, or ask `.epsilon(delta)`, `.releases`, `.forecast()`,
            `.for_accuracy(error)`. A `FewRowsWarning` says where `n` is too small.
        """
        return self._planned(n, n_features, 0, sample_epsilon)

    def _planned(
        self, n: int | None, columns: int | None, n_classes: int, sample_epsilon: object
    ) -> Plan:
        """The plan, with what its noise does to a model of `n` rows where `n` is given."""
        from privlearn.linear_model.tabular import encoded_width

        self._validate_params()
        self._advise()
        n, n_features = check_size(n, encoded_width(self, columns))
        job = self._prepare(n, n_features, n_classes, sample_epsilon)
        if n is None:
            return job.plan
        from privlearn.linear_model.discovered import usually_found
        from privlearn.solvers._common.forecast import judged_forecast, warn_of_few_rows

        warn_of_few_rows(job, n)
        plan = replace(job.plan, outlook=judged_forecast(usually_found(job), n))
        if sample_epsilon is not None:
            return plan
        twin = blank(self)
        twin.ledger = twin.dataset = twin.random_state = None  # a plan may be stored and sent
        return replace(plan, forecast_at=partial(twin._outlook, n, n_features, n_classes))

    def _outlook(self, n: int, n_features: int, n_classes: int, epsilon: float) -> Forecast:
        """The forecast for another epsilon, without a warning."""
        from privlearn.linear_model.discovered import usually_found
        from privlearn.solvers._common.forecast import judged_forecast

        twin = blank(self)
        twin.epsilon = epsilon
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeltaWarning)
            job = twin._prepare(n, n_features, n_classes, None)
            return judged_forecast(usually_found(job), n)

    @documented
    def fit(
        self,
        X: object,
        y: object,
        sample_epsilon: object = None,
        *,
        groups: object = None,
        **unsupported: object,
    ) -> Self:
        """Fit the model and publish its coefficients with their certificate.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features), or source
            One row per person, or several with `groups`. A pyarrow dataset, the path of Parquet
            files (a `pathlib.Path`), or batches that can be gone through again stay where they are
            and are read in passes (docs/large-data.md). So do rows on a GPU (docs/gpu.md).
        y : array-like of shape (n_samples,) or str
            Target, one per row; or the name of the column of X that holds it.

        Returns
        -------
        self
            Fitted, with `coef_`, `intercept_` and `privacy_`.
        """
        if unsupported:
            from privlearn.linear_model.refused import refuse_arguments

            refuse_arguments(self, unsupported)
        work = blank(self)
        bar: AbstractContextManager[None] = nullcontext()
        if self.verbose:
            from privlearn._core.progress import shown

            bar = shown(self.verbose)
        with bar, no_sizes_told(BEFORE):
            work._learn(X, y, sample_epsilon, groups)
        self.__dict__ = work.__dict__
        self._warn_of_untold()
        return self

    def _learn(self, X: object, y: object, sample_epsilon: object, groups: object) -> None:
        """Fit this very object, which nobody else has yet.

        Up to the charge nothing is spent; after it there is nothing but the loop.
        """
        self._validate_params()
        self._advise()
        if not type(X) is type(y) is np.ndarray:  # arrays have no names, and are in memory
            from privlearn.linear_model.elsewhere import learned_elsewhere

            remember_target(self, y)  # errors tell it, too
            given = learned_elsewhere(self, X, y, sample_epsilon, groups)
            if given is None:
                return
            X, y, groups = given
        table = self._table(X, y, groups)
        n = len(table.y) if table.people is None else table.people.count  # else rows are private
        n_classes = len(getattr(self, "classes_", ()))
        sparse = not isinstance(table.X, np.ndarray)
        width = int(table.X.shape[1]) if table.raw is None else len(self._encoding.features)
        job = self._prepare(n, width, n_classes, sample_epsilon, sparse=sparse)
        if job.problem.adjacency.n_is_public:
            from privlearn.solvers._common.forecast import warn_of_few_rows

            warn_of_few_rows(job, n)
        table = replace(table, level=job.level)
        charge = {"ledger": self.ledger, "dataset": self.dataset, "random_state": self.random_state}
        if table.people is None and job.usable is None and job.discovery is None:
            facts = job.problem, job.settings
            rehearse(job.solver, *facts, job.plan, job.budget, table)
            with charge_and_open(job.plan, job.budget, **charge) as release:
                solution = job.solver.solve(*facts, bound(table, job.problem), release)
        else:
            from privlearn.linear_model.discovered import learned_after_first

            solution, release = learned_after_first(self, job, table, charge)
        self._publish_model(solution)
        self.privacy_ = release.certificate()

    def _table(self, X: object, y: object, groups: object) -> Table:
        """X and y as numbers, and whose each row is, where people may have several."""
        if groups is None and self.max_rows_per_person is None:
            arrays = isinstance(X, np.ndarray)
            return self._read(*((X, y) if arrays else with_target(X, y, self.schema)))
        from privlearn.linear_model.people import read_with_people

        return read_with_people(self, X, y, groups)

    def _publish_model(self, solution: Solution) -> None:
        """Set the fitted attributes, in the columns' own units; by then their numbers are such."""
        if hasattr(self, "_encoding"):
            from privlearn.linear_model.tabular import in_own_units

            solution = in_own_units(self, solution)
        demand_finite(coef_=solution.coef, intercept_=solution.intercept)
        self._publish(solution)
        if solution.coef_noise is not None:
            self._coef_noise = solution.coef_noise.reshape(np.shape(self.coef_))
        if solution.errors is not None:
            self._errors = solution.errors

    def _prepare(
        self,
        n: int | None,
        n_features: int,
        n_classes: int,
        sample_epsilon: object,
        *,
        sparse: bool | None = None,
    ) -> Job:
        """All that is fixed before the data; with `sparse` memory is asked for, too."""
        if self.max_rows_per_person is not None:
            from privlearn.linear_model.people import refuse_unproved

            refuse_unproved(self, sample_epsilon)
        problem, level = self._problem(n, n_features, n_classes), None
        budget = budget_of(self.epsilon, self.delta)
        if sample_epsilon is not None:
            from privlearn._data.personal_budgets import read_levels

            public = problem.adjacency.n_is_public
            levels = read_levels(sample_epsilon, budget.epsilon, n, n_is_public=public)
            problem = replace(problem, levels=levels.public(public))
            budget = replace(budget, epsilon=max(levels.epsilons))
            level = levels.of_row
        warn_of_delta(budget, problem.people if problem.n is None else problem.n)
        discovery = usable = None
        if self.schema is not None:
            from privlearn.linear_model.discovered import discovery_of

            discovery = discovery_of(self, problem, budget)
        problem, solver = self._solver_for(problem, budget)
        settings = solver.configure(problem, budget)
        plan_at = cache(partial(solver.plan, problem, settings))
        if problem.rows_may_be_empty:
            usable = planned_count(problem, budget, plan_at(1.0))
        if usable is not None or discovery is not None:
            from privlearn.linear_model.discovered import after_first

            plan_at = cache(partial(after_first, plan_at, discovery, usable))
        if sparse is not None:
            refuse_too_large(solver, problem, settings, plan_at(1.0), sparse=sparse)
        plan = replace(calibrate(plan_at, budget), solver=solver.name)
        return Job(problem, budget, solver, settings, plan, level, discovery, usable)

    def _solver_for(self, problem: Problem, budget: Budget) -> tuple[Problem, Solver]:
        """The problem, completed, and its solver, which estimates first what nobody declared."""
        automatic = isinstance(self.solver, str) and self.solver == "auto"
        by_rule = solver_by_rule if automatic else partial(resolve, self.solver)
        solver = by_rule(problem, budget)
        # Standard errors of features that the data chose would be too small.
        asked = {"automatic": automatic, "may_select": not problem.intervals}
        return problem, with_private_bounds(solver, problem, budget, **asked)

    def _problem(self, n: int | None, n_features: int, n_classes: int) -> Problem:
        adjacency, most = Adjacency(self.adjacency), self.max_rows_per_person
        limits = getattr(self, "coef_bounds", None), getattr(self, "positive", False)
        public = n if adjacency.n_is_public else None  # of people, where they may have several
        bounds, drops, declared, fewest = self._declared(n_features)
        return Problem(
            n=public if most in (None, 1) else None,
            n_features=n_features,
            bounds=bounds,
            loss=self._loss(n_classes),
            penalty=in_a_box(self._penalty(), n_features, *limits),
            adjacency=adjacency,
            fit_intercept=self.fit_intercept,
            rows_may_be_empty=self.on_invalid == "drop" or drops,
            declared=declared,
            rows_per_person=None if most is None else int(most),
            people=None if most is None else public,
            intervals=bool(getattr(self, "intervals", False)),
            fewest=fewest,
            from_source=getattr(self, "_rows_stay", False),
        )

    def _declared(self, n_features: int) -> tuple[Bounds, bool, tuple[str, ...] | None, int | None]:
        """Limits of rows, whether a schema drops some, what was declared, the fewest features."""
        known = {
            "bounds_y": getattr(self, "bounds_y", None),
            "data_norm": self.data_norm,
            "scale_X": self.scale_X,
            "fit_intercept": self.fit_intercept,
        }
        by_name = self.schema is not None or isinstance(self.bounds_X, Mapping)
        if not by_name:
            return Bounds.declared(n_features, bounds_X=self.bounds_X, **known), False, None, None
        from privlearn.linear_model.tabular import declared_by_name

        return declared_by_name(self, n_features, known)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
