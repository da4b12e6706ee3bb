"""The promise: epsilon and delta, checked once."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from numbers import Real

from privlearn.exceptions import DeltaWarning, InvalidBudgetError, WeakPromiseWarning

__all__ = ["Budget", "budget_of", "warn_of_delta", "warn_of_epsilon"]


@dataclass(frozen=True)
class Budget:
    """The promise for one fit.

    Examples
    --------
    >>> Budget(1.0, 1e-6)
    Budget(epsilon=1.0, delta=1e-06)
    """

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.epsilon) and self.epsilon > 0):
            raise InvalidBudgetError(
                f"epsilon={self.epsilon}, but a promise needs a finite epsilon > 0; "
                "1 is a common choice, smaller is more private"
            )
        if not 0 <= self.delta < 1:
            raise InvalidBudgetError(
                f"delta={self.delta}, but delta is a probability in [0, 1); "
                "choose it well below 1/n, for example 1e-6"
            )


LEAST_EPSILON, LARGEST_EPSILON = 1e-9, 1e7  # between which accounting and noise were tried
LEAST_DELTA = 1e-100
# The largest promise of official statistics that we know of is 19.61, of the redistricting data of
# the 2020 census of the United States (17.14 for people, 2.47 for homes), with other protections.
SAYS_SOMETHING = 20.0
WEAK = "hardly a promise: the worst case says little"


def budget_of(epsilon: object, delta: object) -> Budget:
    """The promise, or a refusal that says what is wrong with it."""
    numbers = []
    for name, value in (("epsilon", epsilon), ("delta", delta)):
        if not isinstance(value, Real) or isinstance(value, bool):
            raise InvalidBudgetError(f"{name} is a {type(value).__name__}, but a number is needed")
        try:
            numbers.append(float(value))
        except OverflowError:  # larger than any float
            numbers.append(math.inf)
    found = Budget(*numbers)
    if not LEAST_EPSILON <= found.epsilon <= LARGEST_EPSILON:
        raise InvalidBudgetError(
            f"epsilon={found.epsilon:g}, but one between {LEAST_EPSILON:g} and "
            f"{LARGEST_EPSILON:g} is needed: beyond, nothing is learned, or nothing is private"
        )
    if 0.0 < found.delta < LEAST_DELTA:
        raise InvalidBudgetError(
            f"delta={found.delta:g}, but 0 or at least {LEAST_DELTA:g} is needed; 0 is a promise "
            "that solver='one-pass' keeps"
        )
    return found


def warn_of_delta(budget: Budget, rows: int | None) -> None:
    """Warn where the number of rows is public and delta is above its inverse."""
    if rows is not None and budget.delta * rows > 1.0:
        from privlearn._core.users_line import users_line  # only who is warned pays

        warnings.warn(
            f"delta={budget.delta:g} is above 1/n = {1 / rows:.2g}: publishing one random row "
            "would keep such a promise; choose a smaller delta",
            DeltaWarning,
            stacklevel=users_line(),
        )


def warn_of_epsilon(budget: Budget) -> None:
    """Warn where epsilon is so large that the promise says nothing about a person."""
    if budget.epsilon > SAYS_SOMETHING:
        from privlearn._core.users_line import users_line  # only who is warned pays

        warnings.warn(
            f"epsilon={budget.epsilon:g} is {WEAK}. Odds about one person may change by a factor "
            f"of e^{budget.epsilon:g}, and e^20 is 485 million: a suspicion of one in a million "
            "may become one of 99.8 %. No official statistics that we know of promise so little, "
            "and 1 is a sound default; do not call the result private (for tests on data of nobody "
            "this warning may be ignored)",
            WeakPromiseWarning,
            stacklevel=users_line(),
        )
