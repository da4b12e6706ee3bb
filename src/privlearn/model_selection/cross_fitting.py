"""`cross_fit`: models of all folds but one, and one private score of all rows, under one budget.

Every person is in all fits but one, and in the scores: so many releases compose (proof.md, 5).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privlearn._core.budget import Budget, budget_of, warn_of_delta
from privlearn._core.certificate import Certificate
from privlearn._core.plan import Plan, Release
from privlearn._core.releaser import Releaser, charge_and_open
from privlearn.accounting import Gaussian, compose, smallest_scale
from privlearn.exceptions import InvalidBudgetError, UnsupportedCombinationError
from privlearn.linear_model.atomic import blank
from privlearn.linear_model.base import PrivateEstimator
from privlearn.metrics.evaluation import Job, added_up, conclude, prepare
from privlearn.metrics.evaluation import rehearse as rehearse_score
from privlearn.metrics.result import Evaluation
from privlearn.metrics.task import Task
from privlearn.model_selection.attempts import assumed_by, ready
from privlearn.model_selection.grid import demand_estimator
from privlearn.model_selection.parts import Indices, ReadIn, Some, certified, scored_blocks
from privlearn.model_selection.searching import checked_folds, first_rows, in_silence, sizes_of

__all__ = ["CrossFit", "cross_fit"]

OF_SCORES = 0.2  # of the budget, in mu^2
SCORED = "scores: "


@dataclass(frozen=True, eq=False)
class CrossFit:
    """Models of all folds but one, each; their score on the folds that they did not see.

    Attributes
    ----------
    models : tuple of estimators
        One per fold. Their certificate is that of all together.
    evaluation : Evaluation
        Scores with intervals: every row counts with the model that it was not fitted to.
    predictions : array of shape (n_samples,) or None
        Where they were asked for, what the model of the other folds predicts for each row. Each is
        about its own row and has no noise: keep them like the data, they are not published.
    """

    models: tuple[PrivateEstimator, ...]
    evaluation: Evaluation
    predictions: NDArray[Any] | None = None

    @property
    def privacy(self) -> Certificate:
        """What all models and scores together promised."""
        return self.evaluation.privacy

    def __str__(self) -> str:
        return f"{len(self.models)} models of all folds but one\n{self.evaluation}"


def cross_fit(
    estimator: PrivateEstimator,
    X: object,
    y: object,
    *,
    epsilon: float,
    delta: float = 1e-6,
    folds: int = 5,
    metrics: object = None,
    groups: object = None,
    predictions: bool = False,
    ledger: object = None,
    dataset: str | None = None,
    random_state: object = None,
) -> CrossFit:
    """Fit a model without each fold and score all of them on what they did not see.

    One budget covers everything. A person is in all fits but one and in one score, so that each of
    `folds` fits gets a part of the budget: the score is about models that were fitted with less of
    it, and a single fit to all rows will be better.

    Parameters
    ----------
    estimator : estimator of privlearn
        Its own `epsilon` and `delta` are not used. A regressor needs `bounds_y`.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        As the estimator takes it.
    y : array-like of shape (n_samples,) or str
        Target, or the name of its column.
    epsilon, delta : float
        What everything together promises; delta, 1e-6 as in fits, must be above 0.
    folds : int, default=5
        Number of equal parts. Where rows are left over, these take no part.
    metrics : list of str or None, default=None
        As in `metrics.evaluate`.
    groups : array-like of shape (n_samples,), str or None, default=None
        Whose each row is, where the estimator has `max_rows_per_person`: people are parted, then.
    predictions : bool, default=False
        Whether out-of-fold predictions are wanted. They are as private as the rows themselves:
        nothing in them hides a row.
    ledger, dataset, random_state
        As in every estimator.

    Returns
    -------
    CrossFit
        Models, evaluation and certificate.

    Examples
    --------
    >>> import numpy as np
    >>> from privlearn import Ridge
    >>> from privlearn.model_selection import cross_fit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(20_000, 2))
    >>> y = X[:, 0] + 0.1 * rng.standard_normal(20_000)
    >>> model = Ridge(bounds_X=(-1, 1), bounds_y=(-1, 1))
    >>> found = cross_fit(model, X, y, epsilon=2, delta=1e-6)
    >>> len(found.models), found.evaluation.r2.value > 0.8
    (5, True)
    """
    budget, folds = budget_of(epsilon, delta), checked_folds(folds)
    charge = {"ledger": ledger, "dataset": dataset, "random_state": random_state}
    if budget.delta == 0:
        raise InvalidBudgetError(
            "delta=0, but scores get Gaussian noise, which needs delta > 0; set delta, for example "
            "delta=1e-6"
        )
    given = ReadIn.by(demand_estimator(estimator), X, y, groups)
    _refuse_dropped(predictions, given.estimator)
    each = sizes_of(given.n, folds, public=given.public)[1]
    table = first_rows(given.table, each * (folds - 1))
    work = _Work.of(given.estimator, table, budget, folds, each, metrics)
    warn_of_delta(budget, given.n if given.public else None)
    plan = given.named(work.plan)
    with charge_and_open(plan, budget, **charge) as release, in_silence():  # type: ignore[arg-type]
        rows = given.folds(release, folds, each if given.public else None)
        models = work.models(given.everybody, rows, _seeds(release, random_state, folds))
        found = work.scored(models, given.everybody, rows, random_state)
        told = _out_of_fold(models, given.everybody, rows) if predictions else None
    certificate = replace(release.certificate(), made={r.name: r.count for r in plan.releases})
    known = {"epsilon": budget.epsilon, "delta": budget.delta, **charge}
    for model in models:
        certified(model, estimator, known, certificate)
    return CrossFit(tuple(models), replace(found, privacy=certificate), told)


def _refuse_dropped(predictions: bool, read: PrivateEstimator) -> None:
    if predictions and read.on_invalid == "drop":
        raise UnsupportedCombinationError(
            "predictions=True with on_invalid='drop' is not supported: a row that cannot be used "
            "has none; leave one of them out"
        )


@dataclass(frozen=True, eq=False)
class _Work:
    """What is fixed before the charge: the estimator of every fold, the score, and the whole."""

    estimator: PrivateEstimator
    score: Job
    plan: Plan
    n: int  # rows or people that are scored

    @classmethod
    def of(
        cls,
        read: PrivateEstimator,
        table: Any,  # noqa: ANN401
        budget: Budget,
        folds: int,
        each: int,
        metrics: object,
    ) -> _Work:
        """Prepare and rehearse everything, or refuse."""
        mu = 1.0 / smallest_scale(
            lambda scale: [(Gaussian(1.0 / scale), 1)], budget.epsilon, budget.delta
        )
        of_score = _gaussian(mu * math.sqrt(OF_SCORES), budget.delta)
        of_fit = _gaussian(mu * math.sqrt((1.0 - OF_SCORES) / (folds - 1)), budget.delta / folds)
        task, n = Task.of(read, metrics, None), max(each * folds, 1)
        known = read.adjacency, read.on_invalid, read.max_rows_per_person
        score = prepare(task, n, of_score["epsilon"], of_score["delta"], *known)
        rehearse_score(score)

        def fits(plan: Plan) -> bool:
            return _whole(plan, score.plan, folds).delta(budget.epsilon) <= budget.delta

        (estimator,), jobs = ready(read, table, [{}], of_fit, each * (folds - 1), fits)
        whole = _whole(jobs[0].plan, score.plan, folds)
        return cls(estimator, score, replace(whole, assumptions=assumed_by(jobs)), n)

    def models(
        self, everybody: Some, rows: Sequence[Indices], seeds: Sequence[int | None]
    ) -> list[PrivateEstimator]:
        """One per fold, fitted to the others."""
        found = []
        for k, seed in enumerate(seeds):
            others = np.sort(np.concatenate([fold for j, fold in enumerate(rows) if j != k]))
            model, train = blank(self.estimator), everybody.of(others)
            model.random_state = seed
            found.append(model.fit(train.X, train.y, **train.named))
        return found

    def scored(
        self,
        models: Sequence[PrivateEstimator],
        everybody: Some,
        rows: Sequence[Indices],
        random_state: object,
    ) -> Evaluation:
        """One release of what all rows say about the models that they are not in."""
        with charge_and_open(
            self.score.plan, self.score.budget, random_state=random_state
        ) as release:
            key = release.choice_key()
            blocks = (
                block
                for model, fold in zip(models, rows, strict=True)
                for block in scored_blocks(
                    replace(self.score.task, model=model), everybody.of(fold), key, strict=False
                )
            )
            return conclude(self.score, added_up(self.score, blocks), self.n, release)


def _gaussian(mu: float, delta: float) -> dict[str, float]:
    """The promise of a Gaussian release of this mu."""
    return {"epsilon": compose([(Gaussian(mu), 1)]).epsilon(delta), "delta": delta}


def _whole(fit: Plan, score: Plan, folds: int) -> Plan:
    """All fits but one, and the scores: what one person enters."""
    releases = [
        *(one for release in fit.at_scale_one() for one in _times(release, folds - 1)),
        *(replace(release, name=SCORED + release.name) for release in score.at_scale_one()),
    ]
    paper = f"cross-fitting, {folds} folds: each person in {folds - 1} fits and in one score; "
    return replace(
        score, releases=tuple(releases), scale=1.0, paper=paper + fit.paper, solver=fit.solver
    )


def _times(release: Release, times: int) -> list[Release]:
    """A release of every fit; those that are charged once per fit need names of their own."""
    if not release.sampling.at_once:
        return [replace(release, count=times * release.count)]
    return [replace(release, name=f"{release.name}, fit {k + 1}") for k in range(times)]


def _seeds(release: Releaser, random_state: object, folds: int) -> list[int | None]:
    if random_state is None:
        return [None] * folds
    first = release.choice_key() >> 34
    return [first + k for k in range(folds)]


def _out_of_fold(
    models: Sequence[PrivateEstimator], everybody: Some, rows: Sequence[Indices]
) -> NDArray[Any]:
    """What the model of the other folds says about each row; who took no part, the first's."""
    found = np.asarray(models[0].predict(everybody.X)).copy()
    for model, fold in zip(models, rows, strict=True):
        if len(fold):
            found[fold] = model.predict(everybody.of(fold).X)
    return found
