"""Private fits by situation: what each solver loses, and what "auto" takes there."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.choice.situations.problems import draw
from benchmarks.choice.solvers.fits import (
    CLOSER,
    looks_closer,
    mean_loss,
    of_constant,
    share_lost,
    without_privacy,
)
from benchmarks.choice.solvers.problems import Sample

__all__ = ["SELECTION", "SOLVERS", "cells"]

SOLVERS = {
    "least squares": ("cd", "scd", "sgd", "moments", "boosted", "tukey", "one-pass", "output"),
    "logistic": ("cd", "scd", "sgd", "one-pass", "output"),
}
SELECTION = " on selected features"
WORTH_LEARNING = 0.1  # of a constant's loss that a fit without privacy must save
TRIES = 50


def cells(
    known: str, loss: str, n: int, p: int, epsilons: Sequence[float], seeds: int
) -> list[dict]:
    """One cell per epsilon: shares lost per solver and table, and what "auto" takes.

    A solver whose privacy test fails on some table is left out of the cell.
    """
    lost = {epsilon: {} for epsilon in epsilons}
    took = {}
    for seed, sample, constant, optimum in _worth_learning(known, loss, n, p, seeds):
        for epsilon, shares in lost.items():
            took[epsilon], own = _automatic(sample, loss, epsilon)
            for solver in (*SOLVERS[loss], *own):
                reached = _reached(sample, loss, epsilon, solver, seed)
                if reached is not None:
                    shares.setdefault(solver, []).append(share_lost(reached, constant, optimum))
    where = {"loss": loss, "kind": known, "n": n, "p": p}
    return [
        where | {"epsilon": epsilon, "lost": _complete(shares, seeds), "auto": took[epsilon]}
        for epsilon, shares in lost.items()
    ]


def _complete(shares: dict[str, list[float]], seeds: int) -> dict[str, list[float]]:
    return {solver: found for solver, found in shares.items() if len(found) == seeds}


def _worth_learning(
    known: str, loss: str, n: int, p: int, seeds: int
) -> Iterator[tuple[int, Sample, float, float]]:
    """The first tables on which a fit without privacy is clearly better than a constant."""
    found = 0
    for seed in range(TRIES):
        sample = draw(known, loss, n, p, seed)
        constant, optimum = of_constant(sample, loss), without_privacy(sample, loss)
        if optimum > (1.0 - WORTH_LEARNING) * constant:
            continue
        yield seed, sample, constant, optimum
        found += 1
        if found == seeds:
            return
    raise ValueError(f"only {found} of {TRIES} tables can be learned; {seeds} are needed")


def _model(sample: Sample, loss: str, epsilon: float, solver: str, seed: int) -> object:
    import privlearn

    cls = privlearn.LogisticRegression if loss == "logistic" else privlearn.LinearRegression
    return cls(solver=solver, epsilon=epsilon, random_state=seed, **sample.facts)


def _automatic(sample: Sample, loss: str, epsilon: float) -> tuple[str, tuple[str, ...]]:
    """What "auto" takes, and a fit that only it makes: it selects features, or looks closer."""
    from privlearn._core.problem import Budget

    model = _model(sample, loss, epsilon, "auto", 0)
    classes = len(sample.facts.get("classes", ()))
    problem = model._problem(*sample.X.shape, classes)
    _, solver = model._solver_for(problem, Budget(model.epsilon, model.delta))
    if getattr(solver, "keep", None) is not None:
        return solver.name + SELECTION, (solver.name + SELECTION,)
    if looks_closer(solver, problem):
        return solver.name + CLOSER, (solver.name + CLOSER,)
    return solver.name, ()


def _reached(sample: Sample, loss: str, epsilon: float, solver: str, seed: int) -> float | None:
    """Loss on fresh rows; None where a privacy test fails."""
    from privlearn.exceptions import PrivacyTestFailedError

    name = "auto" if solver.endswith((SELECTION, CLOSER)) else solver
    model = _model(sample, loss, epsilon, name, seed)
    with warnings.catch_warnings(), np.errstate(over="ignore"):
        warnings.simplefilter("ignore")
        try:
            return mean_loss(model.fit(sample.X, sample.y), sample, loss)
        except PrivacyTestFailedError:
            return None
