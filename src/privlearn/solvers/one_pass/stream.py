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
from privlearn.solvers._common import descent
from privlearn.solvers._common.coordinates import Coordinates
from privlearn.solvers._common.rehearsal import SCALE, once, run_through, signature, small_case
from privlearn.solvers.base import Solution
from privlearn.solvers.one_pass.rules import Settings
from privlearn.solvers.one_pass.solver import GRADIENT, GradientSums, OnePassSGD, deviation_of
from privlearn.solvers.one_pass.state import Walk

__all__ = ["Stream"]

BATCHES = 100  # of a stream whose length nobody knows: the clip is chosen as for so many
ONCE = "nobody's row comes twice in the stream"


@dataclass(eq=False)
class Stream:
    """A model on its way. `problem.n` is the public size of a batch, which sums are divided by."""

    problem: Problem
    settings: Settings
    plan: Plan
    coordinates: Coordinates
    walk: Walk | None = None
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

    def bound_to(self, bond: Any) -> Stream:  # noqa: ANN401
        """The same stream with what it is bound to."""
        return replace(self, bond=bond)

    def advanced(self, data: BoundedData, release: Releaser) -> Stream:
        """The stream after a step along the released gradient of at most `problem.n` rows.

        This one stays as it is: what fails on the way leaves no trace.
        """
        assert self.problem.n is not None
        coordinates, size = self.coordinates, float(self.problem.n)
        steps = release.steps(GRADIENT, data.table.n, clip=self.settings.clip, at_most=1)
        sums = GradientSums(self.problem, self.settings, coordinates, data)
        everyone = np.arange(data.table.n, dtype=np.int64)
        walk = self._begun(size) if self.walk is None else self.walk.twin()
        released = sums.released(walk.path.weights, everyone, steps, 0)
        # The penalty stands beside the losses of all rows that have come.
        l1, l2, _, _ = descent.penalty_of(self.problem, coordinates, size * (walk.taken + 1))
        walk.path.l1[:] = l1
        walk.path.l2[:] = l2
        walk.take(released / size)
        return replace(self, walk=walk)

    def _begun(self, size: float) -> Walk:
        noise = deviation_of(self.problem, self.settings, self.plan, GRADIENT) / size
        return Walk.begin(
            self.problem, self.settings, self.coordinates, rows=size, noise=noise, ends=None
        )

    def rehearse(self, table: Table, budget: Budget) -> None:
        """Take a batch of made-up rows, once per process and kind, before anything is charged."""

        def run() -> None:
            small, data = small_case(self.problem, table)
            plan = Stream.planned(small, self.settings, SCALE)
            coordinates = Coordinates.of(small, sparse=data.sparse)
            stream = Stream(small, self.settings, plan, coordinates)
            run_through(plan, budget, lambda release: stream.advanced(data, release).solution())

        kind = (Stream, self.settings.schedule)
        once(signature(kind, self.problem, self.plan, table), run)

    def solution(self) -> Solution:
        """The model so far."""
        assert self.walk is not None
        weights = descent.by_output(self.problem, self.walk.found())
        return self.coordinates.to_data_units(weights)
