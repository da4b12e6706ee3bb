"""Before a Releaser is opened: whose ledger is charged, and what is said, which no data decided."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

from privlearn._core.budget import warn_of_epsilon
from privlearn._core.run_settings import untold
from privlearn.exceptions import NotPrivateWarning

if TYPE_CHECKING:
    from privlearn._core.plan import Plan
    from privlearn._core.problem import Budget

__all__ = ["charge_of", "log_plan", "warn_first"]

LOGGER = logging.getLogger("privlearn")


def charge_of(ledger: object) -> Callable[..., object]:
    """The `charge` of a ledger, or of the ledger at a path."""
    if isinstance(ledger, str | os.PathLike):
        from privlearn.ledger import Ledger

        ledger = Ledger(ledger)
    charge: Callable[..., object] | None = getattr(ledger, "charge", None)
    if charge is None or not callable(charge):
        raise TypeError(
            f"ledger is a {type(ledger).__name__}, but a Ledger, its path, or an object with "
            "charge(plan, dataset) is needed; it is called before anything is released"
        )
    return charge


def warn_first(budget: Budget, *, seeded: bool) -> None:
    """Before the charge, so that whoever takes warnings for errors has paid nothing."""
    warn_of_epsilon(budget)
    if seeded:
        _warn_of_seed()


def _warn_of_seed() -> None:
    from privlearn._core.users_line import users_line  # only who is warned pays

    warnings.warn(
        "random_state is set, so the noise can be computed by whoever knows or guesses the seed, "
        "and the result is NOT private, even where a ledger is charged; leave random_state out for "
        "anything that is published (for tests on data of nobody this warning may be ignored)",
        NotPrivateWarning,
        stacklevel=users_line(),
    )


def log_plan(plan: Plan, budget: Budget, dataset: str | None, *, charged: bool) -> None:
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
