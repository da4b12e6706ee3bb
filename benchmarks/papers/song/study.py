"""Runs of the published algorithm and of ours on one problem, as plain values."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

import numpy as np

from benchmarks.papers.song import fits
from benchmarks.papers.song.loops import SCHEDULES, one_pass, spherical
from benchmarks.papers.song.problems import ALPHA, KDD, MNIST, PENALTY, SYNTHETIC, Problem

__all__ = ["BATCHES", "CURVES", "NOISES", "curve", "needed", "objectives", "outcomes", "study"]

BATCHES = (1, 2, 5, 10, 20, 50, 100, 200, 500)  # the paper's end at 50
NOISES = {"none": 0.0, "replace_one": 2.0, "zero_out": 1.0}  # sensitivity of the sum, eq. (5) has 2
CURVES = {  # Figures 1 and 3
    KDD: [(SCHEDULES[0], 1), (SCHEDULES[0], 5)],
    MNIST: [(SCHEDULES[0], 1), (SCHEDULES[0], 10)],
    SYNTHETIC: [(SCHEDULES[0], 5), (SCHEDULES[2], 5)],
}
POINTS = 30


def study(problem: Problem, seeds: int, *, ours: bool) -> dict:
    """Everything about one problem."""
    objective, (n, p) = problem.objective, problem.shape
    return {
        "n": n,
        "p": p,
        "positive": float(np.mean(objective.y > 0.0)),
        "clipped": problem.clipped,
        "longest": problem.longest,
        "length": float(np.linalg.norm(objective.solution())),
        **outcomes(problem, itertools.product(SCHEDULES, NOISES, BATCHES), seeds),
        "curves": [
            curve(problem, schedule, noise, batch, seeds)
            for schedule, batch in CURVES[problem.name]
            for noise in NOISES
        ],
        "ours": [fits.row(problem, adjacency, seeds) for adjacency in fits.NEIGHBORS]
        if ours
        else [],
    }


def outcomes(problem: Problem, settings: Iterable[tuple[str, str, int]], seeds: int) -> dict:
    """The optimum, the objective of 0, and the objectives of settings (schedule, noise, batch)."""
    return {
        "optimum": problem.objective.optimum(),
        "zero": problem.objective.at(np.zeros(problem.shape[1])),
        "rows": [
            {
                "schedule": schedule,
                "noise": noise,
                "batch": batch,
                "objectives": objectives(problem, schedule, noise, batch, seeds)[:, 0].tolist(),
            }
            for schedule, noise, batch in settings
        ],
    }


def needed(matching: int) -> list[tuple[str, str, int]]:
    """Settings that the first two findings speak of, where b = `matching` is near no privacy."""
    private = itertools.product(SCHEDULES[:2], ["replace_one"], BATCHES)
    return [*private, (SCHEDULES[0], "none", 1), (SCHEDULES[0], "none", matching)]


def objectives(
    problem: Problem,
    schedule: str,
    noise: str,
    batch: int,
    seeds: int,
    at: Sequence[int] | None = None,
) -> np.ndarray:
    """The objective over all rows after so many batches, by default all; of shape (seeds, at).

    A seed stands for one permutation, the same for every noise, and for fresh noise.
    """
    n, p = problem.shape
    steps = n // batch
    at = np.array([steps] if at is None else at)
    found = []
    for seed in range(seeds):
        order = np.random.default_rng([seed, 0]).permutation(n)
        drawn = np.empty((0, p))
        if NOISES[noise]:
            generator = np.random.default_rng([seed, batch])
            drawn = spherical(generator, steps, p, NOISES[noise], ALPHA)
        given = (order, batch, SCHEDULES.index(schedule), PENALTY, drawn, at)
        found.append(problem.values(one_pass(problem.objective.X, problem.objective.y, *given)))
    return np.array(found)


def curve(problem: Problem, schedule: str, noise: str, batch: int, seeds: int) -> dict:
    """Mean and deviation of the objective after a growing number of rows, more of them early."""
    steps = problem.shape[0] // batch
    at = np.unique(np.ceil(steps * (np.arange(1, POINTS + 1) / POINTS) ** 2).astype(int))
    found = objectives(problem, schedule, noise, batch, seeds, at)
    return {
        "schedule": schedule,
        "noise": noise,
        "batch": batch,
        "rows": (at * batch).tolist(),
        "means": found.mean(axis=0).tolist(),
        "deviations": _deviations(found).tolist(),
    }


def _deviations(found: np.ndarray) -> np.ndarray:
    """Standard deviation over seeds; none can be told from one of them."""
    return found.std(axis=0, ddof=1) if len(found) > 1 else np.zeros(found.shape[1])
