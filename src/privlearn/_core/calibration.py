"""The least noise that a budget allows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from privlearn._core.budget import Budget
from privlearn._core.mechanisms import GAUSSIAN
from privlearn._core.plan import Plan
from privlearn.accounting import smallest_scale
from privlearn.exceptions import InvalidBudgetError

__all__ = ["calibrate"]


def calibrate(plan_at: Callable[[float], Plan], budget: Budget) -> Plan:
    """The plan with the least noise whose guarantee fits the budget.

    Parameters
    ----------
    plan_at : callable
        Maps a noise scale to a plan; more scale is more noise.
    budget : Budget
        What may be spent in all.

    Returns
    -------
    Plan
        With `plan.delta(budget.epsilon) <= budget.delta`, checked by evaluation.
    """
    plan = plan_at(1.0)
    if budget.delta == 0 and any(release.mechanism == GAUSSIAN for release in plan.releases):
        raise InvalidBudgetError(
            "delta=0, but Gaussian noise needs delta > 0; set delta, for example delta=1e-6, "
            "or use solver='one-pass', which needs none"
        )
    return plan_at(_smallest_scale(plan, budget))


@lru_cache(maxsize=256)
def _smallest_scale(plan: Plan, budget: Budget) -> float:
    """The search, remembered: plans hold public facts only, and grids of fits repeat them."""
    return smallest_scale(
        lambda scale: replace(plan, scale=scale).pairs(), budget.epsilon, budget.delta
    )
