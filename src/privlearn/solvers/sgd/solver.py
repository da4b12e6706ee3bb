"""Stochastic gradient descent with clipped, noisy gradients ("sgd").

The proof is in proof.md, the rule for every number that is not given in rules.py. Rows are brought
to length at most 1 by public maps; each step draws a Poisson batch, sums the clipped gradients and
releases the sum; the rest is post-processing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from privlearn._core.forecast import Forecast
from privlearn._core.plan import Plan, Release
from privlearn._core.problem import Budget, Problem
from privlearn._core.releaser import ReleaseBatch, Releaser
from privlearn._core.sampling import FULL, Poisson
from privlearn._data.bounded import BoundedData
from privlearn.exceptions import PlanViolationError
from privlearn.solvers._common.batches import LEAST_MULTIPLIER, at_once, batch_rate, sampling_rate
from privlearn.solvers._common.forecast import outlook_of_steps
from privlearn.solvers._common.loops import sgd
from privlearn.solvers._common.loops.sgd import SGDState
from privlearn.solvers._common.objective import Objective, n_weights
from privlearn.solvers._common.prefetch import Prefetch
from privlearn.solvers._common.row_count import count_release, rows_in_all
from privlearn.solvers._common.row_source import ScaledRows, make_row_source
from privlearn.solvers._common.scaling import Scaling
from privlearn.solvers._common.snr import gdp_mu, public_n_or_default
from privlearn.solvers.base import (
    Solution,
    SolverDefaults,
    Support,
    check_numbers,
    check_shares,
    need_bounds,
)
from privlearn.solvers.sgd import rules
from privlearn.solvers.sgd.rules import Settings

__all__ = ["SGD"]

GRADIENT = "clipped gradient"
KEPT = 2.5e7  # numbers that computed rows may have to be kept: 100 MB


@dataclass(frozen=True)
class SGD(SolverDefaults):
    """Noisy gradient descent on Poisson batches, with momentum, averaging and a proximal step.

    What is None is chosen by a rule from the number of rows and columns, the budget and the bounds.
    Lengths are measured after a public change of coordinates in which no row, the intercept's entry
    included, is longer than 1 and y lies in [-1, 1].

    Parameters
    ----------
    steps : int or None
        Number of gradient steps.
    batch_size : int or None
        Expected number of rows in a batch, or of people who may have several; their number must be
        public.
    step_size : float or None
        Step length per unit of the mean gradient.
    clip : float or None
        Largest length of one row's gradient; longer ones are shortened.
    momentum : float or None
        Heavy-ball momentum in [0, 1).
    average : float or None
        Share of the last iterates that is averaged, in [0, 1]; 0 returns the last one.

    Examples
    --------
    >>> from privlearn import LogisticRegression
    >>> model = LogisticRegression(solver=SGD(steps=100, clip=1.0))
    """

    steps: int | None = None
    batch_size: int | None = None
    step_size: float | None = None
    clip: float | None = None
    momentum: float | None = None
    average: float | None = None

    name: ClassVar[str] = "sgd"
    support: ClassVar[Support] = Support.of(
        losses=["squared", "huber", "logistic", "hinge", "squared hinge", "softmax", "poisson"],
        people=True,
        narrows=True,
    )
    short_run: ClassVar[dict[str, int]] = {"steps": 2}
    forks: ClassVar[tuple[str, ...]] = ("stored",)

    def __post_init__(self) -> None:
        check_numbers(self, whole=("steps", "batch_size"), positive=("step_size", "clip"))
        check_shares(self, "momentum", below_one=True)
        check_shares(self, "average")

    def configure(self, problem: Problem, budget: Budget) -> Settings:
        """Numbers that were given, and the rule's for the rest."""
        need_bounds(problem, self.name)
        mu, width = gdp_mu(problem, budget), problem.n_features + int(problem.fit_intercept)
        clip = self.clip or rules.clip(problem, mu)
        momentum = rules.MOMENTUM if self.momentum is None else self.momentum
        steps = self.steps or rules.steps(problem, mu, clip, momentum)
        rate = sampling_rate(steps, mu * problem.most_rows)
        if self.batch_size is not None:
            rate = batch_rate(problem, self.batch_size)
        return Settings(
            steps=steps,
            rate=rate,
            clip=clip,
            momentum=momentum,
            averaged=rules.AVERAGED if self.average is None else self.average,
            step_size=self.step_size,
            mu=mu,
            stored=public_n_or_default(problem) * width <= KEPT,
        )

    def plan(self, problem: Problem, settings: Settings, scale: float) -> Plan:
        """Steps releases of a clipped sum over a batch; the number of rows where it is private."""
        gradient = Release(
            name=GRADIENT,
            shape=(n_weights(problem),),
            clip=settings.clip,
            sampling=FULL if settings.rate == 1.0 else Poisson(settings.rate),
            count=settings.steps,
        )
        count = [(count_release(), rules.COUNT_SHARE)] if problem.n is None else []
        return Plan.of(
            problem,
            max(scale, LEAST_MULTIPLIER),
            [*count, (gradient, None)],
            paper="DP-SGD (Song et al. 2013; Abadi et al. 2016), Poisson batches, exact accounting",
        )

    def solve(
        self, problem: Problem, settings: Settings, data: BoundedData, release: Releaser
    ) -> Solution:
        """Descend along released gradients."""
        total = rows_in_all(problem, data, release)
        drawn = Prefetch(
            release,
            GRADIENT,
            data.n,
            person_starts=data.person_starts,
            clip=settings.clip,
            count=settings.steps,
            at_once=at_once(problem, settings.rate),
        )
        scaling = Scaling.for_gradients(problem, sparse=data.sparse)
        unit = problem.loss.auxiliary.unit
        objective = Objective.of(problem, scaling, total, auxiliary_unit=unit)
        rows = make_row_source(scaling, data, stored=settings.stored)
        state = objective.state(
            step_size=rules.step_size(problem, settings, total),
            momentum=settings.momentum,
            divisor=settings.rate * total,
            first_averaged=settings.steps - math.ceil(settings.averaged * settings.steps),
        )
        done = 0
        for steps in drawn:
            _take_steps(rows, objective, settings.clip, state, steps, done)
            done += steps.taken
        return objective.solution(state.average if settings.averaged > 0 else state.weights)

    def forecast(self, problem: Problem, settings: Settings, plan: Plan, n: int) -> Forecast:
        """Noise on the weights for evenly spread, independent features and a quadratic loss."""
        return outlook_of_steps(
            problem,
            n,
            noise=plan.noise_scale(plan.releases[-1]) / (settings.rate * n),
            step=rules.step_size(problem, settings, n),
            steps=settings.steps,
            momentum=settings.momentum,
            averaged=settings.averaged,
        )


def _take_steps(
    rows: ScaledRows,
    objective: Objective,
    clip: float,
    state: SGDState,
    steps: ReleaseBatch,
    done: int,
) -> None:
    """Take the steps that were handed out, `done` of them having been taken before.

    In a compiled loop where rows are in memory; else one by one, the rows being computed.
    """
    if rows.stored is not None:
        if not sgd.descend(rows.stored, objective.compiled(clip), state, steps, done):
            raise PlanViolationError("a gradient sum does not fit its grid: a solver bug")
        return
    for k in range(steps.taken):
        found = rows.gradient_sum(steps.rows(k), objective, state.weights, clip)
        sgd.take_step(state, steps.release_step(k, found), objective.step_factor(state.weights))
        averaged = done + k + 1 - state.first_averaged
        if averaged > 0:
            average = state.average
            average += (state.weights - average) / averaged
