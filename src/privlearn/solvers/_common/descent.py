"""What compiled loops that descend along sums over batches start from: all of it public."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from privlearn._core.problem import Problem
from privlearn._objective.losses import HUBER
from privlearn.exceptions import UnsupportedCombinationError
from privlearn.solvers._common.coordinates import Coordinates
from privlearn.solvers.base import sane

if TYPE_CHECKING:
    from privlearn.solvers._common.loops.sgd import Descent, Model

__all__ = [
    "at_once",
    "batch_rate",
    "by_output",
    "model_of",
    "penalty_of",
    "size_of",
    "start",
    "weight_beside",
    "width_of",
]

Array = NDArray[np.float64]
CHUNK_NUMBERS = 2**18  # noise drawn at once
CHUNK_ROWS = 2**20  # a sixteenth of the row numbers drawn at once
SMALLEST_SCALE = 1e-3  # of Huber's errors, relative to half the range of y
FIRST_SCALE, LARGEST_SCALE = 0.5, 1.0


def size_of(problem: Problem) -> int:
    """Numbers in one release: a row of weights per output, and Huber's scale."""
    return problem.loss.outputs * width_of(problem) + int(problem.loss.code == HUBER)


def width_of(problem: Problem) -> int:
    """Weights of one output: the features', and the intercept."""
    return problem.n_features + int(problem.fit_intercept)


def weight_beside(share: float, rate: float, steps: int) -> float:
    """Noise multiplier, relative to the steps', of one release over all rows beside them.

    It costs `share` of what `steps` sampled steps cost in mu^2, by their central limit.
    """
    return 1.0 / (rate * float(np.sqrt(steps * share)))


def batch_rate(problem: Problem, batch_size: int) -> float:
    """The sampling rate that makes batches of this expected size, or a refusal."""
    if problem.n is None:
        raise UnsupportedCombinationError(
            f"batch_size={batch_size} needs a public number of rows, and with "
            f"adjacency={problem.adjacency.value!r} it is private; leave batch_size out"
        )
    return min(1.0, batch_size / problem.n)


def model_of(problem: Problem, coordinates: Coordinates, clip: float, scale_unit: float) -> Model:
    """What turns a row into a gradient."""
    from privlearn.solvers._common.loops.sgd import Model

    return Model(
        loss=problem.loss.code,
        threshold=problem.loss.threshold,
        outputs=problem.loss.outputs,
        width=coordinates.width,
        unit=coordinates.unit,
        clip=clip,
        scale_unit=scale_unit,
    )


def penalty_of(
    problem: Problem, coordinates: Coordinates, rows: float
) -> tuple[Array, Array, Array, Array]:
    """Weights l1 and l2 and limits of every number, per row of the losses' mean."""
    size = size_of(problem)
    l1, l2 = np.zeros(size), np.zeros(size)
    low, high = np.full(size, -np.inf), np.full(size, np.inf)
    with np.errstate(over="ignore", invalid="ignore"):
        weight, square, *box = coordinates.penalty(problem, rows)
    sides = sane(weight), sane(square), *box
    for k in range(problem.loss.outputs):
        own = slice(k * coordinates.width, k * coordinates.width + problem.n_features)
        l1[own], l2[own], low[own], high[own] = sides
    return l1, l2, low, high


def start(
    problem: Problem,
    coordinates: Coordinates,
    rows: float,
    *,
    scale_unit: float,
    step_size: float,
    momentum: float,
    divisor: float,
    first_averaged: int,
) -> Descent:
    """Weights at zero (Huber's scale at one half) and the penalty in these coordinates."""
    from privlearn.solvers._common.loops.sgd import Descent

    size = size_of(problem)
    weights = np.zeros(size)
    l1, l2, low, high = penalty_of(problem, coordinates, rows)
    if problem.loss.code == HUBER:
        limits = np.array([FIRST_SCALE, SMALLEST_SCALE, LARGEST_SCALE])
        weights[-1], low[-1], high[-1] = limits / scale_unit
    weights = np.clip(weights, low, high)
    return Descent(
        weights=weights,
        previous=weights.copy(),
        average=np.zeros(size),
        l1=l1,
        l2=l2,
        low=low,
        high=high,
        step_size=step_size,
        momentum=momentum,
        divisor=divisor,
        first_averaged=first_averaged,
    )


def by_output(problem: Problem, weights: Array) -> Array:
    """One row of weights per output."""
    width = width_of(problem)
    return weights[: problem.loss.outputs * width].reshape(problem.loss.outputs, width)


def at_once(problem: Problem, rate: float) -> int:
    """How many steps to draw noise and batches for at once: by public facts, to bound memory."""
    rows = CHUNK_ROWS if problem.n is None else problem.n
    batch = max(1, int(rate * rows))
    return max(1, min(256, CHUNK_NUMBERS // size_of(problem), 16 * CHUNK_ROWS // batch))
