"""A running bound on delta at the budget's epsilon, which one more charge changes by an addition.

For releases S that are made already and I that follow, in any order t > 0,

    delta(S and I) <= C_t(S) E[exp(t L_I)],  C_t(S) = sup over e of delta_S(e) exp(t (e - epsilon)).

With nothing in S this is the conversion of Renyi moments. A checkpoint takes S from the exact
accountant instead, so that only what was charged since is bounded loosely. Proofs: `ledger.md`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from privlearn.accounting.gaussian import equivalent_mu
from privlearn.ledger.moments import Terms, log_moments
from privlearn.problem import Budget

__all__ = ["Account", "Orders"]

Array = NDArray[np.float64]
_SLACK = 1e-11  # relative; far above what sums of logarithms lose to rounding
# Of the budget's delta: what comes closer is left to the accountant, whose own grid may add a per
# cent, so that a composition of everything charged is within the budget to its last digits.
_CLEARLY = 0.98
_PER_OCTAVE = 6
_BELOW, _ABOVE = 4, 6  # octaves around the order that is best for Gaussian releases


@dataclass(frozen=True, eq=False)
class Orders:
    """The values of t at which a ledger keeps moments: few, around the one its budget needs."""

    budget: Budget
    t: Array

    @classmethod
    def of(cls, budget: Budget) -> Orders:
        """Orders for a budget; none for delta = 0, where losses simply add up."""
        if budget.delta == 0:
            return cls(budget, np.zeros(0))
        mu = equivalent_mu(budget.epsilon, budget.delta)
        centre = max(budget.epsilon / mu**2 - 0.5, 0.05)
        octaves = np.arange(-_BELOW * _PER_OCTAVE, _ABOVE * _PER_OCTAVE + 1) / _PER_OCTAVE
        return cls(budget, centre * 2.0**octaves)

    @property
    def conversion(self) -> Array:
        """log of sup over e of (1 - e^e)_+ exp(t e): the price of knowing moments only."""
        return self.t * np.log(self.t) - (self.t + 1) * np.log1p(self.t)

    def moments(self, terms: Terms) -> Array:
        """Logarithms of moments; infinite where they could fit no budget."""
        return log_moments(terms, self.t, self.t * self.budget.epsilon + 1.0)

    def fresh(self) -> Account:
        """The account of a data set that nothing was charged to."""
        offsets = self.conversion - self.t * self.budget.epsilon
        return Account(np.zeros(self.t.size), offsets, 0.0)


@dataclass(frozen=True, eq=False)
class Account:
    """What a ledger keeps of a data set's past in order to price the next charge at once.

    Attributes
    ----------
    moments : array
        log E[exp(t L)] of everything charged, rounded up.
    offsets : array
        log C_t(S) minus the moments of S, rounded up: adding `moments` bounds log delta.
    lost : float
        Probability that mixtures left out, all charges together.
    """

    moments: Array
    offsets: Array
    lost: float

    def after(self, moments: Array, lost: float) -> Account:
        """The account with one more charge."""
        total = (self.moments + moments) * (1 + 2.0**-52)
        return Account(total, self.offsets, (self.lost + lost) * (1 + 2.0**-52))

    def log_delta(self) -> Array:
        """Upper bounds on log delta at the budget's epsilon, without what mixtures lost."""
        size = np.where(np.isfinite(self.moments), self.moments, 0.0) + np.abs(self.offsets)
        return self.moments + self.offsets + _SLACK * size

    def fits(self, budget: Budget) -> bool:
        """Whether the bound shows that everything so far is clearly within the budget."""
        room = budget.delta * _CLEARLY - self.lost
        return room > 0 and bool(self.log_delta().min(initial=math.inf) <= math.log(room))

    def checked(self, orders: Orders, curve: Sequence[tuple[float, float]]) -> Account:
        """The account with better offsets, from points (e, delta(e)) of its exact curve."""
        epsilon = orders.budget.epsilon
        points = [(e, min(delta, self._tail(orders, e))) for e, delta in sorted(curve)]
        tops = [self._ends(orders, points[0][0], points[-1][0])]
        tops += [_segment(orders.t, *a, *b) for a, b in pairwise(points)]
        peak = np.maximum.reduce(tops) - orders.t * epsilon
        known = np.isfinite(self.moments)
        finite = np.where(known, self.moments, 0.0)
        better = peak - finite + _SLACK * (np.abs(peak) + finite + 1.0)
        return Account(
            self.moments, np.minimum(self.offsets, np.where(known, better, math.inf)), self.lost
        )

    def _tail(self, orders: Orders, loss: float) -> float:
        """What moments alone say about delta at any epsilon, without what mixtures lost."""
        exponent = (self.moments + orders.conversion) * (1 + _SLACK) - orders.t * loss
        return math.exp(min(0.0, float(exponent.min(initial=0.0)) + _SLACK * (1 + loss)))

    def epsilon(self, orders: Orders) -> float:
        """What moments alone say about epsilon at the budget's delta."""
        room = orders.budget.delta * (1 - 1e-12) - self.lost
        if room <= 0:
            return math.inf
        found = (self.moments * (1 + _SLACK) + orders.conversion - math.log(room)) / orders.t
        return max(0.0, float(found.min(initial=math.inf))) * (1 + _SLACK)

    def _ends(self, orders: Orders, first: float, last: float) -> Array:
        """log of sup of delta(e) exp(t e) outside [first, last], from moments of other orders."""
        t = orders.t
        slopes = np.append(0.0, t)
        heights = np.append(0.0, self.moments + orders.conversion)
        gap = t[:, None] - slopes[None, :]
        with np.errstate(invalid="ignore"):
            below = np.where(gap > 0, heights + gap * first, math.inf).min(axis=1)
            above = np.where(gap < 0, heights + gap * last, math.inf).min(axis=1)
        return np.maximum(below, above)


def _segment(t: Array, e: float, delta: float, e_next: float, delta_next: float) -> Array:
    """log of sup of chord(e) exp(t e) between two points; the chord is a line in exp(e).

    With x = exp(e' - e), the line is height - slope x, and (height - slope x) x^t has its only
    maximum at x = height t / (slope (t + 1)).
    """
    right = math.exp(e_next - e)
    slope = max(delta - delta_next, 0.0) / (right - 1.0)
    height = delta + slope
    with np.errstate(divide="ignore"):
        x = np.clip(height * t / np.maximum(slope * (t + 1), 1e-300), 1.0, right)
        value = np.maximum(height - slope * x, min(delta, delta_next))
        return np.log(value) + t * (np.log(x) + e)
