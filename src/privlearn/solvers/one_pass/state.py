"""How `OnePassSGD` moves along released gradients: post-processing, so all of it is free."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privlearn._core.problem import Problem
from privlearn.solvers._common.loops import sgd
from privlearn.solvers._common.loops.sgd import SGDState
from privlearn.solvers._common.objective import Objective
from privlearn.solvers._common.scaling import Scaling
from privlearn.solvers.one_pass import rules
from privlearn.solvers.one_pass.rules import Settings

__all__ = ["OnePassState"]

Array = NDArray[np.float64]
LONGEST = 1e30  # of a step: scores of weights must stay numbers
LATE = 3.0  # of Shamir and Zhang's (2013) average: late iterates count t^3 times


@dataclass(eq=False)
class OnePassState:
    """Weights after some released gradients, and what is needed to go on.

    Attributes
    ----------
    noise : float
        Standard deviation of the noise on one number of a batch's mean gradient.
    ends : int or None
        Number of steps in all; None for a stream, which has no end.
    """

    problem: Problem
    settings: Settings
    objective: Objective
    sgd: SGDState
    noise: float
    ends: int | None
    taken: int = 0

    @classmethod
    def begin(
        cls,
        problem: Problem,
        settings: Settings,
        scaling: Scaling,
        *,
        rows: float,
        noise: float,
        ends: int | None,
    ) -> OnePassState:
        """Weights at zero, before the first step; `rows` rows are what a penalty is weighed by."""
        unit = problem.loss.auxiliary.unit
        objective = Objective.of(problem, scaling, rows, auxiliary_unit=unit)
        steady = settings.schedule is None and ends is not None
        first = objective.state(
            step_size=1.0,
            momentum=rules.MOMENTUM if steady else 0.0,
            divisor=1.0,
            first_averaged=0,
        )
        return cls(problem, settings, objective, first, noise, ends)

    @property
    def weights(self) -> Array:
        """Where the descent is."""
        return self.sgd.weights

    def twin(self, rows: float) -> OnePassState:
        """A descent from here on, which leaves this one where it is.

        The penalty stands beside the losses of `rows` rows from now on.
        """
        objective = Objective.of(
            self.problem, self.objective.scaling, rows, auxiliary_unit=self.objective.auxiliary_unit
        )
        arrays: dict[str, Any] = {
            name: getattr(self.sgd, name).copy() for name in ("weights", "previous", "average")
        }
        moved = self.sgd._replace(penalty=objective.penalty, **arrays)
        return replace(self, objective=objective, sgd=moved)

    def take_step(self, gradient: Array) -> None:
        """One step along a released mean gradient, then the penalty and the ball."""
        self.taken += 1
        factor = self.objective.step_factor(self.weights)
        sgd.take_step(self.sgd, gradient, self._step_size() * factor)
        self._into_the_ball()
        self._average()

    def found(self) -> Array:
        """The weights to publish."""
        return self.sgd.average if self.settings.schedule is None else self.sgd.weights

    def _step_size(self) -> float:
        """Length of the present step per unit of gradient."""
        rule, given = self.settings.schedule, self.settings.step_size
        if rule == "inverse":
            curvature = self._curvature()  # 0 where no feature can move, which no step changes
            wanted = (given or 1.0) / (curvature * self.taken) if curvature > 0.0 else 0.0
            return min(wanted, LONGEST)
        if self.ends is not None and rule in (None, "constant"):
            return given or rules.steady_step(self.problem, self.noise, self.ends)
        if given is not None:
            return given / (math.sqrt(self.taken) if rule != "constant" else 1.0)
        wanted = rules.max_travel(self.problem) / (self.noise * math.sqrt(self.taken))
        return min(wanted, self.problem.loss.largest_step)

    def _curvature(self) -> float:
        """The least weight of the L2 penalty on a feature that can move."""
        curvatures = self.sgd.penalty.curvature
        penalised = curvatures[curvatures > 0.0]
        return float(penalised.min(initial=math.inf)) if penalised.size else 0.0

    def _into_the_ball(self) -> None:
        """Shorten penalised weights to where the optimum is: |l2 w| is a mean slope there.

        Song et al. 2013, section IV.B: a ball of radius 1 / lambda, for slopes of at most 1.
        """
        limit, curvatures = self.problem.loss.lipschitz, self.sgd.penalty.curvature
        if not math.isfinite(limit):
            return
        pull = float(np.linalg.norm(curvatures * self.weights))
        if pull > limit:
            self.weights[curvatures > 0.0] *= limit / pull

    def _average(self) -> None:
        """The mean of the second half, or, without an end, one in which late iterates count."""
        if self.ends is None:
            share = (LATE + 1.0) / (self.taken + LATE)
        else:
            first = self.ends - math.ceil(rules.AVERAGED * self.ends)
            share = 1.0 / max(1, self.taken - first)
        average = self.sgd.average
        average += share * (self.weights - average)
