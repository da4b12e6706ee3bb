"""How often rows are drawn, how many batches at a time, and the least noise of what is sampled."""

from __future__ import annotations

import math

from privlearn._core.problem import Problem
from privlearn.exceptions import UnsupportedCombinationError
from privlearn.solvers._common.objective import n_weights

__all__ = ["LEAST_MULTIPLIER", "at_once", "batch_rate", "sampling_rate"]

CHUNK_NUMBERS = 2**18  # noise drawn at once
CHUNK_ROWS = 2**20  # a sixteenth of the row numbers drawn at once
EPOCHS = 10.0
MULTIPLIER = 2.0
LEAST_MULTIPLIER = 0.3  # below it a sampled release may promise much and hide nothing


def sampling_rate(steps: int, mu: float) -> float:
    """Probability that a row is in a batch; `mu` is the budget's beside a clip of 1 per person.

    Enough epochs that sampling adds little to what the data's own randomness does, and batches so
    large that the noise multiplier is about `MULTIPLIER` or more, where sampled releases cost
    nearly what their central limit says: sqrt(z^2 (exp(1/z^2) - 1)) = 1.07 at z = 2.
    """
    rate = max(EPOCHS / steps, MULTIPLIER * mu / math.sqrt(steps))
    return 1.0 if rate > 0.5 else rate


def batch_rate(problem: Problem, batch_size: int) -> float:
    """The sampling rate that makes batches of this expected size, or a refusal.

    Where a person may have several rows, people are drawn, and their number counts.
    """
    public = problem.people if problem.n is None else problem.n
    if public is None:
        raise UnsupportedCombinationError(
            f"batch_size={batch_size} needs a public number of rows, and with "
            f"adjacency={problem.adjacency.value!r} it is private; leave batch_size out"
        )
    return min(1.0, batch_size / public)


def at_once(problem: Problem, rate: float) -> int:
    """How many steps to draw noise and batches for at once: by public facts, to bound memory."""
    rows = CHUNK_ROWS if problem.n is None else problem.n
    if problem.people is not None:
        rows = problem.people * problem.most_rows
    batch = max(1, int(rate * rows))
    return max(1, min(256, CHUNK_NUMBERS // n_weights(problem), 16 * CHUNK_ROWS // batch))
