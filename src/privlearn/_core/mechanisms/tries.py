"""A secret number of tries: its law, drawn exactly, and what the best of them costs.

The number K has the truncated negative binomial law of Papernot and Steinke (2022, Definition 1)
with a whole eta: P(K = k) is proportional to binom(k + eta - 1, k) (1 - gamma)^k for k >= 1. That
is the number of failures before the eta-th success of coins of rate gamma, given that there is one.
The bound on the price is derived in model_selection/proof.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from privlearn._core.mechanisms import RandomTries
    from privlearn.noise import NoiseSource

__all__ = ["best_of", "count", "mean", "missed", "most_at", "price"]

T = TypeVar("T")
UP = 1.0 + 2.0**-40  # more than the rounding of a few operations
COINS = 64  # that are flipped at a time


def mean(eta: int, gamma: float) -> float:
    """Average number of tries: eta (1 - gamma) / (gamma (1 - gamma^eta)), rounded up.

    Examples
    --------
    >>> round(mean(1, 0.25), 6)
    4.0
    """
    return UP * eta * (1.0 - gamma) / (gamma * -math.expm1(eta * math.log(gamma)))


def missed(share: float, eta: int, gamma: float) -> float:
    """Probability that no try is one of a share of all settings: E (1 - share)^K.

    Examples
    --------
    >>> round(missed(0.25, 1, 1 / 12), 6)
    0.2
    """
    below = 1.0 - (1.0 - gamma) * (1.0 - share)
    return (below**-eta - 1.0) / (gamma**-eta - 1.0)


def most_at(law: RandomTries) -> float:
    """The largest delta of a try at the pivot for which the price holds (proof.md, 2)."""
    return law.gamma / (1.0 - law.gamma) * math.expm1(law.pivot) / UP


def price(law: RandomTries) -> tuple[float, float]:
    """Epsilon and delta of the best of all tries, rounded up."""
    epsilon = UP * (law.epsilon + (law.eta + 1) * law.pivot)
    return epsilon, min(UP * mean(law.eta, law.gamma) * law.delta, 1.0 - 2.0**-53)


def count(source: NoiseSource, eta: int, gamma: float) -> int:
    """Draw the number of tries, exactly for the double gamma."""
    while True:
        failures = successes = 0
        while successes < eta:
            for success in source.bernoulli(gamma, COINS).tolist():
                successes += success
                failures += not success
                if successes == eta:
                    break
        if failures > 0:
            return failures


def best_of(number: int, source: NoiseSource, attempt: Callable[[], tuple[float, T]]) -> T:
    """What the best try gave; one of several that are equally good by lot. NaN is the worst."""
    best, equals, found = -math.inf, 0, None
    for _ in range(number):
        score, given = attempt()
        score = -math.inf if math.isnan(score) else score
        if equals == 0 or score > best:
            best, equals, found = score, 1, given
        elif score == best:
            equals += 1
            if int(source.integers(equals)) == 0:
                found = given
    assert found is not None
    return found
