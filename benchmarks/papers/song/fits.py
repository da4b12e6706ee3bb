"""Ours on the problems of Song et al. 2013: the same objective, the promise alpha = 1, defaults."""

from __future__ import annotations

import numpy as np

from benchmarks.papers.song.problems import ALPHA, Problem

__all__ = ["NEIGHBORS", "fit", "row"]

NEIGHBORS = ("replace_one", "zero_out")  # the paper's first


def fit(problem: Problem, adjacency: str, *, seed: int) -> object:
    """The fitted estimator; everything that is not named here is a default."""
    from privlearn import LogisticRegression

    model = LogisticRegression(
        epsilon=ALPHA,
        delta=0.0,
        adjacency=adjacency,
        solver="one-pass",
        C=problem.objective.C,
        data_norm=1.0,
        fit_intercept=False,
        classes=[-1.0, 1.0],
        random_state=seed,
    )
    return model.fit(problem.objective.X, problem.objective.y)


def row(problem: Problem, adjacency: str, seeds: int) -> dict:
    """Objective per seed, and what the rules chose."""
    models = [fit(problem, adjacency, seed=seed) for seed in range(seeds)]
    (release,) = [r for r in models[0].privacy_.plan.releases if "gradient" in r.name]
    return {
        "adjacency": adjacency,
        "objectives": [problem.objective.at(np.ravel(model.coef_)) for model in models],
        "steps": release.count,
        "took": models[0].privacy_.paper,
    }
