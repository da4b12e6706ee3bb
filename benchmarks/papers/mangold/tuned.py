"""Algorithm 1 of Mangold et al. 2022 itself, tuned on the private data as the paper tunes it.

Appendix G.1: 10 step sizes from 0.01 to 10, 100 clipping thresholds from 0.001 to 1,000,000, both
logarithmically spaced, and 5 numbers of passes; 5 runs of each setting, of which the one with the
lowest mean objective *at the last iterate* is kept and its mean reported. Constants M_j are exact
and free. The same grid is searched here in two looks, because most of it is far from any use:
one run of every step with every third threshold whose limits are `NEAR` times a typical derivative,
then five runs of all settings of the grid around the best three.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.harness.objectives import Logistic
from benchmarks.papers.mangold.fits import fit
from benchmarks.papers.mangold.problems import PASSES, Problem

__all__ = ["CLIPS", "RUNS", "STEPS", "length", "plain", "study", "targets"]

STEPS = np.geomspace(1e-2, 10.0, 10)
CLIPS = np.geomspace(1e-3, 1e6, 100)
RUNS = 5
NEAR = (0.1, 60.0)
FRESH = 100  # first seed of runs that chose nothing
BEST, AROUND = 3, (1, 2)  # settings to look around; steps and thresholds to each side


def targets(name: str, problem: Problem) -> dict[str, Problem]:
    """The problem, and for California with the target that its Table 2 seems to have.

    The paper does not say what it did to the target. Its DP-SGD's 0.2799 after 2 passes is the
    error of the zero model where the target is centred, 0.278; as it is, that has 4.43.
    """
    found = {"as it is": problem}
    if name.startswith("California"):
        y = problem.objective.y - problem.objective.y.mean()
        y = y / y.std() if problem.standardised else y
        far = 2.0 * float(np.abs(y).max())
        other = replace(problem, objective=replace(problem.objective, y=y), bounds_y=(-far, far))
        found["standardised" if problem.standardised else "centred"] = other
    return found


def length(problem: Problem, clip: float) -> float:
    """The paper's threshold C as `CoordinateDescent` takes it, so that limits are sqrt(M_j/tr M) C.

    There features have mean square 1, y lies in [-1, 1], squared errors have a half, and the limit
    of a coordinate is 2 clip / sqrt(p).
    """
    squares = problem.mean_squares
    limit = clip / np.sqrt(squares.sum())
    if not isinstance(problem.objective, Logistic):
        limit /= 2.0 * np.max(np.abs(problem.bounds_y))
    return float(limit * np.sqrt(len(squares)) / 2.0)


def typical(problem: Problem) -> float:
    """Threshold at which limits are root mean squares of derivatives at the zero model."""
    objective = problem.objective
    logistic = isinstance(objective, Logistic)
    slope = 0.5 if logistic else 2.0 * float(np.sqrt(np.mean(objective.y**2)))
    return slope * float(np.sqrt(problem.mean_squares.sum()))


def error(problem: Problem, passes: int, step: float, clip: float, seed: int, optimum: float):
    """Relative error of the last iterate of one run."""
    from privlearn.solvers import CoordinateDescent

    solver = CoordinateDescent(
        block=1,
        passes=passes,
        outer=passes,  # of one sweep each: nothing is averaged
        step_size=step,
        clip=length(problem, clip),
        smoothness=problem.mean_squares,
    )
    model = fit(problem, solver, "2 max", seed=seed)
    return problem.objective.relative_error(np.ravel(model.coef_), optimum)


def tune(problem: Problem, passes: int, optimum: float) -> dict:
    """Step and threshold with the lowest mean of 5 runs, and these runs' errors."""
    near = typical(problem) * np.array(NEAR)
    (kept,) = np.nonzero((near[0] <= CLIPS) & (near[1] >= CLIPS))
    first = [
        (error(problem, passes, step, CLIPS[c], 0, optimum), s, c)
        for s, step in enumerate(STEPS)
        for c in kept[::3]
    ]
    around = {
        (s + up, c + along)
        for _, s, c in sorted(first)[:BEST]
        for up in range(-AROUND[0], AROUND[0] + 1)
        for along in range(-AROUND[1], AROUND[1] + 1)
    }
    found = []
    for s, c in sorted(around):
        if 0 <= s < len(STEPS) and 0 <= c < len(CLIPS):
            setting = {"step": float(STEPS[s]), "clip": float(CLIPS[c])}
            runs = [error(problem, passes, *setting.values(), k, optimum) for k in range(RUNS)]
            found.append({"passes": passes, **setting, "errors": runs})
    return min(found, key=lambda cell: np.mean(cell["errors"]))


