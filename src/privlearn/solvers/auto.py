"""Which solver "auto" takes: by public facts only, from what was seen on generated data.

`python -m benchmarks choice/solvers` and `choice/situations` draw where each wins, and
docs/how-to-choose.md has the rule as a table, which a test compares with this file. In short:
coordinate descent estimates scales, curvature and clip, and wins where features differ in scale.
Where the budget is too small for that, where declared facts already say as much, and for hinges,
which it does not know, its dual is better, which estimates lengths alone. SGD is left with several
classes, and with counts, where the budget is small, which the dual does not know. Moments, boosted
moments, deep models and noise on the output are for those who ask for them: they are hardly ever
the most accurate. Without a delta, or with a level per person, one pass over disjoint batches is
what there is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from privlearn._core.problem import Bounds, Budget, Problem
from privlearn._objective.losses import Target
from privlearn.solvers._common.objective import n_weights
from privlearn.solvers._common.snr import gdp_mu, public_n_or_default
from privlearn.solvers.coordinate_descent.rules import bearable

if TYPE_CHECKING:
    from privlearn.solvers.base import Solver

__all__ = ["choose", "norm_tells_enough"]

# Rows times mu, mu the budget as one Gaussian release, from which on scales can be read.
ENOUGH = 100.0
ENOUGH_IN_A_BALL = 1000.0  # the same for squared errors of rows that have a norm and no box
ENOUGH_PER_WEIGHT = 6.0  # the same for each weight of several classes
SHORT = 0.5  # of the box's squared length, below which declared rows count as short
# The same for each feature, where rows are declared to be short; and what squared errors need there
# at least, for the dual follows noise where there is less.
ENOUGH_BESIDE_A_NORM, LEAST_FOR_SQUARES = 12.0, 2.0
ENOUGH_BESIDE_LISTS = 6.0  # where nothing is spent on the ranges of 0/1 columns (derive/lists.py)


def choose(solvers: Mapping[str, type[Solver]], problem: Problem, budget: Budget) -> Solver:
    """The solver for a problem, among those that support it.

    Parameters
    ----------
    solvers : mapping
        By name.
    problem : Problem
        Public facts.
    budget : Budget
        What may be spent.
    """
    able = [name for name, solver in solvers.items() if not solver.support.missing(problem)]
    if not able:
        return next(iter(solvers.values()))()  # its refusal says what is missing
    if budget.delta == 0 and "one-pass" in able:
        return solvers["one-pass"]()
    preferred = _preferred(problem, gdp_mu(problem, budget) * public_n_or_default(problem))
    return solvers[next(name for name in (*preferred, *able) if name in able)]()


def _preferred(problem: Problem, seen: float) -> tuple[str, ...]:
    """The dual, where estimated facts would cost more than they bring; what is next for counts."""
    if problem.loss.coupled:
        return ("cd",) if _classes_can_be_told(problem, seen) else ("sgd",)
    if seen < ENOUGH or norm_tells_enough(problem, seen):
        return "scd", "sgd"
    in_a_ball = problem.bounds.row_norm is not None and problem.bounds.low is None
    if in_a_ball and _dual_suits_a_ball(problem, seen):
        return "scd", "cd"
    short = math.isfinite(problem.loss.lipschitz) and _rows_are_short(problem.bounds)
    return ("scd", "cd") if short else ("cd",)


def norm_tells_enough(problem: Problem, seen: float) -> bool:
    """Whether rows are declared to be short, and too little is seen of each feature to add to that.

    Parameters
    ----------
    problem : Problem
        Public facts.
    seen : float
        Rows times mu.
    """
    each = seen / max(problem.n_features, 1)
    enough = ENOUGH_BESIDE_A_NORM if problem.bounds.known is None else ENOUGH_BESIDE_LISTS
    squares = math.isinf(problem.loss.lipschitz)
    dual = each >= LEAST_FOR_SQUARES if squares else problem.loss.target is Target.SIGN
    return dual and each < enough and _rows_are_short(problem.bounds)


def _classes_can_be_told(problem: Problem, seen: float) -> bool:
    """Whether noise is small beside what each weight of several classes is known by."""
    return seen >= ENOUGH_PER_WEIGHT * n_weights(problem) and bearable(problem)


def _dual_suits_a_ball(problem: Problem, seen: float) -> bool:
    """For labels always: it lost half of what coordinate descent did, in the median.

    For squared errors while little is seen; beyond that, and for Huber's loss, the other is better.
    """
    if problem.loss.target is Target.SIGN:
        return True
    return math.isinf(problem.loss.lipschitz) and seen < ENOUGH_IN_A_BALL


def _rows_are_short(bounds: Bounds) -> bool:
    """Whether the declared norm is much below the box's corner, as for rows of mostly zeros.

    Then the norm tells what scales and lengths would, and rare features need no scale of their own.
    """
    if bounds.low is None or bounds.high is None or bounds.row_norm is None:
        return False
    reach = np.maximum(np.abs(bounds.low), np.abs(bounds.high))
    return bool(bounds.row_norm**2 <= SHORT * np.sum(reach**2))
