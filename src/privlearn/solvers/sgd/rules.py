"""How `SGD` chooses steps, batch, clip and step size from public facts (proof.md, "The rule").

In coordinates where no row is longer than 1, a fit is described by two statistical numbers, its
clip and its `max_travel` (step size x steps / (1 - momentum): how far a constant unit gradient
would carry the weights), and by two computational ones, steps and rate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from privlearn._core.problem import Problem
from privlearn.solvers._common.snr import public_n_or_default

__all__ = ["Settings", "clip", "step_size", "steps"]

MOMENTUM = 0.9
AVERAGED = 0.5
MAX_TRAVEL = 3.0
CLEAR = 1000.0  # signal at which nothing needs to be clipped
LEAST_CLIP = 0.25
LEAST_STEPS, MOST_STEPS, STEPS_IF_N_IS_PRIVATE = 250, 1000, 500
COUNT_SHARE = 0.02  # of the budget (in mu^2), for the number of rows where it is private


@dataclass(frozen=True)
class Settings:
    """Everything about a run that is fixed before any data: all of it public."""

    steps: int
    rate: float
    clip: float
    momentum: float
    averaged: float  # share of the last iterates that is averaged
    step_size: float | None  # None: by rule, once the number of rows is known
    mu: float  # the whole budget as one Gaussian release
    stored: bool = True  # whether rows that can be computed are kept


def clip(problem: Problem, mu: float) -> float:
    """Largest length of a gradient: short where noise is the problem, whole where it is not.

    mu n / sqrt(p) compares the gradients' sum with the length of its noise. Clipping biases, noise
    blurs; the square root is what generated data asked for.
    """
    rows = public_n_or_default(problem)
    weights = problem.loss.outputs * (problem.n_features + int(problem.fit_intercept))
    signal = mu * rows / math.sqrt(weights)
    return problem.loss.typical_slope * min(1.0, max(LEAST_CLIP, math.sqrt(signal / CLEAR)))


def steps(problem: Problem, mu: float, clip: float, momentum: float) -> int:
    """As many as it takes to cover the travel with the largest step, within limits."""
    if problem.n is None and problem.people is None:
        return STEPS_IF_N_IS_PRIVATE
    rows = public_n_or_default(problem)
    wanted = _max_travel(mu, clip, rows) * (1.0 - momentum) / problem.loss.largest_step
    return int(min(max(wanted, LEAST_STEPS), MOST_STEPS))


def step_size(problem: Problem, settings: Settings, rows: float) -> float:
    """The step that covers the travel in the given steps, or the largest that heavy ball bears."""
    if settings.step_size is not None:
        return settings.step_size
    wanted = (
        _max_travel(settings.mu, settings.clip, rows) * (1.0 - settings.momentum) / settings.steps
    )
    return min(wanted, problem.loss.largest_step)


def _max_travel(mu: float, clip: float, rows: float) -> float:
    """How far to go: until the noise would move a prediction by `MAX_TRAVEL`."""
    return MAX_TRAVEL * mu * rows / clip
