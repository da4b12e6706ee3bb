"""Least squares by depth among many small models ("tukey"): it needs no bounds at all.

The proof is in proof.md. Rows are dealt to groups, a model is fitted to each group, a noisy test
asks whether a deep point is safe to draw, and a point of great depth is drawn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privlearn._core.forecast import Forecast
from privlearn._core.mechanisms import LAPLACE, DepthDraw
from privlearn._core.mechanisms.tukey_boxes import MOST_COORDINATES, Boxes, in_order
from privlearn._core.norms import ONE_MODEL
from privlearn._core.plan import Plan, Release
from privlearn._core.problem import Budget, Problem
from privlearn._core.releaser import Releaser
from privlearn._data.bounded import BoundedData
from privlearn.exceptions import (
    InvalidBudgetError,
    PrivacyTestFailedError,
    UnsupportedCombinationError,
)
from privlearn.solvers._common.row_count import fewest_rows, fewest_rows_release
from privlearn.solvers.base import Solution, SolverDefaults, Support, check_numbers
from privlearn.solvers.tukey.rules import (
    COUNT_SHARE,
    DELTA_SHARE,
    HOPELESS,
    TEST_SHARE,
    best_chance,
    enough_models,
    models_for,
)

__all__ = ["DRAW", "TEST", "Tukey"]

Array = NDArray[np.float64]
TEST = "test of the distance to unsafe models"
DRAW = "point of high Tukey depth among models"


@dataclass(frozen=True)
class Settings:
    """What a plan needs besides the problem.

    Attributes
    ----------
    models : int or None
        How many models; None where that follows from an estimated number of rows.
    enough : int
        How many models let the test pass, by rule.
    delta : float
        Probability of failure, of the test and of the draw alike.
    """

    models: int | None
    enough: int
    delta: float


@dataclass(frozen=True)
class Tukey(SolverDefaults):
    """A point of great depth among models of many groups of rows.

    It needs no bounds, but many rows for every feature: with too few, a test fails, which costs the
    budget and raises `PrivacyTestFailedError`. Where public facts tell that it must fail, the same
    is raised before anything is spent.

    Parameters
    ----------
    models : int or None
        Number of groups. None takes one for every two rows per coefficient, or more where the test
        needs them (rules.py); where the number of rows is private, it is estimated first.

    Examples
    --------
    >>> import numpy as np
    >>> from privlearn import LinearRegression
    >>> X = np.linspace(0, 1, 20_000)[:, None]
    >>> model = LinearRegression(solver=Tukey(), random_state=0).fit(X, 3 * X[:, 0] + 1)
    >>> model.coef_.round(3)
    array([3.])
    """

    models: int | None = None

    name: ClassVar[str] = "tukey"
    support: ClassVar[Support] = Support.of(losses=["squared"], penalties=["none"], bounds=False)

    def __post_init__(self) -> None:
        check_numbers(self, whole=("models",), positive=())

    def configure(self, problem: Problem, budget: Budget) -> Settings:
        """The number of models, where it is public, and the probability of failure."""
        if budget.delta == 0:
            raise InvalidBudgetError(
                "delta=0, but solver='tukey' tests whether it may draw, which needs delta > 0; set "
                "delta, for example delta=1e-6, or declare bounds and use solver='one-pass'"
            )
        width = _width(problem)
        if width > MOST_COORDINATES:
            raise UnsupportedCombinationError(
                f"{width} coefficients, but solver='tukey' is proven for {MOST_COORDINATES} at "
                "most; select features first, or use another solver"
            )
        models, enough = self.models, enough_models(width, budget)
        if models is None and problem.n is not None:
            models = models_for(problem.n, width, enough, private=False)
        if models is not None and best_chance(models, width, budget) < HOPELESS:
            raise PrivacyTestFailedError(
                f"{models} models of {width} coefficients, but with epsilon={budget.epsilon:g} and "
                f"delta={budget.delta:g} about {enough} are needed to pass the test of "
                "solver='tukey', whatever the data; nothing was spent. Fit with more rows, with "
                "fewer features (select some first), with a larger epsilon or delta, or with "
                "another solver"
            )
        return Settings(models=models, enough=enough, delta=DELTA_SHARE * budget.delta)

    def plan(self, problem: Problem, settings: Settings, scale: float) -> Plan:
        """The test and the draw, and the number of rows where the number of models needs it."""
        counted = settings.models is None
        test = Release(TEST, (1,), clip=1.0, norm=ONE_MODEL, mechanism=LAPLACE)
        draw = Release(
            DRAW, (_width(problem),), 1.0, norm=ONE_MODEL, mechanism=DepthDraw(settings.delta)
        )
        count = [(fewest_rows_release(), COUNT_SHARE)] if counted else []
        rest = 1.0 - COUNT_SHARE if counted else 1.0
        return Plan.of(
            problem,
            scale,
            [*count, (test, rest * TEST_SHARE), (draw, None)],
            paper="Tukey mechanism (Amin et al. 2023; Dick et al. 2023), replaced models, "
            "exact volumes",
        )

    def solve(
        self, problem: Problem, settings: Settings, data: BoundedData, release: Releaser
    ) -> Solution:
        """Fit the models, test, and draw."""
        from privlearn.solvers.tukey.group_models import group_models

        models = settings.models
        if models is None:
            rows = fewest_rows(problem.n, int(data.present().sum()), release)
            models = models_for(rows, _width(problem), settings.enough, private=True)
        groups = release.partition(data.n, models)
        ordered = in_order(group_models(data, groups, problem.fit_intercept))
        _test(ordered, release)
        point = release.draw(DRAW, ordered, clip=1.0)
        if not problem.fit_intercept:
            return Solution(point[None, :], np.zeros(1))
        return Solution(point[None, 1:], point[:1])

    def rehearsal(
        self, problem: Problem, settings: Settings, budget: Budget
    ) -> tuple[Tukey, Settings]:
        """Few models."""
        few = None if settings.models is None else min(settings.models, 4)
        return self, replace(settings, models=few)

    def memory(self, problem: Problem, settings: Settings, *, sparse: bool) -> float:
        """The models, twice."""
        rows = 0 if problem.n is None else problem.n
        return 16.0 * _width(problem) * (settings.models or 0) + 16.0 * rows

    def forecast(self, problem: Problem, settings: Settings, plan: Plan, n: int) -> Forecast:
        """Sampling error of a draw for standardised, independent features and unit residuals.

        A coordinate of a model has deviation s = 1/sqrt(rows per model - coordinates); a draw lies
        about (coordinates / slope) ranks from the middle, where models are sqrt(2 pi) s / m apart.
        """
        d = _width(problem)
        models = settings.models or models_for(n, d, settings.enough, private=True)
        slope = 0.5 / plan.noise_scale(plan.releases[-1])
        spread = 1.0 / math.sqrt(max(n / models - d, 0.5))
        reach = math.sqrt(2.0 * math.pi) * spread * min(0.25, (1.0 + d / slope) / models)
        deviation = math.hypot(reach / math.sqrt(3.0), 1.25 * spread / math.sqrt(models))
        return Forecast(
            coefficient=np.full(problem.n_features, deviation),
            prediction=deviation * math.sqrt(d),
            kept=1.0,
            n=n,
            assumes="features are independent with mean 0 and variance 1, residuals have variance "
            "1, and the test passes",
        )


def _width(problem: Problem) -> int:
    return problem.n_features + int(problem.fit_intercept)


def _test(ordered: Array, release: Releaser) -> None:
    """Go on only if the models are, after noise, far enough from unsafe ones.

    The distance is released as what it falls short of the largest one, that of identical models: a
    number of no rows, so that empty rows contribute nothing.
    """
    planned = {one.name: one for one in release.plan.releases}
    draw, noise = planned[DRAW], release.plan.noise_scale(planned[TEST])
    epsilon, delta = 1.0 / release.plan.noise_scale(draw), draw.mechanism.delta_less_rounding()
    distance = Boxes.of(ordered).safe_distance(epsilon, delta)
    largest = Boxes.of(np.zeros_like(ordered)).safe_distance(epsilon, delta)
    noisy = float(release(TEST, np.full(1, float(distance - largest)), clip=1.0)[0])
    # A distance of -1 passes with probability delta; a grid step more for the rounding of noise.
    bar = noise * math.log(0.5 / delta) - 1.0 + release.plan.grid(planned[TEST])
    if not noisy + largest >= bar:
        raise PrivacyTestFailedError(
            "the models of small groups of rows differ too much for a private draw among them; the "
            "budget of this fit is spent. Fit with more rows, with fewer features (select some "
            "first), with a larger epsilon or delta, or with another solver"
        )
