"""Gradient descent without noise, then one release of the weights ("output").

The proof is in proof.md, the rule for every number that is not given in
rules.py. Steps do not push two models apart, so one row moves the last weights no further
than its own visits do.
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
from privlearn._core.releaser import ReleaseBatch, Releaser
from privlearn._core.sampling import Permuted, WithReplacement
from privlearn._data.bounded import BoundedData
from privlearn._objective.prox import write_prox
from privlearn.exceptions import UnsupportedCombinationError
from privlearn.solvers._common.loops import sequential_sgd
from privlearn.solvers._common.objective import Objective, n_weights
from privlearn.solvers._common.row_count import count_release, rows_in_all
from privlearn.solvers._common.row_source import ScaledRows, make_row_source
from privlearn.solvers._common.scaling import Scaling
from privlearn.solvers.base import Solution, SolverDefaults, Support, check_numbers, need_bounds
from privlearn.solvers.output_perturbation import rules
from privlearn.solvers.output_perturbation.rules import Settings

__all__ = ["OutputPerturbation"]

Array = NDArray[np.float64]
WEIGHTS = "weights"
SURELY_BELOW_ONE = 1.0 - 2.0**-16  # rows in single precision may be a little longer than 1
SAMPLINGS = ("permuted", "with_replacement")


@dataclass(frozen=True)
class OutputPerturbation(SolverDefaults):
    """Gradient descent row by row without noise, then one noisy release of the weights.

    What is None is chosen by a rule from public facts. Lengths are measured after a public change
    of coordinates in which no row is longer than 1 and y lies in [-1, 1].

    Parameters
    ----------
    epochs : int or None
        How often each row is visited; on average, with replacement.
    step_size : float or None
        Step length per unit of a row's gradient, below 2 over the loss's curvature.
    clip : float or None
        Largest slope of the loss; larger ones are cut. ``math.inf`` cuts nothing, and is all that
        logistic regression with several classes allows.
    sampling : {"permuted", "with_replacement"}
        Each row once per epoch in a random order, or rows drawn one by one. The latter needs more
        noise, because a row may come often; it is what Wang and Guo (2024) analyse.

    Examples
    --------
    >>> from privlearn import Ridge
    >>> model = Ridge(solver=OutputPerturbation(epochs=2))
    """

    epochs: int | None = None
    step_size: float | None = None
    clip: float | None = None
    sampling: str = "permuted"

    name: ClassVar[str] = "output"
    support: ClassVar[Support] = Support.of(
        losses=["squared", "logistic", "squared hinge", "softmax"]
    )
    short_run: ClassVar[dict[str, int]] = {"epochs": 1}
    forks: ClassVar[tuple[str, ...]] = ("sampling",)

    def __post_init__(self) -> None:
        check_numbers(self, whole=("epochs",), positive=("step_size",))
        if self.clip is not None and self.clip != math.inf:
            check_numbers(self, whole=(), positive=("clip",))
        if self.sampling not in SAMPLINGS:
            raise ValueError(f"sampling={self.sampling!r}, but one of {SAMPLINGS} is needed")

    def configure(self, problem: Problem, budget: Budget) -> Settings:
        """Numbers that were given, and the rule's for the rest."""
        need_bounds(problem, self.name)
        self._refuse_cut_of_many(problem)
        slope_clip = self.clip or rules.slope_clip(problem.loss)
        if budget.delta == 0 and self.sampling != "permuted":
            raise UnsupportedCombinationError(
                f"sampling={self.sampling!r} needs delta > 0, because a row may come often; set "
                "delta, or use sampling='permuted'"
            )
        self._need_bounded_visits(problem, slope_clip)
        law, modulus = rules.mechanism(budget), _modulus(problem)
        epochs, step = self.epochs or 1, self.step_size
        if step is None:
            epochs, step = rules.choose_steps(
                problem, budget, law, slope_clip, modulus, self.epochs
            )
        if step * problem.loss.smoothness >= 2.0 * SURELY_BELOW_ONE:
            raise ValueError(
                f"step_size={step:g}, but a row's step is only stable below 2 over the curvature "
                f"of the loss, {2.0 / problem.loss.smoothness:g}; choose a smaller step_size"
            )
        return Settings(
            epochs=epochs,
            step_size=step,
            slope_clip=slope_clip,
            radius=rules.radius(problem, step, epochs),
            visit=self._visit(problem, step, epochs, slope_clip, modulus),
            sampling=self.sampling,
            mechanism=law,
        )

    def _refuse_cut_of_many(self, problem: Problem) -> None:
        """Slopes that depend on each other are no gradient once they are cut: steps may expand."""
        if problem.loss.coupled and self.clip is not None and self.clip != math.inf:
            raise UnsupportedCombinationError(
                f"clip={self.clip:g} cuts the slopes of {problem.loss.outputs} classes, which "
                "depend on each other: steps along cut ones may push two models apart, so that "
                "solver='output' has no proof. Leave clip out (gradients are at most sqrt(2) long "
                "as they are), or use a solver that clips whole gradients, such as 'sgd'"
            )

    def _visit(
        self, problem: Problem, step: float, epochs: int, slope_clip: float, modulus: float
    ) -> float:
        """How far one visit moves the result: on average over epochs, or at most."""
        if self.sampling == "permuted":
            return rules.moved(problem, step, epochs, slope_clip, modulus, visits=epochs)
        if not math.isfinite(rules.steepest(problem.loss, slope_clip)):
            slope_clip = rules.growth(step, epochs * float(problem.n or 1))
        return rules.moved(problem, step, epochs, slope_clip, 0.0, visits=1)

    def _need_bounded_visits(self, problem: Problem, slope_clip: float) -> None:
        if problem.n is None and self.sampling != "permuted":
            raise UnsupportedCombinationError(
                f"sampling={self.sampling!r} needs a public number of rows, and with "
                f"adjacency={problem.adjacency.value!r} it is private; use sampling='permuted'"
            )
        if math.isfinite(rules.steepest(problem.loss, slope_clip)):
            return
        boxed = any(side > 0 for side in problem.penalty.low) or any(
            side < 0 for side in problem.penalty.high
        )
        if problem.loss.name != "squared" or problem.n is None or boxed:
            raise UnsupportedCombinationError(
                "clip=inf is only for the squared loss, a public number of rows and coefficients "
                "that may be 0: elsewhere nothing bounds how far one row goes; give a finite clip"
            )

    def plan(self, problem: Problem, settings: Settings, scale: float) -> Plan:
        """The weights, once; the number of rows where it is private."""
        rows = (
            Permuted(settings.epochs, rules.BLOCKS, dealt=problem.n is None)
            if settings.sampling == "permuted"
            else WithReplacement(settings.epochs, problem.n or 1, rules.BLOCKS)
        )
        weights = Release(
            name=WEIGHTS,
            shape=(n_weights(problem),),
            clip=settings.visit,
            mechanism=settings.mechanism,
            sampling=rows,
        )
        count = (count_release(settings.mechanism), rules.COUNT_SHARE)
        return Plan.of(
            problem,
            scale,
            [(weights, None)] if problem.n is not None else [count, (weights, None)],
            paper="SGD with output perturbation (Wu et al. 2017; Wang, Guo 2024), exact accounting",
        )

    def solve(
        self, problem: Problem, settings: Settings, data: BoundedData, release: Releaser
    ) -> Solution:
        """Descend row by row, then release."""
        total = rows_in_all(problem, data, release)
        steps = release.steps(WEIGHTS, data.n, clip=settings.visit, at_most=1)
        scaling = Scaling.for_gradients(problem, sparse=data.sparse)
        objective = Objective.of(problem, scaling, total)
        weights = _descended(objective, settings, make_row_source(scaling, data), total, steps)
        return objective.solution(steps.release_step(0, weights))

    def forecast(self, problem: Problem, settings: Settings, plan: Plan, n: int) -> Forecast:
        """The noise of the release, which is all the noise there is."""
        scaling, size = Scaling.for_gradients(problem), n_weights(problem)
        spread = 1.0 if settings.mechanism.independent else math.sqrt(size + 1.0)
        noise = plan.noise_scale(plan.releases[-1]) * spread
        far = settings.step_size * settings.epochs * n * scaling.spread
        kept = 1.0 - math.exp(-far * problem.loss.smoothness)
        return scaling.forecast(noise, scaling.typical_length, kept, n, "")


