"""Private fits of the five problems: relative errors, seconds and passes over the data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count

import numpy as np

from benchmarks.harness.objectives import Logistic
from benchmarks.papers.mangold.problems import Problem

__all__ = [
    "BOUNDS",
    "CLIPPED",
    "DECLARED",
    "METHODS",
    "clipped_row",
    "curve",
    "fit",
    "headline",
    "passes",
    "row",
]

DECLARED = "auto, scales declared"
METHODS = ("auto", DECLARED, "cd", "cd, constants given", "cd, one coordinate at a time", "sgd")
BOUNDS = ("public", "2 max")
CLIPPED = "no privacy, features clipped"
TIMED = 3
NEW = count(1)  # problems of one shape would share calibrations, too


def headline(standardised: bool) -> tuple[str, str]:
    """Method and bounds of the row that counts.

    Where the paper standardises for free, every fact that it takes for free; elsewhere none, and
    "cd" by name: "auto" looks inside the bounds, and then its penalty is not the paper's.
    """
    return (DECLARED, "2 max") if standardised else ("cd", "public")


def fit(
    problem: Problem,
    solver: object,
    bounds: str = "public",
    *,
    seed: int,
    epsilon: float | None = None,
    scales: bool = False,
) -> object:
    """The fitted estimator; everything that is not named here is a default."""
    import privlearn

    objective = problem.objective
    facts = {
        "solver": solver,
        "epsilon": problem.epsilon if epsilon is None else epsilon,
        "delta": problem.delta,
        "adjacency": "replace_one",
        "bounds_X": problem.bounds(bounds),
        "scale_X": problem.scales if scales else None,
        "fit_intercept": False,
        "random_state": seed,
    }
    if isinstance(objective, Logistic):
        model = privlearn.LogisticRegression(C=objective.C, classes=[-1.0, 1.0], **facts)
    else:
        model = privlearn.Lasso(alpha=objective.alpha, bounds_y=problem.bounds_y, **facts)
    return model.fit(objective.X, objective.y)


def solver_of(method: str, problem: Problem) -> object:
    """What goes into ``solver=`` for a method of `METHODS`."""
    if method in ("auto", "cd", "sgd"):
        return method
    if method == DECLARED:
        return "auto"
    from privlearn.solvers import CoordinateDescent

    if method == "cd, constants given":
        return CoordinateDescent(smoothness=problem.mean_squares)
    return CoordinateDescent(block=1, selection="cyclic")  # the paper's kind of step


def row(
    problem: Problem,
    method: str,
    bounds: str,
    *,
    optimum: float,
    seeds: int,
    clock: Callable[[], float],
) -> dict:
    """Relative error per seed, and seconds of some further fits whose calibration is new."""
    given = {"solver": solver_of(method, problem), "bounds": bounds, "scales": method == DECLARED}
    models = [fit(problem, seed=seed, **given) for seed in range(seeds)]
    return {
        "method": method,
        "bounds": bounds,
        "errors": [_error(problem, model, optimum) for model in models],
        "seconds": [_seconds(problem, given, clock) for _ in range(TIMED)],
        "passes": passes(models[0]),
        "took": models[0].privacy_.paper,
    }


def clipped_row(problem: Problem, bounds: str, *, optimum: float) -> dict:
    """What clipping alone costs: fitted without privacy on clipped rows, judged on whole ones."""
    coef = problem.objective.clipped(problem.bounds(bounds)).solution()
    error = problem.objective.relative_error(coef, optimum)
    return {"method": CLIPPED, "bounds": bounds, "errors": [error]}


def _error(problem: Problem, model: object, optimum: float) -> float:
    return problem.objective.relative_error(np.ravel(model.coef_), optimum)


def _seconds(problem: Problem, given: dict, clock: Callable) -> float:
    """Time of one fit; with an epsilon of its own, since calibrations are remembered."""
    epsilon = problem.epsilon * (1.0 + 1e-5 * next(NEW))
    start = clock()
    fit(problem, seed=0, epsilon=epsilon, **given)
    return clock() - start


def passes(model: object) -> float:
    """How often a fit goes over the data: one of p coordinates is a p-th of a pass."""
    plan, p = model.privacy_.plan, model.n_features_in_
    return sum(
        release.count * release.sampling.rate * (1.0 / p if release.size == 1 else 1.0)
        for release in plan.releases
    )


def curve(problem: Problem, method: str, wanted: Sequence[int], *, optimum: float, seeds: int):
    """Relative errors of "cd" or "sgd" that descends for so many passes, per number and seed.

    Facts are those of the headline. "passes" are those over the data in all: what is estimated
    before a descent takes some, too.
    """
    makers = {"cd": _descend_by_coordinates, "sgd": _descend_by_gradients}
    row, bounds = headline(problem.standardised)
    given = {"bounds": bounds, "scales": row == DECLARED}
    found = {"wanted": list(wanted), "passes": [], "errors": []}
    for number in wanted:
        solver = makers[method](problem, number, given)
        models = [fit(problem, solver, seed=seed, **given) for seed in range(seeds)]
        found["passes"].append(passes(models[0]))
        found["errors"].append([_error(problem, model, optimum) for model in models])
    return found


def _descend_by_coordinates(problem: Problem, number: int, given: dict) -> object:
    from privlearn.solvers import CoordinateDescent

    return CoordinateDescent(passes=number)


def _descend_by_gradients(problem: Problem, number: int, given: dict) -> object:
    """Batches as large as by default, and as many steps as make this number of passes."""
    from privlearn.solvers import SGD

    (release,) = fit(problem, "sgd", seed=0, **given).privacy_.plan.releases
    rate = release.sampling.rate
    return SGD(
        steps=max(1, round(number / rate)),
        batch_size=max(1, round(rate * len(problem.objective.y))),
    )
