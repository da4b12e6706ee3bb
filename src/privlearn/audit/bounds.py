"""What an attack proves: bounds from below on epsilon and on mu, from outputs in two worlds.

Nothing here knows how the outputs were made. Whatever the statistic is, an event that is likely in
one world and rare in the other proves an epsilon; how likely and how rare is counted on runs that
had no say in the choice of the event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

__all__ = ["CONFIDENCE", "Attack", "Bound", "bound_from_outputs", "lower_bound"]

Array = NDArray[np.float64]
CONFIDENCE = 0.95  # of each bound, both rates together
CANDIDATES = 200  # thresholds tried in each world


class Attack(NamedTuple):
    """An event, how often it happened in the two worlds, and what this proves."""

    epsilon: float
    hits: int  # of `runs`, in the world that makes it likely
    false_alarms: int  # of `runs`, in the other world
    runs: int
    threshold: float
    mirrored: bool  # the likely world is the one without the row
    mu: float = 0.0


@dataclass(frozen=True)
class Bound:
    """What outputs of two neighbouring data sets prove, each number with `confidence` by itself.

    Attributes
    ----------
    epsilon : float
        No mechanism with a smaller epsilon, at `delta`, does this.
    mu : float
        No mu-GDP mechanism with a smaller mu does this.
    delta, confidence : float
        For which they hold.
    by_epsilon, by_mu : Attack
        The events that prove the two.
    """

    epsilon: float
    mu: float
    delta: float
    confidence: float
    by_epsilon: Attack
    by_mu: Attack

    def __str__(self) -> str:
        return (
            f"epsilon >= {self.epsilon:.4g} at delta = {self.delta:g}, mu >= {self.mu:.4g} "
            f"(confidence {self.confidence:.0%}, {self.by_mu.runs:,} runs counted on each side)"
        )


def lower_bound(
    present: Array,
    absent: Array,
    delta: float,
    *,
    confidence: float = CONFIDENCE,
    by: str = "epsilon",
) -> Attack:
    """An epsilon, or a mu, that the mechanism reaches at least, from an attacker's statistic.

    The first half of the runs chooses the threshold and the direction. The second half alone gives
    the two rates, each with a one-sided Clopper-Pearson bound, so that both hold together.

    Parameters
    ----------
    present, absent : arrays of shape (runs,)
        The statistic with the row, and without it.
    delta : float
        For which epsilon is meant.
    confidence : float, default=0.95
        That the bound holds.
    by : {"epsilon", "mu"}
        What the threshold is chosen for.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> sees = lower_bound(rng.normal(2, 1, 4000), rng.normal(0, 1, 4000), 0.0, by="mu")
    >>> 1.7 < sees.mu < 2.0
    True
    """
    first, second = zip(_halves(present), _halves(absent), strict=True)
    return _bound(first, second, delta, confidence, by)


def _halves(values: Array) -> tuple[Array, Array]:
    return values[: len(values) // 2], values[len(values) // 2 :]


Worlds = tuple[Array, Array]


def _bound(chooses: Worlds, counts: Worlds, delta: float, confidence: float, by: str) -> Attack:
    """One part of the runs chooses threshold and direction, another gives the rates."""
    error = (1.0 - confidence) / 2
    value = _epsilon_of(delta, error) if by == "epsilon" else _mu_of(error)
    sides = [_best(*chooses, value, mirrored) for mirrored in (False, True)]
    _, threshold, mirrored = max(sides, key=lambda side: side[0])
    return _prove(*counts, threshold, mirrored, delta, error)


Value = Callable[[Array, Array], Array]


def _best(present: Array, absent: Array, value: Value, mirrored: bool) -> tuple[float, float, bool]:
    """The threshold that would prove most, among quantiles of either world's tail."""
    tails = np.geomspace(0.5, 0.5 / len(present), CANDIDATES)
    tails = np.concatenate([tails, np.linspace(0.5, 0.99, CANDIDATES // 4)])
    levels = tails if mirrored else 1 - tails
    thresholds = np.concatenate([np.quantile(one, levels) for one in (present, absent)])
    proven = value(*_shares(present, absent, thresholds, mirrored))
    place = int(np.argmax(proven))
    return float(proven[place]), float(thresholds[place]), mirrored


def _prove(
    present: Array, absent: Array, threshold: float, mirrored: bool, delta: float, error: float
) -> Attack:
    both = _shares(present, absent, np.array([threshold]), mirrored)
    (epsilon,), (mu,) = _epsilon_of(delta, error)(*both), _mu_of(error)(*both)
    hits, alarms = (int(count[0]) for count, _ in both)
    return Attack(float(epsilon), hits, alarms, len(present), threshold, mirrored, float(mu))


def _shares(
    present: Array, absent: Array, thresholds: Array, mirrored: bool
) -> tuple[Array, Array]:
    """Hits and false alarms with the runs they are of, as arrays (count, runs).

    Runs beyond each threshold: above it, or, mirrored, below it with the worlds exchanged.
    """

    def beyond(runs: Array) -> Array:
        below = np.searchsorted(np.sort(runs), thresholds, side="left" if mirrored else "right")
        counts = below if mirrored else len(runs) - below
        return np.stack([counts, np.full(len(counts), len(runs))]).astype(np.float64)

    hits, alarms = beyond(present), beyond(absent)
    return (alarms, hits) if mirrored else (hits, alarms)


def _at_least(share: Array, error: float) -> Array:
    """Clopper-Pearson: a rate that is larger but for probability `error`."""
    count, runs = share
    found = special.betaincinv(np.maximum(count, 1.0), runs - count + 1.0, error)
    return np.where(count > 0, found, 0.0)


def _at_most(share: Array, error: float) -> Array:
    """Clopper-Pearson: a rate that is smaller but for probability `error`."""
    count, runs = share
    found = special.betaincinv(count + 1.0, np.maximum(runs - count, 1.0), 1.0 - error)
    return np.where(count < runs, found, 1.0)


def _epsilon_of(delta: float, error: float) -> Value:
    """log((rate of hits - delta) / rate of false alarms), both rates on the careful side."""

    def value(hits: Array, alarms: Array) -> Array:
        ratio = (_at_least(hits, error) - delta) / _at_most(alarms, error)
        return np.log(np.maximum(ratio, 1.0))

    return value


def _mu_of(error: float) -> Value:
    """Phi^-1(rate of hits) - Phi^-1(rate of false alarms), both rates on the careful side."""

    def value(hits: Array, alarms: Array) -> Array:
        low, high = special.ndtri(_at_least(hits, error)), special.ndtri(_at_most(alarms, error))
        nothing = np.isinf(low) | np.isinf(high)
        with np.errstate(invalid="ignore"):
            return np.where(nothing, 0.0, np.maximum(low - high, 0.0))

    return value


def bound_from_outputs(
    with_canary: ArrayLike, without: ArrayLike, *, delta: float, confidence: float = CONFIDENCE
) -> Bound:
    """Bounds on epsilon and mu from what was published in two worlds.

    A first half of the runs learns where to look and fixes the threshold: the first quarter gives
    directions that tell the worlds apart, the second takes the best of them and its threshold. The
    second half is counted, and nothing else.

    Parameters
    ----------
    with_canary, without : arrays of shape (runs,) or (runs, numbers)
        What independent runs published on one data set, and on its neighbour.
    delta : float
        For which epsilon is meant.
    confidence : float, default=0.95
        That a bound holds; each of the two by itself.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> found = bound_from_outputs(
    ...     rng.normal(1, 1, (4000, 3)), rng.normal(0, 1, (4000, 3)), delta=1e-6
    ... )
    >>> 1.4 < found.mu < 3**0.5
    True
    """
    present, absent = _table(with_canary), _table(without)
    if min(len(present), len(absent)) < 8 or present.shape[1:] != absent.shape[1:]:
        raise ValueError(
            f"outputs of shapes {present.shape} and {absent.shape}, but at least 8 runs on each "
            "side with equally many numbers are needed"
        )
    best: dict[str, Attack] = {}
    for by in ("epsilon", "mu"):
        look = _chosen_view(present, absent, delta, confidence, by)
        seen = look(present), look(absent)
        chooses = _quarters(seen[0])[1], _quarters(seen[1])[1]
        counts = _halves(seen[0])[1], _halves(seen[1])[1]
        best[by] = _bound(chooses, counts, delta, confidence, by)
    return Bound(
        best["epsilon"].epsilon, best["mu"].mu, delta, confidence, best["epsilon"], best["mu"]
    )


def _table(outputs: ArrayLike) -> Array:
    table = np.asarray(outputs, dtype=np.float64)
    return table.reshape(len(table), -1)


def _quarters(values: Array) -> tuple[Array, Array]:
    return values[: len(values) // 4], values[len(values) // 4 : len(values) // 2]


View = Callable[[Array], Array]


def _chosen_view(present: Array, absent: Array, delta: float, confidence: float, by: str) -> View:
    """Of the directions that the first quarter shows, the one that the second proves most with."""
    (first, second), (other, another) = _quarters(present), _quarters(absent)
    error = (1.0 - confidence) / 2
    value = _epsilon_of(delta, error) if by == "epsilon" else _mu_of(error)

    def proves(view: View) -> float:
        return max(_best(view(second), view(another), value, side)[0] for side in (False, True))

    return max(_views(first, other), key=proves)


def _views(present: Array, absent: Array) -> Iterator[View]:
    """Every number by itself, and two discriminants: linear, and with squares."""
    centre = np.median(np.concatenate([present, absent]), axis=0)
    spread = np.subtract(*np.quantile(np.concatenate([present, absent]), [0.75, 0.25], axis=0))
    spread = np.where(spread > 0, spread, 1.0)

    def tamed(values: Array) -> Array:
        return np.asarray(np.arctan((np.nan_to_num(values) - centre) / spread))

    for column in range(present.shape[1]):
        yield lambda values, column=column: np.nan_to_num(values[:, column])  # type: ignore[misc]
    for features in (tamed, lambda values: np.hstack([tamed(values), tamed(values) ** 2])):
        direction = _discriminant(features(present), features(absent))
        yield lambda values, f=features, d=direction: f(values) @ d  # type: ignore[misc]


def _discriminant(present: Array, absent: Array) -> Array:
    """Difference of means over the common covariance, slightly damped (Fisher)."""
    difference = present.mean(axis=0) - absent.mean(axis=0)
    spread = (np.cov(present.T) + np.cov(absent.T)).reshape(len(difference), -1)
    damping = 1e-3 * np.trace(spread) / len(difference) + 1e-12
    return np.asarray(np.linalg.solve(spread + damping * np.eye(len(difference)), difference))
