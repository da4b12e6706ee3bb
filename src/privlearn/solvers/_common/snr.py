"""How much a budget lets one see, from public facts: what every rule starts from."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from privlearn._core.problem import Budget, Problem
from privlearn.accounting.gaussian import equivalent_mu

__all__ = ["effective_mu", "epsilon_for", "epsilon_with_more", "gdp_mu", "public_n_or_default"]

ROWS_IF_N_IS_PRIVATE = 10_000


def gdp_mu(problem: Problem, budget: Budget) -> float:
    """The budget as the mu of one Gaussian release of a sum whose terms are at most 1 long.

    Terms are rows, of which one person may have several.
    """
    mu = equivalent_mu(budget.epsilon, max(budget.delta, 1e-290))
    return min(mu, 1e6) / (2.0 if problem.adjacency.replaces else 1.0) / problem.most_rows


def effective_mu(problem: Problem, budget: Budget, coefficients: int) -> float:
    """What n is to be multiplied with: mu, also where the promise is a pure one.

    Noise of that is exp(-epsilon |z|): in d dimensions its numbers have deviation sqrt(d) / epsilon
    or so, for sums whose terms are at most 1 long.
    """
    if budget.delta > 0.0:
        return gdp_mu(problem, budget)
    halved = 2.0 if problem.adjacency.replaces else 1.0
    return budget.epsilon / math.sqrt(max(coefficients, 1)) / halved / problem.most_rows


def epsilon_for(problem: Problem, budget: Budget, coefficients: int, mu: float) -> float:
    """The epsilon whose `effective_mu` is the given one; inf where that is above 1,000."""

    def reached(epsilon: float) -> bool:
        return effective_mu(problem, replace(budget, epsilon=epsilon), coefficients) >= mu

    return _smallest(budget.epsilon, reached)


def epsilon_with_more(epsilon: float, delta: float, times: float) -> float:
    """The epsilon whose mu is so many times that of the given one; inf where that is above 1,000.

    Examples
    --------
    >>> round(epsilon_with_more(1.0, 1e-6, 2.0), 1)
    2.1
    """
    wanted = times * equivalent_mu(epsilon, delta)
    return _smallest(epsilon, lambda found: equivalent_mu(found, delta) >= wanted)


def _smallest(low: float, reached: Callable[[float], bool]) -> float:
    high = 1000.0
    if not reached(high):
        return math.inf
    while high > 1.001 * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def public_n_or_default(problem: Problem) -> int:
    """The public number of rows, of people who have one or more, or a stand-in."""
    public = problem.people if problem.n is None else problem.n
    return ROWS_IF_N_IS_PRIVATE if public is None else public
