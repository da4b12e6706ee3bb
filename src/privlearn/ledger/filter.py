"""The filter: what a charge costs after others, and how much may be spent in all.

The first charge of a data set is chosen before anything is seen, so it is composed exactly. What is
left after it is a fixed resource, a function of the first charge and the budget alone: a Gaussian
and a small probability of failure, or, where the first charge is pure, what is left of epsilon.
Later charges take parts of it, and may be chosen after seeing everything so far: `ledger.md`.

Costs are whole numbers of parts of the budget, rounded up, so that sums are exact in any order.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from privlearn._core.problem import Budget
from privlearn.accounting import ApproximateLoss, Gaussian, Pair, compose, failing
from privlearn.accounting.composition import Terms, evaluate
from privlearn.accounting.gaussian import equivalent_mu, gaussian_delta
from privlearn.accounting.views import as_gaussian, as_promised, has_two
from privlearn.ledger.composition_cost import balanced, composed, epsilon_of
from privlearn.ledger.dominate import dominating_mu, failure_mass

__all__ = [
    "GAUSSIAN",
    "NOTHING",
    "OPEN",
    "PURE",
    "WHOLE",
    "Cost",
    "Filter",
    "all_gaussian",
    "bounded_loss",
    "kind_of",
]

GAUSSIAN, PURE, OPEN = "gaussian", "pure", "open"
WHOLE = 2**50  # parts of the budget: of mu squared, of epsilon, of delta
MOST = 2**60  # a cost that fits nowhere
# Of delta, set aside for what Gaussians dominate but for a failure. A Gaussian first charge is the
# sign of a Gaussian history, whose cost must not move; any other leaves more, which later costs
# less.
_ASIDE_AFTER_GAUSSIAN, _ASIDE = 2.0**-17, 2.0**-6
_SLIP = 2.0**-20  # of delta, which pays for as much more than epsilon in a pure data set
_CAP_STEPS = 12
_SHARE = 2.0**-10  # of delta, to replace a first charge by a Gaussian
_NEARLY_ALL = 0.99


@dataclass(frozen=True)
class Cost:
    """What one charge takes, or what all later charges took: parts of each budget."""

    square: int = 0  # of mu squared
    loss: int = 0  # of epsilon
    failure: int = 0  # of delta

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.square + other.square, self.loss + other.loss, self.failure + other.failure
        )

    def within(self, cap: Cost) -> bool:
        """Whether it is at most the cap in every part."""
        return self.square <= cap.square and self.loss <= cap.loss and self.failure <= cap.failure


NOTHING = Cost()


def kind_of(first: Terms, budget: Budget) -> str:
    """What a first charge leaves: Gaussians, or, after one whose losses are bounded, a choice.

    Examples
    --------
    >>> from privlearn.accounting import Gaussian, PureLoss
    >>> kind_of(((PureLoss(0.1), 1),), Budget(1.0, 1e-6))
    'open'
    >>> kind_of(((PureLoss(0.1), 1), (Gaussian(0.01), 1)), Budget(1.0, 1e-6))
    'gaussian'
    """
    if budget.delta == 0:
        return PURE
    if has_two(first):  # the branches of a choice must not rest on different bounds
        return GAUSSIAN
    return OPEN if Filter(budget, PURE).first_cost(first) != NOTHING else GAUSSIAN


def whole_cap(budget: Budget) -> Cost:
    """All of epsilon and delta; a slip of delta pays for the rounding of sums such as 10 x 0.1.

    What is E-DP with E = epsilon + t is (epsilon, t)-DP.
    """
    slip = budget.delta * _SLIP
    return Cost(0, WHOLE + math.floor(slip / budget.epsilon * WHOLE), _down(1 - _SLIP))


@dataclass(frozen=True)
class Filter:
    """The rules of one data set: its budget, and the kind that its first charge fixed."""

    budget: Budget
    kind: str

    @property
    def square_unit(self) -> Fraction:
        """mu squared of one part."""
        return Fraction(_budget_mu(self.budget)) ** 2 / WHOLE

    def first_cost(self, first: Terms) -> Cost:
        """What the first charge takes of the sums: nothing where its losses do not add up."""
        cost = self._pure_cost(first)
        fits = self.budget.delta == 0 or cost.within(whole_cap(self.budget))
        return cost if fits else NOTHING

    def cap(self, first: Terms, declared: bool = False) -> Cost:
        """What all charges together may take of the sums.

        Parameters
        ----------
        first : tuple of (pair, count)
            The first charge; the cap follows from it and the budget.
        declared : bool, default=False
            Whether a pure data set was declared so: then all of delta may be used for failures,
            else only what a Gaussian data set would set aside.
        """
        whole, mine = whole_cap(self.budget), self.first_cost(first)
        if self.kind == PURE and (declared or self.budget.delta == 0):
            return whole
        aside = _aside(first)
        if self.kind == PURE:
            failure = min(whole.failure, mine.failure + _down(aside - _SLIP))
            return Cost(0, whole.loss, failure)
        rest = self.budget.delta * (1 - aside) * (1 - 8 * 2.0**-53)
        mu = largest_beside(composed(first).terms, self.budget.epsilon, rest)
        square = _floor(Fraction(mu) ** 2 / self.square_unit)
        # Where the first charge itself needs what would be set aside, less is, or nothing.
        left = aside if square else min(aside, 1 - self._share_of_delta(first))
        return Cost(square, mine.loss, mine.failure + max(0, _down(left)))

    def _share_of_delta(self, first: Terms) -> float:
        """delta of the first charge alone, as a share of the budget's; rounded up."""
        terms = composed(first).terms
        if not terms:
            return 0.0
        found = evaluate(balanced(terms), self.budget.epsilon).delta
        return found / self.budget.delta * (1 + 1e-12)

    def cost(self, terms: Terms, rough: int, first: Terms) -> Cost:
        """What a later charge takes.

        Parameters
        ----------
        terms : tuple of (pair, count)
            What it releases.
        rough : int
            How many later charges before it needed a failure.
        first : tuple of (pair, count)
            The data set's first charge.
        """
        if self.kind == PURE:
            return self._pure_cost(terms)
        terms = as_gaussian(terms)
        alone = all_gaussian(failing.unfailing(terms))
        slack = 0 if alone else _slack(rough + 1, first)
        failing_parts = self._failure(terms) + slack
        mu = dominating_mu(compose(terms).terms, slack / WHOLE * self.budget.delta)
        if not math.isfinite(mu):
            return Cost(MOST, 0, min(MOST, failing_parts))
        return Cost(_ceil(Fraction(mu) ** 2 / self.square_unit), 0, failing_parts)

    def _pure_cost(self, terms: Terms) -> Cost:
        terms = as_promised(terms)
        top, failure = bounded_loss(terms), self._failure(terms)
        if not math.isfinite(top):
            return Cost(0, MOST, failure)
        return Cost(0, _ceil(Fraction(top) / Fraction(self.budget.epsilon) * WHOLE), failure)

    def _failure(self, terms: Terms) -> int:
        mass = failure_mass(compose(terms).terms)
        if mass == 0:
            return 0
        if self.budget.delta == 0:
            return MOST
        return _ceil(Fraction(mass) / Fraction(self.budget.delta) * WHOLE)

    def spent(self, first: Terms, taken: Cost) -> float:
        """Epsilon of the whole history at the budget's delta, rounded up."""
        mine = self.first_cost(first)
        parts = list(first)
        mu = self.mu(taken.square) * (1 + 2.0**-50)
        failure = max(0, taken.failure - mine.failure) * (self.budget.delta / WHOLE)
        failure = min(failure * (1 + 2.0**-50), 0.999)
        if mu:
            parts.append((Gaussian(mu), 1))
        if failure:
            parts.append((ApproximateLoss(0.0, failure), 1))
        found = math.inf
        if mu and not all_gaussian(first):
            found = self._quickly(first, mu, failure)
        if math.isinf(found):
            found = epsilon_of(compose(parts).terms, self.budget)
        later = max(0, taken.loss - mine.loss) * (self.budget.epsilon / WHOLE)
        return found + later * (1 + 2.0**-50)

    def _quickly(self, first: Terms, mu: float, failure: float) -> float:
        """Epsilon with a Gaussian in place of the first charge, if it is nearly exact, else inf."""
        slack = self.budget.delta * _SHARE
        least = epsilon_of(((Gaussian(mu), 1),), self.budget)
        whole = math.hypot(mu, dominating_mu(compose(first).terms, slack)) * (1 + 2.0**-50)
        lost = min(slack + failure_mass(first) + failure, 0.999)
        if not math.isfinite(whole):
            return math.inf
        found = epsilon_of(((Gaussian(whole), 1), (ApproximateLoss(0.0, lost), 1)), self.budget)
        return found if found <= least / _NEARLY_ALL else math.inf

    def mu(self, square: int) -> float:
        """mu of so many parts."""
        return math.sqrt(max(0, square) * self.square_unit)


