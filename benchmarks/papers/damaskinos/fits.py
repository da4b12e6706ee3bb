"""privlearn on the problems of Damaskinos et al. 2021: a promise, public facts, and defaults."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from benchmarks.papers.damaskinos.problems import DELTA, Task
from benchmarks.papers.damaskinos.runs import outcome
from benchmarks.papers.damaskinos.steps import LOGISTIC, SQUARED

__all__ = ["OURS", "fit", "rows"]

SAME_EPOCHS = "scd, the paper's epochs"
OURS = {
    "scd": 'privlearn "scd"',
    SAME_EPOCHS: """privlearn "scd", the paper's epochs""",
    "auto": 'privlearn "auto"',
}
RELEASE = "dual step"


def fit(task: Task, solver: object, epsilon: float, *, seed: int) -> object:
    """The fitted estimator of the task's objective, under the paper's relation."""
    import privlearn
    from privlearn.exceptions import DeltaWarning

    facts = {
        "solver": solver,
        "epsilon": epsilon,
        "delta": DELTA,
        "adjacency": "zero_out",
        "data_norm": 1.0,
        "fit_intercept": False,
        "random_state": seed,
    }
    if task.loss == SQUARED:
        model = privlearn.Ridge(alpha=task.weight, bounds_y=task.bounds_y, **facts)
    elif task.loss == LOGISTIC:
        model = privlearn.LogisticRegression(C=1.0 / task.weight, classes=[-1.0, 1.0], **facts)
    else:
        svc = {"C": 1.0 / task.weight, "loss": "hinge", "classes": [-1.0, 1.0]}
        model = privlearn.LinearSVC(**svc, **facts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeltaWarning)  # the paper's delta is above 1 / n
        return model.fit(task.train.X, task.train.y)


def rows(
    task: Task, epsilons: tuple[float, ...], seeds: int, clock: Callable[[], float]
) -> list[dict]:
    """Runs of "scd" and "auto" by their default rules; one row has its number of epochs set."""
    return [_row(task, name, epsilon, seeds, clock) for name in OURS for epsilon in epsilons]


def _solver(name: str, task: Task) -> object:
    if name != SAME_EPOCHS:
        return name
    from privlearn.solvers import DualCoordinateDescent

    return DualCoordinateDescent(epochs=task.epochs)


def _row(task, name, epsilon, seeds, clock) -> dict:
    models, seconds = [], []
    solver = _solver(name, task)
    for seed in range(seeds):
        start = clock()
        models.append(fit(task, solver, epsilon, seed=seed))
        seconds.append(clock() - start)
    found = [outcome(task, np.ravel(model.coef_)) for model in models]
    return {
        "method": OURS[name],
        "epsilon": epsilon,
        "criterion": "defaults",
        "setting": _released(models[0], task.n),
        "took": models[0].privacy_.paper,
        "objectives": [one["objective"] for one in found],
        "scores": [one["test"] for one in found],
        "seconds": seconds,
    }


def _released(model: object, n: int) -> dict | None:
    """What the default rule chose for the dual steps; None when another solver was taken.

    Its clip is not among them: that is estimated, and the plan's is its unit.
    """
    for release in model.privacy_.plan.releases:
        if release.name == RELEASE:
            rate = release.sampling.rate
            return {"batch": rate * n, "epochs": release.count * rate}
    return None
