"""What a past leaves of the budget: for refusals, and for people who plan ahead."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from privlearn._core.mechanisms import Kind
from privlearn._core.problem import Budget
from privlearn.accounting import Gaussian, compose
from privlearn.accounting.composition import Terms
from privlearn.exceptions import BudgetExceededError
from privlearn.ledger.composition_cost import epsilon_of, smallest_scale, within_budget
from privlearn.ledger.filter import (
    GAUSSIAN,
    OPEN,
    PURE,
    WHOLE,
    Cost,
    Filter,
    all_gaussian,
    bounded_loss,
)
from privlearn.ledger.records import State
from privlearn.ledger.serial import terms_from_text

if TYPE_CHECKING:
    from privlearn._core.plan import Plan

__all__ = ["Remaining"]

_ROUNDED_DOWN = 1 - 1e-6
_TRIALS = 5
_NEARLY = 2e-3  # how much further a search goes than it aims, so that it ends on the right side

FAILS = (
    "this fit has a small chance to fail outright, which takes a part of delta, and the first "
    "charge of data set {name} left too little of the ledger's delta for that; nothing was "
    "charged or released: reserve the fits together (ledger.reserve), make this one the first "
    "charge, or, where all of them are pure but for failures, declare(..., kind='pure') before the "
    "first"
)
FINDS = (
    "this fit finds out what columns hold, or which values they have (schema estimate), and that "
    "has a small chance to fail outright: to publish a value that only one person has. The chance "
    "takes a part of delta, and the first charge of data set {name} left too little of the "
    "ledger's delta for that. Nothing was charged or released. Describe the columns, so that "
    "nothing about them is to be found out: on the command line privlearn plan --template DATA "
    "--target COLUMN > schema.toml, fill that in (each list with its values, or hashed = 32), and "
    "fit with --schema schema.toml; in Python a schema of Number(), Flag(), Date(), "
    "Category(values) or Category(hashed=32). Or, with a new ledger and before its first fit, "
    "reserve all fits together in Python (ledger.reserve)"
)


@dataclass(frozen=True)
class Remaining:
    """What a data set's past leaves of the budget."""

    state: State
    budget: Budget

    @property
    def kind(self) -> str:
        """The kind; where nothing has fixed it yet, Gaussian if the budget allows it."""
        undecided = PURE if self.budget.delta == 0 else GAUSSIAN
        return undecided if self.state.kind in ("", OPEN) else self.state.kind

    @property
    def filter(self) -> Filter:
        """The rules."""
        return Filter(self.budget, self.kind)

    @property
    def first(self) -> Terms:
        """What was charged first."""
        return terms_from_text(self.state.first) if self.state.first else ()

    @property
    def cap(self) -> Cost:
        """What later charges may take in all."""
        return self.state.cap or self.filter.cap(self.first)

    def spent(self) -> float:
        """Epsilon of the whole history, at the budget's delta."""
        if not self.state.started:
            return 0.0
        found = self.filter.spent(self.first, self.state.taken)
        within = self.state.cap is not None and self.state.taken.within(self.state.cap)
        return min(found, self.budget.epsilon) if within else found

    def left(self) -> float:
        """Epsilon of the largest Gaussian release that fits; in a pure data set, of a pure one."""
        if not self.state.started:
            return self.budget.epsilon
        taken, cap = self.state.taken, self.cap
        if self.kind == PURE:
            rest = max(0, min(cap.loss, WHOLE) - taken.loss)
            return math.nextafter(rest / WHOLE * self.budget.epsilon, 0.0) if rest else 0.0
        mu = self.filter.mu(cap.square - taken.square) * (1 - 1e-12)
        if mu <= 0:
            return 0.0
        found = epsilon_of(((Gaussian(mu), 1),), self.budget) * _ROUNDED_DOWN
        return min(found, self.budget.epsilon)

    def cost(self, terms: Terms) -> Cost:
        """What these releases would take."""
        return self.filter.cost(terms, self.state.rough, self.first)

    def fits(self, terms: Terms) -> bool:
        """Whether these releases fit, too."""
        if not self.state.started and self.kind != PURE:
            return within_budget(terms, self.budget)
        cap = self.cap if self.state.started else self.filter.cap(terms, declared=True)
        return (self.state.taken + self.cost(terms)).within(cap)

    def largest_epsilon_like(self, plan: Plan) -> float | None:
        """Epsilon of the same plan with enough noise; None where none fits."""

        def terms_at(scale: float) -> Terms:
            return tuple(replace(plan, scale=scale).pairs())

        def fitting(scale: float) -> bool:
            return self.fits(terms_at(scale))

        if self._hopeless(terms_at(plan.scale)):
            return None
        gaussian = all_gaussian(terms_at(plan.scale))
        if self.state.started and self.kind == GAUSSIAN and not gaussian:
            scale = self._few(terms_at, plan.scale)
        else:
            scale = smallest_scale(fitting, plan.scale)
        if scale is None:
            return None
        return epsilon_of(compose(terms_at(scale)).terms, self.budget) * _ROUNDED_DOWN

    def _hopeless(self, terms: Terms) -> bool:
        """Whether no noise will do: the wrong kind, or failures that noise does not change."""
        failure = self.filter.cost(terms, 0, ()).failure if self.budget.delta else 0
        if self.kind == PURE:
            return math.isinf(bounded_loss(terms)) or failure + self.state.taken.failure > (
                self.cap.failure if self.state.started else WHOLE
            )
        return self.state.started and failure + self.state.taken.failure > self.cap.failure

    def _few(self, terms_at: Callable[[float], Terms], start: float) -> float | None:
        """A scale that fits, by few evaluations, each of which takes a fraction of a second.

        Secants of log mu against log scale, the first with slope -1.
        """
        goal = self.filter.mu(self.cap.square - self.state.taken.square)
        place, slope, best = math.log(start), -1.0, None
        last: tuple[float, float] | None = None
        for _ in range(_TRIALS if goal > 0 else 0):
            terms = terms_at(math.exp(place))
            excess = math.log(max(self.filter.mu(self.cost(terms).square), 1e-300) / goal)
            if self.fits(terms):
                best = place if best is None else min(best, place)
                if excess > -10 * _NEARLY:
                    break
            if last is not None and place != last[0]:
                slope = min(-0.3, max(-8.0, (excess - last[1]) / (place - last[0])))
            last = (place, excess)
            place -= (excess + _NEARLY) / slope
        return None if best is None else math.exp(best)

    def refusal(self, terms: Terms, plan: Plan | None) -> BudgetExceededError:
        """The error for what does not fit, with what would."""
        asked = epsilon_of(compose(terms).terms, self.budget)
        fits = None if plan is None else _largest_epsilon_like(self._essence(), _nameless(plan))
        numbers = asked, self.left(), fits
        failing = FINDS if _finds_values(plan) else FAILS
        return BudgetExceededError(self._sentence(terms, failing, *numbers), *numbers)

    def _essence(self) -> Remaining:
        """The same without what changes with every charge of another data set."""
        if not self.state.started:
            return self
        return replace(self, state=replace(self.state, name="", parents=(), head="", charges=1))

    def _sentence(
        self, terms: Terms, failing: str, asked: float, left: float, fits: float | None
    ) -> str:
        name, budget = self.state.name, self.budget
        at = f"at delta={budget.delta:g}"
        if math.isinf(asked) and budget.delta == 0:
            return (
                f"this fit needs delta > 0, but the ledger promises delta=0 for data set {name!r}; "
                "nothing was charged or released: use a solver with pure noise, or another ledger"
            )
        if self.kind == PURE and math.isinf(bounded_loss(terms)):
            return (
                f"this fit has Gaussian noise, but the first charge of data set {name!r} was pure "
                "(or it was declared so), so that its epsilons are added up; nothing was charged "
                "or released: reserve the fits together (ledger.reserve), use a solver with pure "
                "noise, or declare(..., kind='gaussian') before the first charge"
            )
        if self._fails_too_often(terms):
            return failing.format(name=repr(name))
        if fits is None:
            remedy = "no such fit is possible any more; use other data, or agree on a larger budget"
        else:
            remedy = f"the same fit with epsilon={_down(fits)} {at} would still fit"
        return (
            f"this fit costs epsilon={asked:.6g} {at}, but data set {name!r} has left about "
            f"epsilon={_down(left)} of its epsilon={budget.epsilon:g}; nothing was charged or "
            f"released: {remedy}"
        )

    def _fails_too_often(self, terms: Terms) -> bool:
        taken = self.state.taken.failure
        return self.state.started and taken + self.cost(terms).failure > self.cap.failure


def _finds_values(plan: Plan | None) -> bool:
    """Whether what may fail is the publication of frequent values."""
    return plan is not None and any(r.mechanism.kind is Kind.LIST for r in plan.releases)


@lru_cache(maxsize=512)
def _largest_epsilon_like(remaining: Remaining, plan: Plan) -> float | None:
    return remaining.largest_epsilon_like(plan)


def _nameless(plan: Plan) -> Plan:
    """The plan without words, so that plans of one cost are remembered as one."""
    releases = (replace(release, name=str(k)) for k, release in enumerate(plan.releases))
    return replace(plan, releases=tuple(releases), assumptions=(), paper="")


def _down(value: float) -> str:
    """Four digits, rounded down so that the number can be used as it is printed."""
    if value <= 0:
        return "0"
    unit = 10.0 ** (math.floor(math.log10(value)) - 3)
    return f"{math.floor(value / unit) * unit:.4g}"
