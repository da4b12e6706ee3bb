"""What the logger "privlearn" is told: facts of a plan, which no data decided."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from privlearn._core.run_settings import untold

if TYPE_CHECKING:
    from privlearn._core.plan import Plan
    from privlearn._core.problem import Budget

__all__ = ["planned"]

LOGGER = logging.getLogger("privlearn")


def planned(plan: Plan, budget: Budget, dataset: str | None, *, charged: bool) -> None:
    """Say what is about to be charged and released; nothing is said after the charge.

    Nor of parts of a whole that was charged: how many tries a search makes is a secret.
    """
    if untold.get():
        return
    LOGGER.info(
        "releasing %d times by %s, for epsilon = %g and delta = %g under %s%s",
        sum(release.count for release in plan.releases),
        plan.solver or "a plan",
        budget.epsilon,
        budget.delta,
        plan.adjacency.value,
        f"; charging {dataset!r}" if charged else "",
    )
