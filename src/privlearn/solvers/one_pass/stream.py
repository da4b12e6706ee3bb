"""`OnePassSGD` on a stream: every batch is released as it comes, and none is kept.

A batch costs what the whole stream costs, because nobody is in two of them (proof.md, section
5). What goes on from batch to batch is a function of released numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from privlearn._core.plan import Plan
from privlearn._core.problem import Budget, Problem
from privlearn._core.releaser import Releaser
from privlearn._core.sampling import Arriving
from privlearn._data.bounded import BoundedData, Table
from privlearn.solvers._common.rehearsal import SCALE, once, run_through, signature, small_case
from privlearn.solvers._common.row_source import make_row_source
from privlearn.solvers._common.scaling import Scaling
from privlearn.solvers.base import Solution
from privlearn.solvers.one_pass.rules import Settings
from privlearn.solvers.one_pass.solver import GRADIENT, OnePassSGD, deviation_of
from privlearn.solvers.one_pass.state import OnePassState

__all__ = ["Stream"]

BATCHES = 100  # of a stream whose length nobody knows: the clip is chosen as for so many
ONCE = "nobody's row comes twice in the stream"


@dataclass(eq=False)
class Stream:
    """A model on its way. `problem.n` is the public size of a batch, which sums are divided by."""

    problem: Problem
    settings: Settings
    plan: Plan
    scaling: Scaling
    state: OnePassState | None = None
    bond: Any = None  # what the stream is bound to; the estimator's

    @staticmethod
    def configured(solver: OnePassSGD, problem: Problem, budget: Budget) -> Settings:
        """Settings of a batch; the clip as if `BATCHES` of them came."""
        assert problem.n is not None
        whole = replace(problem, n=BATCHES * problem.n)
        return replace(solver.configure(whole, budget), batches=1)

    @staticmethod
    def planned(problem: Problem, settings: Settings, scale: float) -> Plan:
        """What every batch releases; the whole stream costs no more."""
        whole = OnePassSGD().plan(problem, settings, scale)
        (gradient,) = whole.releases
        each = replace(gradient, sampling=Arriving(), count=1)
        return replace(whole, releases=(each,), assumptions=(*whole.assumptions, ONCE))

    def advanced(self, data: BoundedData, release: Releaser) -> Stream:
        """The stream after a step along the released gradient of at most `problem.n` rows.

        This one stays as it is: what fails on the way leaves no trace.
        """
        assert self.problem.n is not None
        size, clip = float(self.problem.n), self.settings.clip
        steps = release.steps(GRADIENT, data.n, clip=clip, at_most=1)
        rows = make_row_source(self.scaling, data)
        # The penalty stands beside the losses of all rows that have come.
        before = self.state or self._begun(size)
        state = before.twin(size * (before.taken + 1))
        everyone = np.arange(data.n, dtype=np.int64)
        found = rows.gradient_sum(everyone, state.objective, state.weights, clip)
        state.take_step(steps.release_step(0, found) / size)
        return replace(self, state=state)

    def _begun(self, size: float) -> OnePassState:
        noise = deviation_of(self.problem, self.settings, self.plan, GRADIENT) / size
        return OnePassState.begin(
            self.problem, self.settings, self.scaling, rows=size, noise=noise, ends=None
        )

    def rehearse(self, table: Table, budget: Budget) -> None:
        """Take a batch of made-up rows, once per process and kind, before anything is charged."""

        def run() -> None:
            small, data = small_case(self.problem, table)
            plan = Stream.planned(small, self.settings, SCALE)
            scaling = Scaling.for_gradients(small, sparse=data.sparse)
            stream = Stream(small, self.settings, plan, scaling)
            run_through(plan, budget, lambda release: stream.advanced(data, release).solution())

        kind = (Stream, self.settings.schedule)
        once(signature(kind, self.problem, self.plan, table), run)

    def solution(self) -> Solution:
        """The model so far."""
        assert self.state is not None
        return self.state.objective.solution(self.state.found())
