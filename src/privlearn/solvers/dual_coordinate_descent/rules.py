"""How `DualCoordinateDescent` chooses batch, epochs, clip and step from public facts.

The numbers were chosen with benchmarks/derive/descent.py on generated data (see "The rule" in
proof.md). Rows have length at most 1 and y lies in [-1, 1]; typical lengths are
bought.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from privlearn._core.problem import Problem
from privlearn._objective.losses import HUBER, Loss
from privlearn.solvers._common.descent import size_of
from privlearn.solvers.sgd.rules import sampling_rate, slope

__all__ = ["Pace", "Settings", "pace", "ramp", "room_for", "scale_unit", "timetable"]

STEPS, FULL_STEPS = 1000, 300
REACH = 3.0  # how far noise may move a typical prediction, relative to what one row could
LEAD = 4.0  # the newest release's weight, relative to what would make the sum's lag vanish
DAMPED = 0.3  # part of the lead that a row's step allows for
AVERAGED = 0.5  # share of the last iterates that is averaged
# How far all steps together may carry a row, relative to its gradient at the steepest slope (to
# where gradients would be clipped, for squared errors): ROOM (signal / 100)^GROWTH within limits,
# since more room is more noise and less of a bias.
ROOM, GROWTH, LEAST_ROOM, MOST_ROOM = 0.75, 0.3, 0.4, 2.5
STEEPER = 1.5  # times that where slopes have no limit but grow as scores do
CLIPPED_ROOM, CLIPPED_GROWTH = 0.45, 0.15  # for squared errors
LENGTHS_SHARE, COUNT_SHARE = 0.03, 0.02  # of the budget (in mu^2)
SCALE_SHARE = 0.15  # of Huber's scale in a row's contribution, relative to a row of length 1


@dataclass(frozen=True)
class Settings:
    """Everything about a run that is fixed before any data: all of it public."""

    steps: int
    rate: float
    clip: float | None  # None: bought
    mu: float  # the whole budget as one Gaussian release

    @property
    def epochs(self) -> float:
        """How often a row is expected in a batch."""
        return self.steps * self.rate


@dataclass(frozen=True)
class Pace:
    """How a run moves, once typical lengths are known: from public and released facts."""

    clip: float
    resistance: float  # of the weights against the sum v
    lead: float
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


def bend(loss: Loss) -> float:
    """Largest curvature; 1 where the slope jumps."""
    return loss.smoothness if math.isfinite(loss.smoothness) else 1.0


def room_for(problem: Problem, mu: float, rows: float, length: float, clip: float | None) -> float:
    """How far all steps together may carry a row that is typically `length` long.

    `clip` is where gradients would be clipped, for a loss whose slopes have no natural size.
    """
    signal = mu * rows / math.sqrt(size_of(problem)) / 100.0
    if clip is not None:
        return clip * _within_limits(CLIPPED_ROOM * signal**CLIPPED_GROWTH)
    steeper = 1.0 if math.isfinite(problem.loss.lipschitz) else STEEPER
    return steeper * slope(problem.loss) * length * _within_limits(ROOM * signal**GROWTH)


def _within_limits(room: float) -> float:
    return min(max(room, LEAST_ROOM), MOST_ROOM)


def pace(problem: Problem, settings: Settings, room: float, length: float, rows: float) -> Pace:
    """The clip, and how strongly weights resist, for rows that are typically `length` long.

    All steps together carry a row by `room`, and so the noise on v is about room / mu.
    """
    steps, rate = settings.steps, settings.rate
    curved = rows * bend(problem.loss) * length**2
    wanted = slope(problem.loss) * length**2 * steps / (REACH * settings.mu)
    resistance = max(wanted, rate * curved)
    lead = LEAD * min(1.0, resistance / curved) / rate
    return Pace(
        clip=room / settings.epochs,
        resistance=resistance,
        lead=lead,
        stiffness=rate * rows * (1.0 + DAMPED * lead) / resistance,
    )


def scale_unit(problem: Problem) -> float:
    """Unit of Huber's scale, in which it takes little of a row's contribution; 1 without one."""
    return SCALE_SHARE / problem.loss.threshold if problem.loss.code == HUBER else 1.0


def ramp(problem: Problem, settings: Settings, pace: Pace, length: float) -> float:
    """Part of Huber's threshold that a typical row's dual variable can have come, per step."""
    if problem.loss.code != HUBER:
        return 0.0
    return settings.rate * pace.clip / (math.hypot(length, SCALE_SHARE) * problem.loss.threshold)
