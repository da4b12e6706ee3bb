"""Stochastic gradient descent with clipped, noisy gradients ("sgd").

The proof is in proof.md, the rule for every number that is not given in rules.py. Rows are brought
to length at most 1 by public maps; each step draws a Poisson batch, sums the clipped gradients and
releases the sum; the rest is post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import ClassVar

from privlearn._core.forecast import Forecast
from privlearn._core.plan import Plan, Release
from privlearn._core.problem import Budget, Problem
from privlearn._core.releaser import Releaser
from privlearn._core.sampling import FULL, Poisson
from privlearn._data.bounded import BoundedData
from privlearn._objective.losses import Target
from privlearn._objective.penalties import PENALTIES
from privlearn.solvers._common import descent
from privlearn.solvers._common.coordinates import Coordinates
from privlearn.solvers._common.prefetch import Ahead
from privlearn.solvers._common.row_count import count_release, rows_in_all
from privlearn.solvers._common.row_source import rows_in_turn
from privlearn.solvers._common.snr import gdp_mu, public_n_or_default
from privlearn.solvers.base import Solution, SolverDefaults, Support, check_numbers, check_shares
from privlearn.solvers.sgd import rules as sgd_rule
from privlearn.solvers.sgd.rules import Settings
from privlearn.solvers.sgd.steps import take_steps

__all__ = ["SCALE_UNIT", "SGD"]

GRADIENT = "clipped gradient"
KEPT = 2.5e7  # numbers that computed rows may have to be kept: 100 MB
SCALE_UNIT = 0.3  # its steps are 0.09 of the others', relative to itself, and it takes little clip


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
        Expected number of rows in a batch; needs a public number of rows.
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
        losses=["squared", "huber", "logistic", "hinge", "squared hinge", "softmax"],
        penalties=[penalty.name for penalty in PENALTIES],
    )

    def __post_init__(self) -> None:
        check_numbers(self, whole=("steps", "batch_size"), positive=("step_size", "clip"))
        check_shares(self, "momentum", below_one=True)
        check_shares(self, "average")

    def configure(self, problem: Problem, budget: Budget) -> Settings:
        """Numbers that were given, and the rule's for the rest."""
        problem.bounds.need_features(self.name)
        if problem.loss.target is Target.NUMBER:
            problem.bounds.need_target(self.name)
        mu = gdp_mu(problem, budget)
        clip = self.clip or sgd_rule.clip(problem, mu)
        momentum = sgd_rule.MOMENTUM if self.momentum is None else self.momentum
        steps = self.steps or sgd_rule.steps(problem, mu, clip, momentum)
        rate = sgd_rule.sampling_rate(steps, mu)
        if self.batch_size is not None:
            rate = descent.batch_rate(problem, self.batch_size)
        return Settings(
            steps=steps,
            rate=rate,
            clip=clip,
            momentum=momentum,
            averaged=sgd_rule.AVERAGED if self.average is None else self.average,
            step_size=self.step_size,
            mu=mu,
            stored=public_n_or_default(problem) * descent.width_of(problem) <= KEPT,
        )

    def plan(self, problem: Problem, settings: Settings, scale: float) -> Plan:
        """Steps releases of a clipped sum over a batch; the number of rows where it is private."""
        gradient = Release(
            name=GRADIENT,
            shape=(descent.size_of(problem),),
            clip=settings.clip,
            sampling=FULL if settings.rate == 1.0 else Poisson(settings.rate),
            count=settings.steps,
        )
        weight = descent.weight_beside(sgd_rule.COUNT_SHARE, settings.rate, settings.steps)
        releases = (gradient,) if problem.n is not None else (count_release(weight), gradient)
        return Plan(
            releases=releases,
            adjacency=problem.adjacency,
            scale=max(scale, sgd_rule.LEAST_MULTIPLIER),
            rows=problem.n,
            assumptions=problem.assumptions(),
            paper="DP-SGD (Song et al. 2013; Abadi et al. 2016), Poisson batches, exact accounting",
        )

    def solve(
        self, problem: Problem, settings: Settings, data: BoundedData, release: Releaser
    ) -> Solution:
        """Descend along released gradients."""
        n = data.table.n
        total = rows_in_all(problem, data, release)
        portions = Ahead(
            release,
            GRADIENT,
            n,
            clip=settings.clip,
            count=settings.steps,
            at_once=descent.at_once(problem, settings.rate),
        )
        coordinates = Coordinates.of(problem, sparse=data.sparse)
        rows = rows_in_turn(coordinates, data, stored=settings.stored)
        model = descent.model_of(problem, coordinates, settings.clip, SCALE_UNIT)
        path = descent.start(
            problem,
            coordinates,
            total,
            scale_unit=SCALE_UNIT,
            step_size=sgd_rule.step_size(problem, settings, total),
            momentum=settings.momentum,
            divisor=settings.rate * total,
            first_averaged=settings.steps - math.ceil(settings.averaged * settings.steps),
        )
        done = 0
        for steps in portions:
            take_steps(rows, model, path, steps, done)
            done += steps.taken
        found = path.average if settings.averaged > 0 else path.weights
        return coordinates.to_data_units(descent.by_output(problem, found))

    def rehearsal(
        self, problem: Problem, settings: Settings, budget: Budget
    ) -> tuple[SGD, Settings]:
        """Two steps."""
        return self, replace(settings, steps=2)

    def kind(self, settings: Settings) -> Hashable:
        """Rows that are computed may be kept or not."""
        return type(self), settings.stored

    def forecast(self, problem: Problem, settings: Settings, plan: Plan, n: int) -> Forecast:
        """Noise on the weights for evenly spread, independent features and a quadratic loss."""
        from privlearn.solvers.sgd.forecast import outlook

        return outlook(problem, settings, plan, n)
