"""How `DualCoordinateDescent` chooses batch, epochs, clip and step from public facts.

The numbers were chosen with benchmarks/derive/descent.py on generated data (see "The rule" in
proof.md). Rows have length at most 1 and y lies in [-1, 1]; typical lengths are
estimated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from privlearn._core.problem import Problem
from privlearn.solvers._common.batches import sampling_rate
from privlearn.solvers._common.objective import n_weights

__all__ = ["Movement", "Settings", "movement", "ramp", "slack_for", "timetable"]

STEPS, FULL_STEPS = 1000, 300
MAX_TRAVEL = 3.0  # how far noise may move a typical prediction, relative to what one row could
EXTRAPOLATION = 4.0  # the newest release's weight, relative to what would make the sum's lag vanish
DAMPED = 0.3  # part of the extrapolation that a row's step allows for
AVERAGED = 0.5  # share of the last iterates that is averaged
# How far all steps together may carry a row, relative to its gradient at the steepest slope (to
# where gradients would be clipped, for squared errors): SLACK (signal / 100)^GROWTH within
# limits, since more slack is more noise and less of a bias.
SLACK, GROWTH, LEAST_SLACK, MOST_SLACK = 0.75, 0.3, 0.4, 2.5
STEEPER = 1.5  # times that where slopes have no limit but grow as scores do
CLIPPED_SLACK, CLIPPED_GROWTH = 0.45, 0.15  # for squared errors
LENGTHS_SHARE, COUNT_SHARE = 0.03, 0.02  # of the budget (in mu^2)


@dataclass(frozen=True)
class Settings:
    """Everything about a run that is fixed before any data: all of it public."""

    steps: int
    rate: float
    clip: float | None  # None: estimated
    mu: float  # the whole budget as one Gaussian release

    @property
    def epochs(self) -> float:
        """How often a row is expected in a batch."""
        return self.steps * self.rate


@dataclass(frozen=True)
class Movement:
    """How a run moves, once typical lengths are known: from public and released facts."""

    clip: float
    resistance: float  # of the weights against the sum v
    extrapolation: float
    stiffness: float


def timetable(mu: float, epochs: int | None, rate: float | None) -> tuple[int, float]:
    """Steps and sampling rate: what is given, and as for SGD what is not."""
    if rate is not None:
        wanted = epochs or sampling_rate(STEPS, mu) * STEPS
        return max(1, math.ceil(wanted / rate)), rate
    if epochs is not None:
        rate = min(1.0, epochs / STEPS)
        return max(epochs, STEPS if rate < 1.0 else 1), rate
    rate = sampling_rate(STEPS, mu)
    return (STEPS if rate < 1.0 else FULL_STEPS), rate


def slack_for(problem: Problem, mu: float, rows: float, length: float, clip: float | None) -> float:
    """How far all steps together may carry a row that is typically `length` long.

    `clip` is where gradients would be clipped, for a loss whose slopes have no natural size.
    """
    signal = mu * rows / math.sqrt(n_weights(problem)) / 100.0
    if clip is not None:
        return clip * _within_limits(CLIPPED_SLACK * signal**CLIPPED_GROWTH)
    steeper = 1.0 if math.isfinite(problem.loss.lipschitz) else STEEPER
    return steeper * problem.loss.typical_slope * length * _within_limits(SLACK * signal**GROWTH)


def _within_limits(slack: float) -> float:
    return min(max(slack, LEAST_SLACK), MOST_SLACK)


def movement(
    problem: Problem, settings: Settings, slack: float, length: float, rows: float
) -> Movement:
    """The clip, and how strongly weights resist, for rows that are typically `length` long.

    All steps together carry a row by `slack`, and so the noise on v is about slack / mu.
    """
    steps, rate = settings.steps, settings.rate
    curved = rows * problem.loss.curvature * length**2
    wanted = problem.loss.typical_slope * length**2 * steps / (MAX_TRAVEL * settings.mu)
    resistance = max(wanted, rate * curved)
    extrapolation = EXTRAPOLATION * min(1.0, resistance / curved) / rate
    return Movement(
        clip=slack / settings.epochs,
        resistance=resistance,
        extrapolation=extrapolation,
        stiffness=rate * rows * (1.0 + DAMPED * extrapolation) / resistance,
    )


def ramp(problem: Problem, settings: Settings, clip: float, length: float) -> float:
    """Part of the loss's threshold that a typical row's dual variable can have come, per step.

    Only a loss with an auxiliary weight asks; part of a row's contribution is in that weight.
    """
    auxiliary = problem.loss.auxiliary
    if not auxiliary.count:
        return 0.0
    return (
        settings.rate * clip / (math.hypot(length, auxiliary.dual_share) * problem.loss.threshold)
    )
