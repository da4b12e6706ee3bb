"""How `OnePassSGD` chooses batches, clip and steps from public facts (proof.md, "The rule").

A fit is described by how many rows there are per unit of noise: `signal` is rows over the standard
deviation of the noise on one number of a sum whose terms are at most 1 long.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from privlearn._core.mechanisms import GAUSSIAN, SPHERICAL, Mechanism
from privlearn._core.problem import Budget, Level, Problem
from privlearn.accounting.gaussian import equivalent_mu
from privlearn.solvers._common.objective import n_weights
from privlearn.solvers._common.snr import public_n_or_default

__all__ = [
    "Settings",
    "batches",
    "clip",
    "deviation",
    "max_travel",
    "mechanism",
    "multiplier",
    "signal",
    "steady_step",
]

MOMENTUM = 0.9
AVERAGED = 0.5
MAX_TRAVEL, MAX_TRAVEL_OF_NUMBERS = 2.0, 0.4  # how far noise may move a score; of y in [-1, 1]
CLEAR = 300.0  # signal per root of the weights at which nothing needs to be clipped
LEAST_CLIP = 0.25
LEAST_BATCHES, MOST_BATCHES = 10, 1000
COUNT_SHARE = 0.05  # of epsilon (Gaussian: of mu^2), for the number of rows where it is private


@dataclass(frozen=True)
class Settings:
    """Everything about a run that is fixed before any data: all of it public."""

    batches: int
    clip: float
    mechanism: Mechanism
    schedule: str | None
    step_size: float | None
    budget: Budget
    batch_size: int | None = None


def mechanism(problem: Problem, budget: Budget) -> Mechanism:
    """Spherical noise where delta is 0 or the weights are few, Gaussian noise otherwise."""
    if budget.delta == 0:
        return SPHERICAL
    noises = {m: deviation(problem, m, budget) for m in (SPHERICAL, GAUSSIAN)}
    return min(noises, key=lambda m: noises[m])


def multiplier(problem: Problem, mechanism: Mechanism, budget: Budget, epsilon: float) -> float:
    """Noise scale per clip that a promise of `epsilon` needs, floating point apart."""
    least = 1.0 / epsilon
    if mechanism == GAUSSIAN:
        least = 1.0 / equivalent_mu(epsilon, budget.delta)
    return least * (2.0 if problem.adjacency.replaces else 1.0)


def deviation(
    problem: Problem, mechanism: Mechanism, budget: Budget, epsilon: float | None = None
) -> float:
    """Standard deviation of the noise on one number of a sum, per clip.

    A spherical vector has length Gamma(d, s), hence E |z|^2 = d (d + 1) s^2.
    """
    epsilon = budget.epsilon if epsilon is None else epsilon
    spread = math.sqrt(n_weights(problem) + 1.0) if mechanism == SPHERICAL else 1.0
    return multiplier(problem, mechanism, budget, epsilon) * spread


def signal(problem: Problem, mechanism: Mechanism, budget: Budget) -> float:
    """Rows per unit of noise; levels add up in squares, as their batches are weighed by noise."""
    levels = problem.levels or (Level(budget.epsilon, public_n_or_default(problem)),)
    squares = 0.0
    for level in levels:
        people = (
            public_n_or_default(problem) / len(levels) if level.people is None else level.people
        )
        squares += (people / deviation(problem, mechanism, budget, level.epsilon)) ** 2
    return math.sqrt(squares)


def max_travel(problem: Problem) -> float:
    """How far noise may move a score, were there no curvature to hold it."""
    return MAX_TRAVEL_OF_NUMBERS if problem.loss.has_unit else MAX_TRAVEL


def clip(problem: Problem, signal: float) -> float:
    """Largest length of a gradient: short where noise is the problem, whole where it is not."""
    clear = signal / math.sqrt(n_weights(problem)) / CLEAR
    return problem.loss.typical_slope * min(1.0, max(LEAST_CLIP, math.sqrt(clear)))


def batches(problem: Problem, signal: float, clip: float) -> int:
    """As many as it takes to go as far as `steady_step` with the largest step, within limits.

    Steps of size h over T batches go h T far; noise in a batch's mean is T times that in the mean
    of all rows, and T of them add up to T^(3/2) h: more batches mean more noise.
    """
    wanted = max_travel(problem) * signal / clip * (1.0 - MOMENTUM) / problem.loss.largest_step
    most = min(MOST_BATCHES, max(1, public_n_or_default(problem)))
    return int(min(max(wanted ** (2.0 / 3.0), LEAST_BATCHES), most))


def steady_step(problem: Problem, noise: float, batches: int) -> float:
    """Step until `noise` on each number of a batch's mean moves a score by `max_travel`."""
    wanted = max_travel(problem) / (noise * math.sqrt(batches)) * (1.0 - MOMENTUM)
    return min(wanted, problem.loss.largest_step)
