"""How many tries, and what each of them may promise: from the budget and the number of settings."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache

from privlearn._core.budget import Budget
from privlearn._core.mechanisms import RandomTries, tries
from privlearn.accounting.gaussian import gaussian_delta
from privlearn.exceptions import InvalidBudgetError

__all__ = ["ETAS", "MISSED", "SHARE", "tries_for"]

# That no setting of the better quarter is tried has this probability.
SHARE, MISSED = 0.25, 0.2
ETAS = (1, 2, 3, 5, 8)
SLACK = 2.0**-30  # of epsilon: more than the rounding of its parts
SEARCHES = 60  # halvings


@lru_cache(maxsize=256)
def tries_for(budget: Budget, settings: int) -> RandomTries:
    """The law of the number of tries that leaves a Gaussian try the least noise.

    Parameters
    ----------
    budget : Budget
        For all tries together; delta must be above 0.
    settings : int
        How many there are to choose from.

    Examples
    --------
    >>> law = tries_for(Budget(1.0, 1e-5), 12)
    >>> law.eta, round(law.gamma, 3), round(law.epsilon, 3)
    (2, 0.186, 0.672)
    """
    if budget.delta == 0:
        raise InvalidBudgetError(
            "delta=0, but scores of a search get Gaussian noise, which needs delta > 0; set delta, "
            "for example delta=1e-6"
        )
    share = max(SHARE, 1.0 / settings)
    laws = ((eta, _gamma(share, eta)) for eta in ETAS)
    found = [(_largest_mu(budget, eta, gamma), eta, gamma) for eta, gamma in laws]
    mu, eta, gamma = max(found)
    pivot = _pivot(mu, gamma)
    epsilon = budget.epsilon * (1.0 - SLACK) - (eta + 1) * pivot
    delta = budget.delta / tries.mean(eta, gamma) / tries.UP**2
    blank = RandomTries(eta, gamma, epsilon, delta, pivot, 0.0)
    law = replace(blank, pivot_delta=min(tries.most_at(blank), 1.0))
    return replace(law, mu=mu)


def _gamma(share: float, eta: int) -> float:
    """The largest gamma, so the fewest tries, with which so much of the settings is not missed."""
    low, high = 1e-9, 1.0 - 1e-9
    for _ in range(SEARCHES):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if tries.missed(share, eta, middle) <= MISSED else (low, middle)
    return low


def _pivot(mu: float, gamma: float) -> float:
    """The smallest epsilon at which a Gaussian try's delta is what hides the number of tries."""
    low, high = 0.0, 1.0
    while not _hides(high, mu, gamma):
        low, high = high, 2.0 * high
    for _ in range(SEARCHES):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if _hides(middle, mu, gamma) else (middle, high)
    return high


def _hides(epsilon: float, mu: float, gamma: float) -> bool:
    """Proof.md, 2: (1 - gamma) delta(e1) <= gamma (exp(e1) - 1)."""
    return (1.0 - gamma) * gaussian_delta(epsilon, mu) <= gamma * math.expm1(epsilon) / tries.UP**2


def _largest_mu(budget: Budget, eta: int, gamma: float) -> float:
    """The largest mu of a Gaussian try with which the best of all tries fits the budget."""
    low, high = budget.epsilon * 1e-4, budget.epsilon + 10.0
    for _ in range(SEARCHES):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if _fits(budget, eta, gamma, middle) else (low, middle)
    return low


def _fits(budget: Budget, eta: int, gamma: float, mu: float) -> bool:
    epsilon = budget.epsilon * (1.0 - SLACK) - (eta + 1) * _pivot(mu, gamma)
    if epsilon <= 0:
        return False
    mean = tries.mean(eta, gamma) * tries.UP**2
    return mean * gaussian_delta(epsilon, mu) <= budget.delta
