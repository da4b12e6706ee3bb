"""Dual coordinate descent with hidden dual variables ("scd").

The proof is in proof.md, the rule for every number that is not given in
rules.py. Each row holds a dual variable that nobody sees; each step moves those of a Poisson
batch and releases what their movement adds to v = sum of a_i x_i; weights follow v.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privlearn._core.forecast import Forecast
from privlearn._core.plan import Plan, Release
from privlearn._core.problem import Budget, Problem
from privlearn._core.releaser import Releaser
from privlearn._core.sampling import FULL, Poisson
from privlearn._data.bounded import BoundedData
from privlearn.exceptions import PlanViolationError
from privlearn.solvers._common.batches import LEAST_MULTIPLIER, at_once, batch_rate
from privlearn.solvers._common.loops.row_products import StoredRows
from privlearn.solvers._common.objective import Objective, n_weights
from privlearn.solvers._common.prefetch import Prefetch
from privlearn.solvers._common.row_count import count_release, rows_in_all
from privlearn.solvers._common.row_source import store_rows
from privlearn.solvers._common.scaling import Scaling
from privlearn.solvers._common.snr import gdp_mu
from privlearn.solvers.base import Solution, SolverDefaults, Support, check_numbers, need_bounds
from privlearn.solvers.dual_coordinate_descent import loops, rules
from privlearn.solvers.dual_coordinate_descent.lengths import lengths_release, private_lengths
from privlearn.solvers.dual_coordinate_descent.rules import Settings

__all__ = ["DualCoordinateDescent"]

STEP = "dual step"


@dataclass(frozen=True)
class DualCoordinateDescent(SolverDefaults):
    """Steps of the rows' dual variables, which stay hidden, on Poisson batches.

    What is None is chosen by a rule from the number of rows and columns, the budget and the bounds.
    Lengths are measured after a public change of coordinates in which no row, the intercept's entry
    included, is longer than 1 and y lies in [-1, 1].

    Parameters
    ----------
    epochs : int or None
        How often each row is expected to be in a batch.
    batch_size : int or None
        Expected number of rows in a batch, or of people who may have several; their number must be
        public.
    clip : float or None
        Largest length of what one row adds to v in a step; longer ones are shortened, and the rest
        follows when the row is drawn again. None estimates typical lengths and chooses.

    Examples
    --------
    >>> from privlearn import Ridge
    >>> model = Ridge(alpha=10, solver=DualCoordinateDescent(epochs=20))
    """

    epochs: int | None = None
    batch_size: int | None = None
    clip: float | None = None

    name: ClassVar[str] = "scd"
    support: ClassVar[Support] = Support.of(
        losses=["squared", "huber", "logistic", "hinge", "squared hinge"],
        people=True,
        narrows=True,
    )
    short_run: ClassVar[dict[str, int]] = {"steps": 2}

    def __post_init__(self) -> None:
        check_numbers(self, whole=("epochs", "batch_size"), positive=("clip",))

    def configure(self, problem: Problem, budget: Budget) -> Settings:
        """Numbers that were given, and the rule's for the rest."""
        need_bounds(problem, self.name)
        mu = gdp_mu(problem, budget)
        given = None if self.batch_size is None else batch_rate(problem, self.batch_size)
        steps, rate = rules.timetable(mu * problem.most_rows, self.epochs, given)
        return Settings(steps=steps, rate=rate, clip=self.clip, mu=mu)

    def plan(self, problem: Problem, settings: Settings, scale: float) -> Plan:
        """Lengths and, where it is private, the number of rows; then every step."""
        step = Release(
            name=STEP,
            shape=(n_weights(problem),),
            clip=1.0,
            sampling=FULL if settings.rate == 1.0 else Poisson(settings.rate),
            count=settings.steps,
        )
        parts: list[tuple[Release, float | None]] = [(step, None)]
        if settings.clip is None:
            parts.insert(0, (lengths_release(problem), rules.LENGTHS_SHARE))
        if problem.n is None:
            parts.insert(0, (count_release(), rules.COUNT_SHARE))
        return Plan.of(
            problem,
            max(scale, LEAST_MULTIPLIER),
            parts,
            paper="DP-SCD (Damaskinos et al. 2021), dual variables not released, exact accounting",
        )

    def solve(
        self, problem: Problem, settings: Settings, data: BoundedData, release: Releaser
    ) -> Solution:
        """Move hidden dual variables, and the weights along what is released of it."""
        total = rows_in_all(problem, data, release)
        scaling = Scaling.for_gradients(problem, sparse=data.sparse)
        rows, unit = store_rows(scaling, data), problem.loss.auxiliary.dual_unit
        objective = Objective.of(problem, scaling, total, auxiliary_unit=unit)
        length, slack = _lengths(problem, settings, rows, data.present(), total, release)
        movement = rules.movement(problem, settings, slack, length, total)
        state = objective.state(
            step_size=total / movement.resistance,
            momentum=0.0,
            divisor=total,
            first_averaged=settings.steps - math.ceil(rules.AVERAGED * settings.steps),
        )
        dual = loops.Dual(
            variables=np.zeros((data.n, problem.loss.outputs)),
            total=np.zeros(objective.size),
            clip=movement.clip,
            stiffness=movement.stiffness,
            extrapolation=movement.extrapolation,
            ramp=rules.ramp(problem, settings, movement.clip, length),
            gain=settings.rate,
        )
        drawn = Prefetch(
            release,
            STEP,
            data.n,
            person_starts=data.person_starts,
            clip=1.0,
            count=settings.steps,
            at_once=at_once(problem, settings.rate),
        )
        done = 0
        for steps in drawn:
            if not loops.descend_dual(rows, objective.compiled(1.0), dual, state, steps, done):
                raise PlanViolationError("a sum of dual steps does not fit its grid: a solver bug")
            done += steps.taken
        return objective.solution(state.average)

    def forecast(self, problem: Problem, settings: Settings, plan: Plan, n: int) -> Forecast:
        """Noise on the weights for evenly spread, independent features and a quadratic loss."""
        from privlearn.solvers.dual_coordinate_descent.forecast import outlook  # for plans only

        return outlook(problem, settings, plan, n)


def _lengths(
    problem: Problem,
    settings: Settings,
    rows: StoredRows,
    present: NDArray[np.bool_],
    total: float,
    release: Releaser,
) -> tuple[float, float]:
    """Typical length of a row, and how far all steps together may carry it."""
    if settings.clip is not None:
        return 1.0, settings.clip * settings.epochs
    length, clip = private_lengths(problem, rows, present, total, settings.mu, release)
    return length, rules.slack_for(problem, settings.mu, total, length, clip)
