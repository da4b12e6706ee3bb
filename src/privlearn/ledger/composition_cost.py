"""The exact cost of what is composed as a whole: a first charge, a reservation, one plan alone.

With few different pairs this is the accountant's composition. With many, neighbouring pairs are
first replaced by one that is at least as costly, so the answer errs on the private side only.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from operator import itemgetter

from privlearn._core.problem import Budget
from privlearn.accounting import (
    ApproximateLoss,
    BoundedRange,
    Composition,
    Gaussian,
    GaussianMixture,
    Laplace,
    Pair,
    PureLoss,
    SampledGaussian,
    compose,
    failing,
)
from privlearn.accounting.composition import Terms, evaluate, is_closed_form, size

__all__ = ["balanced", "composed", "epsilon_of", "merged", "smallest_scale", "within_budget"]

MANY = 24  # different pairs that are composed as they are
_SEVERAL, _SEVERAL_TOLERANCE = 8, 3e-3  # different pairs from which on a coarser grid will do
_DOUBLINGS = 40
_STEPS = 11  # halvings: a factor of two becomes one of 1.0004
_BRACKET = 1.4


def composed(terms: Terms) -> Composition:
    """The composition of all terms, or of fewer that cost at least as much."""
    whole = compose(terms)
    if len(whole.terms) <= MANY:
        return whole
    return compose(_fewer(whole.terms, MANY))


def _fewer(terms: Terms, limit: int) -> list[tuple[Pair, int]]:
    """Join neighbouring pairs into dominating ones, those first where it costs least."""
    kept = sorted(terms, key=lambda term: _place(term[0]))
    while len(kept) > limit:
        joins = []
        for k, (first, second) in enumerate(pairwise(kept)):
            joined = _joined(first, second)
            if joined is not None:
                cost = size((joined,)) ** 2 - size((first,)) ** 2 - size((second,)) ** 2
                joins.append((cost, k, joined))
        if not joins:
            break
        kept = _with_cheapest(kept, sorted(joins, key=itemgetter(0)), len(kept) - limit)
    return kept


def _with_cheapest(
    terms: list[tuple[Pair, int]], joins: list[tuple[float, int, tuple[Pair, int]]], excess: int
) -> list[tuple[Pair, int]]:
    """Carry out some of the cheapest joins that do not overlap."""
    gone: set[int] = set()
    replaced: dict[int, tuple[Pair, int]] = {}
    for _, k, joined in joins[: max(1, min(excess, len(terms) // 8))]:
        if not {k, k + 1} & (gone | set(replaced)):
            replaced[k] = joined
            gone.add(k + 1)
    return [replaced.get(k, term) for k, term in enumerate(terms) if k not in gone]


def _place(pair: Pair) -> tuple[str, float, float, float]:
    """Where a pair stands in an order in which neighbours are alike."""
    if isinstance(pair, SampledGaussian):
        return "SampledGaussian", float(pair.replace), pair.rate, pair.noise_multiplier
    if isinstance(pair, Gaussian | GaussianMixture):
        return type(pair).__name__, 0.0, 0.0, 0.0
    return type(pair).__name__, 0.0, 0.0, pair.epsilon


def _joined(first: tuple[Pair, int], second: tuple[Pair, int]) -> tuple[Pair, int] | None:
    """One term that dominates both together: more sampling, less noise, a larger epsilon."""
    (a, times), (b, more) = first, second
    if isinstance(a, SampledGaussian) and isinstance(b, SampledGaussian):
        if a.replace != b.replace:
            return None
        noise = min(a.noise_multiplier, b.noise_multiplier)
        return SampledGaussian(max(a.rate, b.rate), noise, a.replace), times + more
    if isinstance(a, ApproximateLoss) and isinstance(b, ApproximateLoss):
        worst = ApproximateLoss(max(a.epsilon, b.epsilon), max(a.delta, b.delta))
        return worst, times + more
    if type(a) is type(b) and isinstance(a, Laplace | PureLoss | BoundedRange):
        assert isinstance(b, Laplace | PureLoss | BoundedRange)
        return max(a, b, key=lambda pair: pair.epsilon), times + more
    return None


def merged(*parts: Terms) -> Terms:
    """Terms of several charges, with the counts of equal pairs added."""
    counts: Counter[Pair] = Counter()
    for part in parts:
        for pair, count in part:
            counts[pair] += count
    return tuple(counts.items())


def within_budget(terms: Terms, budget: Budget) -> bool:
    """Whether the composition of all terms is within the budget."""
    whole = composed(terms)
    if budget.delta == 0:
        return whole.largest_loss <= budget.epsilon
    return _keeps(balanced(whole.terms), budget.epsilon, budget.delta)


def _keeps(terms: Terms, epsilon: float, delta: float) -> bool:
    tolerance = _SEVERAL_TOLERANCE if len(terms) > _SEVERAL else None
    return evaluate(terms, epsilon, tolerance, delta).delta <= delta


@lru_cache(maxsize=512)
def epsilon_of(terms: Terms, budget: Budget) -> float:
    """Epsilon of all terms at the budget's delta, rounded up.

    Several pairs: found by halving, which asks the accountant only whether delta is kept. That is
    fast where delta is much smaller, whereas its value would be slow.
    """
    if not terms:
        return 0.0
    whole = composed(terms)
    failure = failing.lost(whole.terms)
    if failure > 0:
        left = failing.room(failure, budget.delta)
        rest = tuple(failing.unfailing(whole.terms))
        return math.inf if left < 0 else epsilon_of(rest, replace(budget, delta=left))
    if budget.delta == 0 or is_closed_form(whole.terms) or len(whole.terms) == 1:
        return whole.epsilon(budget.delta)
    parts = balanced(whole.terms)

    def kept(loss: float) -> bool:
        return _keeps(parts, loss, budget.delta)

    mu = size(parts)
    guess = mu * mu / 2 + mu * math.sqrt(-2 * math.log(min(budget.delta, 0.5)))
    while guess > 1e-9 and kept(guess):
        guess /= _BRACKET
    found = smallest_scale(kept, guess, _BRACKET)
    return math.inf if found is None else min(found, whole.largest_loss)


def balanced(terms: Terms) -> Terms:
    """The same composition, with one wide Gaussian as many that are as narrow as the rest.

    All pairs share one grid of losses, whose step follows the widest: next to thousands of narrow
    losses, one wide pair would make it far too coarse. K releases with mu/sqrt(K) are one with mu.
    """
    widths = [size(((pair, 1),)) for pair, _ in terms if not isinstance(pair, Gaussian)]
    if not widths:
        return terms
    return tuple(
        _split(pair, max(widths)) if count == 1 else (pair, count) for pair, count in terms
    )


def _split(pair: Pair, width: float) -> tuple[Pair, int]:
    if not isinstance(pair, Gaussian) or width <= 0:
        return pair, 1
    pieces = min(10**6, max(1, math.ceil((pair.mu / width) ** 2)))
    return Gaussian(pair.mu / math.sqrt(pieces) * (1 + 1e-15)), pieces


def smallest_scale(
    fitting: Callable[[float], bool], start: float, factor: float = 2.0
) -> float | None:
    """About the smallest number from `start` on that fits, by halving; None if none does."""
    low, high = start, start
    for _ in range(_DOUBLINGS):
        if fitting(high):
            break
        low, high = high, factor * high
    else:
        return None
    for _ in range(_STEPS if high > low else 0):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if fitting(middle) else (middle, high)
    return high
