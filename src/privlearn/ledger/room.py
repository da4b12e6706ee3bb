"""What an account has room for: for refusals, and for people who plan ahead."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from privlearn.accounting import Gaussian
from privlearn.accounting.gaussian import equivalent_mu
from privlearn.exceptions import BudgetExceeded
from privlearn.ledger import price
from privlearn.ledger.bound import Account, Orders
from privlearn.ledger.moments import Terms, lost_mass
from privlearn.problem import Budget

if TYPE_CHECKING:
    from privlearn.plan import Plan

__all__ = ["Room", "epsilon_of", "left", "refusal"]

_STEPS, _ROUGH_STEPS = 11, 6  # halvings of a factor of two
_ROUNDED_DOWN = 1 - 1e-6
_ROUGHLY_DOWN = 0.96  # a rough epsilon is up to 4 % too large


@dataclass(frozen=True)
class Room:
    """What a data set's past leaves of the budget.

    Attributes
    ----------
    past : tuple of (pair, count)
        Everything charged.
    budget : Budget
        The ledger's budget.
    orders : Orders
        Where moments are kept; the file fixes them with the budget.
    account : Account
        The running bound; a function of the past and of the checkpoints so far.
    exact : bool
        Whether to compose exactly, or to trust the running bound alone, which is faster.
    """

    past: Terms
    budget: Budget
    orders: Orders = field(compare=False)
    account: Account = field(compare=False)
    exact: bool = True

    def has_room_for(self, terms: Terms) -> bool:
        """Whether these releases fit, too."""
        if self.budget.delta > 0:
            after = self.account.after(self.orders.moments(terms), lost_mass(terms))
            if after.fits(self.budget):
                return True
            if not self.exact:
                return False
        return price.fits(price.merged(self.past, terms), self.budget)

    def largest(self, terms_at: Callable[[float], Terms], start: float) -> float | None:
        """Epsilon, at the ledger's delta, of the releases with the least scale that fits."""
        steps = _STEPS if self.exact else _ROUGH_STEPS
        scale = price.smallest_scale(lambda s: self.has_room_for(terms_at(s)), start, steps)
        if scale is None:
            return None
        rounded_down = _ROUNDED_DOWN if self.exact else _ROUGHLY_DOWN
        return epsilon_of(terms_at(scale), self.budget, not self.exact) * rounded_down

    def spent(self) -> float:
        """Epsilon of the past at the ledger's delta, which the budget never exceeds."""
        if not self.past:
            return 0.0
        known = min(self.budget.epsilon, self.account.epsilon(self.orders))
        return min(known, epsilon_of(self.past, self.budget))


@lru_cache(maxsize=256)
def epsilon_of(terms: Terms, budget: Budget, rough: bool = False) -> float:
    """Epsilon of a composition at the ledger's delta."""
    return price.epsilon(terms, budget, rough)


@lru_cache(maxsize=64)
def left(room: Room) -> float:
    """Epsilon of one more Gaussian release that fits (delta = 0: of one more pure release)."""
    budget = room.budget
    if not room.past:
        return budget.epsilon
    if budget.delta == 0:
        spent = epsilon_of(room.past, budget)
        return max(0.0, math.nextafter(budget.epsilon - spent, 0.0))
    start = 1.0 / equivalent_mu(budget.epsilon, budget.delta)
    return room.largest(lambda scale: ((Gaussian(1.0 / scale), 1),), start) or 0.0


@lru_cache(maxsize=256)
def _largest_like(room: Room, plan: Plan) -> float | None:
    """Epsilon of the same plan with enough noise."""
    return room.largest(lambda scale: tuple(replace(plan, scale=scale).pairs()), plan.scale)


def refusal(room: Room, plan: Plan, dataset: str) -> BudgetExceeded:
    """The error for a plan that does not fit, with what would."""
    asked = epsilon_of(tuple(plan.pairs()), room.budget, not room.exact)
    numbers = asked, left(room), _largest_like(room, _nameless(plan))
    return BudgetExceeded(_sentence(room.budget, dataset, *numbers), *numbers)


def _nameless(plan: Plan) -> Plan:
    """The plan without words, so that plans of one price are remembered as one."""
    releases = (replace(release, name=str(k)) for k, release in enumerate(plan.releases))
    return replace(plan, releases=tuple(releases), assumptions=(), paper="")


def _sentence(budget: Budget, dataset: str, asked: float, room: float, fits: float | None) -> str:
    at = f"at delta={budget.delta:g}"
    if math.isinf(asked) and budget.delta == 0:
        return (
            f"this fit needs delta > 0, but the ledger promises delta=0 for data set {dataset!r}; "
            "nothing was charged or released: use a solver with pure noise, or another ledger"
        )
    if fits is None:
        remedy = "no such fit is possible any more; use other data, or agree on a larger budget"
    else:
        remedy = f"the same fit with epsilon={_down(fits)} {at} would still fit"
    return (
        f"this fit costs epsilon={asked:.6g} {at}, but data set {dataset!r} has room for about "
        f"epsilon={_down(room)} of its epsilon={budget.epsilon:g}; nothing was charged or "
        f"released: {remedy}"
    )


def _down(value: float) -> str:
    """Four digits, rounded down so that the number can be used as it is printed."""
    if value <= 0:
        return "0"
    unit = 10.0 ** (math.floor(math.log10(value)) - 3)
    return f"{math.floor(value / unit) * unit:.4g}"