def plain(problem: Problem, cell: dict, order: str, seed: int, optimum: float) -> float:
    """Algorithm 1 in numpy at the same setting: coordinates in turn, or uniformly at random.

    Noise is that of the exact curve; there is neither a grid nor an allowance for unseen rows.
    """
    from privlearn.accounting.gaussian import equivalent_mu

    objective, generator = problem.objective, np.random.default_rng(seed)
    n, p = objective.X.shape
    steps = cell["passes"] * p
    mean_squares, logistic = problem.mean_squares, isinstance(objective, Logistic)
    limits = cell["clip"] * np.sqrt(mean_squares / mean_squares.sum())
    pace = cell["step"] / mean_squares / (0.25 if logistic else 2.0)
    noise = 2.0 * np.sqrt(steps) / equivalent_mu(problem.epsilon, problem.delta)
    columns, y = np.ascontiguousarray(objective.X.T), objective.y
    weights, scores = np.zeros(p), np.zeros(n)
    in_turn = np.tile(np.arange(p), cell["passes"])
    for j in in_turn if order == "cyclic" else generator.integers(0, p, steps):
        slopes = -y / (1.0 + np.exp(y * scores)) if logistic else 2.0 * (scores - y)
        total = np.clip(slopes * columns[j], -limits[j], limits[j]).sum()
        gradient = (total + noise * limits[j] * generator.normal()) / n
        moved = weights[j] - pace[j] * gradient
        if logistic:
            new = moved / (1.0 + pace[j] * objective.weight)
        else:
            new = np.sign(moved) * max(abs(moved) - pace[j] * objective.weight, 0.0)
        scores += (new - weights[j]) * columns[j]
        weights[j] = new
    return objective.relative_error(weights, optimum)


def study(name: str, problem: Problem, seeds: int, *, quick: bool = False) -> list[dict]:
    """For each target: the best setting at each number of passes, and the best of all run anew."""
    found = []
    for target, own in targets(name, problem).items():
        optimum = own.objective.optimum()
        cells = [tune(own, passes, optimum) for passes in (PASSES[:1] if quick else PASSES)]
        best = min(cells, key=lambda cell: np.mean(cell["errors"]))
        setting = {key: best[key] for key in ("passes", "step", "clip")}
        fresh = range(FRESH, FRESH + seeds)
        found.append(
            {
                "target": target,
                "zero": own.objective.of_zero(optimum),
                "cells": cells,
                "best": setting,
                "fresh": [error(own, **setting, seed=seed, optimum=optimum) for seed in fresh],
                "rule": [_by_rule(own, seed, optimum) for seed in fresh],
                "orders": {
                    order: [plain(own, best, order, seed, optimum) for seed in fresh]
                    for order in ("cyclic", "random")
                },
            }
        )
    return found


def _by_rule(problem: Problem, seed: int, optimum: float) -> float:
    """One coordinate at a time with the same free facts, all else by rule."""
    from privlearn.solvers import CoordinateDescent

    solver = CoordinateDescent(block=1, smoothness=problem.mean_squares)
    model = fit(problem, solver, "2 max", seed=seed)
    return problem.objective.relative_error(np.ravel(model.coef_), optimum)
