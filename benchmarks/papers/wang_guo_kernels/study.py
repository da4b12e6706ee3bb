"""What the page on kernels measures: loss over rows, over features and over epsilon."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.datasets import california
from benchmarks.papers.wang_guo import smooth
from benchmarks.papers.wang_guo_kernels.methods import METHODS, Facts, Rows

__all__ = ["EPSILON", "Task", "california_task", "smooth_task", "study"]

EPSILON, DELTA = 1.0, 1e-6
TEST_SHARE = 0.2
# What a method's result depends on beside the rows: features, epsilon.
DEPENDS = {
    "best private linear model": (False, True),
    "kernel ridge without privacy": (True, False),
    "least squares without privacy": (False, False),
}


@dataclass(frozen=True)
class Task:
    """A problem: `draw(seed, n)` gives rows, and a function of predictions that is the loss."""

    name: str
    loss: str
    facts: Facts
    rows: int
    draw: Callable[[int, int], tuple[Rows, Callable[[np.ndarray], float]]]


def california_task(X: np.ndarray, y: np.ndarray) -> Task:
    """California housing: the loss is 1 - R^2 on a fifth of the rows, drawn anew for each seed.

    Test rows are clipped as training rows are: a line would go far astray at some otherwise.
    """
    X = np.clip(X, *california.bounds())

    def draw(seed: int, n: int):
        order = np.random.default_rng(seed).permutation(len(y))
        held = round(TEST_SHARE * len(y))
        test, train = order[:held], order[held : held + n]
        truth = y[test]
        return Rows(X[train], y[train], X[test]), partial(_unexplained, truth)

    facts = Facts(california.bounds(), california.BOUNDS_Y, "zero_out", DELTA)
    return Task("California housing", "1 - R^2", facts, len(y) - round(TEST_SHARE * len(y)), draw)


def _unexplained(truth: np.ndarray, predicted: np.ndarray) -> float:
    return float(np.mean((predicted - truth) ** 2) / np.var(truth))


def smooth_task(n: int) -> Task:
    """The smooth target of the page on Wang and Guo, and their relation; the loss is the excess."""
    problem = smooth.PROBLEM
    truth = problem.target(problem.test_points)

    def draw(seed: int, rows: int):
        return Rows(*problem.draw(rows, seed), problem.test_points), partial(_distance, truth)

    facts = Facts((-1.0, 1.0), (-1.0, 1.0), "replace_one", problem.delta)
    return Task("a smooth target", "excess error", facts, n, draw)


def _distance(truth: np.ndarray, predicted: np.ndarray) -> float:
    return float(np.mean((predicted - truth) ** 2))


def study(task: Task, sweeps: dict[str, list], seeds: int) -> dict:
    """Losses of every method along three sweeps: {sweep: {method: one list per value}}."""
    found = {sweep: {method: [] for method in METHODS} for sweep in sweeps}
    known: dict[tuple, tuple[float, str]] = {}
    for sweep, values in sweeps.items():
        for value in values:
            print(f"papers/wang_guo_kernels: {task.name}, {sweep} = {value}", flush=True)
            for method in METHODS:
                point = _point(task, sweep, value)
                losses = [_remembered(known, task, method, seed, point) for seed in range(seeds)]
                found[sweep][method].append(losses)
    return {
        "name": task.name,
        "loss": task.loss,
        "rows": task.rows,
        "adjacency": task.facts.adjacency,
        "epsilon": EPSILON,
        "delta": task.facts.delta,
        "seeds": seeds,
        "features": _size(task, task.rows, EPSILON),
        "sweeps": sweeps,
        "losses": {
            sweep: {
                method: [[loss for loss, _ in losses] for losses in points]
                for method, points in methods.items()
            }
            for sweep, methods in found.items()
        },
        "best_linear": _winners(known),
    }


def _point(task: Task, sweep: str, value: float) -> tuple[int, int | None, float]:
    """Rows, features and epsilon of a value of a sweep; what it leaves alone is the default."""
    own = {"n": task.rows, "features": None, "epsilon": EPSILON} | {sweep: value}
    return own["n"], own["features"], own["epsilon"]


def _remembered(known: dict, task: Task, method: str, seed: int, point: tuple):
    """The loss and who had it; the same for all points that make no difference to the method."""
    n, size, epsilon = point
    by_size, by_epsilon = DEPENDS.get(method, (True, True))
    key = (method, seed, n, size if by_size else None, epsilon if by_epsilon else EPSILON)
    if key not in known:
        known[key] = _measured(task, *key)
    return known[key]


def _measured(task: Task, method: str, seed: int, n: int, size: int | None, epsilon: float):
    rows, loss = task.draw(seed, n)
    predicted = METHODS[method](task.facts, rows, epsilon, size)
    candidates = predicted if isinstance(predicted, dict) else {method: predicted}
    return min((loss(values), name) for name, values in candidates.items())


def _winners(known: dict) -> dict[str, int]:
    """How often which linear model was the best."""
    won: dict[str, int] = {}
    for (method, *_), (_, name) in known.items():
        if method == "best private linear model":
            won[name] = won.get(name, 0) + 1
    return dict(sorted(won.items(), key=lambda item: -item[1]))


def _size(task: Task, n: int, epsilon: float) -> int:
    """How many Fourier features the rule takes."""
    from privlearn import KernelRegressor
    from privlearn._core.problem import Budget

    model = KernelRegressor(**task.facts.given(epsilon))
    width = len(np.atleast_1d(task.facts.bounds_X[0]))
    budget = Budget(model.epsilon, model.delta)
    return model._size(model._problem(n, width, 0), budget)