def bounded_loss(terms: Terms) -> float:
    """The largest loss that is possible where nothing fails outright; inf where there is none."""
    return compose(failing.unfailing(as_promised(terms))).largest_loss


def all_gaussian(terms: Iterable[tuple[Pair, int]]) -> bool:
    """Whether nothing but Gaussians is released."""
    return all(isinstance(pair, Gaussian) for pair, _ in compose(terms).terms)


def _aside(first: Terms) -> float:
    return _ASIDE_AFTER_GAUSSIAN if all_gaussian(first) else _ASIDE


def _slack(number: int, first: Terms) -> int:
    """Parts of delta for the n-th charge that needs some: all together are at most what is aside.

    Charges 2^k to 2^(k+1) - 1 get a share of 2^-(2k+1) each, that is 2^-(k+1) together.
    """
    k = number.bit_length() - 1
    return max(1, _down(_aside(first) * 2.0 ** -(2 * k + 1)))


@lru_cache(maxsize=64)
def _budget_mu(budget: Budget) -> float:
    """mu of the Gaussian that the budget allows; a unit only, so its last digits do not matter."""
    return equivalent_mu(budget.epsilon, budget.delta) or budget.epsilon


@lru_cache(maxsize=256)
def largest_beside(first: Terms, epsilon: float, delta: float) -> float:
    """About the largest mu with delta(first x Gaussian(mu)) <= delta at epsilon; it was evaluated.

    Searched on a ruler on which squares add up, so that few compositions are needed.
    """
    if not first:
        return _largest_gaussian(epsilon, delta)
    if len(first) == 1 and isinstance(first[0][0], Gaussian):
        limit, mu = _largest_gaussian(epsilon, delta), first[0][0].mu
        return math.sqrt(max(0.0, limit * limit - mu * mu)) * (1 - 1e-12)
    whole = equivalent_mu(epsilon, delta)
    cheap = _beside_dominated(first, epsilon, delta)
    if cheap * cheap >= _NEARLY_ALL * whole * whole:
        return cheap
    return max(cheap, _searched_beside(first, epsilon, delta, whole))


