"""All penalties from one release of moments, then a choice by Gumbel noise on other rows.

Where settings differ in the penalty alone, "moments" releases the same numbers for all of them, and
each model is computed from these. So they are released once, for the first setting, and handed to
the others. Rows for the choice are other people's: the worse of both parts is the price of all
(proof.md, 1 and 4).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privlearn._core.budget import Budget
from privlearn._core.calibration import calibrate
from privlearn._core.mechanisms import GUMBEL, DisjointParts
from privlearn._core.norms import LINF
from privlearn._core.numerics import BlockSum
from privlearn._core.plan import Plan, Release
from privlearn._core.releaser import Releaser, charge_and_open, use_releaser
from privlearn._data.bounded import Table
from privlearn.accounting import BoundedRange
from privlearn.accounting.gaussian import equivalent_mu
from privlearn.ledger.dominate import dominating_mu
from privlearn.linear_model.atomic import blank
from privlearn.linear_model.base import PrivateEstimator
from privlearn.linear_model.job import Job
from privlearn.metrics.task import Task
from privlearn.model_selection.attempts import (
    Promise,
    Tried,
    assumed_by,
    dominated,
    ready,
    ready_to_score,
    score_of,
)
from privlearn.model_selection.grid import Setting
from privlearn.model_selection.parts import Some, scored_blocks
from privlearn.model_selection.rules import SLACK
from privlearn.solvers import SufficientStatistics
from privlearn.solvers._common.rehearsal import once, run_through

__all__ = ["PenaltyPath", "is_path", "parts_for"]

Array = NDArray[np.float64]
PENALTIES = frozenset({"alpha", "l1_ratio"})
CHOICE = "squared errors of each setting"
OF_SCORE = 0.25  # of epsilon: the score of what was chosen, beside the choice
MARGIN = 1e-9  # of mu: more than the rounding of plans


def parts_for(budget: Budget) -> DisjointParts:
    """What a fit and a choice may promise each, and the Gaussian that covers either.

    Examples
    --------
    >>> parts = parts_for(Budget(1.0, 1e-6))
    >>> round(parts.epsilon, 6), round(parts.mu, 2)
    (1.0, 0.47)
    """
    epsilon = budget.epsilon * (1.0 - SLACK)
    chosen = dominating_mu(((BoundedRange((1.0 - OF_SCORE) * epsilon), 1),), 0.0)
    scored = equivalent_mu(OF_SCORE * epsilon, budget.delta)
    mu = max(equivalent_mu(epsilon, budget.delta), math.hypot(chosen, scored))
    return DisjointParts(epsilon, budget.delta, mu * (1.0 + MARGIN))


def is_path(estimator: PrivateEstimator, settings: Sequence[Setting], metric: str) -> bool:
    """Whether one release of moments gives all models, and squared errors are to choose."""
    solver = estimator.solver
    moments = solver == "moments" or isinstance(solver, SufficientStatistics)
    penalties = all(set(setting) <= PENALTIES for setting in settings)
    return moments and penalties and metric in ("mse", "r2")


class _Remembered(Releaser):
    """Releases each number once for all settings: later ones get what the first one got."""

    memory: dict[tuple[str, int], Array]

    def _emit(self, release: Release, statistic: Array) -> Array:
        key = release.name, self._made[release.name]
        if key not in self.memory:
            self.memory[key] = super()._emit(release, statistic)
        return self.memory[key].copy()


@dataclass(frozen=True, eq=False)
class PenaltyPath:
    """All settings, ready: what is released for the fit, for the choice, and for the score."""

    estimators: tuple[PrivateEstimator, ...]
    jobs: tuple[Job, ...]
    choice: Plan
    scores: Plan
    metric: str
    promise: Promise
    mechanism: DisjointParts  # what all of it claims

    @classmethod
    def of(
        cls,
        read: PrivateEstimator,
        table: Table,
        settings: Sequence[Setting],
        law: DisjointParts,
        metric: str,
        sizes: tuple[int, int],
    ) -> PenaltyPath:
        """Prepare and rehearse, or refuse; parameters as in `Attempts.of`."""
        whole = {"epsilon": law.epsilon, "delta": law.delta}
        made = ready(read, table, settings, whole, sizes[0], lambda plan: _kept(plan, law))
        if any(job.plan.pairs() != made[1][0].plan.pairs() for job in made[1]):
            raise AssertionError("penalties changed what is released: a solver bug")
        promise = {"epsilon": OF_SCORE * law.epsilon, "delta": law.delta}
        scores = ready_to_score(read, metric, promise, sizes[1])
        choice = _choice(scores, len(settings), Budget((1.0 - OF_SCORE) * law.epsilon, 0.0))
        fits = all(dominated(job.plan, law.mu) for job in made[1])
        chosen = dominating_mu(tuple(choice.pairs()), 0.0)
        kept = fits and dominated(scores, math.sqrt(max(0.0, law.mu**2 - chosen**2)))
        claimed = law if kept else replace(law, mu=0.0)
        return cls(*made, choice, scores, metric, promise, claimed)

    def assumptions(self) -> tuple[str, ...]:
        """Those of the fit and of the scores, each once."""
        return assumed_by(self.jobs)

    def run(self, _: int, seed: int | None, train: Some, test: Some) -> tuple[float, Tried]:
        """Fit all settings to one release, choose, and score what was chosen."""
        try:
            models = self._models(seed, train)
            errors = np.array([self._errors(model, test) for model in models])
            setting = self._chosen(errors, seed)
            score = score_of(models[setting], self.metric, self.promise, test, seed)
        except Exception:  # it may quote data
            return 0.0, Tried(0)
        return score, Tried(setting, models[setting], score)

    def _models(self, seed: int | None, train: Some) -> list[PrivateEstimator]:
        memory: dict[tuple[str, int], Array] = {}

        def opened(*known: Any) -> Releaser:  # noqa: ANN401
            releaser = _Remembered(*known)
            releaser.memory = memory
            return releaser

        models = [blank(estimator) for estimator in self.estimators]
        with use_releaser(opened):
            for model in models:
                model.random_state = seed
                model.fit(train.X, train.y, **train.named)
        return models

    def _errors(self, model: PrivateEstimator, test: Some) -> float:
        """Sum of squared errors on the range of the target, 0 to 1 per row."""
        total = BlockSum((1,))
        task, strict = Task.of(model, [self.metric], None), model.on_invalid == "raise"
        for rows in scored_blocks(task, test, 0, strict=strict):
            error = (rows.target - rows.answers[:, 0]) ** 2
            total.add(np.full(1, float(error @ rows.present)))
        return float(total.value()[0])

    def _chosen(self, errors: Array, seed: int | None) -> int:
        """The setting with the smallest sum after noise."""
        budget = Budget(self.choice.epsilon(0.0), 0.0)
        other = None if seed is None else seed ^ 2
        with charge_and_open(self.choice, budget, random_state=other) as release:
            return release.select(CHOICE, -errors, clip=1.0)


def _kept(plan: Plan, law: DisjointParts) -> bool:
    return plan.delta(law.epsilon) <= law.delta


def _choice(like: Plan, settings: int, budget: Budget) -> Plan:
    """One selection among scores that a row moves by at most 1; rehearsed."""
    release = Release(CHOICE, (settings,), 1.0, norm=LINF, mechanism=GUMBEL)
    blank_plan = replace(like, releases=(release,), scale=1.0)
    plan = calibrate(lambda scale: replace(blank_plan, scale=scale), budget)
    nothing = np.zeros(settings)
    run = partial(
        run_through, plan, budget, lambda release: release.select(CHOICE, nothing, clip=1.0)
    )
    once(("penalty path", plan.adjacency), run)
    return plan
