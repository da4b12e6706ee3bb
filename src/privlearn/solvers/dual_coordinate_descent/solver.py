"""Dual coordinate descent with hidden dual variables ("scd").

The proof is in proof.md, the rule for every number that is not given in
srules.py. Each row holds a dual variable that nobody sees; each step moves those of a Poisson
batch and releases what their movement adds to v = sum of a_i x_i; weights follow v.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from privlearn._core.forecast import Forecast
from privlearn._core.plan import Plan, Release
from privlearn._core.problem import Budget, Problem
from privlearn._core.releaser import Releaser
from privlearn._core.sampling import FULL, Poisson
from privlearn._data.bounded import BoundedData
from privlearn._objective.losses import Target
from privlearn._objective.penalties import PENALTIES
from privlearn.exceptions import PlanViolationError
from privlearn.solvers._common import descent
from privlearn.solvers._common.coordinates import Coordinates
from privlearn.solvers._common.prefetch import Ahead
from privlearn.solvers._common.row_count import count_release, rows_in_all
from privlearn.solvers._common.snr import gdp_mu
from privlearn.solvers.base import Solution, SolverDefaults, Support, check_numbers
from privlearn.solvers.dual_coordinate_descent import rules as scd_rule
from privlearn.solvers.dual_coordinate_descent.lengths import bought_lengths, lengths_release
from privlearn.solvers.dual_coordinate_descent.rules import Settings
from privlearn.solvers.sgd import rules as sgd_rule

if TYPE_CHECKING:
    from privlearn.solvers._common.loops.row_products import StoredRows

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
        Expected number of rows in a batch; needs a public number of rows.
    clip : float or None
        Largest length of what one row adds to v in a step; longer ones are shortened, and the rest
        follows when the row is drawn again. None buys typical lengths and chooses.

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
        penalties=[penalty.name for penalty in PENALTIES],
    )

    def __post_init__(self) -> None:
        check_numbers(self, whole=("epochs", "batch_size"), positive=("clip",))

    def configure(self, problem: Problem, budget: Budget) -> Settings:
        """Numbers that were given, and the rule's for the rest."""
        problem.bounds.need_features(self.name)
        if problem.loss.target is Target.NUMBER:
            problem.bounds.need_target(self.name)
        mu = gdp_mu(problem, budget)
        given = None if self.batch_size is None else descent.batch_rate(problem, self.batch_size)
        steps, rate = scd_rule.timetable(mu, self.epochs, given)
        return Settings(steps=steps, rate=rate, clip=self.clip, mu=mu)

    def plan(self, problem: Problem, settings: Settings, scale: float) -> Plan:
        """Lengths and, where it is private, the number of rows; then every step."""

        def weight(share: float) -> float:
            return descent.weight_beside(share, settings.rate, settings.steps)

        step = Release(
            name=STEP,
            shape=(descent.size_of(problem),),
            clip=1.0,
            sampling=FULL if settings.rate == 1.0 else Poisson(settings.rate),
            count=settings.steps,
        )
        releases = [step]
        if settings.clip is None:
            releases.insert(0, lengths_release(problem, weight(scd_rule.LENGTHS_SHARE)))
        if problem.n is None:
            releases.insert(0, count_release(weight(scd_rule.COUNT_SHARE)))
        return Plan(
            releases=tuple(releases),
            adjacency=problem.adjacency,
            scale=max(scale, sgd_rule.LEAST_MULTIPLIER),
            rows=problem.n,
            assumptions=problem.assumptions(),
            paper="DP-SCD (Damaskinos et al. 2021), dual variables not released, exact accounting",
        )

    def solve(
        self, problem: Problem, settings: Settings, data: BoundedData, release: Releaser
    ) -> Solution:
        """Move hidden dual variables, and the weights along what is released of it."""
        from privlearn.solvers.dual_coordinate_descent.loops import Dual, descend_dual

        total = rows_in_all(problem, data, release)
        coordinates = Coordinates.of(problem, sparse=data.sparse)
        rows = coordinates.stored(data)
        unit = scd_rule.scale_unit(problem)
        model = descent.model_of(problem, coordinates, clip=1.0, scale_unit=unit)
        length, room = _lengths(problem, settings, rows, data.present(), total, release)
        pace = scd_rule.pace(problem, settings, room, length, total)
        path = descent.start(
            problem,
            coordinates,
            total,
            scale_unit=unit,
            step_size=total / pace.resistance,
            momentum=0.0,
            divisor=total,
            first_averaged=settings.steps - math.ceil(scd_rule.AVERAGED * settings.steps),
        )
        dual = Dual(
            held=np.zeros((data.table.n, problem.loss.outputs)),
            total=np.zeros(descent.size_of(problem)),
            clip=pace.clip,
            stiffness=pace.stiffness,
            lead=pace.lead,
            ramp=scd_rule.ramp(problem, settings, pace, length),
            gain=settings.rate,
        )
        portions = Ahead(
            release,
            STEP,
            data.table.n,
            clip=1.0,
            count=settings.steps,
            at_once=descent.at_once(problem, settings.rate),
        )
        done = 0
        for steps in portions:
            if not descend_dual(rows, model, dual, path, steps, done):
                raise PlanViolationError("a sum of dual steps does not fit its grid: a solver bug")
            done += steps.taken
        return coordinates.to_data_units(descent.by_output(problem, path.average))

    def rehearsal(
        self, problem: Problem, settings: Settings, budget: Budget
    ) -> tuple[DualCoordinateDescent, Settings]:
        """Two steps."""
        return self, replace(settings, steps=2)

    def forecast(self, problem: Problem, settings: Settings, plan: Plan, n: int) -> Forecast:
        """Noise on the weights for evenly spread, independent features and a quadratic loss."""
        from privlearn.solvers.dual_coordinate_descent.forecast import outlook

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
    length, clip = bought_lengths(problem, rows, present, total, settings.mu, release)
    return length, scd_rule.room_for(problem, settings.mu, total, length, clip)
