"""How much a budget lets one see, from public facts: what every rule starts from."""

from __future__ import annotations

from privlearn._core.problem import Budget, Problem
from privlearn.accounting.gaussian import equivalent_mu

__all__ = ["gdp_mu", "public_n_or_default"]

ROWS_IF_N_IS_PRIVATE = 10_000


def gdp_mu(problem: Problem, budget: Budget) -> float:
    """The budget as the mu of one Gaussian release of a sum whose terms are at most 1 long."""
    mu = equivalent_mu(budget.epsilon, max(budget.delta, 1e-290))
    return min(mu, 1e6) / (2.0 if problem.adjacency.replaces else 1.0)


def public_n_or_default(problem: Problem) -> int:
    """The public number of rows, or a stand-in where it is private."""
    return ROWS_IF_N_IS_PRIVATE if problem.n is None else problem.n
