"""How `SGD` chooses steps, batch, clip and step size from public facts (proof.md, "The rule").

In coordinates where no row is longer than 1, a fit is described by two statistical numbers, its
clip and its `max_travel` (step size x steps / (1 - momentum): how far a constant unit gradient
would carry the weights), and by two computational ones, steps and rate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privlearn._core.problem import Problem
from privlearn._objective.losses import Loss, Target
from privlearn.exceptions import UnsupportedCombinationError
from privlearn.solvers._common.objective import n_weights
from privlearn.solvers._common.snr import public_n_or_default

__all__ = [
    "Settings",
    "at_once",
    "batch_rate",
    "clip",
    "largest_step",
    "sampling_rate",
    "slope",
    "step_size",
    "steps",
]

MOMENTUM = 0.9
AVERAGED = 0.5
MAX_TRAVEL = 3.0
CLEAR = 1000.0  # signal at which nothing needs to be clipped
LEAST_CLIP = 0.25
LEAST_STEPS, MOST_STEPS, STEPS_IF_N_IS_PRIVATE = 250, 1000, 500
CHUNK_NUMBERS = 2**18  # noise drawn at once
CHUNK_ROWS = 2**20  # a sixteenth of the row numbers drawn at once
EPOCHS = 10.0
MULTIPLIER = 2.0
LEAST_MULTIPLIER = 0.3  # below it a sampled release may promise much and hide nothing
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
    return slope(problem.loss) * min(1.0, max(LEAST_CLIP, math.sqrt(signal / CLEAR)))


def steps(problem: Problem, mu: float, clip: float, momentum: float) -> int:
    """As many as it takes to cover the travel with the largest step, within limits."""
    if problem.n is None:
        return STEPS_IF_N_IS_PRIVATE
    wanted = _max_travel(mu, clip, problem.n) * (1.0 - momentum) / largest_step(problem)
    return int(min(max(wanted, LEAST_STEPS), MOST_STEPS))


def sampling_rate(steps: int, mu: float) -> float:
    """Probability that a row is in a batch.

    Enough epochs that sampling adds little to what the data's own randomness does, and batches so
    large that the noise multiplier is about `MULTIPLIER` or more, where sampled releases cost
    nearly what their central limit says: sqrt(z^2 (exp(1/z^2) - 1)) = 1.07 at z = 2.
    """
    rate = max(EPOCHS / steps, MULTIPLIER * mu / math.sqrt(steps))
    return 1.0 if rate > 0.5 else rate


def step_size(problem: Problem, settings: Settings, rows: float) -> float:
    """The step that covers the travel in the given steps, or the largest that heavy ball bears."""
    if settings.step_size is not None:
        return settings.step_size
    wanted = (
        _max_travel(settings.mu, settings.clip, rows) * (1.0 - settings.momentum) / settings.steps
    )
    return min(wanted, largest_step(problem))


def slope(loss: Loss) -> float:
    """The steepest slope; of a loss without one, the slope at prediction 0, where |y| is 1."""
    if math.isfinite(loss.lipschitz):
        return loss.lipschitz
    truth = np.zeros(1) if loss.target is Target.CLASS else np.ones(1)
    nothing = np.zeros((1, loss.outputs)) if loss.target is Target.CLASS else np.zeros(1)
    return float(np.linalg.norm(loss.derivative(truth, nothing)))


def _max_travel(mu: float, clip: float, rows: float) -> float:
    """How far to go: until the noise would move a prediction by `MAX_TRAVEL`."""
    return MAX_TRAVEL * mu * rows / clip


def largest_step(problem: Problem) -> float:
    """With rows of length at most 1 the mean loss is at most as curved as the loss itself."""
    smoothness = problem.loss.smoothness
    return problem.loss.longest_step / (smoothness if math.isfinite(smoothness) else 1.0)


def batch_rate(problem: Problem, batch_size: int) -> float:
    """The sampling rate that makes batches of this expected size, or a refusal."""
    if problem.n is None:
        raise UnsupportedCombinationError(
            f"batch_size={batch_size} needs a public number of rows, and with "
            f"adjacency={problem.adjacency.value!r} it is private; leave batch_size out"
        )
    return min(1.0, batch_size / problem.n)


def at_once(problem: Problem, rate: float) -> int:
    """How many steps to draw noise and batches for at once: by public facts, to bound memory."""
    rows = CHUNK_ROWS if problem.n is None else problem.n
    batch = max(1, int(rate * rows))
    return max(1, min(256, CHUNK_NUMBERS // n_weights(problem), 16 * CHUNK_ROWS // batch))
