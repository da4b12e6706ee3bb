"""Mechanisms that may fail outright: their probability of failure, and what is left of them.

With probability delta an `ApproximateLoss` tells everything, under both laws of the pair alike, and
is a `PureLoss` otherwise. So a composition fails with probability lost = 1 - prod (1 - delta_k),
and its profile is lost + (1 - lost) times that of the composition without failures, exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from privlearn.accounting.gaussian import UNIT
from privlearn.accounting.pairs import ApproximateLoss, Pair, PureLoss

Terms = tuple[tuple[Pair, int], ...]


def lost(terms: Iterable[tuple[Pair, int]]) -> float:
    """Probability, rounded up, that any of the pairs fails outright."""
    failing = [(p.delta, count) for p, count in terms if isinstance(p, ApproximateLoss)]
    if len(failing) == 1 and failing[0][1] == 1:
        return failing[0][0]
    kept = math.fsum(count * math.log1p(-delta) for delta, count in failing)
    return min(1.0, -math.expm1(kept) * (1 + 64 * UNIT))


def unfailing(terms: Iterable[tuple[Pair, int]]) -> list[tuple[Pair, int]]:
    """The same pairs, given that none of them fails."""
    return [
        (PureLoss(p.epsilon) if isinstance(p, ApproximateLoss) else p, count) for p, count in terms
    ]


def in_all(failure: float, delta: float) -> float:
    """Delta, rounded up, of what fails with this probability and has `delta` otherwise."""
    if delta == 0:
        return failure
    return min(1.0, (failure + (1 - failure) * delta) * (1 + 4 * UNIT))


def room(failure: float, delta: float) -> float:
    """Delta, rounded down, that may be spent besides a failure; negative where there is none."""
    if failure >= delta or failure >= 1:
        return 0.0 if failure == delta else -1.0
    return (delta - failure) / (1 - failure) * (1 - 8 * UNIT)
