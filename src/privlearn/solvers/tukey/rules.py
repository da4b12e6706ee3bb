"""How many models, and how the budget is divided: by rules from generated data.

Whether the test passes depends on the number of models, hardly on the data; how good they are, on
the rows of each. Two rows per coefficient (three where rows are dealt one by one, so that some
groups get few) lose least once the test passes; where that makes too few models, groups are made
smaller. A test with 30 to 40 % of epsilon lets the fewest models pass.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from privlearn._core.mechanisms.tukey_boxes import Boxes, in_order
from privlearn._core.problem import Budget

__all__ = [
    "COUNT_SHARE",
    "DELTA_SHARE",
    "HOPELESS",
    "TEST_SHARE",
    "best_chance",
    "enough_models",
    "models_for",
]

COUNT_SHARE = 0.05  # of epsilon, for the number of rows where it is private (as in the paper)
TEST_SHARE = 0.4  # of the rest
DELTA_SHARE = 0.999  # of delta: accountants that round up must still find the promise kept
ROWS = (2.0, 3.0)  # per coefficient, where the number of rows is public and where it is private
FEWEST_ROWS = (1.0, 1.25)
HOPELESS = 1e-2  # chance of identical models to pass, below which a fit is refused
_FAILS = 1e-3  # probability that the test fails on models as `_typical` ones
# Beyond these, the number of models is nearly proportional to 1 / epsilon and to the width.
_SMALL_EPSILON, _LARGE_WIDTH = 0.25, 64


def models_for(rows: int, width: int, enough: int, private: bool) -> int:
    """How many models, given how many are enough for the test.

    Parameters
    ----------
    rows : int
        Number of rows, public or estimated.
    width : int
        Number of coefficients.
    enough : int
        From `enough_models`.
    private : bool
        Whether the number of rows is private, and rows are dealt one by one.
    """
    most = math.floor(rows / (FEWEST_ROWS[private] * width))
    wanted = max(math.floor(rows / (ROWS[private] * width)), enough)
    return max(1, min(wanted, most))


def enough_models(width: int, budget: Budget) -> int:
    """The smallest number of models, about, with which the test nearly always passes.

    Parameters
    ----------
    width : int
        Number of coefficients.
    budget : Budget
        Of the whole fit.

    Examples
    --------
    >>> enough_models(4, Budget(1.0, 1e-6)), enough_models(4, Budget(0.1, 1e-6))
    (576, 5680)
    """
    near = Budget(max(budget.epsilon, _SMALL_EPSILON), budget.delta)
    found = _enough(min(width, _LARGE_WIDTH), near)
    return math.ceil(found * (near.epsilon / budget.epsilon) * max(1.0, width / _LARGE_WIDTH))


@lru_cache(maxsize=256)
def _enough(width: int, budget: Budget) -> int:
    """By doubling and halving, on evenly spread models."""
    high = 16
    while not _passes(high, width, budget):
        high *= 2
    low = high // 2
    while high - low > max(1, high // 64):
        middle = (low + high) // 2
        low, high = (low, middle) if _passes(middle, width, budget) else (middle, high)
    return high


def best_chance(models: int, width: int, budget: Budget) -> float:
    """The probability that the test passes on models that are all the same: no data do better."""
    test = TEST_SHARE * budget.epsilon
    boxes = Boxes.of(np.zeros((models, width)))
    distance = boxes.safe_distance(budget.epsilon - test, budget.delta)
    short = math.log(0.5 / budget.delta) - test * (distance + 1)
    return 0.5 * math.exp(-short) if short > 0 else 1.0 - 0.5 * math.exp(short)


def _passes(models: int, width: int, budget: Budget) -> bool:
    """Whether quantiles of a law with heavy tails, Student's with two degrees of freedom, pass."""
    test = TEST_SHARE * budget.epsilon
    share = (np.arange(models) + 0.5) / models
    typical = (2.0 * share - 1.0) / np.sqrt(2.0 * share * (1.0 - share))
    boxes = Boxes.of(in_order(np.repeat(typical[:, None], width, axis=1)))
    distance = boxes.safe_distance(budget.epsilon - test, budget.delta)
    return test * (distance + 1) >= math.log(0.5 / budget.delta) + math.log(0.5 / _FAILS)
