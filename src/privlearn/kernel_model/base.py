"""What kernel models share: parameters of the kernel, features for prediction, the solver."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from privlearn._core.numerics import MAX_COLUMNS
from privlearn._core.problem import Budget, Problem
from privlearn._data.bounded import Features
from privlearn._data.clipping import within
from privlearn._objective.losses import Squared, Target
from privlearn._objective.penalties import Penalty
from privlearn.exceptions import UnsupportedCombinationError
from privlearn.kernel_approximation import KERNELS
from privlearn.kernel_model.feature_map import FeatureMap, KernelSpec
from privlearn.kernel_model.line_first import LineFirst, part_of
from privlearn.kernel_model.on_features import KernelSolution, OnFeatures, inner_problem
from privlearn.kernel_model.saved import features_from, plain_features
from privlearn.linear_model.base import PrivateEstimator
from privlearn.private_bounds import solver_by_rule, with_private_bounds
from privlearn.solvers import SGD, SOLVERS, CoordinateDescent, Solution, Solver, resolve
from privlearn.solvers._common.snr import gdp_mu, public_n_or_default

if TYPE_CHECKING:
    from privlearn.schema.encoding import Encoding

__all__ = ["KernelMixin"]

PER_ROOT = 14.0  # features per root of n mu: how much a budget can tell apart
LEAST, MOST = 64, 2000
# Penalty per root of the features and over mu: noise of deviation 1 / mu on every feature.
OF_NUMBERS, OF_CLASSES = 0.045, 0.01
# With standard errors: fewer features and a heavier penalty, so that the noise of their second
# moments is less than they are with it (proof.md, section 5).
PER_ROOT_FOR_ERRORS, LEAST_FOR_ERRORS, MOST_FOR_ERRORS = 0.7, 24, 400
OF_ERRORS = 1.8
# n mu, in all and per column, below which a line is all that can be told; per class, if several,
# and then more, since features come without a line before them. Of numbers, more than so many
# columns need more each, up to twice as much: a line with a part of the budget loses more there.
LINE_BELOW, LINE_BELOW_PER_COLUMN, OF_SEVERAL_CLASSES = 200.0, 50.0, 150.0
FEW_COLUMNS, MORE_OF_MANY = 10, 2.0
# Share of the line where n mu per column is 100, and how it falls beyond; penalty on residuals.
LINE_SHARE, LEAST_LINE_SHARE, LINE_FALLS = 0.7, 0.4, 0.15
ON_RESIDUALS, RESIDUALS_FALL = 3.0, 0.5  # times what numbers have; likewise
SAMPLED = 0.3  # mu of its part beyond which rows vary by more than the noise, and a penalty stays
KEPT = 2.5e8  # numbers that features of all rows may have to be kept in memory
# SGD where features of all rows are not kept: few steps, since each computes features, and long
# ones. Heavy ball bears what is below 2 (1 + momentum) where, as here, no row is longer than 1.
STEPS, STEP_SIZE, MOMENTUM = 400, 3.6, 0.92
# How often rows are drawn, at least, and about the noise multiplier; fewer passes over many rows.
MANY = 500_000
LEAST_EPOCHS, MULTIPLIER = 5.0, 2.0
EPOCHS_OF_MANY, MULTIPLIER_OF_MANY = 4.0, 1.0
AT_ONCE = 4096  # rows to predict at a time


def least_for(problem: Problem) -> float:
    """The effective sample size n mu per column below which a line is left alone."""
    if problem.loss.coupled:
        return OF_SEVERAL_CLASSES
    many = problem.n_features / FEW_COLUMNS if problem.loss.target is Target.NUMBER else 1.0
    return LINE_BELOW_PER_COLUMN * min(max(many, 1.0), MORE_OF_MANY)


@dataclass(kw_only=True, eq=False, repr=False)
class KernelMixin(PrivateEstimator):
    """Adds a feature map to an estimator; the linear solvers do the rest.

    Parameters
    ----------
    bandwidth : float, array-like of shape (n_features,) or None
        Length of the kernel in units of X, from public knowledge. None estimates ranks of the
        features' values privately, with 5 % of the budget; the kernel then sees ranks, for which a
        length is known, and ranks are among the features themselves.
    n_components : int or None
        Number of random features, rounded up to an even one. None takes what the budget can tell
        apart.
    feature_seed : int
        Seed of the frequencies. They do not depend on the data, so it is no secret.
    solver : str or solver
        Any linear solver. "output" is Wang and Guo's (2024). "auto" takes "scd", and "sgd", which
        computes features in blocks, where those of all rows would not fit into memory; "one-pass"
        with ``delta=0`` or own epsilons. With nothing else given it fits a line before, or a line
        alone where noise allows no more. "moments" leaves rows on a GPU where they lie there.
    scale_X : None
        Not used: kernels take `bandwidth`. Anything but None is refused.
    schema : None
        Not used yet. Anything but None is refused.
    """

    kernel: str = "gaussian"
    bandwidth: Any = None  # None, a number or an array-like
    n_components: int | None = None
    orthogonal: bool = False
    feature_seed: int = 0

    feature_map_: FeatureMap = field(init=False)

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PrivateEstimator._parameter_constraints,
        "kernel": [StrOptions(set(KERNELS))],
        "n_components": [None, Interval(Integral, 1, MAX_COLUMNS, closed="both")],
        "orthogonal": ["boolean"],
        "feature_seed": [Interval(Integral, 0, None, closed="left")],
        "alpha": [None, *PrivateEstimator._parameter_constraints["alpha"]],
        "C": [None, *PrivateEstimator._parameter_constraints["C"]],
    }

    def to_dict(self) -> dict[str, Any]:
        """The fitted model as plain values, for JSON: coefficients, feature map, certificate.

        Returns
        -------
        dict
            Numbers, texts, lists and dictionaries; `from_dict` reads them.
        """
        return super().to_dict() | {"features": plain_features(self.feature_map_)}

    def _read_solution(self, content: Mapping[str, Any], solution: Solution) -> Solution:
        features = features_from(content.get("features"), solution.coef.shape[1])
        clip = solution.clip_bounds
        found = solution.coef, solution.intercept, features
        return KernelSolution(*found, clip_bounds=clip, errors=solution.errors)

    def _input_width(self, solution: Solution) -> int:
        assert isinstance(solution, KernelSolution)
        return len(solution.features.frequencies)

    def _solver_for(self, problem: Problem, budget: Budget) -> tuple[Problem, Solver]:
        """A linear solver of the features, which the problem is not about; maps take all of X."""
        if self.schema is not None:
            raise UnsupportedCombinationError(
                "schema is not used by kernels yet; give numbers, or use a linear model, or the "
                "command line (--model kernel), which encodes columns of declared lists for kernels"
            )
        if self.scale_X is not None:
            raise UnsupportedCombinationError(
                "scale_X is not used by kernels; give bandwidth, one length per feature, instead"
            )
        if problem.most_rows > 1:
            raise UnsupportedCombinationError(
                f"max_rows_per_person={problem.rows_per_person} is not supported by kernels: there "
                "is no proof for it here; let one row of each person count, or use a linear model"
            )
        if self._all_by_rule(problem, budget):
            seen = gdp_mu(problem, budget) * public_n_or_default(problem)
            per_column = seen / (problem.n_features * problem.loss.outputs)
            if seen < LINE_BELOW * problem.loss.outputs or per_column < least_for(problem):
                return self._line_alone(problem, budget)
            if not problem.loss.coupled:
                return self._line_first(problem, budget, per_column)
        factor = OF_NUMBERS if problem.loss.target is Target.NUMBER else OF_CLASSES
        factor = OF_ERRORS if problem.intervals else factor
        problem, on_features = self._on_features(problem, budget, factor)
        solver = cast("Solver", on_features)
        return problem, with_private_bounds(solver, problem, budget, automatic=False)

    def _all_by_rule(self, problem: Problem, budget: Budget) -> bool:
        """Whether nothing about the model was given: it may be a line then, or start with one."""
        given = (self.bandwidth, self.n_components, self._weight())
        auto = isinstance(self.solver, str) and self.solver == "auto"
        nothing = all(one is None for one in given)
        return auto and nothing and budget.delta > 0 and not problem.levels

    def _on_features(
        self, problem: Problem, budget: Budget, factor: float
    ) -> tuple[Problem, OnFeatures]:
        """The problem with its penalty, and a linear solver on random features."""
        size = self._size(problem, budget)
        spec = KernelSpec(self.kernel, size, self.orthogonal, int(self.feature_seed))
        if self._weight() is None:
            # As much as the noise of the budget asks for (kernel_model/proof.md, "The rule").
            by_rule = Penalty(l2=factor * math.sqrt(size) / gdp_mu(problem, budget))
            problem = replace(problem, penalty=by_rule)
        inner = inner_problem(problem, spec, self.bandwidth is None)
        solver = resolve(self._inner_solver(inner, budget), inner, budget)
        return problem, OnFeatures(solver, spec, self.bandwidth)

    def _line_alone(self, problem: Problem, budget: Budget) -> tuple[Problem, Solver]:
        """What the linear estimator would do."""
        problem = replace(problem, penalty=self._line_penalty())
        line = solver_by_rule(problem, budget)
        alone = cast("Solver", LineFirst(line, None, Penalty(), 1.0))
        select = not problem.intervals  # errors of columns that the data chose would be too small
        return problem, with_private_bounds(
            alone, problem, budget, automatic=True, may_select=select
        )

    def _line_first(
        self, problem: Problem, budget: Budget, per_column: float
    ) -> tuple[Problem, Solver]:
        """The line with its share of the budget, and features of what it leaves over."""
        clearer = max(per_column / 100.0, 1.0)
        share = max(LINE_SHARE * clearer**-LINE_FALLS, LEAST_LINE_SHARE)
        problem = replace(problem, penalty=self._line_penalty())
        alone = replace(problem, intervals=False)  # errors are of what this line leaves
        line = solver_by_rule(alone, part_of(budget, share))
        on_residuals = replace(problem, loss=Squared())
        rest = part_of(budget, 1.0 - share)
        heavier = max(ON_RESIDUALS * clearer**-RESIDUALS_FALL, 1.0)
        heavier *= max(gdp_mu(problem, rest) / SAMPLED, 1.0)
        factor = OF_ERRORS if problem.intervals else heavier * OF_NUMBERS
        by_rule, curve = self._on_features(on_residuals, rest, factor)
        both = cast("Solver", LineFirst(line, curve, by_rule.penalty, share))
        bounded = with_private_bounds(both, problem, budget, automatic=True, may_select=False)
        return problem, bounded

    @abstractmethod
    def _line_penalty(self) -> Penalty:
        """On the coefficients of a line: that of the linear estimator, as it is by default."""

    @abstractmethod
    def _weight(self) -> float | None:
        """Weight of the squared L2 penalty; None leaves it to the rule."""

    def _penalty(self) -> Penalty:
        return Penalty(l2=self._weight() or 0.0)

    def _size(self, problem: Problem, budget: Budget) -> int:
        """How many Fourier features: given, or by what the budget can tell apart."""
        if self.n_components is not None:
            return int(self.n_components) + int(self.n_components) % 2
        signal = gdp_mu(problem, budget) * public_n_or_default(problem)
        per_root = PER_ROOT_FOR_ERRORS if problem.intervals else PER_ROOT
        least, most = (LEAST_FOR_ERRORS, MOST_FOR_ERRORS) if problem.intervals else (LEAST, MOST)
        wanted = 2 * math.ceil(per_root * math.sqrt(signal) / 2)
        return int(max(least, min(wanted, most)))

    def _inner_solver(self, inner: Problem, budget: Budget) -> str | Solver:
        """Dual coordinate descent, which features of one scale suit; SGD where they do not fit."""
        if not isinstance(self.solver, str) or self.solver != "auto":
            return self.solver
        if inner.intervals:  # features are of one scale, which is public
            each = (1.0 / inner.n_features,) * inner.n_features
            return CoordinateDescent(block="all", smoothness=each, of_one_size=True)
        if budget.delta == 0 or inner.levels:
            return "one-pass"
        fits = public_n_or_default(inner) * inner.n_features <= KEPT
        if fits and not SOLVERS["scd"].support.missing(inner):
            return "scd"
        if inner.n is None or not isinstance(inner.loss, Squared):
            return "sgd"
        many = inner.n >= MANY
        epochs = EPOCHS_OF_MANY if many else LEAST_EPOCHS
        multiplier = MULTIPLIER_OF_MANY if many else MULTIPLIER
        rate = max(epochs / STEPS, multiplier * gdp_mu(inner, budget) / math.sqrt(STEPS))
        batch = math.ceil(min(rate, 1.0) * inner.n)
        return SGD(steps=STEPS, batch_size=batch, step_size=STEP_SIZE, momentum=MOMENTUM)

    def _within_limits(self, features: Features) -> Features:
        """Columns that were encoded before the fit are scaled as they were for it."""
        encoding: Encoding | None = getattr(self, "_encoding", None)
        scaled = features if encoding is None else encoding.scaled(np.asarray(features))
        return within(scaled, getattr(self, "_clip_bounds", None), self.fit_intercept)

    @property
    def bounds_X_(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:  # noqa: N802
        """Ends of the features, in the columns' own units; only where they were estimated."""
        encoding: Encoding | None = getattr(self, "_encoding", None)
        low, high = super().bounds_X_
        if encoding is None:
            return low, high
        return encoding.values_in_own_units(low), encoding.values_in_own_units(high)

    def _scores(self, X: object) -> NDArray[np.float64]:
        features = self._features(X)
        scores = []
        for start in range(0, features.shape[0], AT_ONCE):
            rows = features[start : start + AT_ONCE]
            dense = rows if isinstance(rows, np.ndarray) else rows.toarray()
            scores.append(self._scores_of(dense))
        return np.concatenate(scores) if scores else np.zeros((0, *np.shape(self.intercept_)))

    def _regressors(self, X: object) -> Any:  # noqa: ANN401
        """Features of the map and columns, side by side, as coefficients are."""
        columns = self._features(X)
        dense = columns if isinstance(columns, np.ndarray) else columns.toarray()
        size = self.feature_map_.n_features_out
        parts = [self.feature_map_.transform(dense)] if size else []
        return np.hstack(parts if size == self.coef_.shape[-1] else [*parts, dense])

    def _scores_of(self, rows: NDArray[np.floating]) -> NDArray[np.float64]:
        """Features times their coefficients and columns times theirs, where there are any."""
        coef, size = np.atleast_2d(self.coef_), self.feature_map_.n_features_out
        scores = np.zeros((len(rows), len(coef)))
        if size > 0:
            scores += self.feature_map_.single(rows) @ coef[:, :size].T
        if size < coef.shape[1]:
            scores += np.asarray(rows, dtype=np.float64) @ coef[:, size:].T
        return scores.reshape(len(rows), *np.shape(self.coef_)[:-1]) + self.intercept_

    def _warn_of_untold(self) -> None:
        """Nobody asks for coefficients of random features; predictions say what is not told."""

    def _publish(self, solution: Solution) -> None:
        assert isinstance(solution, KernelSolution)
        super()._publish(solution)  # type: ignore[safe-super]
        self.feature_map_ = solution.features
