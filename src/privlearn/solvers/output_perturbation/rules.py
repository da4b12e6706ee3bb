"""How `OutputPerturbation` chooses epochs, steps and clip, and how far a row moves the result.

The bounds are proved in proof.md; the rule is described there, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from privlearn._core.mechanisms import GAUSSIAN, SPHERICAL, Mechanism
from privlearn._core.numerics import MAX_ROWS
from privlearn._core.problem import Budget, Problem
from privlearn._objective.losses import Loss
from privlearn.accounting.gaussian import equivalent_mu
from privlearn.solvers._common.objective import n_weights
from privlearn.solvers._common.snr import public_n_or_default

__all__ = [
    "Settings",
    "choose_steps",
    "furthest",
    "growth",
    "mechanism",
    "moved",
    "radius",
    "slope_clip",
    "steepest",
]

MAX_TRAVEL, MAX_TRAVEL_OF_NUMBERS = 0.3, 0.05  # how far noise may move a score; of y in [-1, 1]
SLOPE_CLIP = 0.5  # slopes, relative to those of a model that predicts nothing
SHORT_STEP = 0.05  # per curvature of the loss: longer steps leave too much of the last rows
MOST_EPOCHS = 64
MOST_VISITS = 5e7
AVERAGED = 0.5  # of the blocks
BLOCKS = 64
COUNT_SHARE = 0.02  # of the budget (in mu^2), for the number of rows where it is private


@dataclass(frozen=True)
class Settings:
    """Everything about a run that is fixed before any data: all of it public."""

    epochs: int
    step_size: float
    slope_clip: float  # of slopes; infinite where none are cut
    radius: float  # of the ball that weights stay in
    visit: float  # how far one visit of a row moves the result, on average over epochs
    sampling: str
    mechanism: Mechanism


def slope_clip(loss: Loss) -> float:
    """Largest slope of a score; where it bounds the slopes of several together, none is cut."""
    if loss.outputs > 1 and math.isfinite(loss.lipschitz):
        return math.inf
    return SLOPE_CLIP * loss.typical_slope / math.sqrt(loss.outputs)


def steepest(loss: Loss, slope_clip: float) -> float:
    """Largest length of a row's gradient, rows being at most 1 long; infinite if there is none."""
    return min(loss.lipschitz, slope_clip * math.sqrt(loss.outputs))


def growth(step: float, visits: float) -> float:
    """Slope of the squared loss after some visits when nothing is cut, for |y| <= 1.

    |w_t| <= sqrt(step t / (2 - step)), where Wang and Guo 2024 (proof of Theorem 2) need step <= 1.
    """
    return 1.0 + math.sqrt(step * visits / (2.0 - step))


def furthest(
    problem: Problem, step: float, epochs: int, slope_clip: float, modulus: float
) -> float:
    """How far one row, coming once per epoch, can move the result.

    Parameters
    ----------
    problem : Problem
        Public facts.
    step, epochs, slope_clip : float, int, float
        As in `Settings`.
    modulus : float
        The least weight of the L2 penalty on any number, per row of the losses' mean: between two
        blocks everything is divided by 1 + modulus x step x rows / `BLOCKS`.
    """
    steep = steepest(problem.loss, slope_clip)
    rows = public_n_or_default(problem)
    shorter = 1.0 / (1.0 + modulus * step * rows / BLOCKS)
    total = 0.0
    for epoch in range(1, epochs + 1):
        slope = steep if math.isfinite(steep) else growth(step, epoch * rows)
        since = BLOCKS * (epochs - epoch) - math.ceil(AVERAGED * BLOCKS)  # at the first average
        total += step * slope * shorter ** (1 + max(since, 0))
    return total


def radius(problem: Problem, step: float, epochs: int) -> float:
    """A ball that no descent from zero should need to leave: |w|^2 <= 2 t loss(0) on its way."""
    return 4.0 * math.sqrt(1.0 + step * epochs * public_n_or_default(problem))


def moved(
    problem: Problem, step: float, epochs: int, slope_clip: float, modulus: float, *, visits: int
) -> float:
    """`furthest` per epoch, with all that single and double precision can add.

    What rounding adds in all steps is shared by the least number of visits, other than none, that
    a row may have: with none, the two runs are the same to the last bit.
    """
    rows = MAX_ROWS if problem.n is None else problem.n
    steep = steepest(problem.loss, slope_clip)
    steep = steep if math.isfinite(steep) else growth(step, epochs * rows)
    ball = radius(problem, step, epochs)
    unit, size = 2.0**-53, n_weights(problem)
    kept = (80.0 + size / 64.0) * unit * ball  # rounding of the weights, and of their length
    off = step * ((size + 16) * unit * ball + 2.0**-40 * steep) + kept
    between_blocks = 8.0 * BLOCKS * unit * ball  # penalty and mean
    exact = furthest(problem, step, epochs, slope_clip, modulus) * (1.0 + 2.0**-18)
    return exact / epochs + 2.0 * epochs * (rows * off + between_blocks) / visits


def choose_steps(
    problem: Problem,
    budget: Budget,
    law: Mechanism,
    slope_clip: float,
    modulus: float,
    epochs: int | None,
) -> tuple[int, float]:
    """Epochs and step: as far as noise allows, in so many epochs that steps are short."""
    max_travel = MAX_TRAVEL_OF_NUMBERS if problem.loss.has_unit else MAX_TRAVEL
    most = max(1, min(MOST_EPOCHS, int(MOST_VISITS / public_n_or_default(problem))))
    short = SHORT_STEP / problem.loss.smoothness
    tries = [epochs] if epochs else [k for k in (1, 2, 4, 8, 16, 32, 64) if k <= most]
    for count in tries:
        step = _longest(
            problem, max_travel / _noise(problem, budget, law), count, slope_clip, modulus
        )
        if step <= short:
            break
    return count, min(step, short)


def _noise(problem: Problem, budget: Budget, law: Mechanism) -> float:
    """Standard deviation of the noise on one number, per distance that a row can move."""
    replaced = 2.0 if problem.adjacency.replaces else 1.0
    if law == SPHERICAL:
        return replaced * math.sqrt(n_weights(problem) + 1.0) / budget.epsilon
    return replaced / equivalent_mu(budget.epsilon, budget.delta)


def _longest(problem: Problem, far: float, epochs: int, slope_clip: float, modulus: float) -> float:
    """The step at which one row moves the result by `far`, by bisection; at most 1 / curvature."""
    low, high = 0.0, 1.0 / problem.loss.smoothness
    for _ in range(60):
        middle = (low + high) / 2
        if furthest(problem, middle, epochs, slope_clip, modulus) <= far:
            low = middle
        else:
            high = middle
    return max(low, 1e-12)


def mechanism(budget: Budget) -> Mechanism:
    """Gaussian noise, or spherical noise where delta is 0."""
    return SPHERICAL if budget.delta == 0 else GAUSSIAN
