"""One try of a search: a setting, its fit to some rows, and a score with noise on the others.

Everything that can be refused is refused by `Attempts.of`, before anything is charged. What goes
wrong in a try is a score like any other, the worst: which try failed, and how, is not told.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from privlearn._core.mechanisms import RandomTries
from privlearn._core.plan import Plan
from privlearn._data.bounded import Table
from privlearn.accounting import Gaussian, compose
from privlearn.exceptions import DeltaWarning, UnsupportedCombinationError
from privlearn.linear_model.atomic import blank
from privlearn.linear_model.base import PrivateEstimator
from privlearn.linear_model.job import Job
from privlearn.metrics import evaluate
from privlearn.metrics.evaluation import prepare
from privlearn.metrics.evaluation import rehearse as rehearse_score
from privlearn.metrics.task import ALONE, CLASSES, NUMBERS, Task
from privlearn.model_selection.grid import Setting
from privlearn.model_selection.parts import Some
from privlearn.solvers._common.forecast import warn_of_few_rows
from privlearn.solvers._common.rehearsal import rehearse

__all__ = [
    "SCORES",
    "Attempts",
    "Tried",
    "assumed_by",
    "dominated",
    "promised",
    "ready",
    "ready_to_score",
    "score_of",
]

# Of epsilon, until a fit keeps its promises; then halvings between what did and what did not.
LESS, TRIALS, REFINED = 0.7, 20, 3
Promise = dict[str, Any]  # epsilon and delta
SMALL_IS_GOOD = ("mse", "mae", "log_loss", "brier")
SCORES = tuple(name for name in (*NUMBERS, *CLASSES) if name not in ("confusion", "calibration"))


@dataclass(frozen=True, eq=False)
class Tried:
    """What a try would release: a setting, its model and its score; None where it failed."""

    setting: int
    model: PrivateEstimator | None = None
    score: float = math.nan


@dataclass(frozen=True, eq=False)
class Attempts:
    """All settings, ready to be tried."""

    estimators: tuple[PrivateEstimator, ...]  # each with its setting and its promise
    jobs: tuple[Job, ...]
    scores: Plan
    metric: str
    promise: Promise  # of a score
    mechanism: RandomTries  # what all of them together claim

    @classmethod
    def of(
        cls,
        read: PrivateEstimator,
        table: Table,
        settings: Sequence[Setting],
        law: RandomTries,
        metric: str,
        sizes: tuple[int, int],
    ) -> Attempts:
        """Prepare and rehearse every setting, or refuse.

        Parameters
        ----------
        read : estimator
            That has read the table: it knows names, labels and number of columns.
        table : Table
            Of which no row is looked at.
        settings, law, metric
            What is tried, how often, and by which score it is chosen.
        sizes : pair of ints
            Rows or people that fits and scores see.
        """
        promise = {"epsilon": law.epsilon, "delta": law.delta}
        made = ready(read, table, settings, promise, sizes[0], lambda plan: promised(plan, law))
        scores = ready_to_score(read, metric, promise, sizes[1])
        if not promised(scores, law):  # Gaussian ones keep both promises if they keep one
            raise UnsupportedCombinationError("scores cannot promise what a try has to: a bug")
        plans = (*(job.plan for job in made[1]), scores)
        claimed = law if all(dominated(plan, law.mu) for plan in plans) else replace(law, mu=0.0)
        return cls(*made, scores, metric, promise, claimed)

    def assumptions(self) -> tuple[str, ...]:
        """Those of fits and scores, each once."""
        return assumed_by(self.jobs)

    def run(self, setting: int, seed: int | None, train: Some, test: Some) -> tuple[float, Tried]:
        """One try: the score to compare, larger is better, and what leaves if it is the best."""
        model = blank(self.estimators[setting])
        model.random_state = seed
        try:
            model.fit(train.X, train.y, **train.named)
            score = score_of(model, self.metric, self.promise, test, seed)
        except Exception:  # it may quote data, and which try it was is a secret
            return -math.inf, Tried(setting)
        sign = -1.0 if self.metric in SMALL_IS_GOOD else 1.0
        return sign * score, Tried(setting, model, score)


def ready(
    read: PrivateEstimator,
    table: Table,
    settings: Sequence[Setting],
    promise: Promise,
    n: int,
    keeps: Callable[[Plan], bool],
) -> tuple[tuple[PrivateEstimator, ...], tuple[Job, ...]]:
    """An estimator and its job for every setting, rehearsed; a refusal of one refuses all."""
    found = []
    for setting in settings:
        work = copy(read).set_params(**setting)
        work.epsilon, work.delta = promise["epsilon"], promise["delta"]
        job = _job(work, table, n, keeps)
        if job.problem.adjacency.n_is_public:
            warn_of_few_rows(job, n)
        rehearse(job.solver, job.problem, job.settings, job.plan, job.budget, table)
        if hasattr(work, "classes"):
            work.classes = read.classes_  # some rows may lack some
        found.append((work, job))
    estimators, jobs = zip(*found, strict=True)
    return estimators, jobs


def _job(estimator: PrivateEstimator, table: Table, n: int, keeps: Callable[[Plan], bool]) -> Job:
    """What a fit is to do; its epsilon is made smaller until its plan keeps what was promised."""
    estimator._validate_params()
    classes, sparse = len(getattr(estimator, "classes_", ())), not isinstance(table.X, np.ndarray)

    def kept(epsilon: float) -> Job | None:
        estimator.epsilon = epsilon
        job = estimator._prepare(n, table.X.shape[1], classes, None, sparse=sparse)
        return job if keeps(job.plan) else None

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeltaWarning)  # the whole is asked about its own
        return _largest(kept, estimator)


def _largest(kept: Callable[[float], Job | None], estimator: PrivateEstimator) -> Job:
    """The job of a large epsilon that is kept, with which the estimator is left."""
    high = low = estimator.epsilon
    job = kept(low)
    if job is not None:
        return job
    for _ in range(TRIALS):
        high, low = low, LESS * low
        job = kept(low)
        if job is not None:
            break
    else:
        raise UnsupportedCombinationError(
            f"solver={estimator.solver!r} cannot promise what a search needs; use another solver, "
            "or a larger epsilon or delta"
        )
    for _ in range(REFINED):
        middle = math.sqrt(low * high)
        better = kept(middle)
        low, high, job = (low, middle, job) if better is None else (middle, high, better)
    estimator.epsilon = low
    return job


def ready_to_score(read: PrivateEstimator, metric: str, promise: Promise, n: int) -> Plan:
    """The plan of one score, rehearsed."""
    task = Task.of(read, [metric], None)
    known = read.adjacency, read.on_invalid, read.max_rows_per_person
    score = prepare(task, max(n, 1), promise["epsilon"], promise["delta"], *known)
    rehearse_score(score)
    return score.plan


def score_of(
    model: PrivateEstimator, metric: str, promise: Promise, test: Some, seed: int | None
) -> float:
    """With noise, on rows that the model was not fitted to."""
    names = ("adjacency", "on_invalid", "max_rows_per_person")
    known: dict[str, Any] = {name: getattr(model, name) for name in names}
    known |= {"metrics": [metric], "random_state": None if seed is None else seed ^ 1}
    found = evaluate(model, test.X, test.y, **known, **promise, **test.named)
    return float(getattr(found, metric).value)


def assumed_by(jobs: Sequence[Job]) -> tuple[str, ...]:
    """What fits assume, each once, and what scores do beside that."""
    return (*dict.fromkeys(line for job in jobs for line in job.plan.assumptions), ALONE)


def dominated(plan: Plan, mu: float) -> bool:
    """Whether a plan has Gaussian noise alone, and no less of it than that of mu."""
    terms = compose(plan.pairs()).terms
    return all(isinstance(pair, Gaussian) and pair.mu <= mu for pair, _ in terms)


def promised(plan: Plan, law: RandomTries) -> bool:
    """Whether a plan keeps both promises of a try (proof.md, 2)."""
    return plan.delta(law.epsilon) <= law.delta and plan.delta(law.pivot) <= law.pivot_delta
