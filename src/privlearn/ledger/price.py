"""The exact price of everything that was charged, in bounded time.

With few different pairs this is the accountant's composition. With many, neighbouring pairs are
first replaced by one that is at least as costly, so the answer errs on the private side only.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from privlearn.accounting import (
    Composition,
    Gaussian,
    GaussianMixture,
    Pair,
    SampledGaussian,
    compose,
)
from privlearn.accounting.composition import evaluate, is_closed_form, size
from privlearn.ledger.moments import Terms
from privlearn.problem import Budget

__all__ = [
    "MANY",
    "balanced",
    "curve",
    "epsilon",
    "fits",
    "is_cheap",
    "is_closed",
    "merged",
    "smallest_scale",
]

MANY = 32  # different pairs that are composed as they are
FEW = 3  # so few that a search over exact compositions takes no more than about a second
_CURVE_TOLERANCE = 1e-3
_NEGLIGIBLE = 0.05  # of the budget's delta
# Steps of the grids that sampling rates and noise are rounded to, until few pairs are left.
_RATIOS = (
    *((1.0, ratio) for ratio in (1.001, 1.01, 1.03, 1.1, 1.2)),
    *((ratio, ratio) for ratio in (1.03, 1.1, 1.3, 2.0, 4.0, 16.0)),
)
_DOUBLINGS = 40
_STEPS = 11  # halvings: a factor of two becomes one of 1.0004
_BRACKET = 1.4
_ROUGH, _ROUGH_STEPS = 1e-2, 4
# Distances from the budget's epsilon, in units of 1/tilt, at which the curve is taken.
_DISTANCES = (-10.5, -7.0, -5.0, -3.6, -2.6, -1.8, -1.1, -0.5)


def composed(terms: Terms) -> Composition:
    """The composition of all terms, or of fewer that cost at least as much.

    The heaviest terms stay as they are; only the many light ones are rounded.
    """
    whole = compose(terms)
    if len(whole.terms) <= MANY:
        return whole
    ordered = sorted(whole.terms, key=lambda term: size((term,)), reverse=True)
    heavy, light = ordered[: MANY // 2], ordered[MANY // 2 :]
    for of_rate, of_noise in _RATIOS:
        rounded = [(_rounded(pair, of_rate, of_noise), count) for pair, count in light]
        whole = compose([*heavy, *rounded])
        if len(whole.terms) <= MANY:
            break
    return whole


def _rounded(pair: Pair, of_rate: float, of_noise: float) -> Pair:
    """A pair that dominates `pair`, with parameters on a geometric grid."""
    if isinstance(pair, Gaussian | GaussianMixture):
        return pair
    if isinstance(pair, SampledGaussian):
        rate = min(1.0, _up(pair.rate, of_rate)) if of_rate > 1 else pair.rate
        return SampledGaussian(rate, 1 / _up(1 / pair.noise_multiplier, of_noise), pair.replace)
    return replace(pair, epsilon=_up(pair.epsilon, of_noise))


def _up(value: float, ratio: float) -> float:
    """The next grid point, never below the value."""
    if value <= 0:
        return value
    power = math.ceil(math.log(value) / math.log(ratio))
    point = ratio**power * (1 + 1e-13)
    return point if point >= value * (1 + 1e-14) else ratio ** (power + 1) * (1 + 1e-13)


def merged(*parts: Terms) -> Terms:
    """Terms of several charges, with the counts of equal pairs added."""
    counts: Counter[Pair] = Counter()
    for part in parts:
        for pair, count in part:
            counts[pair] += count
    return tuple(counts.items())


def is_closed(terms: Terms) -> bool:
    """Whether a formula tells the price: Gaussian releases only, or a single one."""
    return is_closed_form(compose(terms).terms)


def is_cheap(terms: Terms, limit: int = FEW) -> bool:
    """Whether a search that composes often is fast: closed forms, or few pairs on a grid."""
    canonical = compose(terms).terms
    return is_closed_form(canonical) or len(canonical) <= limit


def fits(terms: Terms, budget: Budget) -> bool:
    """Whether the composition of all terms is within the budget."""
    whole = composed(terms)
    if budget.delta == 0:
        return whole.largest_loss <= budget.epsilon
    return _keeps(balanced(whole.terms), budget.epsilon, budget.delta)


def _keeps(terms: Terms, epsilon: float, delta: float, tolerance: float | None = None) -> bool:
    return evaluate(terms, epsilon, tolerance, delta).delta <= delta


def epsilon(terms: Terms, budget: Budget, rough: bool = False) -> float:
    """Epsilon of all terms at the budget's delta, rounded up; `rough` by some per cent.

    Several pairs: found by halving, which asks the accountant only whether delta is kept. That is
    fast where delta is much smaller, whereas its value would be slow.
    """
    whole = composed(terms)
    if budget.delta == 0 or is_closed_form(whole.terms) or (len(whole.terms) == 1 and not rough):
        return whole.epsilon(budget.delta)
    parts = balanced(whole.terms)
    tolerance, steps = (_ROUGH, _ROUGH_STEPS) if rough else (None, _STEPS)

    def kept(loss: float) -> bool:
        return _keeps(parts, loss, budget.delta, tolerance)

    mu = size(parts)
    guess = mu * mu / 2 + mu * math.sqrt(-2 * math.log(min(budget.delta, 0.5)))
    while guess > 1e-9 and kept(guess):
        guess /= _BRACKET
    found = smallest_scale(kept, guess, steps, _BRACKET)
    return math.inf if found is None else min(found, whole.largest_loss)


def curve(terms: Terms, budget: Budget, tilt: float) -> list[tuple[float, float]]:
    """Points (e, delta(e)) around the budget's epsilon, closer together near it.

    Where delta(e) exp(tilt (e - epsilon)) is far below the budget's delta, any bound will do.
    """
    parts = balanced(composed(terms).terms)
    points = {}
    for distance in (*_DISTANCES, 0.0, *(-distance for distance in _DISTANCES)):
        loss = max(0.0, budget.epsilon + distance / tilt)
        enough = _NEGLIGIBLE * budget.delta * math.exp(tilt * (budget.epsilon - loss))
        points[loss] = evaluate(parts, loss, _CURVE_TOLERANCE, enough).delta
    return sorted(points.items())


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
    fitting: Callable[[float], bool], start: float, steps: int = _STEPS, factor: float = 2.0
) -> float | None:
    """About the smallest number from `start` on that fits, by halving; None if none does."""
    low, high = start, start
    for _ in range(_DOUBLINGS):
        if fitting(high):
            break
        low, high = high, factor * high
    else:
        return None
    for _ in range(steps if high > low else 0):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if fitting(middle) else (middle, high)
    return high