def _beside_dominated(first: Terms, epsilon: float, delta: float) -> float:
    """The same with a Gaussian in place of the first charge: no composition, tight if it is small.

    Also where one grid for wide and narrow losses would do badly.
    """
    slack = delta * _SHARE
    mu, failure = dominating_mu(first, slack), failure_mass(first)
    rest = (delta - slack - failure) * (1 - 1e-12)
    if rest <= 0 or not math.isfinite(mu):
        return 0.0
    limit = _largest_gaussian(epsilon, rest)
    return math.sqrt(max(0.0, limit * limit - mu * mu)) * (1 - 1e-12)


def _searched_beside(first: Terms, epsilon: float, delta: float, whole: float) -> float:
    """The same by composing; every answer was evaluated."""

    def ruler(mu: float) -> float:
        terms = balanced(compose((*first, (Gaussian(mu), 1))).terms)
        found = evaluate(terms, epsilon).delta
        return math.inf if found >= 1 else equivalent_mu(epsilon, found) ** 2

    start = evaluate(balanced(first), epsilon).delta
    if start >= delta:
        return 0.0
    low, low_value, high = 0.0, equivalent_mu(epsilon, start) ** 2, math.inf
    goal = whole * whole * (1 - 1e-9)
    for _ in range(_CAP_STEPS):
        square = low + (goal - low_value) * (1 - 1e-6)
        if not low < square < high:
            square = (low + high) / 2 if math.isfinite(high) else 2 * low
        value = ruler(math.sqrt(square))
        if value <= goal:
            low, low_value = square, value
        else:
            high = square
        if goal - low_value < 2e-5 * goal or high - low < 2e-5 * high:
            break
    return math.sqrt(low)


def _largest_gaussian(epsilon: float, delta: float) -> float:
    """The mu of a single Gaussian, from the passing side."""
    mu = equivalent_mu(epsilon, delta)
    while gaussian_delta(epsilon, mu) > delta:
        mu *= 1 - 1e-13
    return mu


def _ceil(value: Fraction) -> int:
    return min(MOST, -((-value.numerator) // value.denominator))


def _floor(value: Fraction) -> int:
    return min(MOST, value.numerator // value.denominator)


def _down(share: float) -> int:
    return math.floor(share * WHOLE)
