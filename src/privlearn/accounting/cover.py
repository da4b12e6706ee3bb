"""Whether a Gaussian that may fail covers a profile which is known at some losses.

delta_P(e) <= lambda + (1 - lambda) delta_mu(e) at every e >= 0; between the losses at which delta_P
is known, convexity decides. Proof: `ledger/proof.md`, section 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from privlearn.accounting.gaussian import equivalent_mu
from privlearn.accounting.profiles import UNIT, Array, gaussian_profile, gaussian_rounding

__all__ = ["Cover"]

_HALVINGS = 60


class Cover:
    """Whether a Gaussian covers a profile that is known at some losses."""

    def __init__(self, losses: Array, values: Array, slack: float) -> None:
        self.losses, self.values, self.slack = losses, values, slack
        with np.errstate(over="ignore"):
            self.width = np.expm1(np.diff(losses))  # x_b / x_a - 1, with x = e^loss

    def _curve(self, mu: float) -> tuple[Array, Array]:
        """lambda + (1 - lambda) delta_mu, rounded down, and how fast it falls in e^loss (up)."""
        height = gaussian_profile(self.losses, mu)
        height *= 1 - np.minimum(1.0, gaussian_rounding(self.losses, mu))
        share = (1 - self.slack) * (1 - 4 * UNIT)
        fall = share * ndtr(-self.losses / mu - mu / 2) * (1 + 1e-13)
        return self.slack + share * height, fall

    def points_hold(self, mu: float) -> bool:
        """Whether the evaluated losses are covered."""
        return bool((self.values <= self._curve(mu)[0]).all())

    def gaps_hold(self, mu: float) -> NDArray[np.bool_]:
        """Whether each gap is covered, given that its ends are.

        The profile is below its chord, the Gaussian's above its tangents at both ends, all lines in
        x = e^loss. A point at which the chord is below *both* tangents shows it: the chord is below
        the left tangent before it and below the right one after it.
        """
        height, fall = self._curve(mu)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            front = np.exp(self.losses[:-1])
            left, right = fall[:-1] * front, fall[1:] * front  # per unit of x / x_a - 1
            meet = (height[:-1] - height[1:] - right * self.width) / (left - right)
            meet = np.clip(np.where(np.isfinite(meet), meet, 0.0), 0.0, self.width)
            before = height[:-1] - left * meet
            after = height[1:] + right * (self.width - meet)
            share = meet / self.width
            chord = self.values[:-1] * (1 - share) + self.values[1:] * share
            cushion = 1e-12 * (left * meet + right * self.width + height[:-1])
            return np.asarray(chord * (1 + 1e-12) + cushion <= np.minimum(before, after))

    def holds(self, mu: float) -> bool:
        """Whether everything is covered."""
        return self.points_hold(mu) and bool(self.gaps_hold(mu).all())

    def at_points(self, most: float) -> float:
        """What the evaluated losses alone ask for."""
        return _smallest(self.points_hold, most)

    def smallest(self) -> float:
        """The smallest mu that covers everything, to 1e-9 or so; inf where none does."""
        high = max(1e-12, equivalent_mu(0.0, min(float(self.values[0]), 1 - 1e-13)))
        for _ in range(40):
            if self.holds(high):
                return _smallest(self.holds, high)
            high *= 1.3
        return math.inf

    def binding(self, mu: float) -> int | None:
        """A gap that is not covered although an end is: the one with the greatest fall."""
        broken = ~self.gaps_hold(mu)
        covered = self.values <= self._curve(mu)[0]
        broken &= covered[:-1] | covered[1:]
        if not broken.any():
            return None
        falls = -np.diff(np.log(np.maximum(self.values, max(self.slack, 1e-300))))
        return int(np.argmax(np.where(broken, falls, -1.0)))


def _smallest(holds: Callable[[float], bool], high: float) -> float:
    """Halve between 0 and a number that holds; returns one that holds."""
    low = high / 4
    for _ in range(_HALVINGS):
        if not holds(low):
            break
        low, high = low / 4, low
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if holds(middle) else (middle, high)
        if high <= low * (1 + 1e-10):
            break
    return high
