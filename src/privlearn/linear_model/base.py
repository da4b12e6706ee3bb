"""What every private estimator shares: parameters, `plan` and `fit`."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from privlearn._core.budget import warn_of_delta
from privlearn._core.calibration import calibrate
from privlearn._core.certificate import Certificate
from privlearn._core.docstrings import documented
from privlearn._core.forecast import Forecast
from privlearn._core.numerics import MAX_ROWS
from privlearn._core.out_of_memory import BEFORE, no_sizes_told
from privlearn._core.plan import Plan, check_size
from privlearn._core.problem import Adjacency, Bounds, Budget, Problem, budget_of
from privlearn._core.releaser import Releaser, charge_and_open
from privlearn._data.bounded import Table
from privlearn._data.clipping import within
from privlearn._data.named_cells import with_target
from privlearn._data.reading import Features
from privlearn._data.tables import NO_GAPS, read_features, refuse_gaps
from privlearn._objective.losses import Loss
from privlearn._objective.penalties import Penalty
from privlearn.exceptions import DeltaWarning, UnsupportedCombinationError
from privlearn.linear_model.atomic import blank, demand_finite, remember_target
from privlearn.linear_model.discovered import after_first, discovery_of, rehearsed, solved
from privlearn.linear_model.elsewhere import learned_elsewhere
from privlearn.linear_model.exports import Exportable
from privlearn.linear_model.fitted import FittedModel
from privlearn.linear_model.job import Job
from privlearn.linear_model.penalty_parameters import in_a_box
from privlearn.private_bounds import solver_by_rule, with_private_bounds
from privlearn.solvers import Solution, Solver, resolve
from privlearn.solvers._common.memory import refuse_too_large
from privlearn.solvers._common.row_count import planned_count

if TYPE_CHECKING:
    from privlearn.schema.encoding import Encoding
    from privlearn.solvers._common.standard_errors import StandardErrors

__all__ = ["PrivateEstimator"]


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateEstimator(FittedModel, Exportable, BaseEstimator):
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
        n, n_features = check_size(n, encoded_width(self, columns))
        job = self._prepare(n, n_features, n_classes, sample_epsilon)
        if n is None:
            return job.plan
        from privlearn.solvers._common.forecast import judged_forecast, warn_of_few_rows

        warn_of_few_rows(job, n)
        plan = replace(job.plan, outlook=judged_forecast(job, n))
        if sample_epsilon is not None:
            return plan
        twin = blank(self)
        twin.ledger = twin.dataset = twin.random_state = None  # a plan may be stored and sent
        return replace(plan, forecast_at=partial(twin._outlook, n, n_features, n_classes))

    def _outlook(self, n: int, n_features: int, n_classes: int, epsilon: float) -> Forecast:
        """The forecast for another epsilon, without a warning."""
        from privlearn.solvers._common.forecast import judged_forecast

        twin = blank(self)
        twin.epsilon = epsilon
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeltaWarning)
            return judged_forecast(twin._prepare(n, n_features, n_classes, None), n)

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
        self._refuse(unsupported)
        work = blank(self)
        remember_target(work, y)  # errors tell it, too
        from privlearn._core.progress import shown

        with shown(self.verbose), no_sizes_told(BEFORE):
            work._learn(X, y, sample_epsilon, groups)
        self.__dict__ = work.__dict__
        self._warn_of_untold()
        return self

    def _refuse(self, unsupported: Mapping[str, object]) -> None:
        """Arguments of `fit` that are parameters of the estimator, or have no proof."""
        own = self.get_params(deep=False)
        for name in (name for name, value in unsupported.items() if value is not None):
            cls = type(self).__name__
            if name in own:
                raise TypeError(
                    f"{name} is no argument of fit but a parameter of {cls}: write "
                    f"{cls}({name}=...).fit(X, y)"
                )
            raise UnsupportedCombinationError(
                f"{name} is not supported: there is no privacy proof for it here; leave it out"
            )

    def _learn(self, X: object, y: object, sample_epsilon: object, groups: object) -> None:
        """Fit this very object, which nobody else has yet.

        Up to the charge nothing is spent; after it there is nothing but the loop.
        """
        self._validate_params()
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
        space = rehearsed(job, table)
        with self._charged(job, table, space) as (release, counted):
            solution = solved(self, job, counted, space, release)
        self._publish_model(solution)
        self.privacy_ = release.certificate()

    def _table(self, X: object, y: object, groups: object) -> Table:
        """X and y as numbers, and whose each row is, where people may have several."""
        if groups is None and self.max_rows_per_person is None:
            return self._read(*with_target(X, y, self.schema))
        from privlearn.linear_model.people import read_with_people

        return read_with_people(self, X, y, groups)

    @contextmanager
    def _charged(self, job: Job, table: Table, space: Table) -> Iterator[tuple[Releaser, Table]]:
        """Charge the plan, then lend its Releaser and the table of the rows that count."""
        charge = {"ledger": self.ledger, "dataset": self.dataset, "random_state": self.random_state}
        people, plan = table.people, job.plan
        if people is None and job.discovery is None:
            with charge_and_open(plan, job.budget, **charge) as release:
                yield release, table
            return
        from privlearn.linear_model.people import rehearsed_form

        room = None if people is None else people.room(table)
        plan = plan if people is None else replace(plan, person=people.name)
        with rehearsed_form(space), charge_and_open(plan, job.budget, **charge) as release:
            if people is None or room is None:
                yield release, table
                return
            most, key = job.problem.most_rows, release.choice_key()
            yield release, people.limited(table, most, key, room)

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

    def _read_solution(self, content: Mapping[str, Any], solution: Solution) -> Solution:
        """What `to_dict` told beside coefficients and limits, added to them."""
        return solution

    def _input_width(self, solution: Solution) -> int:
        """How many numbers a row has that a solution predicts from."""
        return int(solution.coef.shape[1])

    def _scores(self, X: object) -> NDArray[np.float64]:
        """Rows times coefficients plus intercept; X is clipped where the model learned so."""
        features = self._features(X)
        return np.asarray(safe_sparse_dot(features, self.coef_.T)) + self.intercept_

    def _features(self, X: object) -> Features:
        """X to predict from, within the limits that the model was learned with, if any."""
        check_is_fitted(self)
        features = read_features(self, X, reset=False, predicts=True)
        refuse_gaps(self, features, NO_GAPS)
        return self._within_limits(features)

    def _within_limits(self, features: Features) -> Features:
        """The same, clipped as in the fit."""
        if not hasattr(self, "_encoding"):
            return within(features, getattr(self, "_clip_bounds", None), self.fit_intercept)
        from privlearn.linear_model.tabular import within_limits

        return within_limits(self, features)

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
        discovery = discovery_of(self, problem, budget)
        problem, solver = self._solver_for(problem, budget)
        settings = solver.configure(problem, budget)
        usable = planned_count(problem, budget, solver.plan(problem, settings, 1.0))
        plan_at = cache(partial(after_first, solver, problem, settings, discovery, usable))
        if sparse is not None:
            refuse_too_large(solver, problem, settings, plan_at(1.0), sparse=sparse)
        plan = replace(calibrate(plan_at, budget), solver=solver.name)
        return Job(problem, budget, solver, settings, plan, level, discovery, usable)

    def _solver_for(self, problem: Problem, budget: Budget) -> tuple[Problem, Solver]:
        """The problem, completed, and its solver, which estimates first what nobody declared."""
        automatic = isinstance(self.solver, str) and self.solver == "auto"
        by_name = partial(resolve, self.solver)
        solver = (solver_by_rule if automatic else by_name)(problem, budget)
        # Standard errors of features that the data chose would be too small.
        select = not problem.intervals
        return problem, with_private_bounds(
            solver, problem, budget, automatic=automatic, may_select=select
        )

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
