"""What a solver minimises, in its own units: loss, penalty and the layout of the weights.

Weights are one row per output, a number per feature and one for the intercept, then the auxiliary
weight where the loss has one. All of it is public.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from privlearn._core.problem import Problem
from privlearn._objective.losses import Loss
from privlearn._objective.prox import WeightPenalty
from privlearn.solvers._common.loops.sgd import CompiledObjective, SGDState
from privlearn.solvers._common.scaling import Scaling
from privlearn.solvers.base import Solution

if TYPE_CHECKING:
    from privlearn.solvers._common.standard_errors import StandardErrors

__all__ = ["Objective", "n_weights"]

Array = NDArray[np.float64]


def n_weights(problem: Problem) -> int:
    """Numbers in a gradient: a row of weights per output, and the auxiliary one."""
    width = problem.n_features + int(problem.fit_intercept)
    return problem.loss.outputs * width + problem.loss.auxiliary.count


@dataclass(frozen=True, eq=False)
class Objective:
    """The mean loss of rows in a solver's units, plus a penalty.

    Attributes
    ----------
    loss : Loss
        Of a score and a target in these units.
    scaling : Scaling
        Between these units and those of X and y.
    penalty : WeightPenalty
        Of every weight; intercepts are free, the auxiliary weight has limits.
    size : int
        How many weights there are.
    auxiliary_unit : float
        How much one unit of the auxiliary weight is.
    """

    loss: Loss
    scaling: Scaling
    penalty: WeightPenalty
    size: int
    auxiliary_unit: float = 1.0

    @classmethod
    def of(
        cls, problem: Problem, scaling: Scaling, rows: float, *, auxiliary_unit: float = 1.0
    ) -> Objective:
        """The problem in a solver's units; means are over `rows`, public or released, rows."""
        loss = problem.loss.in_units(scaling.units)
        own = loss.auxiliary
        features = scaling.penalty(problem.penalty, loss, rows)
        limits = [(own.low / auxiliary_unit, own.high / auxiliary_unit)] * own.count
        penalty = features.laid_out(loss.outputs, scaling.width, *limits)
        return cls(loss, scaling, penalty, n_weights(problem), auxiliary_unit)

    def start(self, auxiliary: float | None = None) -> Array:
        """Weights at zero, or as near as their limits let them, and the auxiliary one as given."""
        weights = np.zeros(self.size)
        if self.loss.auxiliary.count:
            first = self.loss.auxiliary.start if auxiliary is None else auxiliary
            weights[-1] = first / self.auxiliary_unit
        return np.clip(weights, self.penalty.low, self.penalty.high)

    def step_factor(self, weights: Array) -> float:
        """What steps are proportional to: the auxiliary weight, or 1."""
        return float(weights[-1]) * self.auxiliary_unit if self.loss.auxiliary.count else 1.0

    def prox(self, weights: Array, step: float) -> Array:
        """The penalty's proximal map."""
        return self.penalty.prox(weights, step)

    def compiled(self, clip: float) -> CompiledObjective:
        """What turns a row into a gradient, as compiled loops take it."""
        return CompiledObjective(
            loss=self.loss.code,
            threshold=self.loss.threshold,
            outputs=self.loss.outputs,
            width=self.scaling.width,
            intercept_value=self.scaling.intercept_value,
            clip=clip,
            auxiliaries=self.loss.auxiliary.count,
            auxiliary_unit=self.auxiliary_unit,
        )

    def state(
        self, *, step_size: float, momentum: float, divisor: float, first_averaged: int
    ) -> SGDState:
        """The start of a descent along sums of gradients, which are divided by `divisor`."""
        weights = self.start()
        return SGDState(
            weights=weights,
            previous=weights.copy(),
            average=np.zeros(self.size),
            penalty=self.penalty,
            step_size=step_size,
            momentum=momentum,
            divisor=divisor,
            first_averaged=first_averaged,
        )

    def solution(
        self,
        weights: Array,
        noise: Array | None = None,
        *,
        errors: StandardErrors | None = None,
    ) -> Solution:
        """The model in the units of X and y, with deviations or errors of its weights, if known."""
        outputs, width = self.loss.outputs, self.scaling.width
        if noise is not None:
            noise = noise[: outputs * width].reshape(outputs, width)
        found = weights[: outputs * width].reshape(outputs, width)
        solution = self.scaling.to_user_units(found, noise=noise)
        if errors is None:
            return solution
        in_own_units = errors.mapped(self._flat_solution, unit=self.scaling.target_scale)
        return replace(solution, errors=in_own_units)

    def _flat_solution(self, weights: Array) -> Array:
        """Coefficients and intercept, side by side, of each row of weights of one output."""
        found = self.scaling.to_user_units(weights)
        if self.scaling.intercept_value == 0.0:
            return found.coef
        return np.column_stack([found.coef, found.intercept])