def _descended(
    objective: Objective, settings: Settings, rows: ScaledRows, total: float, steps: ReleaseBatch
) -> Array:
    """The mean of the weights after the last blocks; a secret.

    Rows only take steps of their own; penalty and mean come at public times, between blocks.
    """
    compiled, weights = objective.compiled(settings.slope_clip), objective.start()
    average, length = np.zeros_like(weights), float(np.linalg.norm(weights))
    blocks = len(steps.batches.starts) - 1
    first = blocks - math.ceil(rules.AVERAGED * rules.BLOCKS)
    step, radius = settings.step_size, settings.radius
    for k in range(blocks):
        for some, batch in rows.batches(steps.rows(k)):
            length = sequential_sgd.visit_rows(some, batch, compiled, step, radius, weights, length)
        write_prox(*objective.penalty, step * total / rules.BLOCKS, weights)
        if k >= first:
            average += (weights - average) / (k + 1 - first)
    return average


def _modulus(problem: Problem) -> float:
    """The least weight of the L2 penalty on any number, where public facts tell it; else 0.

    An intercept has none. In a box that is yet to be estimated it is not known.
    """
    if problem.n is None or problem.fit_intercept or problem.bounds.estimated:
        return 0.0
    objective = Objective.of(problem, Scaling.for_gradients(problem), float(problem.n))
    return float(objective.penalty.curvature.min())
